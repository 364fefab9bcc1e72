r"""Rollouts, their exact discrete adjoint and the path loss, as PyTorch operations.

The plain definitions, for any dtype and device. Shapes: phases (R, B, N), with a run axis R of
independent networks; with noise (R, M, B, N), M replicates of every sample; recorded with K + 1
times in front.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from entrain.errors import InputError
from entrain.physics import Dynamics, Guide, Noise, PhaseModel, drift, wrap
from entrain.physics.noise import STEPS_PER_BLOCK
from entrain.physics.phase_model import coupled, torque
from entrain.physics.quadrature import time_rule

KEPT_BYTES = 2**30  # phases kept for the adjoint; a longer rollout is computed again in segments

# Gradient of a loss with respect to what a rollout returned -> that with respect to its model.
Pullback = Callable[[Tensor], PhaseModel]


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> Tensor:
    """Explicit Euler steps from the start: the phases at t_f, or at all K + 1 grid times.

    Without noise phases are unwrapped. With noise, Euler-Maruyama, wrapped after each step:
    theta <- wrap( theta + dt f(theta) + sqrt(2 mu kT dt) eta ), the same eta for every run.
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

    With lambda_k = d loss / d theta_k, q = -mu dt lambda_{k+1} and the products turned by the lag
    (see `physics.phase_model`), the adjoint of one step is

        lambda_k = lambda_{k+1} - sin J^T (q sin_a) - cos J^T (q cos_a)
                   + q (cos (b + (J cos)_a) + sin (J sin)_a + 4 s cos(2 theta)),

    sin_a = sin(theta + a); a recorded path adds its own gradient at each time. The step adds
    q sin to d loss / d b, q_i sin(theta_i - theta_j + a) to d loss / d J_ij, dt lambda to that of
    w, 2 q sin(2 theta) to that of s, and sum q (cos (J cos)_a + sin (J sin)_a) to that of a.
    """
    given, replicates = model, 1 if noise is None else len(noise.replicates)
    if noise is not None:
        model = _replicated(model, replicates)
    shape = model.fields.shape
    # Only the start of each segment is kept, and the path of the last: a rollout that fits in
    # memory is one segment and nothing is computed twice.
    length = segment_length(model.fields, dynamics.steps)
    kept, starts, path = [], list[Tensor](), model.starts()[None]
    for first in range(0, dynamics.steps, length):
        starts.append(path[-1].clone())
        path = _segment(starts[-1], model, dynamics, noise, first, length)
        if record:
            kept.append(path if first == 0 else path[1:])
    last = path

    def pullback(gradient: Tensor) -> PhaseModel:
        outer = gradient.reshape(-1, *shape)  # one time, or K + 1
        adjoint = outer[-1]
        sums = _Sums(model, dynamics)
        for segment in range(len(starts) - 1, -1, -1):
            first, path = segment * length, last
            if segment < len(starts) - 1:
                path = _segment(starts[segment], model, dynamics, noise, first, length)
            for step in range(len(path) - 2, -1, -1):
                adjoint = sums.step_back(path[step], adjoint)
                if record:
                    adjoint = adjoint + outer[first + step]
        return like(sums.gradient(adjoint), given, replicates)

    found = torch.cat(kept) if record else last[-1]
    if noise is not None:
        batch, oscillators = given.fields.shape[1:]
        found = found.reshape(*found.shape[:-2], replicates, batch, oscillators)
    return found, pullback


class _Sums:
    """Gradients added up step by step, from the last to the first."""

    def __init__(self, model: PhaseModel, dynamics: Dynamics) -> None:
        self._model, self._time_step = model, dynamics.time_step
        self._scale = -dynamics.mobility * dynamics.time_step
        self._fields = torch.zeros_like(model.fields)
        self._couplings = torch.zeros_like(model.couplings)
        self._frequencies = torch.zeros_like(model.fields)
        self._injection = torch.zeros_like(model.fields)
        self._lag = model.fields.new_zeros(len(model.fields))

    def step_back(self, phases: Tensor, adjoint: Tensor) -> Tensor:
        """The adjoint before a step that began at `phases`."""
        model = self._model
        sin, cos = phases.sin(), phases.cos()
        q = self._scale * adjoint
        q_sin, q_cos = q * sin, q * cos
        self._fields += q_sin
        j_sin, j_cos = coupled(sin, cos, model)
        diagonal = cos * (model.fields + j_cos) + sin * j_sin
        if model.frequencies is not None:
            self._frequencies += self._time_step * adjoint
        if model.injection is not None:
            self._injection += 4.0 * q_sin * cos
            diagonal = diagonal + 4.0 * model.injection * (cos * cos - sin * sin)
        if model.lag is not None:
            self._lag += (q * (cos * j_cos + sin * j_sin)).sum((1, 2))
            q_sin, q_cos = turned_back(q_sin, q_cos, model.lag[:, None, None])
        self._couplings.baddbmm_(q_sin.transpose(1, 2), cos)
        self._couplings.baddbmm_(q_cos.transpose(1, 2), sin, alpha=-1)
        through = sin * (q_sin @ model.couplings) + cos * (q_cos @ model.couplings)
        before = adjoint + q * diagonal - through
        return before + _pulled_back(model, phases, q) if model.other_terms else before

    def gradient(self, start: Tensor) -> PhaseModel:
        """What was added up, and the adjoint at the start."""
        return PhaseModel(
            self._fields, self._couplings, self._frequencies, self._injection, self._lag, start
        )


def _pulled_back(model: PhaseModel, phases: Tensor, q: Tensor) -> Tensor:
    """q times the derivative of custom terms, by autograd."""
    with torch.enable_grad():
        at = phases.detach().requires_grad_()
        bracket = torch.stack([term(at) for term in model.other_terms]).sum(0)
        if not bracket.requires_grad:  # torques that are constant
            return torch.zeros_like(phases)
        (found,) = torch.autograd.grad(bracket, at, q, allow_unused=True, materialize_grads=True)
    return found


def like(gradient: PhaseModel, model: PhaseModel, replicates: int = 1) -> PhaseModel:
    """`gradient` (of M B rows) without what `model` does not have, summed to its shapes."""
    if replicates == 1 and model.is_plain:
        return PhaseModel(gradient.fields, gradient.couplings)

    def summed(found: Tensor | None, wanted: Tensor | None) -> Tensor | None:
        if found is None or wanted is None:
            return None
        if replicates > 1:
            found = found.reshape(len(found), replicates, -1, found.shape[-1]).sum(1)
        return found if found.shape == wanted.shape else found.sum(1, keepdim=True)

    fields = summed(gradient.fields, model.fields)
    assert fields is not None
    return PhaseModel(
        fields=fields,
        couplings=gradient.couplings,
        frequencies=summed(gradient.frequencies, model.frequencies),
        injection=summed(gradient.injection, model.injection),
        lag=None if model.lag is None else gradient.lag,
        start=summed(gradient.start, model.start),
    )


def fits_in_memory(fields: Tensor, steps: int) -> bool:
    """Whether the phases of every step of a rollout of `fields` (R, B, N) may be kept."""
    return fields.numel() * fields.element_size() * steps <= KEPT_BYTES


def segment_length(fields: Tensor, steps: int) -> int:
    """Steps between two kept states: all of them where they fit, else about sqrt(K)."""
    return steps if fits_in_memory(fields, steps) else math.isqrt(steps - 1) + 1


def has_path_loss(model: PhaseModel) -> bool:
    """Whether `path_loss` takes that model: any."""
    return True


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    r"""L_path (R,), and its gradient with respect to the model.

    L_path = 1 / (B K N) sum_{n,k} | theta(t_{k+1}) - theta(t_k) - dt f(theta(t_k), u_n) |^2 along
    the teacher path with artanh targets `coefficients` (R, B, N), which starts at pi/2: the
    model's own start does not enter. The drift is linear in fields, couplings, frequencies and
    injection, so that with the residual r and q = 2 mu dt r / (B K N)

        d L / d b_i = sum_k q_i sin_i,   d L / d J_ij = sum_{n,k} q_i sin(theta_i - theta_j + a).

    The sum over all K times, or over `nodes` weighted ones (`physics.quadrature`).
    """
    if model.other_terms:
        raise InputError("the path loss does not support custom terms")
    runs, batch, oscillators = model.fields.shape
    times, weights = rule(dynamics.steps, nodes, model.fields.dtype, model.fields.device)
    guide = Guide.at(coefficients, times, dynamics.steps)  # (R, B, T, N)
    rows = (runs, batch * len(times), oscillators)
    sin, cos = guide.sin, guide.cos
    products = coupled(sin.reshape(rows), cos.reshape(rows), model)
    j_sin, j_cos = (product.reshape(sin.shape) for product in products)
    scale = dynamics.mobility * dynamics.time_step
    residual = guide.increment + scale * torque(sin, cos, j_sin, j_cos, _at_times(model))
    if model.frequencies is not None:
        residual = residual - dynamics.time_step * model.frequencies[:, :, None]
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
        q_sin, q_cos = turned_back(q_sin, q_cos, model.lag[:, None, None, None])
    by_couplings = q_sin.reshape(rows).transpose(1, 2) @ cos.reshape(rows)
    by_couplings -= q_cos.reshape(rows).transpose(1, 2) @ sin.reshape(rows)
    start = None if model.start is None else torch.zeros_like(model.fields)
    found = PhaseModel(by_fields, by_couplings, by_frequencies, by_injection, by_lag, start)
    return loss, like(found, model)


def turned_back(q_sin: Tensor, q_cos: Tensor, lag: Tensor) -> tuple[Tensor, Tensor]:
    """q sin(theta + a) and q cos(theta + a)."""
    return lag.cos() * q_sin + lag.sin() * q_cos, lag.cos() * q_cos - lag.sin() * q_sin


def _at_times(model: PhaseModel) -> PhaseModel:
    """The model of a path (R, B, T, N): its fields and injection alike at every time."""
    injection = None if model.injection is None else model.injection[:, :, None]
    return PhaseModel(model.fields[:, :, None], model.couplings, injection=injection)


def _replicated(model: PhaseModel, replicates: int) -> PhaseModel:
    """The model with the whole batch repeated for each replicate: (R, M B, N)."""

    def repeated(values: Tensor | None) -> Tensor | None:
        if values is None:
            return None
        return values.expand_as(model.fields).repeat(1, replicates, 1)

    fields = repeated(model.fields)
    assert fields is not None
    return PhaseModel(
        fields,
        model.couplings,
        repeated(model.frequencies),
        repeated(model.injection),
        model.lag,
        repeated(model.start),
        model.other_terms,
    )


@functools.cache
def rule(
    steps: int, nodes: int | None, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """`time_rule` on a device, made once."""
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
    """Up to `length` steps from step `first` on: phases (length + 1, R, B, N)."""
    states = itertools.islice(_steps(start, model, dynamics, noise, first), length)
    return torch.stack([start, *states])


def _steps(
    phases: Tensor, model: PhaseModel, dynamics: Dynamics, noise: Noise | None, first: int = 0
) -> Iterator[Tensor]:
    """The phases after each step from step `first` on."""
    for step in range(first, dynamics.steps):
        phases = phases + dynamics.time_step * drift(phases, model, dynamics.mobility)
        if noise is not None:
            block, place = divmod(step, STEPS_PER_BLOCK)
            if place == 0 or step == first:
                increments = noise.increments(block, phases.shape[-1]).to(phases.dtype)
            scale = math.sqrt(2.0 * dynamics.mobility * noise.temperature * dynamics.time_step)
            phases = wrap(phases + scale * increments[place].reshape(phases.shape[1:]))
        yield phases
