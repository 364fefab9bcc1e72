"""Terms that vary in time: segments are chained rollouts, ramps are read at midpoints."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import entrain
import kernel_facts as facts
from entrain import kernels
from entrain.kernels import reference
from entrain.physics import Dynamics, Noise, PhaseModel, Schedule, ramp
from entrain.physics.schedule import step_values
from entrain.physics.terms import LOCAL, TERMS

SHAPE = (2, 3, 7, 12)
HOLD, PARTS = 4, 3
ALL = (*TERMS, "start")


def piecewise(dtype: torch.dtype, sparse: bool) -> tuple[PhaseModel, list[PhaseModel]]:
    """A model with a schedule of three segments, and the constant model of each segment."""
    model = facts.example(SHAPE, ALL, scale=0.25, sparse=sparse).map(lambda t: t.to(dtype))
    names = ("fields", "couplings", *LOCAL)
    values = {n: facts.random_tensor(PARTS, seed=60 + k).to(dtype) for k, n in enumerate(names)}
    drive = facts.random_tensor(PARTS, *SHAPE[:3], seed=59).to(dtype)
    factors = {name: step_values(name, f, SHAPE[-1]) for name, f in values.items()}
    constants = []
    for part in range(PARTS):
        tensors = {name: f[part] * model.tensors()[name] for name, f in values.items()}
        tensors["fields"] = tensors["fields"] + drive[part]
        constants.append(model.with_tensors(tensors))
    return replace(model, schedule=Schedule(factors, drive, HOLD)), constants


@pytest.mark.parametrize("method", ["euler", "heun", "rk4"])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["reference", "cpu"])
def test_three_segments_are_three_chained_rollouts(dtype, sparse, noisy, method) -> None:
    """To the bit in the reference; the CPU kernels take sin and cos of the phases between anew."""
    scheduled, constants = piecewise(dtype, sparse)
    steps, time = SHAPE[-1], 0.3
    noise = Noise(5, 0.2, torch.arange(1), torch.arange(SHAPE[1]), first=2) if noisy else None
    if noisy:
        factors = torch.tensor([1.0, 0.25, 0.5]).double().repeat_interleave(HOLD)
        noise = replace(noise, factors=factors)
    together = kernels.rollout(scheduled, Dynamics(1.3, time, steps), noise=noise, method=method)
    start = scheduled.start
    for part, constant in enumerate(constants):
        forcing = None if noise is None else noise.steps(part * HOLD, HOLD)
        dynamics = Dynamics(1.3, time * HOLD / steps, HOLD)
        model = replace(constant, start=start)
        start = kernels.rollout(model, dynamics, noise=forcing, method=method)
        start = start if noise is None else start[:, 0]
    chained = start if noise is None else start[:, None]
    if dtype == torch.float64 or method != "euler":
        assert torch.equal(together, chained)
    else:
        assert facts.relative_error(together, chained.double(), angles=noisy) < 1e-5


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["reference", "cpu"])
def test_a_schedule_of_ones_gives_the_bits_of_none(dtype, sparse: bool) -> None:
    model = facts.example(SHAPE, ALL, scale=0.25, sparse=sparse).map(lambda t: t.to(dtype))
    ones = torch.ones(SHAPE[-1], dtype=dtype)
    drive = torch.zeros(PARTS, *SHAPE[:3], dtype=dtype)
    schedule = Schedule(dict.fromkeys(("fields", "couplings", *LOCAL), ones), drive, HOLD)
    dynamics = Dynamics(1.3, 0.3, SHAPE[-1])
    noise = facts.some_noise(SHAPE)
    constant = replace(noise, factors=torch.ones(SHAPE[-1], dtype=torch.float64))
    for ours, theirs in ((None, None), (constant, noise)):
        varying = kernels.rollout(replace(model, schedule=schedule), dynamics, noise=ours)
        assert torch.equal(varying, kernels.rollout(model, dynamics, noise=theirs))


def test_a_part_of_the_steps_continues_in_the_middle_of_a_segment() -> None:
    scheduled, _ = piecewise(torch.float64, sparse=False)
    whole = reference.rollout(scheduled, Dynamics(1.3, 0.3, 12), record=1)
    dt = 0.3 / 12
    for cut in (1, 4, 7, 11):
        first = reference.rollout(scheduled.steps(0, cut), Dynamics(1.3, cut * dt, cut))
        rest = replace(scheduled.steps(cut, 12 - cut), start=first)
        last = reference.rollout(rest, Dynamics(1.3, (12 - cut) * dt, 12 - cut))
        torch.testing.assert_close(first, whole[cut], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(last, whole[-1], rtol=1e-12, atol=1e-12)


def test_a_ramp_has_its_values_in_the_middle_of_each_step() -> None:
    values = step_values("injection", ramp(1.0, 3.0), 4)
    assert values.tolist() == [1.25, 1.75, 2.25, 2.75]
    fine = step_values("injection", ramp(1.0, 3.0), 8)
    torch.testing.assert_close(fine.view(4, 2).mean(1), values)


def test_a_ramp_of_a_field_that_acts_alone_has_the_exact_phase_shift() -> None:
    """With frequencies f(t) w the phases advance by w times the integral of f: the midpoint rule
    is exact for a ramp."""
    zero = torch.zeros(1, 2, 3, dtype=torch.float64)
    w = facts.random_tensor(1, 1, 3, seed=1)
    schedule = Schedule({"frequencies": step_values("frequencies", ramp(0.5, 2.0), 10)})
    model = PhaseModel(
        zero, torch.zeros(1, 3, 3, dtype=torch.float64), frequencies=w, schedule=schedule
    )
    phases = reference.rollout(model, Dynamics(2.0, 3.0, 10))
    torch.testing.assert_close(phases, math.pi / 2 + 3.0 * 1.25 * w.expand(1, 2, 3))


def test_lists_are_segments_of_equal_length() -> None:
    assert step_values("x", [1.0, 2.0, 3.0], 6).tolist() == [1, 1, 2, 2, 3, 3]
    assert step_values("x", [1.0, 2.0], 5).tolist() == [1, 1, 1, 2, 2]
    assert step_values("x", 2.5, 3).tolist() == [2.5] * 3


def test_autograd_of_float32_rollouts_has_the_gradients_of_factors_and_drive() -> None:
    shape = (2, 3, 7, 12)
    model = facts.example(shape, ("injection", "start"), scheduled=True)
    dynamics = Dynamics(1.1, 0.3, shape[-1])
    _, pullback = reference.rollout_with_pullback(model, dynamics, record=3)
    weights = facts.random_tensor(5, *shape[:3], seed=1)
    exact = pullback(weights).tensors()
    leaves = model.map(lambda tensor: tensor.float().requires_grad_())
    kernels.rollout(leaves, dynamics, record=3).backward(weights.float())
    for name, leaf in leaves.tensors().items():
        assert facts.relative_error(leaf.grad, exact[name]) < 1e-4, name


def test_schedules_of_other_steps_or_shapes_are_refused() -> None:
    model, dynamics = facts.example(SHAPE), Dynamics(steps=12)

    def run(schedule: Schedule) -> Tensor:
        return kernels.rollout(replace(model, schedule=schedule), dynamics)

    with pytest.raises(entrain.InputError, match="schedule of fields must be 12 factors"):
        run(Schedule({"fields": torch.ones(11, dtype=torch.float64)}))
    with pytest.raises(entrain.InputError, match="drive must be 3 x 2 x 3 x 7"):
        run(Schedule({}, torch.zeros(4, 2, 3, 7, dtype=torch.float64), hold=4))
    with pytest.raises(entrain.InputError, match="schedule of injection must be a ramp"):
        step_values("injection", torch.ones(13), 12)
