"""Equilibrium propagation in the compared systems."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers import SYSTEMS
from entrain_paper.peers.equilibrium_propagation import EquilibriumPropagation
from entrain_paper.peers.phase_layers import PhaseLayers
from peer_draws import draws_for

SIZE, CLASSES = 16, 3  # 4 x 4 pixels
NAMES = ["rageau", "rageau-74", "gower", "wang", "fan", "scellier"]
# One start, few units and long relaxations: the estimate is exact at equilibrium only.
EXACT = {"hidden": 6, "starts": 1, "free_steps": 600, "nudged_steps": 600, "step": 0.15}


def system_of(name: str, **settings: object) -> EquilibriumPropagation:
    system = SYSTEMS[name]
    assert isinstance(system, EquilibriumPropagation)
    return replace(system, **settings)  # type: ignore[arg-type]


def problem(system: EquilibriumPropagation, runs: int = 2) -> tuple[Tensors, Tensor, Tensor]:
    """Parameters, inputs (R, 2, D) and one-hot targets, in float64."""
    generator = torch.Generator().manual_seed(3)
    initial = system.init_parameters(SIZE, CLASSES, generator)

    def normal(name: str) -> Tensor:
        sample = torch.randn(runs, *initial[name].shape, generator=generator).double()
        return sample + sample.mT if name == "J" else sample

    # Without strong couplings phases would rest at 0 and pi, where the cost has no gradient; weak
    # couplings of units with one well leave a single minimum.
    strong = 1.0 if isinstance(system, PhaseLayers) else 0.15
    scales = {"W": 0.1, "V": strong, "J": 0.3, "b": 0.3, "c": 0.3}
    parameters = {name: scales[name] * normal(name) for name in initial}
    inputs = torch.rand(runs, 2, SIZE, generator=generator).double()
    labels = torch.arange(2)
    target = torch.nn.functional.one_hot(labels, CLASSES).double().expand(runs, -1, -1)
    return parameters, inputs, target


def gradient_at_rest(
    system: EquilibriumPropagation, parameters: Tensors, inputs: Tensor, target: Tensor
) -> Tensors:
    """The gradient of the loss through every step of the free relaxation."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in parameters.items()}
    loss = system.loss(leaves, inputs, target, draws_for(inputs)).sum()
    slopes = torch.autograd.grad(loss, list(leaves.values()))
    return dict(zip(leaves, slopes, strict=True))


def flat(gradient: Tensors) -> Tensor:
    """All entries of each run in a row; only the symmetric part of J has an effect."""
    parts = [0.5 * (t + t.mT) if name == "J" else t for name, t in gradient.items()]
    return torch.cat([part.flatten(1) for part in parts], dim=1)


def movement(system: EquilibriumPropagation, parameters: Tensors, inputs: Tensor) -> Tensor:
    """Largest change (R,) of the free state in one more step."""
    drive = system.drive(parameters, inputs)
    state = system.free_state(parameters, drive, draws_for(inputs))
    pairs = zip(state, system.relax(parameters, drive, state, 1), strict=True)
    return torch.stack([(after - before).abs().amax((1, 2)) for before, after in pairs]).amax(0)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_error_is_second_order_in_beta(name: str) -> None:
    system = system_of(name, **EXACT)
    parameters, inputs, target = problem(system, runs=40)
    exact = flat(gradient_at_rest(system, parameters, inputs, target))
    # Runs at equilibrium where the cost has a gradient.
    usable = (movement(system, parameters, inputs) < 1e-9) & (exact.norm(dim=1) > 1e-2)
    assert usable.sum() >= 3
    errors = []
    for beta in (0.01, 0.005):
        nudged = replace(system, beta=beta)
        _, estimate = nudged.gradients(parameters, inputs, target, draws_for(inputs))
        errors.append(((flat(estimate) - exact).norm(dim=1) / exact.norm(dim=1))[usable])
    assert errors[1].median() < 2e-3
    assert 3.8 < (errors[0] / errors[1]).median() < 4.2


@pytest.mark.parametrize("name", NAMES)
def test_forces_are_minus_the_energy_gradient(name: str) -> None:
    system = system_of(name, hidden=6, starts=1)
    parameters, inputs, _ = problem(system)
    drive = system.drive(parameters, inputs)
    draws = draws_for(inputs)
    state = tuple(
        draws.uniform("units", *units.shape[1:])
        for units in system.initial_state(parameters, drive, draws)
    )
    h, y = (units.requires_grad_() for units in state)
    slopes = torch.autograd.grad(system.energy(parameters, drive, (h, y)).sum(), (h, y))
    for force, slope in zip(system.forces(parameters, drive, (h, y)), slopes, strict=True):
        torch.testing.assert_close(force, -slope)


@pytest.mark.parametrize("name", NAMES)
def test_energy_decreases_during_the_free_relaxation(name: str) -> None:
    system = system_of(name, hidden=6, starts=1, step=0.05)  # short steps follow the slope
    parameters, inputs, _ = problem(system)
    drive = system.drive(parameters, inputs)
    state = system.initial_state(parameters, drive, draws_for(inputs))
    energy = system.energy(parameters, drive, state)
    for _ in range(system.free_steps):
        state = system.relax(parameters, drive, state, 1)
        after = system.energy(parameters, drive, state)
        assert (after <= energy + 1e-12).all()
        energy = after
    assert (system.dissipated_energy(parameters, inputs, draws_for(inputs)) > 0.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_system_learns_a_small_task(name: str) -> None:
    system = system_of(name, hidden=16, starts=1, free_steps=30, nudged_steps=10)
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(60) % CLASSES
    prototypes = torch.rand(CLASSES, SIZE, generator=generator)
    noise = 0.1 * torch.rand(60, SIZE, generator=generator)
    images = (0.8 * prototypes[labels] + noise)[None]
    inputs = (images - images.mean()) / images.std() if system.standardised else images
    target = torch.nn.functional.one_hot(labels, CLASSES).float()[None]
    parameters = {
        name: tensor[None]
        for name, tensor in system.init_parameters(SIZE, CLASSES, generator).items()
    }
    draws = draws_for(inputs)
    adam = torch.optim.Adam(list(parameters.values()), lr=0.02)
    for _ in range(60):
        _, gradients = system.gradients(parameters, inputs, target, draws)
        for key, tensor in parameters.items():
            tensor.grad = gradients[key]
        adam.step()
    accuracy = (system.scores(parameters, inputs, draws).argmax(-1)[0] == labels).float().mean()
    assert accuracy > 0.6  # chance is 1/3


def test_scores_converge_with_the_number_of_bits() -> None:
    unrounded = system_of("gower", hidden=6)
    parameters, inputs, _ = problem(unrounded)
    draws = draws_for(inputs)
    exact = unrounded.scores(parameters, inputs, draws)
    fine = system_of("gower-bits", hidden=6, parameter_bits=40, phase_bits=40)
    coarse = system_of("gower-bits", hidden=6)
    torch.testing.assert_close(fine.scores(parameters, inputs, draws), exact)
    difference = (coarse.scores(parameters, inputs, draws) - exact).abs().max()
    assert 0.0 < difference < 1.0
