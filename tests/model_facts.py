"""Any phase model on a backend: registered terms, schedules and sparse graphs.

`check_model` compares outputs and every gradient with those of `reference` in float64. As in
kernel_facts.py, nothing needs a test runner.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from types import ModuleType

import torch
from torch import Tensor

from entrain.kernels import reference
from entrain.physics import Dynamics, Noise, PhaseModel, Schedule
from entrain.physics.couplings import SparseCouplings, SparseGraph, values_of
from entrain.physics.terms import LOCAL, PAIR
from kernel_facts import (
    GRADIENT_TOLERANCE,
    PHASE_TOLERANCE,
    Shape,
    gradient_errors,
    on,
    random_tensor,
    relative_error,
    single,
    some_noise,
    within,
)

EVERY_TERM = (*LOCAL, *PAIR)


def random_graph(oscillators: int, degree: float, seed: int = 0) -> SparseGraph:
    """A random graph of about this mean degree."""
    generator = torch.Generator().manual_seed(seed)
    edges = round(oscillators * degree / 2)
    pairs = torch.randint(oscillators, (2 * edges, 2), generator=generator).sort(1).values
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].unique(dim=0)
    pairs = pairs[torch.randperm(len(pairs), generator=generator)[:edges]]
    return SparseGraph.from_pairs(pairs[:, 0], pairs[:, 1], oscillators)


def model_of(
    shape: Shape,
    terms: Iterable[str] = (),
    *,
    degree: float | None = None,
    shared: bool = False,
    start: bool = False,
) -> PhaseModel:
    """A random float64 model with these terms, sparse if it has a degree."""
    runs, batch, n, _ = shape
    rows = 1 if shared else batch
    couplings: Tensor | SparseCouplings = 4 / math.sqrt(n) * random_tensor(runs, n, n, seed=2)
    if degree is not None:
        graph = random_graph(n, degree)
        values = 4 / math.sqrt(degree) * random_tensor(runs, graph.edges, seed=2)
        couplings = SparseCouplings(values, graph)
    values = {}
    for index, name in enumerate(terms):
        pair = PAIR.get(name)
        if pair is None:
            size = [runs, rows, n]
        elif pair.shape == "shared":
            size = [runs, *pair.size]
        else:
            size = [*values_of(couplings).shape]
        values[name] = 0.2 * random_tensor(*size, seed=10 + index)
    return PhaseModel(
        4 * random_tensor(runs, batch, n, seed=1),
        couplings,
        terms=values,
        start=2 * random_tensor(runs, rows, n, seed=6) if start else None,
    )


def varied(
    model: PhaseModel,
    steps: int,
    names: Iterable[str] = (),
    *,
    hold: int = 0,
    first: int = 0,
) -> PhaseModel:
    """The model with factors in time of these names, and with a drive if it has segments."""
    factors = {
        name: 1.0 + 0.5 * random_tensor(steps, seed=30 + index) for index, name in enumerate(names)
    }
    drive = None
    if hold:
        segments = (first + steps - 1) // hold + 1
        drive = 3.0 * random_tensor(segments, *model.fields.shape, seed=40)
    schedule = Schedule(factors, drive, max(hold, 1), first)
    return dataclasses.replace(model, schedule=schedule)


def all_names(model: PhaseModel) -> tuple[str, ...]:
    """Everything that a schedule may vary."""
    return ("fields", "couplings", *(name for name in model.terms if name in LOCAL))


def varied_noise(shape: Shape) -> Noise:
    """Noise of a temperature that falls, in a rollout that continues another."""
    factors = torch.linspace(1.0, 0.3, shape[-1], dtype=torch.float64)
    return dataclasses.replace(some_noise(shape), factors=factors, first=3)


def check_model(
    backend: ModuleType,
    device: torch.device,
    model: PhaseModel,
    steps: int,
    *,
    noise: Noise | None = None,
    record: int = 0,
) -> dict[str, float]:
    """Phases and every gradient of a float64 model are those of the reference."""
    dynamics = Dynamics(1.1, 0.2, steps)
    exact, exact_pullback = reference.rollout_with_pullback(
        model, dynamics, noise=noise, record=record
    )
    ours, forcing = single(model, device), on(noise, device)
    assert backend.supports(ours)
    phases, pullback = backend.rollout_with_pullback(ours, dynamics, noise=forcing, record=record)
    errors = {"phases": relative_error(phases, exact, angles=noise is not None)}
    if errors["phases"] > PHASE_TOLERANCE:  # where float32 itself is that far off
        plain = reference.rollout(
            model.map(torch.Tensor.float), dynamics, noise=noise, record=record
        )
        within(errors, 2.0 * relative_error(plain, exact, angles=noise is not None))
    again = backend.rollout(ours, dynamics, noise=forcing, record=record)
    assert torch.equal(again, phases)
    gradient = random_tensor(*exact.shape, seed=7)
    found, wanted = pullback(gradient.float().to(device)), exact_pullback(gradient)
    gradients = gradient_errors(found, wanted)
    tolerance = GRADIENT_TOLERANCE
    if max(gradients.values()) > tolerance:  # where float32 itself is that far off
        plain = model.map(torch.Tensor.float)
        _, plain_pullback = reference.rollout_with_pullback(
            plain, dynamics, noise=noise, record=record
        )
        tolerance = 2.0 * max(gradient_errors(plain_pullback(gradient.float()), wanted).values())
    assert tolerance < 1e-2
    return errors | within(gradients, tolerance)


def check_peak_memory(
    backend: ModuleType, device: torch.device, shape: Shape, degree: float | None = None
) -> float:
    """`tape_bytes` is what is needed on a GPU, beside a few arrays of the size of the tensors;
    returns the part that is used."""
    model = single(model_of(shape, ["injection"], degree=degree), device)
    dynamics, gradient = Dynamics(steps=shape[-1]), torch.ones_like(model.fields)
    backend.rollout_with_pullback(model, dynamics)[1](gradient)  # compiles, and sorts the edges
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    backend.rollout_with_pullback(model, dynamics)[1](gradient)
    used = torch.cuda.max_memory_allocated(device) - before
    promised = shape[0] * shape[1] * backend.tape_bytes(model, shape[-1])
    couplings = values_of(model.couplings).numel()
    beside = 4 * (8 * model.fields.numel() + 8 * couplings + 6 * 2048 * shape[2]) + 2**24
    assert used <= promised + beside, (used, promised, beside)
    return used / promised
