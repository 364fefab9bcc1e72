"""The couplers of a chip."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.physics.parameters import coupler_pairs, graph_of
from entrain.utils.errors import InputError, one_of, positive_int, seed_number, short_repr

GraphKind = Literal["all-to-all", "layered", "kings", "hexagonal", "chimera", "ring", "random"]
OutputSites = Literal["last", "spread"]


@dataclass(frozen=True)
class Wiring(Effect):
    """J_ij -> 0 where sites i and j of the chip have no coupler.

    Grids are as square as the number of oscillators allows.

    Args:
        kind: "all-to-all", "layered" (none between outputs, like every network), "kings" (a square
            grid, eight neighbours), "hexagonal" (a square grid with shifted rows, six neighbours),
            "chimera" (cells of 4 + 4 in a square grid), "ring" (the `degree` nearest) or "random"
            (up to `degree` neighbours).
        degree: Neighbours on a ring (an even number) or on a random graph.
        seed: Seed of a random graph.
        mask: Couplers (i, j), i < j, or a symmetric (N, N) boolean matrix, instead of a `kind`.
        outputs: "last": oscillator i of a network is at site i, so that outputs are neighbours on a
            grid. "spread": outputs are spread evenly over the chip, and the hidden oscillators
            fill the other sites in order.

    Examples:
        >>> couplers = entrain.hardware.Wiring("kings").graph(9, torch.device("cpu")).sum() // 2
        >>> int(couplers)
        20
    """

    kind: GraphKind = "layered"
    degree: int = 2
    seed: int = 0
    mask: tuple[tuple[int, int], ...] | None = None
    outputs: OutputSites = "last"

    def __post_init__(self) -> None:
        one_of("kind", self.kind, GraphKind)
        positive_int("degree", self.degree)
        seed_number("seed", self.seed)
        one_of("outputs", self.outputs, OutputSites)
        if self.kind == "ring" and self.degree % 2:
            raise InputError(f"the degree of a ring must be even, got {self.degree}")
        if self.mask is not None:
            if self.kind != "layered":
                raise InputError(
                    f"give the kind of a graph or a mask, one of them; got {self.kind!r} and a mask"
                )
            object.__setattr__(self, "mask", _couplers(self.mask))

    @property
    def is_identity(self) -> bool:
        return self.kind in ("layered", "all-to-all") and self.mask is None

    def graph(self, oscillators: int, device: torch.device | None = None) -> Tensor:
        """(N, N) booleans, True where two sites of the chip are coupled.

        Args:
            oscillators: N sites.
            device: Where the tensor lies; None is the CPU.
        """
        return _graph(self, oscillators, device)

    def graph_of(self, hidden: int, outputs: int, device: torch.device | None = None) -> Tensor:
        """(N, N) booleans, True where two oscillators of a network are coupled.

        Args:
            hidden: H hidden oscillators.
            outputs: O output oscillators.
            device: Where the tensor lies; None is the CPU.
        """
        if self.outputs == "last":
            return self.graph(hidden + outputs, device)
        return _graph_spread(self, hidden, outputs, device)

    def spread(self, hidden: int, outputs: int) -> Wiring:
        """The couplers of a network whose outputs are spread over the chip, as a mask.

        Args:
            hidden: H hidden oscillators.
            outputs: O output oscillators.
        """
        return Wiring(mask=coupler_pairs(_graph_spread(self, hidden, outputs, None)))

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters, couplings = network.parameters, network.parameters.couplings
        graph = self.graph_of(parameters.hidden, parameters.outputs, couplings.device)
        return network.with_parameters(couplings=couplings * graph, graph=parameters.graph & graph)

    def times(self, factor: float) -> None:
        return None  # a graph has no strength


def _couplers(mask: object) -> tuple[tuple[int, int], ...]:
    """The couplers of a mask, sorted."""
    rows = _plain(mask)
    if not isinstance(rows, tuple):
        rows = (rows,)
    if rows and all(isinstance(row, tuple) and _are_booleans(row) for row in rows):
        if ragged := [len(row) for row in rows if len(row) != len(rows)]:
            raise InputError(
                f"mask must be a square array, got {len(rows)} rows and one of {ragged[0]}"
            )
        return coupler_pairs(graph_of(rows, "mask"))
    for pair in rows:
        ends = pair if isinstance(pair, tuple) else ()
        if [type(end) for end in ends] != [int, int] or not 0 <= ends[0] < ends[1]:
            raise InputError(
                f"mask must list couplers (i, j) with 0 <= i < j, or be an N x N matrix of "
                f"booleans, got {short_repr(pair)}"
            )
    return tuple(sorted(rows))


def _plain(mask: object) -> Any:
    """Lists and arrays as tuples of Python's built-in values."""
    if isinstance(mask, np.ndarray | np.bool_ | Tensor):
        mask = mask.tolist()
    return tuple(map(_plain, mask)) if isinstance(mask, list | tuple) else mask


def _are_booleans(row: tuple[object, ...]) -> bool:
    return bool(row) and all(isinstance(value, bool) for value in row)


@functools.lru_cache(maxsize=16)
def _graph(wiring: Wiring, n: int, device: torch.device | None) -> Tensor:
    """Cached, since a captured CUDA graph must not copy from the host."""
    if wiring.kind in ("ring", "random") and wiring.degree >= n:
        raise InputError(f"degree must be below the {n} oscillators, got {wiring.degree}")
    if wiring.mask is None:
        return _GRAPHS[wiring.kind](n, wiring).to(device)
    for i, j in wiring.mask:
        if j >= n:
            raise InputError(f"mask has the coupler ({i}, {j}), the network {n} oscillators")
    return _with_couplers(n, wiring.mask).to(device)


@functools.lru_cache(maxsize=16)
def _graph_spread(wiring: Wiring, hidden: int, outputs: int, device: torch.device | None) -> Tensor:
    """Cached, as `_graph`."""
    n = hidden + outputs
    output_sites = [(2 * k + 1) * n // (2 * outputs) for k in range(outputs)]
    sites = [site for site in range(n) if site not in output_sites] + output_sites
    return wiring.graph(n)[sites][:, sites].to(device)


@functools.lru_cache(maxsize=16)
def isolated_outputs(wiring: Wiring, hidden: int, outputs: int) -> tuple[int, ...]:
    """The outputs, counted from 0, without a coupler to a hidden oscillator."""
    coupled = wiring.graph_of(hidden, outputs)[hidden:, :hidden].any(1)
    return tuple(k for k, reached in enumerate(coupled.tolist()) if not reached)


@functools.lru_cache(maxsize=16)  # every training step needs it
def count_couplers(wiring: Wiring, hidden: int, outputs: int) -> int:
    """The number of couplers of a network; there are none between outputs."""
    graph = wiring.graph_of(hidden, outputs).triu(1)
    return int(graph.sum() - graph[hidden:, hidden:].sum())


def _with_couplers(n: int, pairs: Iterable[tuple[int, int]]) -> Tensor:
    """(N, N) booleans of couplers (i, j)."""
    graph = torch.zeros(n, n, dtype=torch.bool)
    for i, j in pairs:
        graph[i, j] = graph[j, i] = True
    return graph


def _all(n: int, _: Wiring) -> Tensor:
    return ~torch.eye(n, dtype=torch.bool)


def _squarest(index: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Rows and columns of sites in the squarest grid with n sites."""
    side = math.isqrt(max(n, 1) - 1) + 1
    return index // side, index % side


def _kings(n: int, _: Wiring) -> Tensor:
    row, column = _squarest(torch.arange(n)[:, None], n)
    return torch.maximum((row - row.T).abs(), (column - column.T).abs()) == 1


def _hexagonal(n: int, _: Wiring) -> Tensor:
    row, column = _squarest(torch.arange(n)[:, None], n)
    step, shift = column.T - column, row % 2  # odd rows are shifted by half a site to the right
    beside = (row == row.T) & (step.abs() == 1)
    return beside | ((row - row.T).abs() == 1) & ((step == shift - 1) | (step == shift))


def _chimera(n: int, _: Wiring) -> Tensor:
    index = torch.arange(n)[:, None]
    cell, site = index // 8, index % 8
    row, column = _squarest(cell, -(-n // 8))
    inside = (cell == cell.T) & ((site < 4) != (site.T < 4))
    vertical = (column == column.T) & ((row - row.T).abs() == 1)
    horizontal = (row == row.T) & ((column - column.T).abs() == 1)
    return inside | (site == site.T) & torch.where(site < 4, vertical, horizontal)


def _ring(n: int, wiring: Wiring) -> Tensor:
    index = torch.arange(n)[:, None]
    distance = torch.minimum((index - index.T) % n, (index.T - index) % n)
    return (distance > 0) & (distance <= wiring.degree // 2)


def _random(n: int, wiring: Wiring) -> Tensor:
    """Pairs in random order, as long as both ends have fewer than `degree` neighbours."""
    pairs = torch.triu_indices(n, n, 1).T
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(wiring.seed))
    neighbours = [0] * n
    couplers = []
    for i, j in pairs[order].tolist():
        if neighbours[i] < wiring.degree and neighbours[j] < wiring.degree:
            neighbours[i] += 1
            neighbours[j] += 1
            couplers.append((i, j))
    return _with_couplers(n, couplers)


_GRAPHS: dict[str, Callable[[int, Wiring], Tensor]] = {
    "all-to-all": _all,
    "layered": _all,
    "kings": _kings,
    "hexagonal": _hexagonal,
    "chimera": _chimera,
    "ring": _ring,
    "random": _random,
}
