r"""Rollouts, their exact discrete adjoint and the path loss, as PyTorch operations.

The plain definitions, for any dtype and device. Shapes: phases (R, B, N), with a run axis R of
independent networks; with noise (R, M, B, N), M replicates of every sample; recorded with K + 1
times in front.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from entrain.kernels.gradient_sums import ComponentSums, GradientSums
from entrain.kernels.integrators import RecordedSums, increments, steps
from entrain.physics import Dynamics, Guide, Noise, PhaseModel
from entrain.physics.phase_model import is_per_sample
from entrain.physics.quadrature import time_rule
from entrain.physics.terms import LOCAL
from entrain.physics.torque import local_torques, multiple_angle, products, velocities
from entrain.utils.errors import InputError

STORED_BYTES = 2**30  # phases stored for the adjoint; a longer rollout is recomputed in segments

# Gradient of a loss with respect to the phases of a rollout -> that with respect to its model.
Pullback = Callable[[Tensor], PhaseModel]


def rollout(
    model: PhaseModel,
    dynamics: Dynamics,
    *,
    noise: Noise | None = None,
    record: int = 0,
    method: str = "euler",
) -> Tensor:
    """Explicit steps from the start: the phases at t_f, or those of every `record`-th step.

    `integrators` defines the methods. Without noise phases are unwrapped. With noise,
    Euler-Maruyama, wrapped after each step:
    theta <- wrap( theta + dt f(theta) + sqrt(2 mu kT dt) eta ), the same eta for every run. A delay
    is rounded to whole steps: in step k couplings act on the phases of step max(0, k - delay / dt).
    """
    start, forcing = model.starts(), None
    if noise is not None:
        model = with_replicate_axis(model)
        start = start[:, None].expand(-1, len(noise.replicates), -1, -1)
        forcing = increments(noise, dynamics, start.shape[1:], start.dtype)
    states = steps(start, model, dynamics, forcing, method=method)
    if record:
        return torch.stack([start, *itertools.islice(states, record - 1, None, record)])
    return functools.reduce(lambda _, state: state, states, start)


def rollout_with_pullback(
    model: PhaseModel,
    dynamics: Dynamics,
    *,
    noise: Noise | None = None,
    record: int = 0,
    method: str = "euler",
) -> tuple[Tensor, Pullback]:
    r"""`rollout`, and its exact discrete adjoint.

    With lambda_k = d loss / d theta_k, q = -mu dt lambda_{k+1} and, for every component of the
    coupling function (see `physics.torque`), S and C of m theta, q_S = q (c S + d C) and
    q_C = q (c C - d S), the adjoint of an Euler step is

        lambda_k = lambda_{k+1} + q (b cos + sum_m m [ C (M C)' + S (M S)' ] + slopes)
                   - sum_m m [ S M^T q_S + C M^T q_C ];

    a recorded path adds its own gradient at each time. The step adds q sin to d loss / d b,
    (q_S)_i C_j - (q_C)_i S_j to that of M_ij, q [ S (M C) - C (M S) ] and q [ C (M C) + S (M S) ]
    to those of c and d, and its own to that of each local term. What terms make of M, c and d is
    differentiated by autograd. Steps of other methods are recorded by autograd one by one. With a
    delay autograd records all steps, K N B numbers and more.
    """
    if model.delay:
        return _recorded_with_pullback(model, dynamics, noise, record)
    single, replicates = model, 1 if noise is None else len(noise.replicates)
    if noise is not None:
        model = _replicate(model, replicates)
    shape = model.fields.shape

    def segment(start: Tensor, first: int) -> Tensor:
        """The phases before and after each step of a segment (length + 1, R, B, N)."""
        forcing = None
        if noise is not None:
            forcing = increments(noise, dynamics, shape[1:], start.dtype, first)
        states = steps(start, model, dynamics, forcing, first, method)
        return torch.stack([start, *itertools.islice(states, length)])

    # Only the start of each segment is stored, and the path of the last: a rollout that fits in
    # memory is one segment and nothing is computed twice.
    length = segment_length(model.fields, dynamics.steps)
    starts, path = list[Tensor](), model.starts()[None]
    recorded = [path] if record else []
    for first in range(0, dynamics.steps, length):
        starts.append(path[-1].clone())
        path = segment(starts[-1], first)
        if record:
            before = record - first % record  # steps until the next recorded one
            recorded.append(path[before::record].clone())  # a view would keep the segment
    last = path

    def pullback(gradient: Tensor) -> PhaseModel:
        outer = gradient.reshape(-1, *shape)  # one time, or every recorded one
        adjoint = outer[-1]
        sums: GradientSums | RecordedSums = (
            GradientSums(model, dynamics)
            if method == "euler"
            else RecordedSums(model, dynamics, method)
        )
        for index in range(len(starts) - 1, -1, -1):
            first, path = index * length, last
            if index < len(starts) - 1:
                path = segment(starts[index], first)
            for step in range(len(path) - 2, -1, -1):
                adjoint = sums.step_back(path[step], adjoint, first + step)
                if record and (first + step) % record == 0:
                    adjoint = adjoint + outer[(first + step) // record]
        return reduce_to(single, sums.gradient(adjoint), replicates)

    phases = torch.cat(recorded) if record else last[-1]
    if noise is not None:
        phases = phases.reshape(*phases.shape[:-2], replicates, *single.fields.shape[1:])
    return phases, pullback


def reduce_to(model: PhaseModel, gradient: PhaseModel, replicates: int = 1) -> PhaseModel:
    """`gradient` of M B rows, summed to the shapes of `model`; its absent terms are dropped."""
    values, reduced = gradient.tensors(), dict[str, Tensor]()
    for name, tensor in model.tensors().items():
        summed = values[name]
        if is_per_sample(name):
            if replicates > 1:
                rows = (*summed.shape[:-2], replicates, -1, summed.shape[-1])
                summed = summed.reshape(rows).sum(-3)
            summed = summed if summed.shape == tensor.shape else summed.sum(-2, keepdim=True)
        reduced[name] = summed
    return replace(model, other_terms=(), delay=0.0).with_tensors(reduced)


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
    for unsupported, present in (
        ("custom terms", model.other_terms),
        ("a delay of the couplings", model.delay),
        ("a schedule", model.schedule),
    ):
        if present:
            raise InputError(f"the path loss does not support {unsupported}")
    runs, batch, oscillators = model.fields.shape
    times, weights = time_rule_on(dynamics.steps, nodes, model.fields.dtype, model.fields.device)
    guide = Guide.at(coefficients, times, dynamics.steps)  # (R, B, T, N)
    rows = (runs, batch * len(times), oscillators)
    sin, cos = guide.sin, guide.cos
    both = sin.reshape(rows), cos.reshape(rows)
    scale = dynamics.mobility * dynamics.time_step
    first, *others = model.components()
    j_sin, j_cos = (product.reshape(sin.shape) for product in products(*both, first))
    bracket = sin * (model.fields[:, :, None] + j_cos) - cos * j_sin
    at_times = replace(
        model, terms={n: v[:, :, None] for n, v in model.terms.items() if n in LOCAL}
    )
    if (local := local_torques(sin, cos, at_times)) is not None:
        bracket = bracket + local
    residual = guide.increment + scale * bracket
    if (own := velocities(sin, cos, at_times)) is not None:
        residual = residual - dynamics.time_step * own
    for component in others:
        s, c = multiple_angle(*both, component.multiple)
        m_sin, m_cos = products(s, c, component)
        residual = residual + scale * (s * m_cos - c * m_sin).reshape(sin.shape)
    weighted = residual * weights[:, None]
    count = batch * dynamics.steps * oscillators
    loss = (residual * weighted).sum((1, 2, 3)) / count
    q = weighted * (2.0 * scale / count)
    terms = {}
    for name in model.terms.keys() & LOCAL.keys():
        term = LOCAL[name]
        pull = q / dynamics.mobility if term.is_velocity else q
        terms[name] = term.gradient(sin, cos, pull).sum(2)
    sums = ComponentSums(model)
    for index in range(len(sums.components)):
        sums.add(index, *both, q.reshape(rows))
    pairs, couplings = sums.gradients()
    start = None if model.start is None else torch.zeros_like(model.fields)
    gradient = PhaseModel((q * sin).sum(2), couplings, terms=terms | pairs, start=start)
    return loss, reduce_to(model, gradient)


def with_replicate_axis(model: PhaseModel) -> PhaseModel:
    """The model with an axis of replicates after that of runs, for operations that broadcast."""
    schedule, tensors = model.schedule, {}
    for name, tensor in model.tensors().items():
        if not name.startswith("factor of"):
            tensors[name] = tensor[:, :, None] if name == "drive" else tensor[:, None]
    return replace(model, schedule=schedule).with_tensors(tensors)


def _replicate(model: PhaseModel, replicates: int) -> PhaseModel:
    """The model with the batch repeated for each replicate: (R, M B, N)."""
    batch = model.fields.shape[1]
    return model.with_tensors(
        {
            name: values.expand(*values.shape[:-2], batch, -1).repeat(
                *[1] * (values.dim() - 2), replicates, 1
            )
            for name, values in model.tensors().items()
            if is_per_sample(name)
        }
    )


@functools.cache
def time_rule_on(
    steps: int, nodes: int | None, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """`time_rule` on a device, computed once."""
    times, weights = time_rule(steps, nodes)
    return times.to(device, dtype), weights.to(device, dtype)


def _recorded_with_pullback(
    model: PhaseModel, dynamics: Dynamics, noise: Noise | None, record: int
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
        by_name = dict(zip(tensors, gradients, strict=True))
        return replace(model, other_terms=(), delay=0.0).with_tensors(by_name)

    return phases.detach(), pullback
