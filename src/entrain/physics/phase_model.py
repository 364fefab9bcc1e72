r"""The phase model of N coupled oscillators, and its energy.

    d theta_i / dt = w_i - mu [ b_i sin(theta_i) + sum_j J_ij g(theta_i - theta_j)
                                + 2 s_i sin(2 theta_i) ],        theta(0) given,
    g(phi) = sin(phi + a) + c sin(2 phi) + d cos(2 phi),

with local fields b, couplings J, natural frequencies w, a phase lag a and a second harmonic (c, d)
of the coupling function g, and second-harmonic injection s (the sub-harmonic locking of oscillator
Ising machines). Without the even part of g (a = 0, d = 0) and with symmetric J this is the gradient
flow d theta / dt = -mu grad E of

    E = - sum_i b_i cos(theta_i) - sum_{i<j} J_ij [ cos(phi_ij) + (c / 2) cos(2 phi_ij) ]
        - sum_i s_i cos(2 theta_i) - sum_i (w_i / mu) theta_i,        phi_ij = theta_i - theta_j.

With a delay tau the couplings of oscillator i act on theta_j(t - tau), which is theta(0) for t < 0.

Every function takes any leading axes (a run axis, say) before the ones it names. N oscillators,
B samples. Time is in the unit set by mu.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

from entrain.utils.errors import positive_float, positive_int, store_plain_numbers

# A custom torque: phases (..., B, N) -> its summand in the bracket of the phase model.
Term = Callable[[Tensor], Tensor]

INITIAL_PHASE = math.pi / 2  # the default start of an oscillator: cos(theta) = 0
PER_SAMPLE = ("frequencies", "injection", "start")  # (R, B, N), or (R, 1, N) shared by all samples
_MOST_STEPS = 1_000_000  # of a rollout: more would run for days


@dataclass(frozen=True)
class Dynamics:
    """Duration and step of the explicit Euler method.

    Args:
        mobility: mu, which sets the unit of time.
        observation_time: t_f, when the outputs are read.
        steps: K Euler steps from 0 to t_f.
    """

    mobility: float = 1.0
    observation_time: float = 0.2
    steps: int = 200

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        for name in ("mobility", "observation_time"):
            positive_float(name, getattr(self, name), least=1e-12, most=1e12)
        positive_int("steps", self.steps, most=_MOST_STEPS)

    @property
    def time_step(self) -> float:
        """dt = t_f / K."""
        return self.observation_time / self.steps


class TensorFields:
    """A frozen dataclass whose fields are tensors; one that is None is absent."""

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that are present, by name, without a graph."""
        values = {name: value for name, value in vars(self).items() if name != "graph"}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}

    def map(self, change: Callable[[Tensor], Tensor]) -> Self:
        """These values with every tensor but a graph changed.

        Args:
            change: A function of a tensor.
        """
        changed: dict[str, Any] = {name: change(t) for name, t in self.tensors().items()}
        return replace(self, **changed)  # type: ignore[type-var]


@dataclass(frozen=True)
class PhaseModel(TensorFields):
    """The terms of the phase model for a batch of inputs; a term that is None is absent.

    The gradient of a loss with respect to the terms is a `PhaseModel` of the same shapes. Its N x N
    couplings are independent: the gradient of a shared J_ij = J_ji is the sum of both.

    Args:
        fields: b (R, B, N).
        couplings: J (R, N, N).
        frequencies: w (R, B or 1, N).
        injection: s (R, B or 1, N).
        lag: a (R,).
        start: theta(0) (R, B or 1, N); None is pi/2 everywhere.
        harmonic: c and d (R, 2).
        other_terms: Custom torques, differentiable functions of the phases. Only the reference
            computes them, and differentiates through them by autograd.
        delay: tau, rounded to whole Euler steps. Only the reference computes it.
    """

    fields: Tensor
    couplings: Tensor
    frequencies: Tensor | None = None
    injection: Tensor | None = None
    lag: Tensor | None = None
    start: Tensor | None = None
    harmonic: Tensor | None = None
    other_terms: tuple[Term, ...] = ()
    delay: float = 0.0

    @property
    def is_plain(self) -> bool:
        """True if only fields and couplings act, from pi/2."""
        terms = (self.frequencies, self.injection, self.lag, self.start, self.harmonic)
        return not self.other_terms and not self.delay and all(term is None for term in terms)

    def scaled(self, factor: Tensor) -> PhaseModel:
        """This gradient with every tensor multiplied by `factor`.

        Args:
            factor: One factor for each run (R,).
        """
        return self.map(lambda t: factor.reshape(-1, *[1] * (t.dim() - 1)) * t)

    def plus(self, other: PhaseModel) -> PhaseModel:
        """The sum of two gradients; a term that is absent from one is 0 there.

        Args:
            other: The second gradient.
        """
        ours, theirs = self.tensors(), other.tensors()
        both: dict[str, Any] = {name: ours[name] + theirs[name] for name in ours if name in theirs}
        return PhaseModel(**{**ours, **theirs, **both})

    def rows(self, samples: slice) -> PhaseModel:
        """The model of a part of the batch.

        Args:
            samples: A slice of the batch axis.
        """
        per_sample: dict[str, Any] = {"fields": self.fields[:, samples]}
        for name in PER_SAMPLE:
            values = getattr(self, name)
            if values is not None and values.shape[1] != 1:
                per_sample[name] = values[:, samples]
        return replace(self, **per_sample)

    def starts(self) -> Tensor:
        """theta(0) of every sample: (R, B, N)."""
        if self.start is None:
            return torch.full_like(self.fields, INITIAL_PHASE)
        return self.start.expand_as(self.fields)


def wrap(phases: Tensor) -> Tensor:
    """atan2(sin, cos) of the phases: their representatives on (-pi, pi]."""
    return torch.atan2(phases.sin(), phases.cos())
