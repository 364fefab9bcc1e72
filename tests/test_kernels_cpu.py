"""The compiled CPU kernels against the reference in float64."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from torch import Tensor

import kernel_facts
from command_line import threads
from entrain.kernels import reference
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.physics.terms import LOCAL
from entrain.physics.terms import TERMS as REGISTRY
from networks import TERMS, random_couplings, random_model, random_tensor

cpu = pytest.importorskip("entrain.kernels.cpu")
tiles_forward = pytest.importorskip("entrain.kernels.tiles_forward")
tiles_adjoint = pytest.importorskip("entrain.kernels.tiles_adjoint")
rows_of = pytest.importorskip("entrain.kernels.tiles_inputs").rows_of

# runs, batch, hidden, outputs, K, observation time, size of the parameters, tolerance
EXAMPLES = {
    "one sample": (1, 1, 5, 3, 12, 0.4, 1.0, 1e-5),
    "two oscillators": (1, 8, 1, 1, 7, 0.4, 1.0, 1e-5),
    "three oscillators, one step": (2, 3, 2, 1, 1, 0.4, 1.0, 1e-5),
    "one output": (1, 9, 12, 1, 33, 0.4, 1.0, 1e-5),
    "odd N": (3, 11, 13, 4, 33, 0.3, 1.0, 1e-5),
    "the usual size": (1, 19, 64, 10, 50, 0.2, 1.0, 1e-5),
    "128 hidden": (2, 16, 128, 10, 40, 0.2, 0.5, 1e-5),
    "many tiles": (1, 8 * 70 + 3, 4, 2, 5, 0.4, 1.0, 1e-5),
    "several radians": (1, 8, 12, 3, 100, 1.0, 1.5, 1e-4),
    "large increments": (1, 5, 12, 3, 10, 1.0, 1.5, 1e-4),
    "every increment large": (1, 10, 3, 2, 3, 3.0, 2.0, 1e-4),
}

# runs, batch, N, K, observation time, size of the parameters
SHAPES = {
    "odd N, odd batch": (2, 11, 7, 9, 0.5, 1.0),
    "one sample": (1, 1, 8, 7, 0.4, 1.0),
    "two oscillators": (1, 8, 2, 5, 0.4, 1.0),
    "three oscillators, one step": (2, 3, 3, 1, 0.4, 1.0),
    "the usual size": (1, 19, 74, 40, 0.2, 0.5),
    "large increments": (1, 5, 6, 4, 2.0, 0.5),
}
CHOICES = {"none": (), **{term: (term,) for term in TERMS}, "all": TERMS}


@pytest.fixture(params=EXAMPLES.values(), ids=list(EXAMPLES))
def example(request):
    """A plain model with symmetric couplings, a gradient, and how exact results should be."""
    runs, batch, hidden, outputs, steps, time, size, tolerance = request.param
    n = hidden + outputs
    return {
        "model": PhaseModel(
            (size * random_tensor(runs, batch, n, seed=1)).float(),
            (size * random_couplings(runs, hidden, outputs)).float(),
        ),
        "gradient": random_tensor(runs, batch, n, seed=2).float(),
        "dynamics": Dynamics(1.3, time, steps),
        "noise": Noise(7, 0.2, torch.tensor([3, 0]), torch.arange(100, 100 + batch)),
        "tolerance": tolerance,
    }


def error(found: Tensor, exact: Tensor, least: float = 1e-6) -> float:
    """The largest error relative to the largest number, or to `least` where that is smaller."""
    assert found.shape == exact.shape
    assert found.dtype == torch.float32
    return float((found - exact).abs().max() / exact.abs().max().clamp_min(least))


def turn_error(found: Tensor, exact: Tensor) -> float:
    """The largest error of phases that may be a turn apart, across the cut at pi."""
    assert found.shape == exact.shape
    assert found.dtype == torch.float32
    return float(torch.sin(0.5 * (found - exact)).abs().max())


def doubled(model: PhaseModel) -> PhaseModel:
    return model.map(Tensor.double)


def single(model: PhaseModel) -> PhaseModel:
    return model.map(Tensor.float)


def run_of(model: PhaseModel, chosen: slice) -> PhaseModel:
    return model.map(lambda tensor: tensor[chosen])


def training_step(
    model: PhaseModel,
    gradient: Tensor,
    dynamics: Dynamics,
    kernel: ModuleType = cpu,
    **options: Noise | bool | None,
) -> dict[str, Tensor]:
    """The phases and every gradient."""
    phases, pullback = kernel.rollout_with_pullback(model, dynamics, **options)
    return {"phases": phases, **pullback(gradient).tensors()}


def same(one: dict[str, Tensor], another: dict[str, Tensor]) -> bool:
    assert one.keys() == another.keys()
    return all(torch.equal(one[name], another[name]) for name in one)


def test_phases_and_gradients_equal_the_reference(example) -> None:
    model, gradient, dynamics = (example[name] for name in ("model", "gradient", "dynamics"))
    found = training_step(model, gradient, dynamics)
    exact = training_step(doubled(model), gradient.double(), dynamics, reference)
    for name in ("phases", "fields", "couplings"):
        assert error(found[name], exact[name]) < example["tolerance"], name
    assert torch.equal(cpu.rollout(model, dynamics), found["phases"])


def test_recorded_paths_equal_the_reference(example) -> None:
    model, dynamics = example["model"], example["dynamics"]
    path = cpu.rollout(model, dynamics, record=True)
    exact = reference.rollout(doubled(model), dynamics, record=True)
    assert error(path, exact) < example["tolerance"]
    assert torch.equal(path[-1], cpu.rollout(model, dynamics))


def test_noisy_rollouts_equal_the_reference(example) -> None:
    model, dynamics, noise = (example[name] for name in ("model", "dynamics", "noise"))
    path = cpu.rollout(model, dynamics, noise=noise, record=True)
    exact = reference.rollout(doubled(model), dynamics, noise=noise, record=True)
    assert float(path.abs().max()) <= math.pi + 1e-6
    assert turn_error(path, exact) < example["tolerance"]
    assert torch.equal(path[-1], cpu.rollout(model, dynamics, noise=noise))


@pytest.mark.parametrize("record", [False, True], ids=["end", "record"])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("shared", [False, True], ids=["each", "shared"])
@pytest.mark.parametrize("terms", CHOICES.values(), ids=list(CHOICES))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_every_term_and_gradient_equals_the_reference(shape, terms, shared, noisy, record) -> None:
    runs, batch, n, steps, time, size = shape
    model = single(random_model(runs, batch, n, terms, shared=shared, size=size))
    dynamics = Dynamics(1.3, time, steps)
    noise = Noise(3, 0.4, torch.arange(3), torch.arange(batch) + 5) if noisy else None
    phases = cpu.rollout(model, dynamics, noise=noise, record=record)
    gradient = random_tensor(*phases.shape, seed=2).float()
    found = training_step(model, gradient, dynamics, noise=noise, record=record)
    assert torch.equal(found["phases"], phases)
    exact = training_step(
        doubled(model), gradient.double(), dynamics, reference, noise=noise, record=record
    )
    measure = turn_error if noisy else error
    assert measure(found.pop("phases"), exact.pop("phases")) < 2e-5
    assert found.keys() == exact.keys() == model.tensors().keys()
    for name in found:
        assert found[name].shape == model.tensors()[name].shape
        # Those of lag and harmonic are single sums, of terms of about 1 that may cancel.
        least = 1.0 if name in ("lag", "harmonic") else 1e-6
        assert error(found[name], exact[name], least) < 1e-4, name


@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("record", [False, True], ids=["end", "record"])
def test_gradients_equal_finite_differences_of_the_reference(noisy, record) -> None:
    """Central differences of the float64 rollout along a random direction of each tensor."""
    model = single(random_model(2, 5, 7, TERMS, size=0.7))
    dynamics = Dynamics(1.3, 0.5, 9)
    noise = Noise(3, 0.1, torch.arange(3), torch.arange(5)) if noisy else None
    exact, step = doubled(model), 1e-5
    phases = reference.rollout(exact, dynamics, noise=noise, record=record)
    gradient = random_tensor(*phases.shape, seed=2).float()
    found = training_step(model, gradient, dynamics, noise=noise, record=record)
    for name, tensor in exact.tensors().items():
        direction = random_tensor(*tensor.shape, seed=4)
        ends = [
            reference.rollout(
                replace(exact, **{name: tensor + sign * step * direction}),
                dynamics,
                noise=noise,
                record=record,
            )
            for sign in (1, -1)
        ]
        moved = ends[0] - ends[1]
        moved = torch.atan2(moved.sin(), moved.cos())  # a turn more or less across the cut
        slope = float((gradient * moved).sum()) / (2 * step)
        expected = float((found[name] * direction).sum())
        scale = float((found[name] * direction).abs().sum())
        assert abs(expected - slope) < 1e-4 * scale, name


@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("term", ["frequencies", "injection", "lag", "harmonic"])
def test_a_term_that_is_zero_changes_no_bit(term: str, noisy: bool) -> None:
    model, dynamics = single(random_model(2, 11, 7)), Dynamics(1.3, 0.5, 40)
    noise = Noise(3, 0.4, torch.arange(3), torch.arange(11)) if noisy else None
    zero = {"lag": torch.zeros(2), "harmonic": torch.zeros(2, 2)}.get(term, torch.zeros(2, 1, 7))
    gradient = random_tensor(2, *((3,) if noisy else ()), 11, 7, seed=2).float()
    absent = training_step(model, gradient, dynamics, noise=noise)
    present = training_step(replace(model, **{term: zero}), gradient, dynamics, noise=noise)
    assert present.pop(term).shape == zero.shape
    assert same(present, absent)


def test_a_start_at_a_quarter_turn_changes_roundings_only() -> None:
    """The cosine of pi/2 as a float32 is -4e-8, that of the start of a model without is 0."""
    model, dynamics = single(random_model(2, 11, 7)), Dynamics(1.3, 0.5, 40)
    gradient = random_tensor(2, 11, 7, seed=2).float()
    absent = training_step(model, gradient, dynamics)
    quarter = replace(model, start=torch.full((2, 1, 7), math.pi / 2))
    for name, tensor in training_step(quarter, gradient, dynamics).items():
        if name != "start":
            assert error(tensor, absent[name].double()) < 3e-6, name


def test_phases_are_unwrapped_and_count_from_the_start() -> None:
    b, j = torch.tensor([[[0.0, 8.0], [-8.0, 0.0]]]), torch.zeros(1, 2, 2)
    phases = cpu.rollout(PhaseModel(b, j), Dynamics(1.0, 1.0, 1))
    assert torch.allclose(phases, math.pi / 2 - b, rtol=1e-6)
    start = torch.tensor([[[20.0, -30.0]]])
    free = PhaseModel(torch.zeros(1, 3, 2), j, frequencies=torch.ones(1, 1, 2), start=start)
    path = cpu.rollout(free, Dynamics(1.0, 5.0, 10), record=True)
    assert torch.equal(path[0], start.expand(1, 3, 2))
    assert torch.allclose(path[-1], start + 5.0, rtol=1e-6)


def test_noise_leaves_the_start_as_it_is() -> None:
    start = torch.full((1, 1, 2), 20.0)
    model = PhaseModel(torch.zeros(1, 3, 2), torch.zeros(1, 2, 2), start=start)
    noise = Noise(3, 0.4, torch.arange(2), torch.arange(3))
    path = cpu.rollout(model, Dynamics(1.0, 1.0, 4), noise=noise, record=True)
    assert torch.equal(path[0], start.expand(1, 2, 3, 2))
    assert float(path[1:].abs().max()) <= math.pi + 1e-6


def test_rounding_is_a_hundredth_of_what_the_check_of_a_kernel_admits() -> None:
    """The reference in float32 passes the check against itself in float64, for every kernel."""
    exact = reference.rollout_with_pullback

    class Doubled:
        @staticmethod
        def rollout_with_pullback(model, dynamics, *, noise=None):
            phases, pullback = exact(doubled(model), dynamics, noise=noise)
            return phases.float(), lambda gradient: single(pullback(gradient.double()))

    for terms in ((), tuple(REGISTRY), *((name,) for name in REGISTRY)):
        scheduled = ("fields", "couplings", *(name for name in terms if name in LOCAL))
        for sparse, noisy, varies in itertools.product((False, True), repeat=3):
            factors = scheduled if varies else ()
            kernel = cpu.Kernel(terms, factors, varies, sparse, noisy, gradients=True)
            ours, wanted = (cpu._result(module, kernel) for module in (reference, Doubled))
            assert torch.allclose(ours, wanted, rtol=1e-6, atol=1e-6), kernel


def test_layout_batch_and_runs_of_a_model_compile_nothing_anew() -> None:
    """An array in another layout would be another version, compiled in the middle of a run."""
    d, shape = Dynamics(1.0, 0.1, 2), (2, 3, 5, 2)
    kernels = (tiles_forward.forward_tile, tiles_forward.noisy_tile, tiles_adjoint.backward_tile)

    def versions(model: PhaseModel) -> list[int]:
        noise = Noise(1, 0.1, torch.arange(1), torch.arange(model.fields.shape[1]))
        for forcing in (None, noise, replace(noise, factors=torch.ones(2))):
            for record in (0, 1):
                cpu.rollout(model, d, noise=forcing, record=record)
                phases, pullback = cpu.rollout_with_pullback(model, d, noise=forcing, record=record)
                pullback(phases)
        return [len(kernel.signatures) for kernel in kernels]

    for terms, sparse in itertools.product(((), (*TERMS, "edge_lag")), (False, True)):
        whole = single(kernel_facts.example(shape, terms, sparse=sparse))
        b, compiled = whole.fields, versions(whole)
        for view in (b.transpose(1, 2).contiguous().transpose(1, 2), b[:, :1]):
            model = replace(whole.rows(slice(view.shape[1])), fields=view)
            for one in (model, run_of(model, slice(1))):
                assert versions(one) == compiled


def test_kernels_are_compiled_for_the_terms_of_a_model_alone() -> None:
    d, kernel = Dynamics(1.0, 0.1, 2), tiles_forward.forward_tile

    def versions(*terms: str) -> int:
        cpu.rollout(single(kernel_facts.example((1, 3, 5, 2), terms)), d)
        return len(kernel.signatures)

    plain = versions()
    assert versions("start") == plain
    injected = versions("injection_3")
    assert versions("start", "injection_3") == injected
    lagging = versions("lag")
    assert versions("harmonic") == lagging  # a pair term changes numbers of the same kernel


def test_bits_do_not_depend_on_threads(example) -> None:
    model, gradient, dynamics = (example[name] for name in ("model", "gradient", "dynamics"))
    runs, batch, n = gradient.shape
    full = single(random_model(runs, batch, n, TERMS, shared=True))
    shape = (runs, batch, n, dynamics.steps)
    sparse = single(kernel_facts.example(shape, ("edge_lag",), sparse=True, scheduled=True))
    noisy_gradient = random_tensor(runs, 2, batch, n, seed=3).float()
    results = []
    for count in (1, 2, 3):
        with threads(count):
            found = [
                training_step(model, gradient, dynamics),
                training_step(sparse, gradient, dynamics),
                training_step(full, noisy_gradient, dynamics, noise=example["noise"]),
                {"noisy": cpu.rollout(model, dynamics, noise=example["noise"])},
            ]
            results.append(found)
    for other in results[1:]:
        assert all(same(*pair) for pair in zip(results[0], other, strict=True))


@pytest.mark.parametrize("terms", [(), TERMS], ids=["none", "all"])
def test_bits_do_not_depend_on_neighbours(terms) -> None:
    """Samples alone, in another lane, or among other runs."""
    model, g = single(random_model(2, 21, 17, terms)), random_tensor(2, 21, 17, seed=2).float()
    d, part = Dynamics(1.0, 0.3, 40), slice(10, 15)
    together = training_step(model, g, d)
    by_sample = together.keys() - {"couplings", "lag", "harmonic"}
    for run in range(2):
        one = slice(run, run + 1)
        alone = training_step(run_of(model, one).rows(part), g[one, part], d)
        for name in by_sample:
            assert torch.equal(alone[name], together[name][one, part])
        alone = training_step(run_of(model, one), g[one], d)
        assert same(alone, {name: tensor[one] for name, tensor in together.items()})
    noise = Noise(7, 0.2, torch.arange(3), torch.arange(21))
    few = Noise(7, 0.2, torch.arange(1, 2), torch.arange(21)[part])
    whole = cpu.rollout(model, d, noise=noise)
    assert torch.equal(cpu.rollout(model.rows(part), d, noise=few), whole[:, 1:2, part])


@pytest.mark.parametrize("bad", [math.nan, math.inf, 3e38])
def test_a_run_that_is_not_finite_does_not_change_other_runs(bad: float) -> None:
    b, g = random_tensor(3, 9, 7, seed=1).float(), random_tensor(3, 9, 7, seed=2).float()
    j, d = random_couplings(3, 5, 2).float(), Dynamics(1.0, 0.3, 20)
    b[1, 4, 2] = j[1, 0, 1] = j[1, 1, 0] = bad
    model = PhaseModel(b, j)
    together = training_step(model, g, d)
    assert not all(bool(part[1].isfinite().all()) for part in together.values())
    for run in (0, 2):
        one = slice(run, run + 1)
        alone = training_step(run_of(model, one), g[one], d)
        assert same(alone, {name: tensor[one] for name, tensor in together.items()})
    noise = Noise(7, 0.2, torch.arange(2), torch.arange(9))
    alone = cpu.rollout(run_of(model, slice(2, 3)), d, noise=noise)
    assert torch.equal(cpu.rollout(model, d, noise=noise)[2:], alone)


def test_a_pullback_can_be_called_again_after_other_rollouts() -> None:
    model, g = single(random_model(1, 9, 7, TERMS)), random_tensor(1, 9, 7, seed=2).float()
    d = Dynamics(1.0, 0.3, 20)
    _, pullback = cpu.rollout_with_pullback(model, d)
    first = pullback(g).tensors()
    _, other = cpu.rollout_with_pullback(replace(model, fields=2 * model.fields), d)
    other(g)
    assert same(first, pullback(g).tensors())


def test_a_pullback_uses_the_couplings_of_its_rollout() -> None:
    model, g = single(random_model(1, 9, 7)), random_tensor(1, 9, 7, seed=2).float()
    _, pullback = cpu.rollout_with_pullback(model, Dynamics(1.0, 0.3, 20))
    first = pullback(g).tensors()
    model.couplings.zero_()
    assert same(first, pullback(g).tensors())


def test_views_expanded_fields_and_no_samples() -> None:
    """Fields as callers may pass them: not contiguous, requiring gradients, empty."""
    b, d = random_tensor(1, 1, 7, seed=1).float().expand(2, 9, 7), Dynamics(1.0, 0.3, 20)
    j = random_couplings(2, 5, 2).float().requires_grad_()
    turned = b.transpose(1, 2).contiguous().transpose(1, 2)
    assert torch.equal(cpu.rollout(PhaseModel(b, j), d), cpu.rollout(PhaseModel(turned, j), d))
    nobody = Noise(1, 0.1, torch.arange(2), torch.arange(0))
    nothing, shared = b[:, :0], torch.zeros(2, 1, 7)
    for model in (
        PhaseModel(nothing, j),
        PhaseModel(nothing, j, frequencies=shared, injection=nothing),
    ):
        for noise, record in ((None, False), (None, True), (nobody, False)):
            empty, pullback = cpu.rollout_with_pullback(model, d, noise=noise, record=record)
            assert empty.shape[-2:] == (0, 7)
            found = pullback(empty)
            assert found.fields.shape == (2, 0, 7)
            assert not bool(found.couplings.any())
            for name, tensor in model.tensors().items():
                assert found.tensors()[name].shape == tensor.shape


def test_tape_bytes_is_the_size_of_the_tape() -> None:
    for n, steps in ((2, 1), (7, 20), (74, 5)):
        tape = cpu.Tape(1, 1, steps, rows_of(n))
        model = PhaseModel(torch.zeros(1, 1, n), torch.zeros(1, n, n))
        assert tape.states.nbytes + tape.diagonals.nbytes == 8 * cpu.tape_bytes(model, steps)
