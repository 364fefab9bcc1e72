"""Which couplers a chip has, and how many of them a network may use."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from entrain.hardware.defects import probability
from entrain.hardware.effect import Draws, Effect, Realised
from entrain.utils.errors import InputError, one_of, positive_int, seed_number, short_repr

_OUTPUT_KEEPS = 8  # couplers, if its share of those that are kept is as large

GraphKind = Literal["all-to-all", "layered", "kings", "hexagonal", "chimera", "ring", "random"]
OutputPlaces = Literal["last", "spread"]


@dataclass(frozen=True)
class Wiring(Effect):
    """The couplers between the places of a chip, and where a network's oscillators sit.

    `kind` is "all-to-all", "layered" (none between outputs: what a network has anyway), "kings"
    (a square grid, eight neighbours), "hexagonal" (a square grid whose rows are shifted, six
    neighbours), "chimera" (cells of 4 + 4 in a square grid), "ring" (the `degree` nearest, an even
    number) or "random" (up to `degree` neighbours, drawn once by `seed`). Or `mask`, without a
    `kind`, lists the couplers (i, j), i < j, or is a symmetric (N, N) matrix of booleans, which is
    kept as that list. Grids are as square as the number of oscillators allows.

    Oscillator i of a network sits at place i of the chip, so that outputs have the last places and
    are each other's neighbours on a grid. With `outputs` "spread" they have places spread evenly
    over the chip, and the hidden oscillators the others in order.
    """

    kind: GraphKind = "layered"
    degree: int = 2
    seed: int = 0
    mask: tuple[tuple[int, int], ...] | None = None
    outputs: OutputPlaces = "last"

    def __post_init__(self) -> None:
        one_of("kind", self.kind, GraphKind)
        positive_int("degree", self.degree)
        seed_number("seed", self.seed)
        one_of("outputs", self.outputs, OutputPlaces)
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
        """(N, N) booleans between the places of the chip."""
        return _graph(self, oscillators, device)

    def graph_of(self, hidden: int, outputs: int, device: torch.device | None = None) -> Tensor:
        """(N, N) booleans between the oscillators of a network, each at its place."""
        if self.outputs == "last":
            return self.graph(hidden + outputs, device)
        return _graph_spread(self, hidden, outputs, device)

    def cut_off(self, hidden: int, outputs: int) -> tuple[int, ...]:
        """The outputs, counted from 0, that have no coupler to a hidden oscillator."""
        return _cut_off(self, hidden, outputs)

    def couplers(self, hidden: int, outputs: int) -> int:
        """How many of a network's couplers there are; it has none between outputs."""
        return _couplers_of(self, hidden, outputs)

    def spread(self, hidden: int, outputs: int) -> Wiring:
        """The couplers that such a network has with `outputs` "spread", as a mask."""
        graph = _graph_spread(self, hidden, outputs, None).triu(1)
        return Wiring(mask=tuple((int(i), int(j)) for i, j in graph.nonzero().tolist()))

    def _graph(self, n: int) -> Tensor:
        if self.mask is not None:
            pairs = self.mask
        elif self.kind in ("ring", "random"):
            if self.degree >= n:
                raise InputError(f"degree must be below the {n} oscillators, got {self.degree}")
            pairs = _ring(n, self.degree) if self.kind == "ring" else _random(n, self)
        elif self.kind in ("layered", "all-to-all"):
            return ~torch.eye(n, dtype=torch.bool)
        else:
            neighbours = _GRIDS[self.kind]
            pairs = tuple((i, j) for i in range(n) for j in range(i + 1, n) if neighbours(n, i, j))
        graph = torch.zeros(n, n, dtype=torch.bool)
        for i, j in pairs:
            if j >= n:
                raise InputError(f"mask has the coupler ({i}, {j}), the network {n} oscillators")
            graph[i, j] = graph[j, i] = True
        return graph

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters, couplings = network.parameters, network.parameters.couplings
        graph = self.graph_of(parameters.hidden, parameters.outputs, couplings.device)
        return network.with_numbers(couplings=couplings * graph, graph=parameters.graph & graph)

    def times(self, factor: float) -> None:
        """A graph has no strength."""


@dataclass(frozen=True)
class Sparsity(Effect):
    """Only a share of the couplers is used, those with the largest couplings: `kept` of all.

    A network that was trained with as few has zeros elsewhere already, and does not change.
    """

    kept: float = 1.0

    def __post_init__(self) -> None:
        if probability("kept", self.kept) == 0.0:
            raise InputError("kept must be above 0: without couplers the outputs feel nothing")

    @property
    def is_identity(self) -> bool:
        return self.kept == 1.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        mask = largest(parameters.couplings, parameters.graph, self.kept)
        return network.with_numbers(couplings=parameters.couplings * mask)

    def times(self, factor: float) -> Sparsity:
        """The share kept to the power of the factor: twice as strong, half becomes a quarter."""
        return Sparsity(self.kept**factor)


def largest(couplings: Tensor, graph: Tensor, kept: float, outputs: int = 0) -> Tensor:
    """(L, N, N) booleans: the share `kept` of the graph's couplers with the largest |J_ij|.

    With `outputs`, each of the last so many oscillators keeps at least that share of its own, or
    eight: couplings to outputs are the smaller ones, and an output without any is a lost class.
    """
    upper = graph.triu(1)
    strengths = couplings.detach().abs()
    if outputs and kept < 1.0:
        strengths = _outputs_first(strengths * graph, graph, kept, outputs)
    sizes = strengths[:, upper]  # (L, E)
    count = min(sizes.shape[1], max(1, round(kept * sizes.shape[1])))
    chosen = torch.zeros_like(sizes, dtype=torch.bool)
    chosen.scatter_(1, first_largest(sizes, count), True)
    mask = torch.zeros_like(couplings, dtype=torch.bool)
    mask[:, upper] = chosen
    return mask | mask.mT


def _outputs_first(strengths: Tensor, graph: Tensor, share: float, outputs: int) -> Tensor:
    """`strengths` (L, N, N), infinite for the largest of each output's couplers: `share` of them,
    but no more than eight."""
    first = torch.zeros_like(strengths, dtype=torch.bool)
    for output in range(len(graph) - outputs, len(graph)):
        count = min(_OUTPUT_KEEPS, math.ceil(share * int(graph[output].sum())))
        first[:, output].scatter_(1, first_largest(strengths[:, output], count), True)
    return strengths.masked_fill((first | first.mT) & graph, math.inf)


def first_largest(sizes: Tensor, count: int) -> Tensor:
    """Where the `count` largest numbers of the last axis are; of equal ones the first, on every
    device."""
    return sizes.argsort(dim=-1, descending=True, stable=True)[..., :count]


def _couplers(mask: object) -> tuple[tuple[int, int], ...]:
    """The couplers of a mask, in order."""
    rows = _plain(mask)
    if not isinstance(rows, tuple):
        rows = (rows,)
    if rows and all(isinstance(row, tuple) and _are_booleans(row) for row in rows):
        return _couplers_of_matrix(rows)
    for pair in rows:
        ends = pair if isinstance(pair, tuple) else ()
        if [type(end) for end in ends] != [int, int] or not 0 <= ends[0] < ends[1]:
            raise InputError(
                f"mask must list couplers (i, j) with 0 <= i < j, or be an N x N matrix of "
                f"booleans, got {short_repr(pair)}"
            )
    return tuple(sorted(rows))


def _couplers_of_matrix(rows: tuple[tuple[bool, ...], ...]) -> tuple[tuple[int, int], ...]:
    n = len(rows)
    if any(len(row) != n for row in rows):
        wrong = next(len(row) for row in rows if len(row) != n)
        raise InputError(f"mask as a matrix must be square, got {n} rows and one of {wrong}")
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        if rows[i][j] != rows[j][i]:
            raise InputError(
                f"mask as a matrix must be symmetric, got {rows[i][j]} at ({i}, {j}) and "
                f"{rows[j][i]} at ({j}, {i})"
            )
        if i == j and rows[i][i]:
            raise InputError(f"mask as a matrix must be False on its diagonal, got True at {i}")
    return tuple((i, j) for i, j in itertools.combinations(range(n), 2) if rows[i][j])


def _plain(mask: object) -> Any:
    """Lists and arrays as tuples of Python's own values."""
    if isinstance(mask, np.ndarray | np.bool_ | Tensor):
        mask = mask.tolist()
    return tuple(map(_plain, mask)) if isinstance(mask, list | tuple) else mask


def _are_booleans(row: tuple[object, ...]) -> bool:
    return bool(row) and all(isinstance(value, bool) for value in row)


@functools.lru_cache(maxsize=16)
def _graph(wiring: Wiring, n: int, device: torch.device | None) -> Tensor:
    """Kept, since a step that is recorded as a graph must not copy from the host."""
    return wiring._graph(n).to(device)


@functools.lru_cache(maxsize=16)
def _graph_spread(wiring: Wiring, hidden: int, outputs: int, device: torch.device | None) -> Tensor:
    """Kept, as `_graph`."""
    n = hidden + outputs
    chosen = [(2 * k + 1) * n // (2 * outputs) for k in range(outputs)]
    places = [place for place in range(n) if place not in chosen] + chosen
    return wiring.graph(n)[places][:, places].to(device)


@functools.lru_cache(maxsize=16)
def _cut_off(wiring: Wiring, hidden: int, outputs: int) -> tuple[int, ...]:
    """Kept, as `_couplers_of`."""
    reached = wiring.graph_of(hidden, outputs)[hidden:, :hidden].any(1)
    return tuple(k for k, found in enumerate(reached.tolist()) if not found)


@functools.lru_cache(maxsize=16)
def _couplers_of(wiring: Wiring, hidden: int, outputs: int) -> int:
    """Kept, since every step of a training asks."""
    graph = wiring.graph_of(hidden, outputs).triu(1)
    return int(graph.sum() - graph[hidden:, hidden:].sum())


def _side(n: int) -> int:
    """Columns of the squarest grid that holds n places."""
    return math.isqrt(max(n, 1) - 1) + 1


def _kings(n: int, i: int, j: int) -> bool:
    side = _side(n)
    return max(abs(i // side - j // side), abs(i % side - j % side)) == 1


def _hexagonal(n: int, i: int, j: int) -> bool:
    side = _side(n)
    (row, column), (other, other_column) = divmod(i, side), divmod(j, side)
    if row == other:
        return abs(column - other_column) == 1
    shift = row % 2  # odd rows are shifted by half a place to the right
    return abs(row - other) == 1 and other_column - column in (shift - 1, shift)


def _chimera(n: int, i: int, j: int) -> bool:
    cells = _side(-(-n // 8))
    (cell, place), (other, other_place) = divmod(i, 8), divmod(j, 8)
    if cell == other:
        return (place < 4) != (other_place < 4)
    (row, column), (other_row, other_column) = divmod(cell, cells), divmod(other, cells)
    if place != other_place:
        return False
    vertical = column == other_column and abs(row - other_row) == 1
    horizontal = row == other_row and abs(column - other_column) == 1
    return vertical if place < 4 else horizontal


_GRIDS: dict[str, Callable[[int, int, int], bool]] = {
    "kings": _kings,
    "hexagonal": _hexagonal,
    "chimera": _chimera,
}


def _ring(n: int, degree: int) -> tuple[tuple[int, int], ...]:
    reach = degree // 2
    return tuple(
        {
            (min(i, (i + step) % n), max(i, (i + step) % n))
            for i in range(n)
            for step in range(1, reach + 1)
        }
    )


def _random(n: int, wiring: Wiring) -> tuple[tuple[int, int], ...]:
    """Pairs in random order, each taken while both ends have fewer than `degree` neighbours."""
    pairs = torch.triu_indices(n, n, 1).T
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(wiring.seed))
    neighbours = [0] * n
    taken = []
    for i, j in pairs[order].tolist():
        if neighbours[i] < wiring.degree and neighbours[j] < wiring.degree:
            neighbours[i] += 1
            neighbours[j] += 1
            taken.append((i, j))
    return tuple(taken)
