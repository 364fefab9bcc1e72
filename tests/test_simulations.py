"""Simulations of oscillators: axes, times, starts, schedules and gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import entrain
from entrain import InputError, Oscillators, Simulation, kernels, ramp
from networks import random_tensor
from oscillator_examples import N, ring, same_result, symmetric

# Axes, times and starts


def test_axes_are_those_asked_for() -> None:
    starts, inputs = random_tensor(4, N), random_tensor(4, 2)
    one = Oscillators(symmetric(), inputs=2)
    two = Oscillators(torch.stack([symmetric(), symmetric(seed=1)]), inputs=2, runs=2)
    for osc, runs in ((one, ()), (two, (2,))):
        assert osc.simulate().final.shape == (*runs, N)
        assert osc.simulate(inputs[0]).readout.shape == (*runs, N)
        assert osc.simulate(restarts=3).final.shape == (*runs, 3, N)
        assert osc.simulate(inputs, restarts=3).order_parameter().shape == (*runs, 3, 4)
        assert osc.simulate(inputs, starts=starts[0]).final.shape == (*runs, 4, N)
        assert osc.simulate(inputs[0], starts=starts).final.shape == (*runs, 4, N)
        assert osc.simulate(inputs[:1], starts=starts).final.shape == (*runs, 4, N)
        assert osc.simulate(starts=starts, restarts=3, steps=6, record=2).phases.shape == (
            *(4, *runs, 3, 4, N),
        )
        driven = osc.simulate(drive=random_tensor(5, 2), steps_per_input=2)
        assert driven.readout.shape == (*runs, 5, N)


def test_runs_are_systems_of_their_own() -> None:
    matrices, inputs = torch.stack([symmetric(), symmetric(seed=1)]), random_tensor(2, 4, 2)
    weights = random_tensor(N, 2, seed=3)
    both = Oscillators(matrices, inputs=2, input_weights=weights, runs=2)
    run = both.simulate(inputs, starts="random", record=50, temperature=0.1, restarts=2)
    for index in range(2):
        alone = Oscillators(matrices[index], inputs=2, input_weights=weights)
        wanted = alone.simulate(
            inputs[index], starts="random", record=50, temperature=0.1, restarts=2
        )
        assert torch.allclose(run.phases[:, index], wanted.phases, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", [(5,), (4, 5), (2, 4, 5)], ids=str)
def test_a_drive_of_runs_is_that_of_each_run(form: tuple[int, ...]) -> None:
    matrices, weights = torch.stack([symmetric(), symmetric(seed=1)]), random_tensor(2, N, 3)
    u = random_tensor(*form, 3)
    both = Oscillators(matrices, inputs=3, input_weights=weights, runs=2)
    readout = both.simulate(drive=u, steps_per_input=4).readout
    assert readout.shape == (2, *form[-2:], N)
    for run in range(2):
        alone = Oscillators(matrices[run], inputs=3, input_weights=weights[run])
        wanted = alone.simulate(drive=u[run] if len(form) == 3 else u, steps_per_input=4).readout
        assert torch.allclose(readout[run], wanted, rtol=0, atol=1e-12)


def test_record_times_and_the_end_are_parts_of_one_path() -> None:
    osc = Oscillators(symmetric(), frequencies=random_tensor(N, seed=1))
    path = osc.simulate(starts="random", steps=12, time=0.6, record=1)
    assert path.times.tolist() == pytest.approx([0.05 * k for k in range(13)])
    some = osc.simulate(starts="random", steps=12, time=0.6, record=4)
    assert torch.equal(some.phases, path.phases[::4])
    assert torch.equal(some.times, path.times[::4])
    end = osc.simulate(starts="random", steps=12, time=0.6)
    assert torch.equal(end.phases, path.phases[-1:])
    assert end.times.tolist() == [0.6]
    between = osc.simulate(starts="random", steps=12, time=0.6, times=[0.1, 0.125])
    assert torch.equal(between.phases[0], path.phases[2])
    assert torch.allclose(between.phases[1], path.phases[2:4].mean(0), rtol=0, atol=1e-12)
    for run in (path, some, end, between):
        assert torch.equal(run.final, path.phases[-1])
        assert torch.equal(run.readout, path.phases[-1].cos())
        assert torch.equal(run.order_parameter(), entrain.order_parameter(path.phases[-1]))


def test_a_longer_time_keeps_the_time_step() -> None:
    osc = Oscillators(symmetric(), observation_time=0.2, steps=20)
    run = osc.simulate(time=1.0, starts="random", record=1)
    assert torch.equal(run.phases[20], osc.simulate(starts="random").final)
    assert len(run.times) == 101


def test_the_readout_after_each_input_does_not_depend_on_what_is_recorded() -> None:
    osc, u = Oscillators(N, inputs=2, read=[4, 1]), torch.randn(3, 5, 2)
    runs = [osc.simulate(drive=u, hold=0.1, steps_per_input=4, record=n) for n in (0, 1, 2, 4)]
    runs.append(osc.simulate(drive=u, hold=0.1, steps_per_input=4, times=[0.05]))
    for run in runs:
        assert torch.equal(run.readout, runs[0].readout)
    assert torch.equal(runs[1].phases[4::4, :, [4, 1]].cos().movedim(0, 1), runs[0].readout)


def test_a_drive_is_a_chain_of_simulations_with_constant_inputs() -> None:
    osc = Oscillators(N, inputs=2, fields=np.linspace(-1, 1, N), dtype=torch.float64)
    u = random_tensor(3, 4, 2)
    driven = osc.simulate(drive=u, hold=0.3, steps_per_input=5, temperature=0.2, seed=3)
    state: Any = None
    for k in range(4):
        state = osc.simulate(u[:, k], starts=state, time=0.3, steps=5, temperature=0.2, seed=3)
        assert torch.allclose(driven.readout[:, k], state.readout, rtol=0, atol=1e-12)
    fields = Oscillators(osc.couplings.detach(), fields=osc.biases.detach())
    with_fields = fields.simulate(
        drive=osc.drive_fields(u).detach(), hold=0.3, steps_per_input=5, temperature=0.2, seed=3
    )
    assert torch.allclose(with_fields.readout, driven.readout, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"restarts": 3}, {"inputs": 4}, {"restarts": 3, "inputs": 4}]
)
@pytest.mark.parametrize("runs", [None, 2])
def test_a_continued_simulation_is_one_long_simulation(
    options: dict[str, int], runs: int | None
) -> None:
    matrix = symmetric() if runs is None else torch.stack([symmetric(), symmetric(seed=1)])
    osc = Oscillators(matrix, inputs=2, runs=runs)
    inputs = random_tensor(options["inputs"], 2) if "inputs" in options else None
    restarts, noise = options.get("restarts"), {"temperature": 0.3, "seed": 7}
    whole = osc.simulate(
        inputs, time=1.2, steps=30, starts="random", restarts=restarts, record=1, **noise
    )
    for half in ({}, {"record": 5}, {"times": [0.1, 0.2]}):
        first = osc.simulate(
            inputs, time=0.4, steps=10, starts="random", restarts=restarts, **noise, **half
        )
        last = osc.simulate(inputs, time=0.8, steps=20, starts=first, record=1, **noise)
        assert torch.equal(last.phases, whole.phases[10:])
        assert torch.allclose(last.times, whole.times[10:])


def test_restarts_of_a_continued_simulation_are_its_own() -> None:
    osc = Oscillators(symmetric())
    before = osc.simulate(starts="random", restarts=3)
    with pytest.raises(InputError, match="restarts must be those of the simulation to continue, 3"):
        osc.simulate(starts=before, restarts=2)


def test_random_starts_are_of_seed_restart_and_sample_alone() -> None:
    osc = Oscillators(symmetric(), inputs=2)
    inputs, options = torch.zeros(5, 2).double(), {"starts": "random", "restarts": 3, "record": 200}
    starts = osc.simulate(inputs, seed=1, **options).phases[0].detach()
    assert len(starts.unique()) == starts.numel()
    assert float(starts.abs().max()) <= math.pi
    parts = [
        osc.simulate(inputs[rows], seed=1, first_sample=rows.start, **options).phases[0]
        for rows in (slice(0, 2), slice(2, 5))
    ]
    assert torch.equal(torch.cat(parts, dim=1), starts)
    fewer = osc.simulate(inputs, seed=1, starts="random", restarts=2, record=200).phases[0]
    assert torch.equal(fewer, starts[:2])
    assert not bool((osc.simulate(inputs, seed=2, **options).phases[0] == starts).any())


def test_random_starts_are_uniform_on_the_circle() -> None:
    osc = Oscillators(np.zeros((4, 4)))
    starts = osc.simulate(starts="random", restarts=5000, steps=1, record=1).phases[0]
    for k in (1, 2, 3):
        moment = torch.complex((k * starts).cos().mean(), (k * starts).sin().mean())
        assert abs(moment) < 4 / math.sqrt(starts.numel())


# Time


@pytest.mark.parametrize("name", ["fields", "couplings", "frequencies", "injection", "temperature"])
def test_a_constant_schedule_is_none_bit_for_bit(name: str) -> None:
    osc = Oscillators(
        symmetric().float(), fields=0.3, frequencies=random_tensor(N).numpy(), injection=0.5
    )
    value = 0.4 if name == "temperature" else 1.0
    options = {"starts": "random", "restarts": 2, "seed": 3}
    plain = osc.simulate(**options, temperature=0.4 if name == "temperature" else 0.0)
    for constant in (
        value,
        [value],
        [value] * 7,
        torch.tensor(value, dtype=torch.float64),
        ramp(value, value),
    ):
        scheduled = osc.simulate(**options, schedule={name: constant})
        assert same_result(scheduled, plain)


def test_a_constant_factor_is_the_factor_of_the_value() -> None:
    fields = random_tensor(N).float().numpy()
    half = Oscillators(symmetric().float(), fields=0.5 * fields).simulate(starts="random")
    osc = Oscillators(symmetric().float(), fields=fields)
    assert same_result(osc.simulate(starts="random", schedule={"fields": 0.5}), half)


def test_segments_of_a_schedule_are_simulations_one_after_another() -> None:
    osc = Oscillators(symmetric(), fields=0.7, injection=0.5, frequencies=random_tensor(N))
    schedule = {
        "fields": [0.0, 1.0, 2.0],
        "couplings": [1.0, 0.5, 0.0],
        "injection": [0.0, 0.2, 1.0],
        "frequencies": [1.0, -1.0, 1.0],
    }
    whole = osc.simulate(starts="random", time=0.9, steps=30, schedule=schedule)
    state: Any = "random"
    for k in range(3):
        part = {name: values[k] for name, values in schedule.items()}
        state = osc.simulate(starts=state, time=0.3, steps=10, schedule=part)
    assert torch.allclose(whole.final, state.final, rtol=0, atol=1e-12)


def test_a_ramp_takes_its_value_in_the_middle_of_each_step() -> None:
    """d theta / dt = f(t) w, which the midpoint rule integrates exactly."""
    osc = Oscillators(np.zeros((2, 2)), frequencies=1.0, start_phases=0.0, dtype=torch.float64)
    run = osc.simulate(time=2.0, steps=4, record=1, schedule={"frequencies": ramp(1, 3)})
    exact = [t + t**2 / 2 for t in run.times.tolist()]  # f = 1 + t
    assert run.phases[:, 0].tolist() == pytest.approx(exact, rel=1e-12)


def test_the_phase_variance_under_a_temperature_ramp_is_its_integral() -> None:
    osc = Oscillators(np.zeros((40, 40)))
    schedule = {"temperature": ramp(0.02, 0.0)}
    run = osc.simulate(time=2.0, steps=50, restarts=500, schedule=schedule)
    variance = float((run.final - math.pi / 2).var())
    assert variance == pytest.approx(2 * 0.02, rel=5 * math.sqrt(2 / 20_000))  # 2 x mean kT x time


# Gradients


def every_value() -> dict[str, Any]:
    """All that can be trained, of N oscillators."""
    lags = 0.2 * random_tensor(N, N, seed=9)
    return {
        "fields": random_tensor(N, seed=1),
        "start_phases": random_tensor(N, seed=2),
        "frequencies": random_tensor(N, seed=3),
        "injection": 0.3 * random_tensor(N, seed=4),
        "injection_3": 0.2 * random_tensor(N, seed=5),
        "lag": 0.3,
        "harmonic": [0.2, 0.1],
        "edge_lag": lags,
        "inputs": 2,
        "input_weights": random_tensor(3, 2, seed=6),
        "input_nodes": [1, 3, 5],
    }


TRAINABLE = (
    "couplings",
    *(name for name in every_value() if name not in ("inputs", "input_nodes")),
)


@pytest.mark.filterwarnings("ignore:the time step")
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_gradients_of_every_value_are_those_of_finite_differences(
    is_sparse: bool, is_symmetric: bool
) -> None:
    matrix = symmetric() if is_symmetric else symmetric().triu(-1)
    osc = Oscillators(matrix, **every_value(), trainable=TRAINABLE)
    osc.is_sparse = is_sparse
    inputs, weights = random_tensor(2, 2), random_tensor(3, 2, 2, N, seed=8)
    factor = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        run = osc.simulate(
            inputs, time=0.6, steps=6, restarts=2, temperature=0.1, times=[0.1, 0.25, 0.6],
            schedule={"injection": factor, "couplings": ramp(1, 2)},
        )  # fmt: skip
        return (run.phases.sin() * weights).sum()

    parameters = dict(osc.named_parameters())
    assert len(parameters) == len(TRAINABLE)
    loss().backward()
    h = 1e-6
    for name, parameter in (*parameters.items(), ("factor", factor)):
        exact, flat = torch.zeros(parameter.numel()).double(), parameter.detach().view(-1)
        for k in range(len(flat)):
            value = float(flat[k])
            losses = []
            for shift in (h, -h):
                flat[k] = value + shift
                with torch.no_grad():
                    losses.append(float(loss()))
            flat[k] = value
            exact[k] = (losses[0] - losses[1]) / (2 * h)
        assert torch.allclose(parameter.grad.view(-1), exact, rtol=1e-5, atol=1e-7), name
        assert float(exact.abs().max()) > 1e-3, name


def test_gradients_flow_to_tensors_that_the_oscillators_were_built_of() -> None:
    couplings, frequencies = symmetric().requires_grad_(), random_tensor(N).requires_grad_()
    starts = random_tensor(3, N, seed=4).requires_grad_()
    osc = Oscillators(couplings, frequencies=frequencies)
    assert not list(osc.parameters())
    osc.simulate(starts=starts).final.sin().sum().backward()
    for tensor in (couplings, frequencies, starts):
        assert bool(tensor.grad.any())


def test_gradients_flow_through_a_continued_simulation() -> None:
    osc = Oscillators(symmetric(), trainable=["couplings"])

    def gradient(simulate: Callable[[], Simulation]) -> Tensor:
        return torch.autograd.grad(simulate().final.sin().square().sum(), [*osc.parameters()])[0]

    def halves() -> Simulation:
        return osc.simulate(
            starts=osc.simulate(starts="random", time=0.5, steps=5), time=0.5, steps=5
        )

    whole = gradient(lambda: osc.simulate(starts="random", time=1.0, steps=10))
    assert torch.allclose(gradient(halves), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_sparse_graph_gives_the_results_and_gradients_of_its_matrix(dtype: torch.dtype) -> None:
    n = 200
    values = {"frequencies": random_tensor(n), "harmonic": [0.3, 0.1], "injection_3": 0.2}
    results = []
    for is_sparse in (True, False):
        osc = Oscillators(
            ring(n, 1.5), inputs=3, trainable=("couplings", "fields", "harmonic"), dtype=dtype,
            **values,
        )  # fmt: skip
        assert osc.is_sparse
        osc.is_sparse = is_sparse
        run = osc.simulate(random_tensor(4, 3).to(dtype), starts="random", time=1.0, steps=50)
        run.final.sin().square().sum().backward()
        results.append([run.final.detach(), *(p.grad for p in osc.parameters())])
    tolerance = 2e-5 if dtype == torch.float32 else 1e-11
    for sparse, dense in zip(*results, strict=True):
        assert float((sparse - dense).abs().max()) < tolerance * float(dense.abs().max())


def test_small_and_dense_graphs_are_matrices() -> None:
    assert not Oscillators(ring(100)).is_sparse
    assert not Oscillators(200, trainable=()).is_sparse
    assert Oscillators(ring(161)).is_sparse


def test_the_reference_computes_the_same_simulation() -> None:
    values = every_value()
    osc = Oscillators(symmetric().float(), **values)
    inputs = random_tensor(3, 2).float()
    options = {"starts": "random", "restarts": 2, "temperature": 0.1, "time": 0.5, "steps": 50}
    found = osc.simulate(inputs, **options)
    with kernels.use("reference"):
        wanted = osc.simulate(inputs, **options)
    assert float(torch.sin((found.final - wanted.final) / 2).abs().max()) < 1e-5
