r"""Explicit steps of the phase model, theta_{k+1} = Phi(theta_k) [+ noise], as PyTorch operations.

With f the drift of step k (scheduled terms are constant within a step) and h = dt:

    euler:  theta + h f(theta)                                                       order 1
    heun:   theta + h/2 (f_1 + f_2),   f_1 = f(theta), f_2 = f(theta + h f_1)        order 2
    rk4:    theta + h/6 (f_1 + 2 f_2 + 2 f_3 + f_4), the classical one               order 4

With noise sqrt(2 mu kT h) eta is added after the step, and the phases are wrapped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.physics import Dynamics, Noise, PhaseModel, Schedule, drift, wrap
from entrain.physics.couplings import with_values
from entrain.physics.noise import STEPS_PER_BLOCK
from entrain.utils.errors import InputError, unknown_name

Velocity = Callable[[Tensor], Tensor]


def euler(velocity: Velocity, phases: Tensor, time_step: float) -> Tensor:
    """The phases after a step of the explicit Euler method."""
    return phases + time_step * velocity(phases)


def heun(velocity: Velocity, phases: Tensor, time_step: float) -> Tensor:
    """The phases after a step of Heun's method, the explicit trapezoidal rule."""
    first = velocity(phases)
    second = velocity(phases + time_step * first)
    return phases + 0.5 * time_step * (first + second)


def rk4(velocity: Velocity, phases: Tensor, time_step: float) -> Tensor:
    """The phases after a step of the classical Runge-Kutta method of order 4."""
    first = velocity(phases)
    second = velocity(phases + 0.5 * time_step * first)
    third = velocity(phases + 0.5 * time_step * second)
    fourth = velocity(phases + time_step * third)
    return phases + time_step / 6.0 * (first + 2.0 * (second + third) + fourth)


@dataclass(frozen=True)
class Method:
    """An explicit one-step method.

    Args:
        order: Order of convergence, without noise.
        step: (velocity, phases, time_step) -> phases after a step.
    """

    order: int
    step: Callable[[Velocity, Tensor, float], Tensor]


METHODS = {"euler": Method(1, euler), "heun": Method(2, heun), "rk4": Method(4, rk4)}


def check_method(method: str, model: PhaseModel) -> None:
    """Refuse an unknown method, and a delay within a step of several stages.

    Args:
        method: A name of `METHODS`.
        model: The phase model.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if model.delay and method != "euler":
        raise InputError(f"method must be 'euler' with a delay of the couplings, got {method!r}")


def increments(
    noise: Noise, dynamics: Dynamics, shape: torch.Size, dtype: torch.dtype, first: int = 0
) -> Iterator[Tensor]:
    """sqrt(2 mu kT dt) eta of every step from `first` on.

    Args:
        noise: The forcing of M replicates of B samples.
        dynamics: Its K steps.
        shape: Shape of an increment without runs: (M, B, N) or (M B, N).
        dtype: Of the increments.
        first: The first step.
    """
    deviations = noise.deviations(dynamics.steps, dynamics.mobility, dynamics.time_step)
    block_of = -1
    for step in range(first, dynamics.steps):
        block, offset = divmod(noise.first + step, STEPS_PER_BLOCK)
        if block != block_of:
            eta, block_of = noise.increments(block, shape[-1]).to(dtype), block
        yield deviations[step].item() * eta[offset].reshape(shape)


def steps(
    phases: Tensor,
    model: PhaseModel,
    dynamics: Dynamics,
    forcing: Iterator[Tensor] | None,
    first: int = 0,
    method: str = "euler",
) -> Iterator[Tensor]:
    """The phases after each step.

    Args:
        phases: Those before the first step (R, B, N), or (R, M, B, N).
        model: The phase model.
        dynamics: Mobility, observation time and steps.
        forcing: Noise that is added in each step; None is none.
        first: The first step, 0 with a delay.
        method: A name of `METHODS`.
    """
    advance = METHODS[method].step
    lateness = min(round(model.delay / dynamics.time_step), dynamics.steps)
    recent = deque([phases], maxlen=lateness + 1)  # couplings act on the oldest
    components = None if model.schedule is not None else model.components()
    for step in range(first, dynamics.steps):
        present, delayed = model.at(step), recent[0] if lateness else None

        def velocity(
            at: Tensor, model: PhaseModel = present, delayed: Tensor | None = delayed
        ) -> Tensor:
            return drift(at, model, dynamics.mobility, delayed, components)

        phases = advance(velocity, phases, dynamics.time_step)
        if forcing is not None:
            phases = wrap(phases + next(forcing))
        recent.append(phases)
        yield phases


class RecordedSums:
    """Gradients summed step by step, from the last to the first, each step recorded by autograd.

    Noise does not enter: it is added, and wrapping a phase does not change derivatives.
    """

    def __init__(self, model: PhaseModel, dynamics: Dynamics, method: str) -> None:
        self._model, self._dynamics, self._step = model, dynamics, METHODS[method].step
        tensors = {name: t for name, t in model.tensors().items() if name != "start"}
        self._sums = {name: torch.zeros_like(t) for name, t in tensors.items()}
        self._schedule = model.schedule or Schedule()

    def step_back(self, phases: Tensor, adjoint: Tensor, step: int) -> Tensor:
        """The adjoint before a step that began at `phases`.

        Args:
            phases: (R, B, N).
            adjoint: The gradient by the phases after the step.
            step: Step k.
        """
        part = self._model.steps(step, 1)  # a schedule of one step: gradients cost one step
        with torch.enable_grad():
            leaves = {n: part.tensors()[n].detach().requires_grad_() for n in self._sums}
            at = phases.detach().requires_grad_()
            model = part.with_tensors(leaves).at(0)
            components = model.components()
            after = self._step(
                lambda x: drift(x, model, self._dynamics.mobility, None, components),
                at,
                self._dynamics.time_step,
            )
        before, *gradients = torch.autograd.grad(
            after, [at, *leaves.values()], adjoint, allow_unused=True, materialize_grads=True
        )
        for name, gradient in zip(leaves, gradients, strict=True):
            total = self._sums[name]
            if name == "drive":
                total[self._schedule.segment(step)] += gradient[0]
            elif name.startswith("factor of"):
                total[step] += gradient[0]
            else:
                total += gradient
        return before

    def gradient(self, adjoint: Tensor) -> PhaseModel:
        """The sums, with the adjoint of the start.

        Args:
            adjoint: The gradient by the phases before the first step.
        """
        model = replace(self._model, other_terms=(), start=adjoint)
        couplings = with_values(model.couplings, self._sums["couplings"])
        return replace(model, couplings=couplings).with_tensors(self._sums)
