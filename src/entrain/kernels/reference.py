r"""Rollouts, their exact discrete adjoint and the path loss, as PyTorch operations.

The plain definitions, for any dtype and device. Shapes: phases (R, B, N), with a run axis R of
independent networks; with noise (R, M, B, N), M replicates of every sample; recorded with K + 1
times in front.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from entrain.physics import Dynamics, Guide, Noise, PhaseModel, drift, wrap
from entrain.physics.noise import STEPS_PER_BLOCK
from entrain.physics.phase_model import PER_SAMPLE
from entrain.physics.quadrature import time_rule
from entrain.physics.torque import (
    coupling_products,
    double_angle,
    harmonic_parts,
    harmonic_torque,
    lagged_products,
    torque,
)
from entrain.utils.errors import InputError

STORED_BYTES = 2**30  # phases stored for the adjoint; a longer rollout is recomputed in segments

# Gradient of a loss with respect to the phases of a rollout -> that with respect to its model.
Pullback = Callable[[Tensor], PhaseModel]


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> Tensor:
    """Explicit Euler steps from the start: the phases at t_f, or at all K + 1 grid times.

    Without noise phases are unwrapped. With noise, Euler-Maruyama, wrapped after each step:
    theta <- wrap( theta + dt f(theta) + sqrt(2 mu kT dt) eta ), the same eta for every run. A delay
    is rounded to whole steps: in step k couplings act on the phases of step max(0, k - delay / dt).
    """
    start = model.starts()
    if noise is not None:
        model = model.map(lambda tensor: tensor[:, None])
        start = start[:, None].expand(-1, len(noise.replicates), -1, -1)
    states = _steps(start, model, dynamics, noise)
    if record:
        return torch.stack([start, *states])
    return functools.reduce(lambda _, state: state, states, start)


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> tuple[Tensor, Pullback]:
    r"""`rollout`, and its exact discrete adjoint.

    With lambda_k = d loss / d theta_k, q = -mu dt lambda_{k+1} and the products rotated by the lag
    (see `physics.phase_model`), the adjoint of one step is

        lambda_k = lambda_{k+1} - sin J^T (q sin_a) - cos J^T (q cos_a)
                   + q (cos (b + (J cos)_a) + sin (J sin)_a + 4 s cos(2 theta)),

    sin_a = sin(theta + a); a recorded path adds its own gradient at each time. The step adds
    q sin to d loss / d b, q_i sin(theta_i - theta_j + a) to d loss / d J_ij, dt lambda to that of
    w, 2 q sin(2 theta) to that of s, and sum q (cos (J cos)_a + sin (J sin)_a) to that of a. A
    second harmonic adds the same with 2 theta in place of theta and (c, d) in place of (cos a,
    sin a), see `_second_harmonic`. With a delay autograd records all steps, K N B numbers and more.
    """
    if model.delay:
        return _recorded_with_pullback(model, dynamics, noise, record)
    single, replicates = model, 1 if noise is None else len(noise.replicates)
    if noise is not None:
        model = _replicate(model, replicates)
    shape = model.fields.shape
    # Only the start of each segment is stored, and the path of the last: a rollout that fits in
    # memory is one segment and nothing is computed twice.
    length = segment_length(model.fields, dynamics.steps)
    recorded, starts, path = [], list[Tensor](), model.starts()[None]
    for first in range(0, dynamics.steps, length):
        starts.append(path[-1].clone())
        path = _segment(starts[-1], model, dynamics, noise, first, length)
        if record:
            recorded.append(path if first == 0 else path[1:])
    last = path

    def pullback(gradient: Tensor) -> PhaseModel:
        outer = gradient.reshape(-1, *shape)  # one time, or K + 1
        adjoint = outer[-1]
        sums = _GradientSums(model, dynamics)
        for segment in range(len(starts) - 1, -1, -1):
            first, path = segment * length, last
            if segment < len(starts) - 1:
                path = _segment(starts[segment], model, dynamics, noise, first, length)
            for step in range(len(path) - 2, -1, -1):
                adjoint = sums.step_back(path[step], adjoint)
                if record:
                    adjoint = adjoint + outer[first + step]
        return reduce_to(single, PhaseModel(start=adjoint, **sums.tensors), replicates)

    phases = torch.cat(recorded) if record else last[-1]
    if noise is not None:
        phases = phases.reshape(*phases.shape[:-2], replicates, *single.fields.shape[1:])
    return phases, pullback


class _GradientSums:
    """Gradients summed step by step, from the last to the first."""

    def __init__(self, model: PhaseModel, dynamics: Dynamics) -> None:
        self._model, self._time_step = model, dynamics.time_step
        self._scale = -dynamics.mobility * dynamics.time_step
        per_sample = ("fields", "frequencies", "injection")
        self.tensors: dict[str, Any] = {n: torch.zeros_like(model.fields) for n in per_sample}
        self.tensors["couplings"] = torch.zeros_like(model.couplings)
        self.tensors["lag"] = model.fields.new_zeros(len(model.fields))
        self.tensors["harmonic"] = model.fields.new_zeros(len(model.fields), 2)

    def step_back(self, phases: Tensor, adjoint: Tensor) -> Tensor:
        """The adjoint before a step that began at `phases`."""
        model, sums = self._model, self.tensors
        sin, cos = phases.sin(), phases.cos()
        q = self._scale * adjoint
        q_sin, q_cos = q * sin, q * cos
        sums["fields"] += q_sin
        j_sin, j_cos = lagged_products(sin, cos, model)
        diagonal = cos * (model.fields + j_cos) + sin * j_sin
        if model.frequencies is not None:
            sums["frequencies"] += self._time_step * adjoint
        if model.injection is not None:
            sums["injection"] += 4.0 * q_sin * cos
            diagonal = diagonal + 4.0 * model.injection * (cos * cos - sin * sin)
        if model.lag is not None:
            sums["lag"] += (q * (cos * j_cos + sin * j_sin)).sum((1, 2))
            a = model.lag[:, None, None]
            q_sin, q_cos = rotate_back(q_sin, q_cos, a.cos(), a.sin())
        sums["couplings"].baddbmm_(q_sin.transpose(1, 2), cos)
        sums["couplings"].baddbmm_(q_cos.transpose(1, 2), sin, alpha=-1)
        through = sin * (q_sin @ model.couplings) + cos * (q_cos @ model.couplings)
        before = adjoint + q * diagonal - through
        if model.harmonic is not None:
            by_couplings, by_harmonic, by_phases = _second_harmonic(sin, cos, q, model)
            sums["couplings"] += by_couplings
            sums["harmonic"] += by_harmonic
            before = before + by_phases
        return before + _custom_pullback(model, phases, q) if model.other_terms else before


def _second_harmonic(
    sin: Tensor, cos: Tensor, q: Tensor, model: PhaseModel
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Gradients of sum_i q_i T_i, T_i = sum_j J_ij [ c sin(2 phi) + d cos(2 phi) ].

    From sin, cos (of theta) and q (R, B, N): by J (R, N, N), by c and d (R, 2), by theta (R, B, N).
    With S = sin(2 theta), C = cos(2 theta) and rotated products (see `phase_model`),

        q_i [c sin(2 phi) + d cos(2 phi)] = q (c S + d C)_i C_j - q (c C - d S)_i S_j,
        dT_i / d theta_i = 2 [ C (c J C + d J S) + S (c J S - d J C) ]_i.
    """
    assert model.harmonic is not None
    c, d = harmonic_parts(model.harmonic)
    sin, cos = double_angle(sin, cos)
    q_sin, q_cos = q * sin, q * cos
    j_sin, j_cos = coupling_products(sin, cos, model)
    odd, even = q_sin * j_cos - q_cos * j_sin, q_cos * j_cos + q_sin * j_sin
    by_harmonic = torch.stack([odd.sum((1, 2)), even.sum((1, 2))], dim=1)
    diagonal = c * even - d * odd
    q_sin, q_cos = rotate_back(q_sin, q_cos, c, d)
    by_couplings = q_sin.mT @ cos - q_cos.mT @ sin
    through = sin * (q_sin @ model.couplings) + cos * (q_cos @ model.couplings)
    return by_couplings, by_harmonic, 2.0 * (diagonal - through)


def _custom_pullback(model: PhaseModel, phases: Tensor, q: Tensor) -> Tensor:
    """q times the derivative of custom terms, by autograd."""
    with torch.enable_grad():
        leaf = phases.detach().requires_grad_()
        bracket = torch.stack([term(leaf) for term in model.other_terms]).sum(0)
        if not bracket.requires_grad:  # constant torques
            return torch.zeros_like(phases)
        (by_phases,) = torch.autograd.grad(
            bracket, leaf, q, allow_unused=True, materialize_grads=True
        )
    return by_phases


def reduce_to(model: PhaseModel, gradient: PhaseModel, replicates: int = 1) -> PhaseModel:
    """`gradient` of M B rows, summed to the shapes of `model`; its absent terms are dropped."""
    if replicates == 1 and model.is_plain:
        return PhaseModel(gradient.fields, gradient.couplings)
    reduced: dict[str, Any] = {}
    for name, term in model.tensors().items():
        values = getattr(gradient, name)
        if name in ("fields", *PER_SAMPLE) and values is not None:
            if replicates > 1:
                values = values.reshape(len(values), replicates, -1, values.shape[-1]).sum(1)
            values = values if values.shape == term.shape else values.sum(1, keepdim=True)
        reduced[name] = values
    return PhaseModel(**reduced)


def segment_length(fields: Tensor, steps: int) -> int:
    """Steps between two stored states: all K of a rollout (R, B, N) that fits, else sqrt(K)."""
    fits = fields.numel() * fields.element_size() * steps <= STORED_BYTES
    return steps if fits else math.isqrt(steps - 1) + 1


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    r"""L_path (R,), and its gradient with respect to the model.

    L_path = 1 / (B K N) sum_{n,k} | theta(t_{k+1}) - theta(t_k) - dt f(theta(t_k), u_n) |^2 along
    the teacher path with artanh targets `coefficients` (R, B, N), which starts at pi/2: the start
    of the model does not enter. The drift is linear in fields, couplings, frequencies and
    injection, so that with the residual r and q = 2 mu dt r / (B K N)

        d L / d b_i = sum_k q_i sin_i,   d L / d J_ij = sum_{n,k} q_i sin(theta_i - theta_j + a).

    The sum over all K times, or over `nodes` weighted ones (`physics.quadrature`).
    """
    if model.other_terms:
        raise InputError("the path loss does not support custom terms")
    if model.delay:
        raise InputError("the path loss does not support a delay of the couplings")
    runs, batch, oscillators = model.fields.shape
    times, weights = time_rule_on(dynamics.steps, nodes, model.fields.dtype, model.fields.device)
    guide = Guide.at(coefficients, times, dynamics.steps)  # (R, B, T, N)
    rows = (runs, batch * len(times), oscillators)
    sin, cos = guide.sin, guide.cos
    both = sin.reshape(rows), cos.reshape(rows)
    j_sin, j_cos = (product.reshape(sin.shape) for product in lagged_products(*both, model))
    scale = dynamics.mobility * dynamics.time_step
    injection = None if model.injection is None else model.injection[:, :, None]
    at_times = PhaseModel(model.fields[:, :, None], model.couplings, injection=injection)
    residual = guide.increment + scale * torque(sin, cos, j_sin, j_cos, at_times)
    if model.frequencies is not None:
        residual = residual - dynamics.time_step * model.frequencies[:, :, None]
    if model.harmonic is not None:
        twice = double_angle(*both)
        second = harmonic_torque(*twice, *coupling_products(*twice, model), model.harmonic)
        residual = residual + scale * second.reshape(sin.shape)
    weighted = residual * weights[:, None]
    count = batch * dynamics.steps * oscillators
    loss = (residual * weighted).sum((1, 2, 3)) / count
    q = weighted * (2.0 * scale / count)
    q_sin, q_cos = q * sin, q * cos
    by_fields = q_sin.sum(2)
    by_frequencies = by_injection = by_lag = None
    if model.frequencies is not None:
        by_frequencies = -q.sum(2) / dynamics.mobility
    if model.injection is not None:
        by_injection = 4.0 * (q_sin * cos).sum(2)
    if model.lag is not None:
        by_lag = (q * (cos * j_cos + sin * j_sin)).sum((1, 2, 3))
        a = model.lag[:, None, None, None]
        q_sin, q_cos = rotate_back(q_sin, q_cos, a.cos(), a.sin())
    by_couplings = q_sin.reshape(rows).transpose(1, 2) @ cos.reshape(rows)
    by_couplings -= q_cos.reshape(rows).transpose(1, 2) @ sin.reshape(rows)
    by_harmonic = None
    if model.harmonic is not None:
        by_second, by_harmonic, _ = _second_harmonic(*both, q.reshape(rows), model)
        by_couplings = by_couplings + by_second
    start = None if model.start is None else torch.zeros_like(model.fields)
    gradient = PhaseModel(
        by_fields, by_couplings, by_frequencies, by_injection, by_lag, start, by_harmonic
    )
    return loss, reduce_to(model, gradient)


def rotate_back(
    q_sin: Tensor, q_cos: Tensor, cosine: Tensor, sine: Tensor
) -> tuple[Tensor, Tensor]:
    """q sin and q cos of theta plus an angle with this cosine and sine, or (c, d) instead."""
    return cosine * q_sin + sine * q_cos, cosine * q_cos - sine * q_sin


def _replicate(model: PhaseModel, replicates: int) -> PhaseModel:
    """The model with the batch repeated for each replicate: (R, M B, N)."""
    repeated: dict[str, Any] = {
        name: values.expand_as(model.fields).repeat(1, replicates, 1)
        for name, values in model.tensors().items()
        if name in ("fields", *PER_SAMPLE)
    }
    return replace(model, **repeated)


@functools.cache
def time_rule_on(
    steps: int, nodes: int | None, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """`time_rule` on a device, computed once."""
    times, weights = time_rule(steps, nodes)
    return times.to(device, dtype), weights.to(device, dtype)


def _segment(
    start: Tensor,
    model: PhaseModel,
    dynamics: Dynamics,
    noise: Noise | None,
    first: int,
    length: int,
) -> Tensor:
    """Up to `length` steps, beginning with step `first`: phases (length + 1, R, B, N)."""
    states = itertools.islice(_steps(start, model, dynamics, noise, first), length)
    return torch.stack([start, *states])


def _steps(
    phases: Tensor, model: PhaseModel, dynamics: Dynamics, noise: Noise | None, first: int = 0
) -> Iterator[Tensor]:
    """The phases after each step, beginning with step `first`, which is 0 with a delay."""
    lateness = min(round(model.delay / dynamics.time_step), dynamics.steps)
    recent = deque([phases], maxlen=lateness + 1)  # couplings act on the oldest
    for step in range(first, dynamics.steps):
        delayed = recent[0] if lateness else None
        phases = phases + dynamics.time_step * drift(phases, model, dynamics.mobility, delayed)
        if noise is not None:
            block, offset = divmod(step, STEPS_PER_BLOCK)
            if offset == 0 or step == first:
                increments = noise.increments(block, phases.shape[-1]).to(phases.dtype)
            scale = math.sqrt(2.0 * dynamics.mobility * noise.temperature * dynamics.time_step)
            phases = wrap(phases + scale * increments[offset].reshape(phases.shape[1:]))
        recent.append(phases)
        yield phases


def _recorded_with_pullback(
    model: PhaseModel, dynamics: Dynamics, noise: Noise | None, record: bool
) -> tuple[Tensor, Pullback]:
    """`rollout_with_pullback` by autograd, which stores all intermediate tensors."""
    with torch.enable_grad():
        leaves = model.map(lambda tensor: tensor.detach().requires_grad_())
        phases = rollout(leaves, dynamics, noise=noise, record=record)

    def pullback(gradient: Tensor) -> PhaseModel:
        tensors = leaves.tensors()
        gradients = torch.autograd.grad(
            phases, list(tensors.values()), gradient, retain_graph=True, materialize_grads=True
        )
        by_name: dict[str, Any] = dict(zip(tensors, gradients, strict=True))
        return PhaseModel(**by_name)

    return phases.detach(), pullback
