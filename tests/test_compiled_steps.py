"""Compiled epochs of DIRECT, against the same steps in PyTorch operations."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from command_line import threads
from direct_trainings import CLASSES, DIFFERENT, examples, same, training
from entrain import kernels
from entrain.kernels.training_pass import Loss, TrainingPass
from entrain.physics import Dynamics, NetworkSpec, PhaseModel, drift, small_random
from entrain.rules import Direct, Tensors, adamw
from entrain.rules.direct_training import DirectTraining
from entrain.tasks import Classification, Regression
from entrain.training import run_training
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")
ELEVEN = Classification(tuple(map(str, range(11))))
SETTINGS: list[dict[str, Any]] = [
    {},
    {"averaging": 0.99, "weight_decay": 3.0, "warm_up": 0.3},
    {"batch_size": 20, "smoothing": 0.1, "class_weights": (1.0, 2.0, 3.0)},
    {"batch_size": 7, "clip": 0.05},
    {"fine_epochs": 1, "coarse_steps": 4},
]


def trained(make: Any) -> tuple[Tensors, list[list[float]]]:
    state = run_training(make())
    return state.current, state.history["loss"]


def check_same(ours: tuple[Tensors, Any], theirs: tuple[Tensors, Any]) -> None:
    assert same(ours[0], theirs[0], atol=3e-6)
    assert torch.allclose(torch.tensor(ours[1]), torch.tensor(theirs[1]), atol=1e-6)


@pytest.mark.parametrize("changes", SETTINGS)
def test_compiled_epochs_are_those_of_pytorch(changes: dict[str, Any]) -> None:
    ours = trained(lambda: training(**changes))
    with kernels.use("reference"):
        theirs = trained(lambda: training(**changes))
    check_same(ours, theirs)
    assert not torch.equal(ours[0]["couplings"], theirs[0]["couplings"])  # two computations


def test_runs_side_by_side_have_their_own_settings() -> None:
    ours = trained(lambda: training((0, 3), **DIFFERENT))
    with kernels.use("reference"):
        theirs = trained(lambda: training((0, 3), **DIFFERENT))
    check_same(ours, theirs)


def test_weights_of_examples_count() -> None:
    data = examples()
    weighted = replace(data, weights=torch.linspace(0.0, 2.0, len(data.targets)))

    def make() -> DirectTraining:
        rule = Direct(epochs=3, batch_size=16, fine_epochs=9)
        network = NetworkSpec(5, Dynamics(1.2, 0.5, 10))
        return DirectTraining(rule, weighted, examples(20, 2), network, CLASSES, seed=4)

    ours = trained(make)
    with kernels.use("reference"):
        theirs = trained(make)
    check_same(ours, theirs)


def test_many_inputs_and_outputs_fit() -> None:
    inputs = random_tensor(90, 37, seed=3).float()
    data = replace(examples(90), inputs=3 * inputs, targets=torch.arange(90) % 11)

    def make() -> DirectTraining:
        rule = Direct(epochs=2, batch_size=70, fine_epochs=9, gain=6.0)
        return DirectTraining(
            rule, data, data, NetworkSpec(30, Dynamics(1.0, 0.2, 40)), ELEVEN, seed=4
        )

    ours = trained(make)
    with kernels.use("reference"):
        theirs = trained(make)
    check_same(ours, theirs)


def test_numbers_are_learnt_as_by_pytorch() -> None:
    inputs = examples().inputs
    values = random_tensor(len(inputs), 2, seed=8)
    data = replace(examples(), targets=values)
    numbers = Regression.fit(values.numpy(), ("a", "b"))

    def make() -> DirectTraining:
        rule = Direct(epochs=3, batch_size=16, fine_epochs=9)
        return DirectTraining(
            rule, data, data, NetworkSpec(5, Dynamics(1.2, 0.5, 10)), numbers, seed=4
        )

    ours = trained(make)
    with kernels.use("reference"):
        theirs = trained(make)
    check_same(ours, theirs)
    assert not torch.equal(ours[0]["couplings"], theirs[0]["couplings"])


@pytest.mark.parametrize("runs", [(0,), (0, 1, 2)])
def test_the_number_of_threads_changes_no_bit(runs: tuple[int, ...]) -> None:
    data = examples(250, 3)

    def make() -> DirectTraining:
        rule = Direct(epochs=4, batch_size=100, fine_epochs=9)  # 13 tiles: teams of three
        network = NetworkSpec(5, Dynamics(1.2, 0.5, 10))
        return DirectTraining(rule, data, data, network, CLASSES, seed=4, runs=runs)

    states = []
    for count in (1, 2, 3, 4):
        with threads(count):
            states.append(trained(make))
    for state, losses in states[1:]:
        assert losses == states[0][1]
        assert all(torch.equal(state[name], states[0][0][name]) for name in state)


@pytest.mark.parametrize(
    "changes",
    [{"frozen": ("couplings",)}, {"distillation": 0.5}],
)
def test_what_is_not_compiled_takes_pytorch_operations(changes: dict[str, Any]) -> None:
    ours = trained(lambda: training(**changes))
    with kernels.use("reference"):
        theirs = trained(lambda: training(**changes))
    check_same(ours, theirs)


def adams_bashforth(model: PhaseModel, time: float, steps: int) -> Tensor:
    """Phases after two-step Adams-Bashforth steps, the first one Euler's."""
    step = time / steps
    phases = torch.full_like(model.fields, torch.pi / 2)
    before = None
    for _ in range(steps):
        now = step * drift(phases, model, 1.0)
        phases = phases + (now if before is None else 1.5 * now - 0.5 * before)
        before = now
    return phases


def one_step(order: int, steps: int) -> tuple[Tensor, Tensors]:
    """Loss of a batch, and the first moments of AdamW after a step on it: gradients / 10."""
    graph = NetworkSpec(8).graph_of(3)
    start = small_random(6, 8, graph, seed=1, weights=2.0, couplings=2.0)
    tensors = adamw.with_moments({name: tensor[None] for name, tensor in start.items()})
    loss = Loss((1e-3,), (1e-3,), (0.0,), (4.0,), (0.0,), clip=1e9, averaging=0.0)
    inputs, targets = batch()
    whole = TrainingPass(inputs, targets, None, graph, loss)
    rows = torch.arange(len(inputs))[None]
    total = whole.train(tensors, rows, [len(inputs)], [1.0], Dynamics(1.0, 0.4, steps), order)
    return total / len(inputs), tensors


def batch() -> tuple[Tensor, Tensor]:
    return 2 * random_tensor(13, 6, seed=5).float(), torch.eye(3)[torch.arange(13) % 3]


def test_gradients_of_second_order_steps_are_those_of_autograd() -> None:
    total, tensors = one_step(2, 9)
    graph = NetworkSpec(8).graph_of(3)
    start = small_random(6, 8, graph, seed=1, weights=2.0, couplings=2.0)
    weights, biases, couplings = (t.double().requires_grad_() for t in start.values())
    inputs, targets = batch()
    symmetric = (couplings + couplings.T) / 2
    fields = torch.cat([inputs.double() @ weights.T, inputs.new_zeros(13, 3).double()], 1) + biases
    phases = adams_bashforth(PhaseModel(fields[None], symmetric[None]), 0.4, 9)
    cosines = phases[0, :, -3:].cos()
    loss = torch.nn.functional.cross_entropy(4.0 * cosines, targets.double())
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(total) == pytest.approx(float(loss.detach()), rel=1e-5)
    assert couplings.grad is not None
    expected = {
        "input_weights": weights.grad,
        "biases": biases.grad,
        "couplings": graph * 2 * couplings.grad,  # J_ij and J_ji are one parameter
    }
    for name, gradient in expected.items():
        assert gradient is not None
        moment = tensors[f"first.{name}"][0].double() / 0.1
        assert torch.allclose(moment, gradient, atol=1e-5 * float(gradient.abs().max()))


def test_losses_of_both_orders_converge_at_their_order() -> None:
    exact = one_step(1, 20_000)[0]
    errors = {
        order: [float((one_step(order, steps)[0] - exact).abs()) for steps in (10, 20, 40)]
        for order in (1, 2)
    }
    for order, values in errors.items():
        for coarse, fine in itertools.pairwise(values):
            assert coarse / fine == pytest.approx(2.0**order, rel=0.3)
    assert errors[2][1] < errors[1][2]


def test_squared_errors_fit_numbers() -> None:
    graph = NetworkSpec(8).graph_of(3)
    start = small_random(6, 8, graph, seed=1)
    tensors = adamw.with_moments({name: tensor[None] for name, tensor in start.items()})
    fixed = (1e-2,), (3e-2,), (0.0,), (1.0,), (0.0,)
    loss = Loss(*fixed, clip=1.0, averaging=0.9, is_squared=True)
    inputs = random_tensor(64, 6, seed=7).float()
    targets = (0.5 * inputs[:, :3]).tanh()
    whole = TrainingPass(inputs, targets, None, graph, loss)
    losses = []
    for _ in range(60):
        rows, sizes = torch.arange(64)[None], [16] * 4
        losses.append(float(whole.train(tensors, rows, sizes, [1.0] * 4, Dynamics(1.0, 1.0, 20))))
    before = float(targets.square().mean(1).sum())
    assert losses[0] == pytest.approx(before, rel=0.5)
    assert losses[-1] < 0.1 * before
