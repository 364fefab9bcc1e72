"""The compared systems that learn by equilibrium propagation."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers import SYSTEMS
from entrain_paper.peers.nudged import Nudged
from entrain_paper.peers.phases import Phases

SIZE, CLASSES = 16, 3  # 4 x 4 pixels
NAMES = ["rageau", "rageau-74", "gower", "wang", "fan", "scellier"]
# Few starts and units, and long relaxations: the estimate is exact at rest only.
EXACT = {"hidden": 6, "starts": 1, "free_steps": 600, "nudged_steps": 600, "step": 0.15}


def system_of(name: str, **settings: object) -> Nudged:
    system = SYSTEMS[name]
    assert isinstance(system, Nudged)
    return replace(system, **settings)  # type: ignore[arg-type]


def problem(system: Nudged, machines: int = 2) -> tuple[Tensors, Tensor, Tensor]:
    """Numbers, inputs (R, 2, D) and one-hot targets in float64."""
    generator = torch.Generator().manual_seed(3)
    names = system.drawn(SIZE, CLASSES, generator)

    def normal(name: str) -> Tensor:
        drawn = torch.randn(machines, *names[name].shape, generator=generator).double()
        return drawn + drawn.mT if name == "J" else drawn

    # Strong couplings frustrate phases, which rest at 0 and pi otherwise, where no cost is felt;
    # of units with one well, weak ones keep a single minimum.
    strong = 1.0 if isinstance(system, Phases) else 0.15
    scales = {"W": 0.1, "V": strong, "J": 0.3, "b": 0.3, "c": 0.3}
    numbers = {name: scales[name] * normal(name) for name in names}
    inputs = torch.rand(machines, 2, SIZE, generator=generator).double()
    labels = torch.arange(2)
    target = torch.nn.functional.one_hot(labels, CLASSES).double().expand(machines, -1, -1)
    return numbers, inputs, target


def gradient_at_rest(system: Nudged, numbers: Tensors, inputs: Tensor, target: Tensor) -> Tensors:
    """The gradient of the loss through every step of the free relaxation."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in numbers.items()}
    torch.manual_seed(0)  # a random start must be the same each time
    loss = system.loss(leaves, inputs, target).sum()
    found = torch.autograd.grad(loss, list(leaves.values()))
    return dict(zip(leaves, found, strict=True))


def flat(gradient: Tensors) -> Tensor:
    """All numbers of each machine in a row; of J the symmetric part, which alone acts."""
    parts = [0.5 * (t + t.mT) if name == "J" else t for name, t in gradient.items()]
    return torch.cat([part.flatten(1) for part in parts], dim=1)


def moved(system: Nudged, numbers: Tensors, inputs: Tensor) -> Tensor:
    """How far (R,) the free state goes on moving in one more step."""
    torch.manual_seed(0)
    drive = system.drive(numbers, inputs)
    state = system.free(numbers, drive)
    pairs = zip(state, system.relaxed(numbers, drive, state, 1), strict=True)
    return torch.stack([(after - before).abs().amax((1, 2)) for before, after in pairs]).amax(0)


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_tends_to_the_gradient_with_the_square_of_beta(name: str) -> None:
    system = system_of(name, **EXACT)
    numbers, inputs, target = problem(system, machines=40)
    exact = flat(gradient_at_rest(system, numbers, inputs, target))
    # Machines that are at rest by then, at a place where the cost is felt.
    usable = (moved(system, numbers, inputs) < 1e-9) & (exact.norm(dim=1) > 1e-2)
    assert usable.sum() >= 3
    errors = []
    for beta in (0.01, 0.005):
        torch.manual_seed(0)
        _, found = replace(system, beta=beta).gradients(numbers, inputs, target)
        errors.append(((flat(found) - exact).norm(dim=1) / exact.norm(dim=1))[usable])
    assert errors[1].median() < 2e-3
    assert 3.8 < (errors[0] / errors[1]).median() < 4.2


@pytest.mark.parametrize("name", NAMES)
def test_forces_are_the_slope_of_the_energy(name: str) -> None:
    system = system_of(name, hidden=6, starts=1)
    numbers, inputs, _ = problem(system)
    drive = system.drive(numbers, inputs)
    state = tuple(torch.rand_like(each) for each in system.rest(numbers, drive))
    h, y = (each.requires_grad_() for each in state)
    slopes = torch.autograd.grad(system.energy(numbers, drive, (h, y)).sum(), (h, y))
    for force, slope in zip(system.forces(numbers, drive, (h, y)), slopes, strict=True):
        torch.testing.assert_close(force, -slope)


@pytest.mark.parametrize("name", NAMES)
def test_the_energy_falls_along_the_free_relaxation(name: str) -> None:
    system = system_of(name, hidden=6, starts=1, step=0.05)  # short steps follow the slope
    numbers, inputs, _ = problem(system)
    drive = system.drive(numbers, inputs)
    state = system.rest(numbers, drive)
    energy = system.energy(numbers, drive, state)
    for _ in range(system.free_steps):
        state = system.relaxed(numbers, drive, state, 1)
        after = system.energy(numbers, drive, state)
        assert (after <= energy + 1e-12).all()
        energy = after
    assert (system.dissipated(numbers, inputs) > 0.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_a_small_task(name: str) -> None:
    system = system_of(name, hidden=16, starts=1, free_steps=30, nudged_steps=10)
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(60) % CLASSES
    kinds = torch.rand(CLASSES, SIZE, generator=generator)
    noise = 0.1 * torch.rand(60, SIZE, generator=generator)
    images = (0.8 * kinds[labels] + noise)[None]
    inputs = (images - images.mean()) / images.std() if system.standardised else images
    target = torch.nn.functional.one_hot(labels, CLASSES).float()[None]
    numbers = {
        name: tensor[None] for name, tensor in system.drawn(SIZE, CLASSES, generator).items()
    }
    torch.manual_seed(0)
    adam = torch.optim.Adam(list(numbers.values()), lr=0.02)
    for _ in range(60):
        _, gradients = system.gradients(numbers, inputs, target)
        for each, tensor in numbers.items():
            tensor.grad = gradients[each]
        adam.step()
    right = (system.scores(numbers, inputs).argmax(-1)[0] == labels).float().mean()
    assert right > 0.6  # a third is chance


def test_few_bits_change_scores_a_little_and_many_not_at_all() -> None:
    whole = system_of("gower", hidden=6)
    numbers, inputs, _ = problem(whole)
    exact = whole.scores(numbers, inputs)
    fine = system_of("gower-bits", hidden=6, parameter_bits=40, phase_bits=40)
    coarse = system_of("gower-bits", hidden=6)
    torch.testing.assert_close(fine.scores(numbers, inputs), exact)
    apart = (coarse.scores(numbers, inputs) - exact).abs().max()
    assert 0.0 < apart < 1.0
