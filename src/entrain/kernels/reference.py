r"""Rollouts, their exact discrete adjoint and the path loss, as PyTorch operations.

Shapes: fields (R, B, N), couplings (R, N, N), phases (R, B, N), with a run axis R of independent
networks. Gradients with respect to the couplings are those of N x N independent numbers; whoever
ties J_ij to J_ji adds both triangles.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from entrain.physics import INITIAL_PHASE, Dynamics, Guide, Noise, drift, wrap
from entrain.physics.noise import STEPS_PER_BLOCK
from entrain.physics.quadrature import time_rule

KEPT_BYTES = 2**30  # phases kept for the adjoint; a longer rollout is computed again in segments

# Gradient of a loss with respect to the final phases (R, B, N) -> its gradients with respect to
# fields (R, B, N) and couplings (R, N, N).
Pullback = Callable[[Tensor], tuple[Tensor, Tensor]]


def rollout(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics, *, record: bool = False
) -> Tensor:
    """Explicit Euler from pi/2 in unwrapped phases: (R, B, N) at t_f, or (K + 1, R, B, N)."""
    start = torch.full_like(fields, INITIAL_PHASE)
    return _last_or_all(start, _euler(start, fields, couplings, dynamics), record, dynamics.steps)


def rollout_with_pullback(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics
) -> tuple[Tensor, Pullback]:
    r"""The phases (R, B, N) at t_f, and the exact discrete adjoint of the rollout.

    With lambda_k = d loss / d theta_k and q = -mu dt lambda_{k+1}, the adjoint of one step is

        lambda_k = lambda_{k+1} + q (cos (b + J cos) + sin J sin) - sin J (q sin) - cos J (q cos)

    and the step adds q sin to d loss / d b and q_i sin(theta_i - theta_j) to d loss / d J_ij.
    """
    # Only the start of each segment is kept, and the path of the last: a rollout that fits in
    # memory is one segment and nothing is computed twice.
    length = segment_length(fields, dynamics.steps)
    starts, path = [], torch.full_like(fields, INITIAL_PHASE)[None]
    for first in range(0, dynamics.steps, length):
        starts.append(path[-1].clone())
        count = min(length, dynamics.steps - first)
        path = _segment(starts[-1], fields, couplings, dynamics, count)
    last = path

    def pullback(final_gradient: Tensor) -> tuple[Tensor, Tensor]:
        fields_gradient = torch.zeros_like(fields)
        couplings_gradient = torch.zeros_like(couplings)
        scale = -dynamics.mobility * dynamics.time_step
        adjoint = final_gradient
        for segment in range(len(starts) - 1, -1, -1):
            path = last
            if segment < len(starts) - 1:
                path = _segment(starts[segment], fields, couplings, dynamics, length)
            for phases in reversed(path[:-1].unbind(0)):
                sin, cos = phases.sin(), phases.cos()
                q = scale * adjoint
                q_sin, q_cos = q * sin, q * cos
                fields_gradient += q_sin
                couplings_gradient.baddbmm_(q_sin.transpose(1, 2), cos)
                couplings_gradient.baddbmm_(q_cos.transpose(1, 2), sin, alpha=-1)
                diagonal = cos * (fields + cos @ couplings) + sin * (sin @ couplings)
                coupled = sin * (q_sin @ couplings) + cos * (q_cos @ couplings)
                adjoint = adjoint + q * diagonal - coupled
        return fields_gradient, couplings_gradient

    return last[-1], pullback


def fits_in_memory(fields: Tensor, steps: int) -> bool:
    """Whether the phases of every step of a rollout of `fields` (R, B, N) may be kept."""
    return fields.numel() * fields.element_size() * steps <= KEPT_BYTES


def segment_length(fields: Tensor, steps: int) -> int:
    """Steps between two kept states: all of them where they fit, else about sqrt(K)."""
    return steps if fits_in_memory(fields, steps) else math.isqrt(steps - 1) + 1


def noisy_rollout(
    fields: Tensor,
    couplings: Tensor,
    dynamics: Dynamics,
    noise: Noise,
    *,
    record: bool = False,
) -> Tensor:
    """Euler-Maruyama from pi/2, wrapped after each step: (R, M, B, N), or (K + 1, R, M, B, N).

    theta <- wrap( theta + dt f(theta) + sqrt(2 mu kT dt) eta ), the same eta for every run.
    """
    runs, batch, oscillators = fields.shape
    start = fields.new_full((runs, len(noise.replicates), batch, oscillators), INITIAL_PHASE)
    states = _euler_maruyama(start, fields[:, None], couplings[:, None], dynamics, noise)
    return _last_or_all(start, states, record, dynamics.steps)


def path_loss(
    fields: Tensor,
    couplings: Tensor,
    coefficients: Tensor,
    dynamics: Dynamics,
    *,
    nodes: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""L_path (R,), and its gradients with respect to fields (R, B, N) and couplings (R, N, N).

    L_path = 1 / (B K N) sum_{n,k} | theta(t_{k+1}) - theta(t_k) - dt f(theta(t_k), u_n) |^2 along
    the teacher path with artanh targets `coefficients` (R, B, N). The drift is linear in fields
    and couplings, so that with q = 2 mu dt r / (B K N)

        d L / d b_i = sum_k q_i sin_i,   d L / d J_ij = sum_{n,k} q_i sin(theta_i - theta_j).

    The sum over all K times, or over `nodes` weighted ones (`physics.quadrature`).
    """
    runs, batch, oscillators = fields.shape
    times, weights = rule(dynamics.steps, nodes, fields.dtype, fields.device)
    guide = Guide.at(coefficients, times, dynamics.steps)  # (R, B, T, N)
    rows = (runs, batch * len(times), oscillators)
    sin, cos = guide.sin, guide.cos
    j_cos = (cos.reshape(rows) @ couplings).reshape(cos.shape)
    j_sin = (sin.reshape(rows) @ couplings).reshape(sin.shape)
    torque = sin * (fields[:, :, None, :] + j_cos) - cos * j_sin
    scale = dynamics.mobility * dynamics.time_step
    residual = guide.increment + scale * torque
    weighted = residual * weights[:, None]
    count = batch * dynamics.steps * oscillators
    loss = (residual * weighted).sum((1, 2, 3)) / count
    q = weighted * (2.0 * scale / count)
    q_sin, q_cos = q * sin, q * cos
    couplings_gradient = q_sin.reshape(rows).transpose(1, 2) @ cos.reshape(rows)
    couplings_gradient -= q_cos.reshape(rows).transpose(1, 2) @ sin.reshape(rows)
    return loss, q_sin.sum(2), couplings_gradient


@functools.cache
def rule(
    steps: int, nodes: int | None, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """`time_rule` on a device, made once."""
    times, weights = time_rule(steps, nodes)
    return times.to(device, dtype), weights.to(device, dtype)


def _segment(
    start: Tensor, fields: Tensor, couplings: Tensor, dynamics: Dynamics, count: int
) -> Tensor:
    """`count` steps from `start`: phases (count + 1, R, B, N)."""
    states = itertools.islice(_euler(start, fields, couplings, dynamics), count)
    return _last_or_all(start, states, True, count)


def _euler(
    phases: Tensor, fields: Tensor, couplings: Tensor, dynamics: Dynamics
) -> Iterator[Tensor]:
    for _ in range(dynamics.steps):
        phases = phases + dynamics.time_step * drift(phases, fields, couplings, dynamics.mobility)
        yield phases


def _euler_maruyama(
    phases: Tensor, fields: Tensor, couplings: Tensor, dynamics: Dynamics, noise: Noise
) -> Iterator[Tensor]:
    scale = math.sqrt(2.0 * dynamics.mobility * noise.temperature * dynamics.time_step)
    for step in range(dynamics.steps):
        block, place = divmod(step, STEPS_PER_BLOCK)
        if place == 0:
            increments = noise.increments(block, phases.shape[-1]).to(phases.dtype)
        velocity = drift(phases, fields, couplings, dynamics.mobility)
        phases = wrap(phases + dynamics.time_step * velocity + scale * increments[place])
        yield phases


def _last_or_all(start: Tensor, states: Iterator[Tensor], record: bool, steps: int) -> Tensor:
    if not record:
        last = start
        for last in states:  # noqa: B007
            pass
        return last
    path = start.new_empty(steps + 1, *start.shape)
    path[0] = start
    for step, state in enumerate(states, start=1):
        path[step] = state
    return path
