"""Problems on the graph of a chip: a chain of oscillators for every variable.

A minor embedding after Cai, Macready and Roy, A practical heuristic for finding graph minors
(2014): a variable is placed where the paths to the chains of its neighbours are shortest, and sites
that several chains use become more expensive from round to round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from entrain.ising.graph import WeightedGraph
from entrain.utils.errors import InputError

_TRIES, _ROUNDS = 2, 16
_SHORTER = 3  # rounds after the first embedding, in which chains may become shorter
_GROWTH = 2.0  # in every round, of the weight of a site for each chain that uses it
_LARGEST = 2.0**60  # weight

Chains = tuple[tuple[int, ...], ...]


def embed(graph: WeightedGraph, sites: NDArray[np.bool_], seed: int = 0) -> Chains:
    """The sites of every variable (N chains), connected, and joined where variables are.

    The variables themselves, if their edges are couplers; else the heuristic. An `InputError` says
    what does not fit.

    Args:
        graph: Edges of the problem.
        sites: Couplers of the chip (S, S).
        seed: Seed of the order of variables.
    """
    count = len(sites)
    if graph.nodes > count:
        raise InputError(
            f"the problem has {graph.nodes} variables, the chip {count} oscillators: choose a "
            "smaller problem or a larger chip"
        )
    if sites[graph.first, graph.second].all():
        return tuple((i,) for i in range(graph.nodes))
    couplers = int(np.triu(sites, 1).sum())
    if graph.edges > couplers:
        raise InputError(
            f"the problem has {graph.edges} edges, the chip {couplers} couplers: choose a sparser "
            "problem or a larger chip"
        )
    fewest = count
    for attempt in range(_TRIES):
        placement = _Placement(graph, sites, np.random.default_rng([seed, attempt]))
        embeddings = list[Chains]()
        for round_ in range(_ROUNDS):
            placement.improve(_GROWTH ** (round_ + 1))
            if placement.overlaps == 0 and placement.is_complete:
                embeddings.append(placement.chains())
            if len(embeddings) > _SHORTER:
                break
        if embeddings:
            return min(embeddings, key=lambda chains: sum(map(len, chains)))
        fewest = min(fewest, placement.overlaps)
    degree = int(np.bincount(np.concatenate([graph.first, graph.second])).max())
    raise InputError(
        f"no embedding was found: {graph.nodes} variables with {graph.edges} edges (up to {degree} "
        f"a variable) on {count} oscillators with {couplers} couplers (up to "
        f"{int(sites.sum(1).max())} an oscillator); at best {fewest} oscillators belonged to "
        "several variables. Choose a smaller or sparser problem, or a chip with more couplers"
    )


class _Placement:
    """Chains that may overlap, and the weights of sites by the chains that use them."""

    def __init__(
        self, graph: WeightedGraph, sites: NDArray[np.bool_], generator: np.random.Generator
    ) -> None:
        matrix = graph.matrix
        self._neighbours = [
            matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]].tolist()
            for i in range(graph.nodes)
        ]
        self._couplers: Any = scipy.sparse.csr_array(sites.astype(np.float64))
        self._around = [set(np.flatnonzero(row).tolist()) for row in sites]
        self._generator = generator
        self._chains: list[set[int]] = [set() for _ in range(graph.nodes)]
        self._used = np.zeros(len(sites), dtype=np.int64)

    @property
    def overlaps(self) -> int:
        """Number of sites that several chains use."""
        return int((self._used > 1).sum())

    @property
    def is_complete(self) -> bool:
        """True if chains of neighbours are joined."""
        return all(
            self._touch(self._chains[i], self._chains[j])
            for i, others in enumerate(self._neighbours)
            for j in others
        )

    def improve(self, penalty: float) -> None:
        """Place every variable anew, in random order.

        Args:
            penalty: Factor of the weight of a site, for each chain that uses it.
        """
        for variable in self._generator.permutation(len(self._chains)).tolist():
            self._set(variable, set())
            for other in self._neighbours[variable]:
                self._trim(other)  # what led to the old place
            self._set(variable, self._placed(variable, penalty))

    def chains(self) -> Chains:
        """The chains, without sites that neither connect nor join anything."""
        for variable in range(len(self._chains)):
            self._trim(variable)
        return tuple(tuple(sorted(chain)) for chain in self._chains)

    def _set(self, variable: int, chain: set[int]) -> None:
        for sites, sign in ((self._chains[variable], -1), (chain, 1)):
            self._used[list(sites)] += sign
        self._chains[variable] = chain

    def _trim(self, variable: int) -> None:
        """Remove sites as long as the chain stays connected and joined to its neighbours."""
        others = [other for other in self._neighbours[variable] if self._chains[other]]
        changed = True
        while changed:
            changed, chain = False, self._chains[variable]
            for site in sorted(chain, key=lambda s: (-int(self._used[s]), s)):
                rest = chain - {site}
                if not rest or not self._is_connected(rest):
                    continue
                if all(self._touch(rest, self._chains[other]) for other in others):
                    self._set(variable, rest)
                    changed = True
                    break

    def _placed(self, variable: int, penalty: float) -> set[int]:
        """The cheapest site and paths to the chains of the neighbours."""
        weights = np.minimum(penalty ** self._used.astype(np.float64), _LARGEST)
        others = [other for other in self._neighbours[variable] if self._chains[other]]
        if not others:
            free = np.flatnonzero(weights == weights.min())
            return {int(self._generator.choice(free))}
        entered = self._couplers.copy()
        entered.data = weights[entered.indices]  # the cost of a step is that of the site entered
        costs, paths = weights.copy(), []
        for other in others:
            chain = sorted(self._chains[other])
            distances, before, _ = dijkstra(
                entered, indices=chain, min_only=True, return_predecessors=True
            )
            # A site is paid for once: by `costs`, not by every path that ends there.
            distances = np.maximum(distances - weights, 0.0)
            distances[chain] = np.inf  # a chain of its own, beside that of the neighbour
            costs += distances
            paths.append((before, self._chains[other]))
        if not np.isfinite(costs).any():
            return {int(self._generator.integers(len(weights)))}
        best = np.flatnonzero(costs <= costs.min() * (1 + 1e-12))
        root = int(self._generator.choice(best))
        chain_of = {root}
        for before, chain_set in paths:
            site = root
            while site not in chain_set and site >= 0:
                chain_of.add(site)
                site = int(before[site])
        return chain_of

    def _touch(self, one: set[int], other: set[int]) -> bool:
        return any(not self._around[site].isdisjoint(other) for site in one)

    def _is_connected(self, chain: set[int]) -> bool:
        reached, rest = [next(iter(chain))], set(chain)
        rest.discard(reached[0])
        while reached and rest:
            joined = self._around[reached.pop()] & rest
            rest -= joined
            reached.extend(joined)
        return not rest
