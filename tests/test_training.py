"""The trainer: run axis, selection, divergence, and that the protocols do what they say."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import entrain
from direct_trainings import network_of
from entrain.physics import Dynamics, NetworkSpec, path_coefficients
from entrain.rules import PAPER_PROTOCOLS, TeacherSpec, protocol_named
from entrain.rules.interface import shuffled
from entrain.rules.teacher import TeacherTraining, teacher_of
from entrain.rules.training_data import Examples, TeacherData
from entrain.rules.two_stage_training import TwoStageTraining
from entrain.training import Recipe, best_run, run_training
from networks import random_tensor

INPUTS, H, OUTPUTS, DYNAMICS = 5, 4, 3, Dynamics(steps=10)
SPEC = NetworkSpec(H, DYNAMICS)


def examples(count: int, seed: int, dtype: torch.dtype = torch.float64) -> TeacherData:
    """Inputs with the activations of a fixed random tanh layer and a softmax on top."""
    inputs = random_tensor(count, INPUTS, seed=seed)
    hidden = torch.tanh(inputs @ random_tensor(INPUTS, H, seed=100))
    outputs = 2 * torch.softmax(2 * hidden @ random_tensor(H, OUTPUTS, seed=101), -1) - 1
    activations = torch.cat([hidden, outputs], -1)
    return TeacherData(
        inputs.to(dtype),
        path_coefficients(activations).to(dtype),
        outputs.to(dtype),
        outputs.argmax(-1),
    )


def training(name: str, runs: tuple[int, ...] = (0,), start=None, **changes) -> TwoStageTraining:
    protocol = replace(
        PAPER_PROTOCOLS[name], **({"epochs": 4, "batch_size": 16, "learning_rate": 30.0} | changes)
    )
    data = {"train": examples(50, 1), "validation": examples(40, 2)}
    return TwoStageTraining(protocol, **data, network=SPEC, seed=3, runs=runs, start=start)


def same(ours: dict[str, Tensor], index: int, theirs: dict[str, Tensor]) -> bool:
    return all(torch.allclose(ours[k][index], theirs[k][0], rtol=1e-9, atol=1e-12) for k in ours)


@pytest.mark.parametrize("name", sorted(PAPER_PROTOCOLS))
def test_runs_trained_together_equal_runs_trained_alone(name: str) -> None:
    def start(runs: int):
        if PAPER_PROTOCOLS[name].start == "zero":
            return None
        one = run_training(training("PATH", learning_rate=3000.0)).best
        return {key: tensor.repeat(runs, *[1] * (tensor.dim() - 1)) for key, tensor in one.items()}

    rates, weight = (30.0, 10.0, 20.0), PAPER_PROTOCOLS[name].endpoint_weight
    weights = tuple(weight * factor for factor in (1.0, 0.5, 2.0))
    runs = (0, 1, 5)
    together = run_training(
        training(name, runs, start(3), learning_rate=rates, endpoint_weight=weights or weight)
    )
    for index, run in enumerate(runs):
        alone = run_training(
            training(
                name,
                (run,),
                start(1),
                learning_rate=rates[index],
                endpoint_weight=weights[index],
            )
        )
        assert same(together.current, index, alone.current)
        assert same(together.best, index, alone.best)
        assert together.best_epoch[index] == alone.best_epoch[0]
    assert not torch.equal(together.current["couplings"][0], together.current["couplings"][1])


def test_one_step_is_minus_rate_times_the_autograd_gradient() -> None:
    """One full-batch step of TWO-STAGE-END against autograd through the network itself."""
    start = run_training(training("PATH", learning_rate=3000.0)).best
    one = training("TWO-STAGE-END", start=start, epochs=1, batch_size=50, learning_rate=0.1)
    parameters = one.initial()
    network = network_of(parameters, 0, SPEC)
    data = examples(50, 1)
    endpoint = (network(data.inputs) - data.targets).square().mean()
    time = torch.arange(10, dtype=torch.float64) / 10
    path = torch.arccos(torch.tanh(time[:, None, None] * data.coefficients))
    end = torch.arccos(torch.tanh((time + 0.1)[:, None, None] * data.coefficients))
    step = DYNAMICS.time_step * network.drift(path, data.inputs)
    (endpoint + (end - path - step).square().mean()).backward()
    one.run_epoch(parameters, 0)
    moved = network_of(parameters, 0, SPEC)
    for before, after in zip(network.parameters(), moved.parameters(), strict=True):
        assert torch.allclose(after, before - 0.1 * before.grad, rtol=1e-9, atol=1e-12)


def test_training_keeps_the_constraints_exactly() -> None:
    state = run_training(training("Z-END", (0, 1)))
    couplings = state.current["couplings"]
    assert torch.equal(couplings, couplings.transpose(1, 2))
    assert not couplings.diagonal(dim1=1, dim2=2).any()
    assert not couplings[:, H:, H:].any()


def test_path_training_lowers_the_path_loss_and_endpoint_training_the_endpoint_error() -> None:
    path = run_training(training("PATH", learning_rate=3000.0, epochs=30))
    assert path.history["path_loss"][-1][0] < 0.5 * path.history["path_loss"][0][0]
    both = run_training(training("TWO-STAGE-END", start=path.best, epochs=30, learning_rate=10.0))
    assert both.selected("endpoint_rmse", 0) < 0.7 * path.selected("endpoint_rmse", 0)


def test_exact_zero_blocks_every_endpoint_gradient_to_the_inputs() -> None:
    zero = training("ZERO-END-ONLY", epochs=1, batch_size=50)
    parameters = zero.initial()
    zero.run_epoch(parameters, 0)
    assert not parameters["input_weights"].any()
    assert parameters["biases"].any()


def test_selection_takes_the_best_epoch_of_each_lane() -> None:
    state = run_training(training("PATH", (0, 1), learning_rate=3000.0, epochs=12))
    errors = torch.tensor(state.history["endpoint_rmse"])
    assert torch.equal(state.best_epoch, errors.argmin(0) + 1)
    joint = run_training(training("Z-END", (0, 1), epochs=12))
    scores = (torch.tensor(joint.history["top1"]) + torch.tensor(joint.history["agreement"])) / 2
    chosen = joint.best_epoch - 1
    for index in range(2):
        assert scores[chosen[index], index] == scores[:, index].max()


def test_a_diverging_run_keeps_its_best_and_the_others_do_not_notice() -> None:
    calm = run_training(training("PATH", (0,), learning_rate=3000.0, epochs=5))
    state = run_training(training("PATH", (0, 1), learning_rate=(3000.0, 1e30), epochs=5))
    assert state.diverged.tolist()[0] == 0
    assert state.diverged.tolist()[1] > 0
    assert same(state.best, 0, calm.best)
    assert all(bool(tensor.isfinite().all()) for tensor in state.current.values())
    assert state.epoch == 5
    alone = run_training(training("PATH", (1,), learning_rate=1e30, epochs=50))
    assert alone.epoch < 50  # nothing left to train


def test_minibatch_orders_are_permutations_that_depend_on_run_and_epoch_alone() -> None:
    orders = shuffled("student", 0, (0, 1, 2), 4, 100)
    assert all(torch.equal(order.sort().values, torch.arange(100)) for order in orders)
    assert torch.equal(orders[2], shuffled("student", 0, (2,), 4, 100)[0])
    for other in (
        shuffled("student", 0, (2,), 5, 100),
        shuffled("student", 1, (2,), 4, 100),
        shuffled("teacher", 0, (2,), 4, 100),
    ):
        assert not torch.equal(orders[2], other[0])


def teacher_training(**changes) -> TeacherTraining:
    spec = TeacherSpec(**({"widths": (8, 4), "initialisations": 3, "epochs": 30} | changes))
    data, unseen = examples(200, 1, torch.float32), examples(100, 2, torch.float32)
    train, validation = (Examples(each.labels, each.inputs) for each in (data, unseen))
    return TeacherTraining(spec, train, validation, OUTPUTS, 0)


def test_teachers_learn_and_both_selection_rules_hold() -> None:
    by_accuracy = run_training(teacher_training(batch_size=16))
    top1 = torch.tensor(by_accuracy.history["top1"])
    assert float(top1.max()) > 80
    best = best_run(by_accuracy)
    assert by_accuracy.selected("top1", best) == float(top1.max())
    by_entropy = run_training(teacher_training(batch_size=16, selection="cross-entropy"))
    entropy = torch.tensor(by_entropy.history["cross_entropy"])
    assert torch.equal(by_entropy.best_epoch, entropy.argmin(0) + 1)
    assert by_entropy.selected("cross_entropy", best_run(by_entropy)) == float(entropy.min())


def test_a_teacher_step_is_sgd_with_weight_decay() -> None:
    training = teacher_training(initialisations=1, batch_size=200, epochs=1)
    parameters = training.initial()
    layers = [torch.nn.Linear(INPUTS, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4), torch.nn.Tanh()]
    plain = torch.nn.Sequential(*layers, torch.nn.Linear(4, OUTPUTS))
    for tensor, name in zip(plain.parameters(), parameters, strict=True):
        tensor.data = parameters[name][0].clone()
    optimiser = torch.optim.SGD(plain.parameters(), lr=0.2, weight_decay=1e-4)
    data = examples(200, 1, torch.float32)
    torch.nn.functional.cross_entropy(plain(data.inputs), data.labels).backward()
    optimiser.step()
    training.run_epoch(parameters, 0)
    for tensor, name in zip(plain.parameters(), parameters, strict=True):
        assert torch.allclose(parameters[name][0], tensor, atol=1e-6)


def test_transferred_activations_are_the_layers_in_order_and_keep_the_prediction() -> None:
    teacher = teacher_of(run_training(teacher_training()).best, 0)
    inputs = examples(20, 5).inputs
    first = torch.tanh(inputs @ teacher.weights[0].double().T + teacher.biases[0].double())
    second = torch.tanh(first @ teacher.weights[1].double().T + teacher.biases[1].double())
    logits = second @ teacher.weights[2].double().T + teacher.biases[2].double()
    activations = teacher.activations(inputs)
    assert activations.dtype == torch.float64
    assert torch.allclose(activations[:, :12], torch.cat([first, second], 1))
    assert torch.equal(activations[:, 12:].argmax(1), logits.argmax(1))
    assert torch.allclose(activations[:, 12:], 2 * torch.softmax(logits, 1) - 1)
    assert torch.equal(teacher.targets(inputs), activations[:, 12:])


def test_recipes_survive_json_and_add_path_in_front() -> None:
    recipe = Recipe.for_dataset("mnist", ["two-stage-end", "Z-END"], runs=2).adjusted(
        endpoint={"learning_rate": (10.0, 30.0)}
    )
    assert [p.name for p in recipe.protocols] == ["PATH", "TWO-STAGE-END", "Z-END"]
    assert Recipe.from_json(recipe.to_json()) == recipe
    with pytest.raises(ValueError, match="one per run"):
        replace(recipe, runs=3)


def test_defaults_are_the_papers() -> None:
    mnist, fashion = (
        Recipe.for_dataset(name, path_solver="sgd") for name in ("mnist", "fashion-mnist")
    )
    assert mnist.spec.dynamics == Dynamics(1.0, 0.2, 200)
    assert mnist.teacher == TeacherSpec((32, 16, 16), 5, "top1", 0.2, 1e-4, 256, 300)
    assert (fashion.teacher.initialisations, fashion.teacher.selection) == (1, "cross-entropy")
    path, two_stage = mnist.protocols
    assert (path.learning_rate, path.epochs, path.batch_size) == (3000, 300, 256)
    assert (two_stage.learning_rate, two_stage.epochs, two_stage.batch_size) == (10, 20, 256)
    assert (path.selection, two_stage.selection) == ("endpoint-rmse", "joint")
    assert (path.start, two_stage.start) == ("zero", "PATH")


@pytest.mark.parametrize(("name", "near"), [("two-stage", "TWO-STAGE-END"), ("pth", "PATH")])
def test_an_unknown_protocol_suggests_the_nearest(name: str, near: str) -> None:
    with pytest.raises(entrain.InputError, match=f"did you mean '{near}'"):
        protocol_named(name)
