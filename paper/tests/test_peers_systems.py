"""Every compared system can be trained; machines side by side do not notice each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from entrain.data import load_dataset
from entrain.physics import NetworkSpec
from entrain.rules import Assignment, Tensors
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, train_stage
from entrain_paper.peers import SYSTEMS, Peer
from entrain_paper.peers.nmode import NMODE, NMODE_AUGMENTED, potential
from entrain_paper.peers.task import PeerTask

OURS = 52_906  # parameters of 74 oscillators on 784 pixels
STEADY = ("subdeq", "aoc", "nmode", "nmode-augmented", "logistic", "mlp", "rbf")


@pytest.fixture(scope="module")
def digits() -> TrainingData:
    """A few of the bundled digits, 8 x 8 pixels."""
    data = TrainingData(load_dataset("digits"), torch.device("cpu"))
    train, validation = data.images
    few = [
        replace(each, images=each.images[:96], labels=each.labels[:96])
        for each in (train, validation)
        if each.images is not None
    ]
    data.__dict__["images"] = tuple(few)
    return data


def small(system: Peer) -> Peer:
    """Two epochs, and fewer units where there are thousands."""
    suited = system.for_dataset("MNIST")
    hidden = getattr(suited, "hidden", 0)
    if isinstance(hidden, tuple):
        return replace(suited, epochs=2, batch_size=32, hidden=(64,))
    fewer = {"hidden": 64} if hidden > 512 else {}
    return replace(suited, epochs=2, batch_size=32, **fewer)


def trained(system: Peer, data: TrainingData, runs: tuple[int, ...]) -> tuple[PeerTask, Tensors]:
    task = PeerTask(system, Assignment(data, NetworkSpec(), runs, 0))
    tensors = task.initial()
    for epoch in range(2):
        task.run_epoch(tensors, epoch)
    return task, tensors


@pytest.mark.parametrize("name", SYSTEMS)
def test_two_epochs_give_finite_numbers(name: str, digits: TrainingData) -> None:
    """Of every tensor, metric and energy; and what is trained has moved."""
    system = small(SYSTEMS[name])
    task, tensors = trained(system, digits, (0, 1))
    first = task.initial()
    for key, tensor in tensors.items():
        assert tensor.isfinite().all(), key
    numbers = {key: tensor for key, tensor in tensors.items() if "." not in key}
    for key, tensor in numbers.items():
        moved = not torch.equal(tensor, first[key])
        assert moved != (key in system.fixed), key
    assert all(values.isfinite().all() for values in task.validate(tensors).values())
    energy = task.energy(numbers, digits.images[1].images)  # type: ignore[arg-type]
    assert energy is None or energy == energy
    assert system.adaptive(numbers) > 0


@pytest.mark.parametrize("name", STEADY)
def test_runs_are_independent(name: str, digits: TrainingData) -> None:
    """Run 1 alone is run 1 beside run 0, up to the rounding of batched products."""
    system = small(SYSTEMS[name])
    _, both = trained(system, digits, (0, 1))
    _, alone = trained(system, digits, (1,))
    for key, tensor in alone.items():
        if "." not in key:
            torch.testing.assert_close(both[key][1:], tensor, rtol=1e-3, atol=1e-4)
            assert not torch.equal(both[key][0], both[key][1]), key


@pytest.mark.parametrize("name", ["mlp", "rbf"])
def test_baselines_are_of_our_size(name: str) -> None:
    """Within 1 % of the parameters of 74 oscillators."""
    drawn = SYSTEMS[name].drawn(784, 10, torch.Generator())
    count = SYSTEMS[name].adaptive({key: tensor[None] for key, tensor in drawn.items()})
    assert abs(count - OURS) < 0.01 * OURS


def test_memory_units_fall_in_their_potential() -> None:
    """dy/dt = -dE/dy, and halving the step of Heun's method quarters the error."""
    generator = torch.Generator().manual_seed(0)
    drive = 3.0 * torch.randn(1, 40, 8, generator=generator, dtype=torch.float64)
    state = torch.rand(drive.shape, generator=generator, dtype=torch.float64).requires_grad_()
    slope = torch.autograd.grad(potential(state, drive).sum(), state)[0]
    torch.testing.assert_close(-slope, (state + drive).sin().square() - state)
    exact = replace(NMODE, steps=400).memory(drive)
    errors = [float((replace(NMODE, steps=k).memory(drive) - exact).abs().mean()) for k in (8, 16)]
    assert 3.3 < errors[0] / errors[1] < 4.7


def test_memory_units_dissipate_energy() -> None:
    """Every inference ends lower than it began."""
    generator = torch.Generator().manual_seed(2)
    numbers = {key: tensor[None] for key, tensor in NMODE.drawn(20, 10, generator).items()}
    assert float(NMODE.dissipated(numbers, torch.rand(1, 9, 20, generator=generator))) > 0


def test_augmentation_is_the_only_difference() -> None:
    """The second neural-memory ODE is the first, trained for longer on distorted images."""
    plain, distorted = (each.for_dataset("MNIST") for each in (NMODE, NMODE_AUGMENTED))
    assert plain.augmentation is None
    assert distorted.augmentation is not None
    assert not distorted.augmentation.is_identity
    same = {"augmentation": None, "distorted": False, "name": plain.name, "epochs": plain.epochs}
    assert replace(distorted, **same) == plain


def test_a_quick_version_has_few_epochs() -> None:
    """And is never longer than the full one."""
    for system in SYSTEMS.values():
        assert system.quick().epochs <= min(system.epochs, 10)


def test_systems_are_stages_like_any_other(digits: TrainingData) -> None:
    """Settings with a solver inside have a key of their own, and the trainer takes them."""
    system = small(SYSTEMS["subdeq"])
    stage = Stage(system, "digits", runs=(0, 1))
    other = replace(stage, rule=replace(system, solver=replace(system.solver, steps=5)))  # type: ignore[attr-defined]
    assert stage.key != other.key
    assert train_stage(stage, digits, {}).best["W"].isfinite().all()
