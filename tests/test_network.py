"""What a network can and cannot express, and that its backward pass is the exact adjoint."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from entrain import KuramotoNetwork
from entrain.physics import INITIAL_PHASE
from networks import random_network, random_tensor


def naive_rollout(network: KuramotoNetwork, inputs: torch.Tensor) -> torch.Tensor:
    """The plain pairwise definition, step by step, for autograd."""
    b, couplings = network.fields(inputs), network.couplings
    dt, mobility = network.dynamics.time_step, network.dynamics.mobility
    theta = torch.full_like(b, INITIAL_PHASE)
    for _ in range(network.dynamics.steps):
        pairs = torch.sin(theta[:, :, None] - theta[:, None, :])
        theta = theta - dt * mobility * (b * theta.sin() + (couplings * pairs).sum(-1))
    return theta[:, network.hidden :].cos()


def test_counts_of_the_paper() -> None:
    network = KuramotoNetwork(784, 64, 10)
    assert network.parameter_count == 52_906
    assert network.couplers == 2_656
    assert network.oscillators == 74


@given(
    st.integers(1, 5),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(0, 1000),
)
@settings(max_examples=30, deadline=None)
def test_couplings_obey_every_constraint(inputs: int, hidden: int, outputs: int, seed: int) -> None:
    network = random_network(inputs, hidden, outputs, seed=seed)
    couplings = network.couplings
    assert torch.equal(couplings, couplings.T)
    assert not couplings.diagonal().any()
    assert not couplings[hidden:, hidden:].any()
    again = KuramotoNetwork.from_arrays(network.input_weights, network.biases, couplings)
    for ours, theirs in zip(network.parameters(), again.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def arrays() -> dict[str, np.ndarray]:
    network = random_network()
    return {
        "input_weights": network.input_weights.detach().numpy().copy(),
        "biases": network.biases.detach().numpy().copy(),
        "couplings": network.couplings.detach().numpy().copy(),
    }


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("couplings", lambda a: a.__setitem__((0, 1), 9.0), "symmetric"),
        ("couplings", lambda a: a.__setitem__((2, 2), 9.0), "self-coupling"),
        (
            "couplings",
            lambda a: (a.__setitem__((5, 6), 9.0), a.__setitem__((6, 5), 9.0)),
            "both are outputs",
        ),
        ("couplings", lambda a: a.__setitem__((0, 1), np.nan), "couplings must be finite"),
        ("biases", lambda a: a.__setitem__(0, np.inf), "biases must be finite"),
        ("input_weights", lambda a: a.__setitem__((0, 0), np.nan), "input weights must be finite"),
    ],
)
def test_from_arrays_names_the_broken_constraint(name: str, change, message: str) -> None:
    given_arrays = arrays()
    change(given_arrays[name])
    with pytest.raises(ValueError, match=message):
        KuramotoNetwork.from_arrays(**given_arrays)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("couplings", np.zeros((8, 7)), "8 x 8"),
        ("couplings", np.zeros(8), "8 x 8"),
        ("biases", np.zeros(5), "at least 6"),
        (
            "biases",
            np.zeros((8, 1)),
            r"one for each oscillator; got shape \(8, 1\)",
        ),
        ("input_weights", np.zeros((0, 6)), "non-empty"),
    ],
)
def test_from_arrays_refuses_wrong_shapes(name: str, array: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KuramotoNetwork.from_arrays(**(arrays() | {name: array}))


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": 0},
        {"hidden": -1},
        {"outputs": 2.5},
        {"steps": 0},
        {"observation_time": 0.0},
        {"mobility": -1.0},
        {"mobility": float("nan")},
    ],
)
def test_sizes_and_dynamics_are_checked_by_name(changes: dict[str, float]) -> None:
    sizes = {"inputs": 2, "hidden": 2, "outputs": 2} | changes
    with pytest.raises(ValueError, match=next(iter(changes))):
        KuramotoNetwork(**sizes)


@pytest.mark.parametrize(
    ("batch", "hidden", "outputs", "steps"), [(4, 5, 3, 30), (1, 1, 1, 1), (3, 7, 1, 11)]
)
def test_forward_and_backward_equal_autograd_of_the_plain_definition(
    batch: int, hidden: int, outputs: int, steps: int
) -> None:
    network = random_network(
        6, hidden, outputs, scale=2.0, observation_time=0.3, steps=steps, mobility=1.3
    )
    inputs = random_tensor(batch, 6, seed=1).requires_grad_()
    weights = random_tensor(batch, outputs, seed=2)
    wanted = torch.autograd.grad(
        (naive_rollout(network, inputs) * weights).sum(), [inputs, *network.parameters()]
    )
    outputs_ours = network(inputs)
    found = torch.autograd.grad((outputs_ours * weights).sum(), [inputs, *network.parameters()])
    assert torch.allclose(outputs_ours, naive_rollout(network, inputs), atol=1e-12, rtol=0)
    for ours, theirs in zip(found, wanted, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_backward_passes_gradcheck() -> None:
    network = random_network(3, 3, 2, observation_time=0.5, steps=7)
    inputs = random_tensor(2, 3).requires_grad_()
    assert torch.autograd.gradcheck(network, (inputs,), atol=1e-7)


def test_permuting_hidden_oscillators_changes_nothing() -> None:
    network = random_network(hidden=7)
    order = torch.cat(
        [torch.randperm(7, generator=torch.Generator().manual_seed(3)), torch.arange(7, 10)]
    )
    permuted = KuramotoNetwork.from_arrays(
        network.input_weights[order[:7]],
        network.biases[order],
        network.couplings[order][:, order],
    )
    inputs = random_tensor(5, 6)
    assert torch.allclose(network(inputs), permuted(inputs), atol=1e-12, rtol=0)


def test_any_leading_axes_and_a_clear_error_for_wrong_inputs() -> None:
    network = random_network()
    inputs = random_tensor(2, 3, 6)
    assert torch.equal(network(inputs)[1], network(inputs[1]))
    with pytest.raises(ValueError, match="6 components"):
        network(random_tensor(2, 5))


def test_simulate_shapes_and_agreement_with_forward() -> None:
    network = random_network(steps=12)
    inputs = random_tensor(4, 6)
    path = network.simulate(inputs, record=1).phases
    assert path.shape == (13, 4, 8)
    assert (path[0] == INITIAL_PHASE).all()
    assert torch.equal(path[-1], network.simulate(inputs).final)
    assert torch.equal(path[-1][:, 5:].cos(), network(inputs))
    assert network.simulate(inputs, restarts=3).final.shape == (3, 4, 8)
    noisy = network.simulate(inputs, steps=9, record=True, temperature=1.0, restarts=3)
    assert noisy.phases.shape == (10, 3, 4, 8)
    for bad in ({"temperature": -1.0}, {"steps": 0}, {"restarts": 0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            network.simulate(inputs, **bad)
