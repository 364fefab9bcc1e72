"""Which couplers a chip has: graphs, places of the outputs, and the couplers that are pruned."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from chips import (
    HIDDEN,
    OUTPUTS,
    N,
    made,
    parameters,
)
from entrain.hardware import (
    Hardware,
    Sparsity,
    Wiring,
    largest,
)
from entrain.hardware.wiring import count_couplers
from entrain.physics import layered_graph
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")


def degrees(kind: str, n: int, **others: int) -> list[int]:
    graph = Wiring(kind, **others).graph(n)
    assert torch.equal(graph, graph.T)
    assert not graph.diagonal().any()
    return graph.sum(1).tolist()


def test_a_kings_graph_has_three_five_and_eight_neighbours() -> None:
    found = degrees("kings", 25)
    assert sorted(found) == [3] * 4 + [5] * 12 + [8] * 9
    assert found[0] == found[4] == found[20] == found[24] == 3
    graph = Wiring("kings").graph(25)
    assert graph[12].nonzero().flatten().tolist() == [6, 7, 8, 11, 13, 16, 17, 18]


def test_a_hexagonal_grid_has_six_neighbours_inside() -> None:
    found = torch.tensor(degrees("hexagonal", 49)).reshape(7, 7)
    assert (found[1:-1, 1:-1] == 6).all()
    assert found.max() == 6
    triangles = Wiring("hexagonal").graph(49).double()
    common = (triangles @ triangles)[triangles > 0].reshape(-1)
    assert float(common.max()) == 2  # neighbours share two others, as in a triangular lattice


def test_chimera_is_cells_of_four_and_four() -> None:
    found = torch.tensor(degrees("chimera", 72)).reshape(9, 8)
    assert found.sum() == 2 * (9 * 16 + 2 * 6 * 4)
    assert found[4].tolist() == [6] * 8  # the middle of 3 x 3 cells
    assert found[0].tolist() == [5] * 8
    graph = Wiring("chimera").graph(72)
    assert graph[0, 24]  # down, from an upper oscillator
    assert graph[4, 12]  # to the right, from a lower one
    assert not graph[0, 8]
    assert not graph[0, 1]


@pytest.mark.parametrize("degree", [2, 4, 10])
def test_a_ring_has_its_degree(degree: int) -> None:
    assert degrees("ring", 11, degree=degree) == [degree] * 11
    assert Wiring("ring", degree=2).graph(11)[0].nonzero().flatten().tolist() == [1, 10]


def test_a_random_graph_has_at_most_its_degree_and_depends_on_its_seed() -> None:
    found = degrees("random", 40, degree=5)
    assert max(found) == 5
    assert sum(found) >= 0.97 * 5 * 40
    first, again, other = (Wiring("random", 5, seed).graph(40) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_wiring_removes_exactly_the_missing_couplers() -> None:
    of = parameters()
    mask = ((0, 5), (1, HIDDEN), (2, HIDDEN + 2), (3, 4), (4, HIDDEN + 1))
    for wiring in (Wiring("kings"), Wiring(mask=mask)):
        found = made(Hardware(wiring=wiring), of=of)
        graph = wiring.graph(N)
        assert torch.equal(found.couplings[0], of.couplings[0] * graph)
        assert torch.equal(found.graph, of.graph & graph)
    assert Wiring(mask=mask).graph(N).triu(1).nonzero().tolist() == [list(pair) for pair in mask]


def test_spread_outputs_have_sites_all_over_the_chip() -> None:
    """By hand: 9 hidden oscillators and 3 outputs on a ring, the outputs at 2, 6 and 10."""
    at = [0, 1, 3, 4, 5, 7, 8, 9, 11, 2, 6, 10]
    wiring = Wiring("ring", degree=2, outputs="spread")
    wanted = [[abs(i - j) in (1, N - 1) for j in at] for i in at]
    assert wiring.graph_of(HIDDEN, OUTPUTS).tolist() == wanted
    assert count_couplers(wiring, HIDDEN, OUTPUTS) == N
    of = parameters()
    found = made(Hardware(wiring=wiring), of=of)
    assert torch.equal(found.graph, of.graph & torch.tensor(wanted))
    assert torch.equal(found.couplings[0], of.couplings[0] * torch.tensor(wanted))
    spread = wiring.spread(HIDDEN, OUTPUTS)
    assert spread == Wiring("ring", degree=2).spread(HIDDEN, OUTPUTS)
    assert torch.equal(made(Hardware(wiring=spread), of=of).couplings, found.couplings)


def test_outputs_spread_over_a_chip_with_every_coupler_change_nothing() -> None:
    for kind in ("layered", "all-to-all"):
        assert Hardware(wiring=Wiring(kind, outputs="spread")).is_identity


@pytest.mark.parametrize("kept", [0.01, 0.25, 0.5, 0.9])
def test_sparsity_keeps_exactly_the_largest(kept: float) -> None:
    of = parameters()
    found = made(Hardware(sparsity=Sparsity(kept)), of=of).couplings[0]
    assert torch.equal(found, found.T)
    sizes = of.couplings[0].triu(1).abs()
    couplers = int(of.graph.triu(1).sum())
    left = found.triu(1) != 0
    assert int(left.sum()) == round(kept * couplers)
    assert torch.equal(found[left], of.couplings[0][left])
    assert float(sizes[left].min()) > float(sizes[~left].max())
    again = replace(of, couplings=found[None])
    assert torch.equal(made(Hardware(sparsity=Sparsity(kept)), of=again).couplings[0], found)


@pytest.mark.parametrize("kept", [0.1, 0.2, 0.3])
def test_pruning_in_training_leaves_every_output_its_share(kept: float) -> None:
    of = parameters()
    outputs = N - HIDDEN
    faint = of.couplings.clone()
    faint[:, HIDDEN:] *= 1e-3
    faint[:, :, HIDDEN:] *= 1e-3
    alone = largest(faint, of.graph, kept)
    assert not alone[0, HIDDEN:].any()  # by size alone every class would be lost
    found = largest(faint, of.graph, kept, outputs)[0]
    assert torch.equal(found, found.T)
    assert not (found & ~of.graph).any()
    couplers = int(of.graph.triu(1).sum())
    assert int(found.triu(1).sum()) == round(kept * couplers)
    for output in range(HIDDEN, N):
        least = math.ceil(kept * int(of.graph[output].sum()))
        left = found[output]
        assert int(left.sum()) == least
        sizes = (faint[0, output].abs() * of.graph[output]).sort(descending=True).values
        assert torch.equal(faint[0, output][left].abs().sort(descending=True).values, sizes[:least])


def test_an_output_keeps_at_most_eight_weak_couplers() -> None:
    graph = layered_graph(40, 3)
    couplings = random_tensor(1, 43, 43, seed=4)
    couplings[:, 40:] *= 1e-3
    couplings[:, :, 40:] *= 1e-3
    assert largest(couplings, graph, 0.5, 3)[0, 40:].sum(-1).tolist() == [8, 8, 8]
    assert largest(couplings, graph, 0.1, 3)[0, 40:].sum(-1).tolist() == [4, 4, 4]


def test_strong_couplers_of_outputs_need_no_protection() -> None:
    of = parameters()
    strong = of.couplings.clone()
    strong[:, HIDDEN:] *= 10
    strong[:, :, HIDDEN:] *= 10
    assert torch.equal(largest(strong, of.graph, 0.5, N - HIDDEN), largest(strong, of.graph, 0.5))
    whole = largest(strong, of.graph, 1.0, N - HIDDEN)
    assert torch.equal(whole[0], of.graph)


def test_the_kept_share_is_of_the_couplers_on_the_graph() -> None:
    hardware = Hardware(wiring=Wiring("ring", degree=4), sparsity=Sparsity(0.5))
    ring = int((Wiring("ring", degree=4).graph(N) & parameters().graph).triu(1).sum())
    assert int((made(hardware).couplings[0].triu(1) != 0).sum()) == round(0.5 * ring)
