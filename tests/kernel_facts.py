"""What a kernel backend must do: the outputs and every gradient of `reference` in float64.

Each `check_...` takes the backend's module and a device, raises AssertionError, and returns the
largest relative errors it found by name. Nothing here needs a test runner: a script can call them
on a machine with a GPU.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Iterable
from types import ModuleType

import torch
from torch import Tensor

from entrain.kernels import reference
from entrain.physics import (
    Couplings,
    Dynamics,
    Noise,
    PhaseModel,
    Schedule,
    SparseCouplings,
    SparseGraph,
    wrap,
)
from entrain.physics.couplings import values_of
from entrain.physics.terms import LOCAL, PAIR
from entrain.physics.terms import TERMS as REGISTRY

TERMS = ("frequencies", "injection", "lag", "start", "harmonic")
PHASE_TOLERANCE = 1e-5
GRADIENT_TOLERANCE = 1e-4

Shape = tuple[int, int, int, int]
"""Runs, batch, oscillators, steps."""


def random_tensor(*shape: int, seed: int) -> Tensor:
    """Standard normal float64 numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def example(
    shape: Shape,
    terms: Iterable[str] = (),
    *,
    shared: bool = False,
    symmetric: bool = False,
    scale: float = 1.0,
    sparse: bool = False,
    scheduled: bool = False,
) -> PhaseModel:
    """A random float64 model with some terms of the registry, or "start".

    Terms of all samples alike are (R, 1, N) if `shared`. About a third of the couplings are on the
    graph if it is `sparse`. If `scheduled`, everything that can vary in time does.
    """
    runs, batch, n, _ = shape
    couplings: Couplings = scale * 4 / math.sqrt(n) * random_tensor(runs, n, n, seed=2)
    couplings.diagonal(dim1=1, dim2=2).zero_()
    if symmetric:
        couplings = (couplings + couplings.mT) / math.sqrt(2)
    if sparse:
        graph = third_graph(n)
        couplings = SparseCouplings(couplings[:, graph.rows, graph.columns], graph)
    rows, names = 1 if shared else batch, set(terms)
    every = {
        "frequencies": 3 * random_tensor(runs, rows, n, seed=3),
        "injection": scale * random_tensor(runs, rows, n, seed=4),
        "lag": random_tensor(runs, seed=5),
        "start": 2 * random_tensor(runs, rows, n, seed=6),
        "harmonic": 0.5 * random_tensor(runs, 2, seed=9),
    }
    for seed, name in enumerate(REGISTRY, 100):
        if name not in every and name in LOCAL:
            every[name] = 0.4 * scale * random_tensor(runs, rows, n, seed=seed)
        elif name not in every:
            each = PAIR[name].shape == "couplings"
            size = values_of(couplings).shape if each else (runs, *PAIR[name].size)
            every[name] = random_tensor(*size, seed=seed)
    fields = scale * 4 * random_tensor(runs, batch, n, seed=1)
    varying = ["fields", "couplings", *(name for name in LOCAL if name in names)]
    schedule = some_schedule(shape, varying, scale) if scheduled else None
    start, own = every["start"] if "start" in names else None, names - {"start"}
    values = {name: every[name] for name in REGISTRY if name in own}
    return PhaseModel(fields, couplings, terms=values, start=start, schedule=schedule)


def third_graph(oscillators: int) -> SparseGraph:
    """A graph with about a third of all couplers, and not the same number at each oscillator."""
    pairs = torch.combinations(torch.arange(oscillators), 2)
    first, second = pairs[(7 * pairs[:, 0] + 3 * pairs[:, 1]) % 3 == 0].unbind(1)
    return SparseGraph.from_pairs(first, second, oscillators)


def some_schedule(shape: Shape, names: Iterable[str], scale: float = 1.0) -> Schedule:
    """Random factors, and a drive of segments of three steps, the first of which has begun."""
    runs, batch, n, steps = shape
    factors = {name: random_tensor(steps, seed=20 + k) for k, name in enumerate(names)}
    hold, first = 3, 1
    segments = (first + steps - 1) // hold + 1
    drive = 2 * scale * random_tensor(segments, runs, batch, n, seed=30)
    return Schedule(factors, drive, hold, first)


def some_noise(shape: Shape, temperature: float = 0.7, *, scheduled: bool = False) -> Noise:
    """Three replicates, with indices that do not start at zero; also the steps if `scheduled`."""
    noise = Noise(9, temperature, torch.tensor([0, 3, 4]), torch.arange(shape[1]) + 1000)
    if not scheduled:
        return noise
    factors = torch.linspace(1.0, 0.1, shape[-1], dtype=torch.float64)
    return dataclasses.replace(noise, factors=factors, first=3)


def single(model: PhaseModel, device: torch.device) -> PhaseModel:
    """The model as the kernels take it."""
    return model.map(lambda tensor: tensor.float().to(device))


def on(noise: Noise | None, device: torch.device) -> Noise | None:
    """The noise with its indices on a device."""
    if noise is None:
        return None
    indices = {"replicates": noise.replicates.to(device), "samples": noise.samples.to(device)}
    return dataclasses.replace(noise, **indices)


def relative_error(found: Tensor, exact: Tensor, *, angles: bool = False) -> float:
    """Of float32 against float64 in the largest norm; angles apart by 2 pi are the same."""
    assert found.shape == exact.shape, (found.shape, exact.shape)
    difference = found.double().cpu() - exact
    difference = wrap(difference) if angles else difference
    return float(difference.abs().max() / exact.abs().max().clamp(min=1e-12))


def gradient_errors(found: PhaseModel, exact: PhaseModel) -> dict[str, float]:
    """The relative error of each tensor; both must have the same ones."""
    ours, theirs = found.tensors(), exact.tensors()
    assert ours.keys() == theirs.keys()
    return {name: relative_error(ours[name], theirs[name]) for name in ours}


def within(errors: dict[str, float], tolerance: float) -> dict[str, float]:
    """The errors, none of which may be larger, or not a number."""
    assert all(error <= tolerance for error in errors.values()), (errors, tolerance)
    return errors


def check_terms(
    backend: ModuleType,
    device: torch.device,
    shape: Shape,
    terms: Iterable[str] = (),
    *,
    shared: bool = False,
    symmetric: bool = False,
    noisy: bool = False,
    record: int = 0,
    sparse: bool = False,
    scheduled: bool = False,
) -> dict[str, float]:
    """Phases and every gradient are those of the reference; without the tape to the bit."""
    model = example(
        shape, terms, shared=shared, symmetric=symmetric, sparse=sparse, scheduled=scheduled
    )
    dynamics = Dynamics(1.1, 0.2, shape[-1])
    noise = some_noise(shape, scheduled=scheduled) if noisy else None
    exact, exact_pullback = reference.rollout_with_pullback(
        model, dynamics, noise=noise, record=record
    )
    ours, our_noise = single(model, device), on(noise, device)
    phases, pullback = backend.rollout_with_pullback(ours, dynamics, noise=our_noise, record=record)
    errors = {"phases": relative_error(phases, exact, angles=noisy)}
    if errors["phases"] > PHASE_TOLERANCE:  # where float32 itself is that far off
        plain = reference.rollout(
            model.map(torch.Tensor.float), dynamics, noise=noise, record=record
        )
        within(errors, 2.0 * relative_error(plain, exact, angles=noisy))
    again = backend.rollout(ours, dynamics, noise=our_noise, record=record)
    assert torch.equal(again, phases)
    gradient = random_tensor(*exact.shape, seed=7)
    found = pullback(gradient.float().to(device))
    wanted = exact_pullback(gradient)
    found_errors = gradient_errors(found, wanted)
    tolerance = GRADIENT_TOLERANCE
    if max(found_errors.values()) > tolerance:  # where float32, in another order, is that far off
        _, plain_pullback = reference.rollout_with_pullback(
            model.map(torch.Tensor.float), dynamics, noise=noise, record=record
        )
        tolerance = 8.0 * max(gradient_errors(plain_pullback(gradient.float()), wanted).values())
    return errors | within(found_errors, tolerance)


def check_adjoint(
    shape: Shape,
    terms: Iterable[str] = (),
    *,
    shared: bool = False,
    noisy: bool = False,
    record: int = 0,
    sparse: bool = False,
    scheduled: bool = False,
    method: str = "euler",
) -> None:
    """The adjoint of the reference equals autograd through its rollout, for every tensor."""
    model = example(shape, terms, shared=shared, sparse=sparse, scheduled=scheduled)
    dynamics = Dynamics(1.3, 0.2, shape[-1])
    noise = some_noise(shape, 0.1, scheduled=scheduled) if noisy else None
    phases, pullback = reference.rollout_with_pullback(
        model, dynamics, noise=noise, record=record, method=method
    )
    leaves = model.map(lambda tensor: tensor.clone().requires_grad_())
    exact = reference.rollout(leaves, dynamics, noise=noise, record=record, method=method)
    torch.testing.assert_close(phases, exact.detach(), rtol=1e-12, atol=1e-12)
    weights, tensors = random_tensor(*phases.shape, seed=7), leaves.tensors()
    wanted = torch.autograd.grad(
        exact, list(tensors.values()), weights, materialize_grads=True, allow_unused=True
    )
    found = pullback(weights).tensors()
    assert found.keys() == tensors.keys()
    for name, gradient in zip(tensors, wanted, strict=True):
        torch.testing.assert_close(found[name], gradient, rtol=1e-9, atol=1e-10, msg=name)


def check_recorded(backend: ModuleType, device: torch.device, shape: Shape) -> dict[str, float]:
    """All K + 1 times, with large turns; the last is what is returned without recording."""
    model, dynamics = example(shape, scale=3.0), Dynamics(1.0, 0.5, shape[-1])
    exact = reference.rollout(model, dynamics, record=True)
    found = backend.rollout(single(model, device), dynamics, record=True)
    assert torch.equal(found[-1], backend.rollout(single(model, device), dynamics))
    return within({"phases": relative_error(found, exact)}, PHASE_TOLERANCE)


def check_increments(
    backend: ModuleType, device: torch.device, shape: Shape, record: bool
) -> dict[str, float]:
    """Noisy rollouts receive the increments of `physics.noise`."""
    model, dynamics, noise = example(shape), Dynamics(1.0, 0.2, shape[-1]), some_noise(shape)
    exact = reference.rollout(model, dynamics, noise=noise, record=record)
    found = backend.rollout(single(model, device), dynamics, noise=on(noise, device), record=record)
    return within({"phases": relative_error(found, exact, angles=True)}, PHASE_TOLERANCE)


def check_path_loss(
    backend: ModuleType,
    device: torch.device,
    shape: Shape,
    nodes: int | None,
    terms: Iterable[str] = (),
) -> dict[str, float]:
    """The path loss and every gradient are those of the reference."""
    model, dynamics = example(shape, terms), Dynamics(1.1, 0.2, shape[-1])
    assert backend.has_path_loss(model)
    coefficients = 3 * random_tensor(*shape[:3], seed=8)
    exact, exact_gradient = reference.path_loss(model, coefficients, dynamics, nodes=nodes)
    found, gradient = backend.path_loss(
        single(model, device), coefficients.float().to(device), dynamics, nodes=nodes
    )
    errors = {"loss": relative_error(found, exact)} | gradient_errors(gradient, exact_gradient)
    return within(errors, GRADIENT_TOLERANCE)


def check_layout_of_tensors(backend: ModuleType, device: torch.device, shape: Shape) -> None:
    """Views that are not contiguous give the bits of their copies."""
    model, dynamics = single(example(shape, TERMS), device), Dynamics(steps=shape[-1])
    views = model.map(
        lambda tensor: tensor.mT.contiguous().mT if tensor.dim() > 1 else tensor.repeat(2)[::2]
    )
    views = dataclasses.replace(views, lag=model.lag)
    gradient = random_tensor(*shape[:3], seed=7).float().to(device)
    found = [backend.rollout_with_pullback(each, dynamics) for each in (model, views)]
    assert torch.equal(found[0][0], found[1][0])
    first, second = found[0][1](gradient), found[1][1](gradient.mT.contiguous().mT)
    for name, tensor in first.tensors().items():
        assert torch.equal(tensor, second.tensors()[name]), name


def check_runs_are_apart(backend: ModuleType, device: torch.device) -> None:
    """A run that is not finite does not disturb the others."""
    dynamics = Dynamics(steps=6)
    model = single(example((3, 5, 11, 6)), device)
    clean = backend.rollout(model, dynamics)
    model.couplings[1] = torch.nan
    dirty = backend.rollout(model, dynamics)
    assert torch.equal(clean[[0, 2]], dirty[[0, 2]])
    assert bool(dirty[1].isnan().all())


# The rest needs a real device.


def check_capture(backend: ModuleType, device: torch.device, shape: Shape) -> None:
    """A captured rollout and its pullback, replayed with new numbers, are those of a plain call."""
    model, dynamics = single(example(shape), device), Dynamics(steps=shape[-1])
    gradient = random_tensor(*shape[:3], seed=7).float().to(device)

    def work() -> tuple[Tensor, PhaseModel]:
        phases, pullback = backend.rollout_with_pullback(model, dynamics)
        return phases, pullback(gradient)

    work()  # compiled before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.device(device), torch.cuda.graph(graph):
        phases, found = work()
    model.fields.mul_(0.5)
    graph.replay()
    torch.cuda.synchronize(device)
    plain, plain_found = work()
    assert torch.equal(phases, plain)
    assert torch.equal(found.fields, plain_found.fields)
    assert torch.equal(found.couplings, plain_found.couplings)


def check_fresh_thread(backend: ModuleType, device: torch.device) -> None:
    """A thread that has not used CUDA yet, and whose device is another one, can launch."""
    model, dynamics = single(example((1, 3, 9, 4)), device), Dynamics(steps=4)
    expected, found = backend.rollout(model, dynamics), list[Tensor]()
    torch.cuda.synchronize(device)
    thread = threading.Thread(target=lambda: found.append(backend.rollout(model, dynamics)))
    thread.start()
    thread.join()
    assert torch.equal(found[0], expected)


def check_memory(
    backend: ModuleType, device: torch.device, shape: Shape, terms: Iterable[str] = ()
) -> dict[str, float]:
    """`tape_bytes` is what is needed, beside a few arrays of the size of fields and couplings."""
    model, dynamics = single(example(shape, terms), device), Dynamics(steps=shape[-1])
    runs, batch, _, steps = shape
    gradient = torch.ones_like(model.fields)
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    backend.rollout_with_pullback(model, dynamics)[1](gradient)
    used = torch.cuda.max_memory_allocated(device) - before
    promised = runs * batch * backend.tape_bytes(model, steps)
    beside = 4 * (8 * model.fields.numel() + 4 * model.couplings.numel()) + 2**24  # and cuBLAS
    assert used <= promised + beside, (used, promised, beside)
    return {"bytes used of those promised": used / promised}
