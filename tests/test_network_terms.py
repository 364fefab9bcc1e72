"""Networks of any graph with every term: paths, derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from entrain import InputError, KuramotoNetwork, kernels
from entrain.physics.network_spec import SPEC_TERMS as TERMS
from networks import random_tensor

INPUTS, H, OUTPUTS = 4, 3, 2
N = H + OUTPUTS
CHAIN = torch.zeros(N, N, dtype=torch.bool)
for _i in range(N - 1):
    CHAIN[_i, _i + 1] = CHAIN[_i + 1, _i] = True


def network_with(
    *, runs: int | None = None, seed: int = 0, steps: int = 12, **others: Any
) -> KuramotoNetwork:
    """All terms, trainable, on a chain of oscillators, with normal numbers; float64."""
    axes = () if runs is None else (runs,)
    terms: dict[str, Any] = {
        "frequencies": random_tensor(*axes, N, seed=seed + 1),
        "start_phases": random_tensor(*axes, N, seed=seed + 2),
        "injection": 0.3 * random_tensor(*axes, N, seed=seed + 3),
        "lag": 0.4 + 0.2 * random_tensor(*axes, seed=seed + 4),
        "harmonic": 0.5 * random_tensor(*axes, 2, seed=seed + 9),
    }
    network = KuramotoNetwork(
        INPUTS,
        H,
        OUTPUTS,
        graph=CHAIN,
        **terms,
        **{"trainable": TERMS} | others,
        runs=runs,
        mobility=1.3,
        observation_time=0.5,
        steps=steps,
        dtype=torch.float64,
    )
    with torch.no_grad():
        for place, name in enumerate(("input_weights", "biases", "coupler_strengths")):
            parameter = getattr(network, name)
            parameter.copy_(random_tensor(*parameter.shape, seed=seed + 5 + place))
    return network


def one_of(network: KuramotoNetwork, run: int) -> KuramotoNetwork:
    return KuramotoNetwork.from_parameters(
        network.as_parameters().run(run).map(lambda tensor: tensor.detach()),
        network.dynamics,
        TERMS,
    )


def differences(loss: Callable[[], float], parameter: Tensor, h: float = 1e-6) -> Tensor:
    """The gradient of `loss` by `parameter`, by central differences."""
    flat, found = parameter.detach().view(-1), torch.zeros_like(parameter).view(-1)
    for place in range(flat.numel()):
        kept = float(flat[place])
        flat[place] = kept + h
        up = loss()
        flat[place] = kept - h
        found[place] = (up - loss()) / (2 * h)
        flat[place] = kept
    return found.view_as(parameter)


def test_terms_are_parameters_if_trained_and_buffers_if_not() -> None:
    names = {"input_weights", "biases", "coupler_strengths"}
    assert {name for name, _ in network_with().named_parameters()} == names | set(TERMS)
    fixed = network_with(trainable=("lag",))
    assert {name for name, _ in fixed.named_parameters()} == names | {"lag"}
    assert set(fixed.state_dict()) == names | set(TERMS) | {"coupler_mask"}
    assert fixed.couplers == N - 1
    assert fixed.parameter_count == H * INPUTS + N + (N - 1) + 1
    with pytest.raises(InputError, match="injection must have initial values"):
        KuramotoNetwork(INPUTS, H, OUTPUTS, trainable=("injection",))
    with pytest.raises(InputError, match="unknown trainable term 'lags'; did you mean 'lag'"):
        KuramotoNetwork(INPUTS, H, OUTPUTS, trainable=("lags",))


def test_a_step_is_the_equation_of_motion() -> None:
    """Pair by pair, as the documentation has it."""
    network, inputs = network_with(), random_tensor(3, INPUTS, seed=20)
    theta, b = random_tensor(3, N, seed=21), network.fields(inputs)
    apart, (c, d) = theta[:, :, None] - theta[:, None, :], network.harmonic
    pairs = (apart + network.lag).sin() + c * (2 * apart).sin() + d * (2 * apart).cos()
    bracket = b * theta.sin() + (network.couplings * pairs).sum(-1)
    bracket = bracket + 2 * network.injection * (2 * theta).sin()
    velocity = network.frequencies - 1.3 * bracket
    assert torch.allclose(network.drift(theta, inputs), velocity, rtol=0, atol=1e-12)


def test_the_path_at_grid_times_is_the_simulation() -> None:
    network, inputs = network_with(), random_tensor(3, INPUTS, seed=20)
    path = network.simulate(inputs, record=1).phases
    assert torch.equal(path[0], network.start_phases.expand(3, N))
    times = [network.dynamics.time_step * k for k in (0, 3, 12)]
    assert torch.equal(network.simulate(inputs, times=times).phases, path[[0, 3, 12]])
    noisy = network.simulate(inputs, record=1, temperature=0.5, seed=3).phases
    again = network.simulate(inputs, times=times, temperature=0.5, seed=3).phases
    assert torch.equal(again, noisy[[0, 3, 12]])


def test_between_grid_times_the_path_is_a_straight_line() -> None:
    network, inputs = network_with(), random_tensor(3, INPUTS, seed=20)
    path, dt = network.simulate(inputs, record=1).phases, network.dynamics.time_step
    found = network.simulate(inputs, times=[0.25 * dt, 4.5 * dt, 11.9 * dt]).phases
    for at, (before, part) in zip(found, ((0, 0.25), (4, 0.5), (11, 0.9)), strict=True):
        line = (1 - part) * path[before] + part * path[before + 1]
        assert torch.allclose(at, line, rtol=0, atol=1e-12)
    for times in ([-0.1], [0.51], [float("nan")]):
        with pytest.raises(InputError, match=r"times must (lie from 0 to 0\.5|be finite)"):
            network.simulate(inputs, times=times)


@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_the_gradient_of_the_path_is_that_of_finite_differences(temperature: float) -> None:
    network, inputs = network_with(), random_tensor(2, INPUTS, seed=20)
    times = [0.0, 0.11, 0.25, 0.5]
    weights = random_tensor(4, 2, N, seed=22)

    def loss() -> Tensor:
        path = network.simulate(inputs, times=times, temperature=temperature).phases
        return (path.sin() * weights).sum()

    loss().backward()
    for name, parameter in network.named_parameters():
        with torch.no_grad():
            exact = differences(lambda: float(loss()), parameter)
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, exact, rtol=1e-6, atol=1e-8), name
        assert exact.abs().max() > 1e-3


@pytest.mark.parametrize("own", [False, True], ids=["shared inputs", "own inputs"])
def test_three_runs_are_three_networks(own: bool) -> None:
    together = network_with(runs=3)
    inputs = random_tensor(3, 4, INPUTS, seed=20)
    given = inputs if own else inputs[0]
    weights = random_tensor(3, 4, OUTPUTS, seed=23)
    outputs, path = together(given), together.simulate(given, record=1).phases
    (outputs * weights).sum().backward()
    assert outputs.shape == (3, 4, OUTPUTS)
    assert path.shape == (13, 3, 4, N)
    assert together.parameter_count == one_of(together, 0).parameter_count
    for run in range(3):
        alone, their_inputs = one_of(together, run), given[run] if own else given
        theirs = alone(their_inputs)
        (theirs * weights[run]).sum().backward()
        assert torch.allclose(outputs[run], theirs, rtol=0, atol=1e-13)
        assert torch.allclose(
            path[:, run], alone.simulate(their_inputs, record=1).phases, rtol=0, atol=1e-12
        )
        for name, parameter in alone.named_parameters():
            ours = getattr(together, name).grad
            assert torch.allclose(ours[run], parameter.grad, rtol=1e-9, atol=1e-12), name
    with pytest.raises(InputError, match="2 batches, the network has 3 runs"):
        together(inputs[:2])


def test_transforms_of_torch_func_are_loops_and_autograd() -> None:
    network, inputs = network_with(), random_tensor(5, INPUTS, seed=20)
    numbers = {name: tensor.detach() for name, tensor in network.named_parameters()}

    def forward(numbers: dict[str, Tensor], given: Tensor) -> Tensor:
        return torch.func.functional_call(network, numbers, (given,))

    one_by_one = torch.stack([network(each) for each in inputs])
    mapped = torch.func.vmap(forward, in_dims=(None, 0))(numbers, inputs)
    assert torch.allclose(mapped, one_by_one, rtol=0, atol=1e-12)

    def loss(numbers: dict[str, Tensor], given: Tensor) -> Tensor:
        return forward(numbers, given).square().sum()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(numbers, inputs)
    for row, given in enumerate(inputs):
        network.zero_grad()
        network(given).square().sum().backward()
        for name, parameter in network.named_parameters():
            assert torch.allclose(each[name][row], parameter.grad, rtol=1e-9, atol=1e-12), name

    jacobian = torch.func.jacrev(forward)(numbers, inputs)
    for row in range(5):
        for output in range(OUTPUTS):
            network.zero_grad()
            network(inputs)[row, output].backward()
            for name, parameter in network.named_parameters():
                ours = jacobian[name][row, output]
                assert torch.allclose(ours, parameter.grad, rtol=1e-9, atol=1e-12), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_second_derivative_of_the_fast_path_is_refused(dtype: torch.dtype) -> None:
    network, inputs = network_with().to(dtype), random_tensor(2, INPUTS, seed=20).to(dtype)
    (slope,) = torch.autograd.grad(
        network(inputs).square().sum(), network.biases, create_graph=True
    )
    with pytest.raises(RuntimeError, match="first derivatives only"):
        slope.sum().backward()
    # autograd.grad with some of the inputs prunes what it does not need: it must not be pruned.
    with pytest.raises(RuntimeError, match="first derivatives only"):
        torch.autograd.grad(slope.square().sum(), network.input_weights)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        torch.autograd.functional.hessian(lambda u: network(u).sum(), inputs)


def test_a_state_of_another_graph_is_refused() -> None:
    one, other = network_with(), KuramotoNetwork(INPUTS, H, OUTPUTS)
    one.load_state_dict(network_with(seed=5).state_dict())
    with pytest.raises(InputError, match="another graph"):
        one.load_state_dict(other.state_dict(), strict=False)


def test_energy_and_drift_of_a_trajectory_with_runs_are_those_of_each_run() -> None:
    networks, inputs = network_with(runs=3), random_tensor(4, INPUTS, seed=2)
    path = networks.simulate(inputs, times=[0.0, 0.1, 0.3]).phases  # as many times as runs
    path = path.movedim(1, 0)
    for run in range(3):
        one = KuramotoNetwork.from_parameters(networks.as_parameters().run(run), networks.dynamics)
        assert torch.allclose(networks.energy(path, inputs)[run], one.energy(path[run], inputs))
        assert torch.allclose(networks.drift(path, inputs)[run], one.drift(path[run], inputs))


def test_between_wrapped_phases_the_shorter_way_is_taken() -> None:
    network = KuramotoNetwork(
        INPUTS, H, OUTPUTS, frequencies=[20.0] * N, observation_time=1.0, steps=20
    )
    inputs = random_tensor(3, INPUTS, seed=4).float()
    grid = network.simulate(inputs, record=1, temperature=0.01).phases
    times = [0.025 + 0.05 * k for k in range(20)]
    middle = network.simulate(inputs, times=times, temperature=0.01).phases
    ahead = torch.sin(middle - grid[:-1])  # half a step: half a radian or so, never the far side
    assert float(ahead.detach().min()) > 0.2


def test_a_second_derivative_of_the_reference_is_that_of_finite_differences() -> None:
    network, inputs = network_with(steps=6), random_tensor(2, INPUTS, seed=20)
    parameters = dict(network.named_parameters())
    direction = {name: random_tensor(*p.shape, seed=30) for name, p in parameters.items()}

    def along(create_graph: bool) -> Tensor:
        """The gradient's part along a fixed direction."""
        loss = network(inputs).square().sum()
        slopes = torch.autograd.grad(loss, list(parameters.values()), create_graph=create_graph)
        both = zip(slopes, direction.values(), strict=True)
        return sum(((slope * part).sum() for slope, part in both), torch.zeros(()))

    with kernels.use("reference"):
        second = torch.autograd.grad(along(True), list(parameters.values()))
    for (name, parameter), found in zip(parameters.items(), second, strict=True):
        exact = differences(lambda: float(along(False)), parameter)
        assert torch.allclose(found, exact, rtol=1e-5, atol=1e-7), name


def test_inputs_of_other_shapes_are_refused_with_what_was_expected() -> None:
    one, three = KuramotoNetwork(4, 3, 2), KuramotoNetwork(4, 3, 2, runs=3)
    with pytest.raises(InputError, match=r"inputs must be B x D or D; got shape \(3, 2, 4\)"):
        one.simulate(torch.zeros(3, 2, 4))
    with pytest.raises(InputError, match="inputs must be runs x B x D, B x D or D"):
        three(torch.zeros(1, 3, 2, 4))
    assert one.simulate(torch.zeros(4)).final.shape == (5,)
    assert three(torch.zeros(4)).shape == (3, 2)


@pytest.mark.filterwarnings("error")
def test_an_empty_batch_has_empty_answers_and_zero_gradients() -> None:
    network = KuramotoNetwork(4, 3, 2)
    scores = network(torch.empty(0, 4))
    assert scores.shape == (0, 2)
    scores.sum().backward()
    assert not bool(network.coupler_strengths.grad.any())


def test_a_term_changed_in_place_between_rollout_and_backward_is_an_error() -> None:
    network = KuramotoNetwork(4, 3, 2, injection=torch.ones(5), trainable=["injection"])
    scores = network(torch.ones(2, 4))
    with torch.no_grad():
        network.injection += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        scores.sum().backward()
