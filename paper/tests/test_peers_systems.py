"""Training of every compared system, and independence of its runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from entrain.data import load_dataset
from entrain.physics import NetworkSpec
from entrain.rules import Assignment, Tensors
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, pack_state, train_stage
from entrain.training.checkpoint import unpack_state
from entrain_paper.peers import SYSTEMS, Peer
from entrain_paper.peers.nmode import NMODE, NMODE_AUGMENTED, potential
from entrain_paper.peers.training import PeerTraining
from peer_draws import draws_for

NETWORK_PARAMETERS = 52_906  # parameters of 74 oscillators on 784 pixels
STEADY = ("subdeq", "aoc", "nmode", "nmode-augmented", "logistic", "mlp", "rbf")


@pytest.fixture(scope="module")
def digits() -> TrainingData:
    """A few of the bundled digits, 8 x 8 pixels."""
    data = TrainingData(load_dataset("digits"), torch.device("cpu"))
    train, validation = data.images
    few = [
        replace(split, images=split.images[:96], targets=split.targets[:96])
        for split in (train, validation)
        if split.images is not None
    ]
    data.__dict__["images"] = tuple(few)
    return data


def small(system: Peer) -> Peer:
    """The system with two epochs and at most 512 hidden units."""
    tuned = system.for_dataset("MNIST")
    hidden = getattr(tuned, "hidden", 0)
    if isinstance(hidden, tuple):
        return replace(tuned, epochs=2, batch_size=32, hidden=(64,))
    fewer = {"hidden": 64} if hidden > 512 else {}
    return replace(tuned, epochs=2, batch_size=32, **fewer)


def trained(
    system: Peer, data: TrainingData, runs: tuple[int, ...]
) -> tuple[PeerTraining, Tensors]:
    training = PeerTraining(system, Assignment(data, NetworkSpec(), runs, 0))
    tensors = training.initial()
    for epoch in range(2):
        training.run_epoch(tensors, epoch)
    return training, tensors


@pytest.mark.parametrize("name", SYSTEMS)
def test_two_epochs_give_finite_values(name: str, digits: TrainingData) -> None:
    """Tensors, metrics and energy are finite, and only trained tensors change."""
    system = small(SYSTEMS[name])
    training, tensors = trained(system, digits, (0, 1))
    initial = training.initial()
    for key, tensor in tensors.items():
        assert tensor.isfinite().all(), key
    parameters = {key: tensor for key, tensor in tensors.items() if "." not in key}
    for key, tensor in parameters.items():
        changed = not torch.equal(tensor, initial[key])
        assert changed != (key in system.fixed), key
    assert all(values.isfinite().all() for values in training.validate(tensors).values())
    energy = training.energy(parameters, digits.images[1].images)  # type: ignore[arg-type]
    assert energy is None or energy == energy
    assert system.parameter_count(parameters) > 0


@pytest.mark.parametrize("name", SYSTEMS)
def test_interrupted_training_ends_with_the_same_bits(name: str, digits: TrainingData) -> None:
    """Whatever the states of the global generators, which stay as they are."""
    system = small(SYSTEMS[name])
    fewer = {field: 3 for field in ("reads", "trajectories") if hasattr(system, field)}
    tuned = replace(system, clip=system.clip and 1e-3, **fewer)  # the norm is above 1e-3
    stage, saved, (_, validation) = Stage(tuned, "digits", runs=(0, 1)), [], digits.images
    assert validation.images is not None

    def finished(seed: int, start: bytes | None = None) -> dict[str, Tensor]:
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        state = train_stage(
            stage,
            digits,
            {},
            saved=None if start is None else unpack_state(start, "memory")[0],
            on_epoch=lambda state: saved.append(pack_state(state, {})),
        )
        training = PeerTraining(tuned, Assignment(digits, NetworkSpec(), (0, 1), 0))
        best = {name: tensor for name, tensor in state.best.items() if "." not in name}
        energy = torch.tensor(training.energy(best, validation.images) or 0.0)
        scores = training.scores(best, validation.images)
        assert torch.equal(before, torch.get_rng_state())
        return state.current | {"scores": scores, "energy": energy, "best": state.best_epoch}

    whole = finished(1)
    resumed = finished(2, saved[0])
    assert whole.keys() == resumed.keys()
    for key, tensor in whole.items():
        assert torch.equal(tensor, resumed[key]), key


@pytest.mark.parametrize("name", STEADY)
def test_runs_are_independent(name: str, digits: TrainingData) -> None:
    """Run 1 alone equals run 1 beside run 0, up to the rounding of batched products."""
    system = small(SYSTEMS[name])
    _, both = trained(system, digits, (0, 1))
    _, alone = trained(system, digits, (1,))
    for key, tensor in alone.items():
        if "." not in key:
            torch.testing.assert_close(both[key][1:], tensor, rtol=1e-3, atol=1e-4)
            assert not torch.equal(both[key][0], both[key][1]), key


@pytest.mark.parametrize("name", ["mlp", "rbf"])
def test_baselines_have_as_many_parameters_as_the_network(name: str) -> None:
    """Within 1 % of the parameters of 74 oscillators."""
    initial = SYSTEMS[name].init_parameters(784, 10, torch.Generator())
    count = SYSTEMS[name].parameter_count({key: tensor[None] for key, tensor in initial.items()})
    assert abs(count - NETWORK_PARAMETERS) < 0.01 * NETWORK_PARAMETERS


def test_memory_units_descend_their_potential() -> None:
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
    """The energy decreases in every inference."""
    generator = torch.Generator().manual_seed(2)
    parameters = {
        key: tensor[None] for key, tensor in NMODE.init_parameters(20, 10, generator).items()
    }
    inputs = torch.rand(1, 9, 20, generator=generator)
    assert float(NMODE.dissipated_energy(parameters, inputs, draws_for(inputs))) > 0


def test_nmode_variants_differ_in_augmentation_and_epochs_only() -> None:
    plain, distorted = (system.for_dataset("MNIST") for system in (NMODE, NMODE_AUGMENTED))
    assert plain.augmentation is None
    assert distorted.augmentation is not None
    assert not distorted.augmentation.is_identity
    same = {"augmentation": None, "distorted": False, "name": plain.name, "epochs": plain.epochs}
    assert replace(distorted, **same) == plain


def test_quick_systems_have_few_epochs() -> None:
    for system in SYSTEMS.values():
        assert system.quick().epochs <= min(system.epochs, 10)


def test_stage_key_includes_the_settings_of_the_solver(digits: TrainingData) -> None:
    """And the trainer accepts such a stage."""
    system = small(SYSTEMS["subdeq"])
    stage = Stage(system, "digits", runs=(0, 1))
    other = replace(stage, rule=replace(system, solver=replace(system.solver, steps=5)))  # type: ignore[attr-defined]
    assert stage.key != other.key
    assert train_stage(stage, digits, {}).best["W"].isfinite().all()
