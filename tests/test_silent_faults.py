"""What once gave a wrong answer without a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch import nn

import entrain
from entrain import kernels
from entrain.evaluation.chips import scores_on_chips
from entrain.export.design import design_of
from entrain.hardware import preset
from entrain.kernels import reference
from entrain.models.oscillators import Oscillators
from entrain.physics import Dynamics, Parameters, PhaseModel, SparseCouplings, parameters
from entrain.physics.couplings import SMALLEST
from entrain.training.retrain import spec_of
from networks import random_model

DYNAMICS = Dynamics(1.0, 0.5, 20)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_flow_through_a_rollout_in_every_precision(dtype: torch.dtype) -> None:
    model = random_model(1, 4, 6, ("frequencies",)).map(lambda t: t.to(dtype).requires_grad_())
    kernels.rollout(model, DYNAMICS).sin().sum().backward()
    exact = model.map(lambda t: t.detach().double().requires_grad_())
    reference.rollout(exact, DYNAMICS).sin().sum().backward()
    for name, tensor in model.tensors().items():
        torch.testing.assert_close(
            tensor.grad.double(), exact.tensors()[name].grad, rtol=1e-4, atol=1e-5
        )


class Pull(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.strength = nn.Parameter(torch.tensor(0.3))

    def forward(self, phases: torch.Tensor) -> torch.Tensor:
        return self.strength * phases.sin()


def test_parameters_of_custom_terms_get_gradients_or_an_error() -> None:
    term = Pull()
    oscillators = Oscillators(4, coupling=0.5, fields=1.0, other_terms=[term])
    assert dict(oscillators.named_parameters()).keys() == {"_modules_of_terms.0.strength"}
    oscillators.simulate(time=1.0, steps=20).final.sin().sum().backward()
    assert term.strength.grad is not None
    assert float(term.strength.grad.abs()) > 0.1
    model = oscillators.phase_model().map(lambda tensor: tensor[None])
    phases, pullback = kernels.rollout_with_pullback(model, DYNAMICS)
    with pytest.raises(entrain.InputError, match="parameters that require gradients"):
        pullback(torch.ones_like(phases))


def test_numpy_arrays_become_single_precision_and_tensors_stay() -> None:
    arrays = np.zeros((3, 2)), np.zeros(4), np.zeros((4, 4))
    assert entrain.KuramotoNetwork.from_arrays(*arrays).biases.dtype == torch.float32
    tensors = [torch.from_numpy(array) for array in arrays]
    assert entrain.KuramotoNetwork.from_arrays(*tensors).biases.dtype == torch.float64


def test_a_graph_may_be_sparse_or_of_networkx() -> None:
    ring = nx.cycle_graph(6)
    matrix = nx.to_numpy_array(ring)
    for graph in (ring, scipy.sparse.csr_array(matrix), matrix > 0):
        assert entrain.KuramotoNetwork(2, 4, 2, graph=graph).couplers == 6


def kings_network() -> Parameters:
    """A King's graph of 14 x 14 oscillators, the last six read."""
    graph = nx.convert_node_labels_to_integers(
        nx.strong_product(nx.path_graph(14), nx.path_graph(14))
    )
    network = entrain.KuramotoNetwork(5, 190, 6, graph=graph, seed=3)
    return network.as_parameters().map(lambda tensor: tensor.detach()[None])


def test_chips_of_a_sparse_network_are_those_of_its_matrix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = kings_network()
    inputs = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    assert network.biases.shape[-1] > SMALLEST
    model: PhaseModel = network.phase_model(inputs)
    assert isinstance(model.couplings, SparseCouplings)
    for name in ("typical", "ark"):
        sparse = scores_on_chips(network, preset(name), range(3), inputs, DYNAMICS)
        with monkeypatch.context() as patch:
            patch.setattr(parameters, "SMALLEST", 10**6)
            dense = scores_on_chips(network, preset(name), range(3), inputs, DYNAMICS)
        torch.testing.assert_close(sparse, dense, rtol=1e-5, atol=1e-5)
        assert float((sparse[:, 0] - sparse[:, 1]).abs().max()) > 1e-3


def test_a_term_that_an_export_or_a_training_does_not_support_is_refused() -> None:
    model = entrain.load("mnist-48-chip")
    strength = torch.full((model.network.oscillators,), 0.1)
    terms = model.network.as_parameters().with_tensors({"injection_3": strength})
    network = entrain.KuramotoNetwork.from_parameters(terms, model.network.dynamics)
    changed = replace(model, network=network)
    pixels = entrain.load_test_split("mnist").features[:1]
    with pytest.raises(entrain.InputError, match="injection_3, which an export does not support"):
        design_of(changed, pixels, [0])
    with pytest.raises(entrain.InputError, match="injection_3, which a training does not support"):
        spec_of(network)


def test_a_model_file_keeps_every_term(tmp_path: Path) -> None:
    model = entrain.load("mnist-48-chip")
    n = model.network.oscillators
    added = {"injection_3": torch.full((n,), 0.1), "edge_lag": 0.1 * model.network.graph.float()}
    terms = model.network.as_parameters().with_tensors(added)
    network = entrain.KuramotoNetwork.from_parameters(terms, model.network.dynamics)
    replace(model, network=network).save(tmp_path / "x.safetensors")
    inputs = model.inputs(entrain.load_test_split("mnist").features[:5])
    with torch.no_grad():
        again = entrain.load(tmp_path / "x.safetensors").network(inputs)
        assert torch.equal(again, network(inputs))
        assert not torch.equal(again, model.network(inputs))
