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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.physics.couplings import Couplings, values_of, with_values
from entrain.physics.schedule import Schedule
from entrain.physics.terms import LOCAL, PAIR, TERMS, Component
from entrain.utils.errors import (
    positive_float,
    positive_int,
    store_plain_numbers,
    unknown_name,
)

# A custom torque: phases (..., B, N) -> its summand in the bracket of the phase model.
Term = Callable[[Tensor], Tensor]

INITIAL_PHASE = math.pi / 2  # the default start of an oscillator: cos(theta) = 0
_MOST_STEPS = 1_000_000  # of a rollout: more would run for days


@dataclass(frozen=True)
class Dynamics:
    """Duration and step of the explicit Euler method.

    Args:
        mobility: mu, which sets the unit of time.
        observation_time: t_f, when the outputs are read.
        steps: K Euler steps from 0 to t_f.

    Examples:
        >>> entrain.Dynamics(observation_time=2.0, steps=400).time_step
        0.005
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


@dataclass(frozen=True, init=False, eq=False)
class PhaseModel:
    """The phase model for a batch of inputs.

    The gradient of a loss with respect to it is a `PhaseModel` of the same shapes. J_ij and J_ji
    are independent: the gradient of a shared one is the sum of both.

    Args:
        fields: b (R, B, N).
        couplings: J (R, N, N), or sparse.
        terms: Values of the terms of `physics.terms`, by name; one that is None is absent. They may
            be keyword arguments too. Those of oscillators are (R, B, N), or (R, 1, N) for all
            samples alike: frequencies w, injection s. Those of all couplings are (R,), lag a, or
            (R, 2), harmonic c and d; those of each coupling have the shape of J's values.
        start: theta(0) (R, B or 1, N); None is pi/2 everywhere.
        schedule: Variation of the terms in time; None is none.
        other_terms: Custom torques, differentiable functions of the phases. Only the reference
            computes them, and differentiates through them by autograd.
        delay: tau, rounded to whole Euler steps. Only the reference computes it.
        named: Values of terms as keyword arguments.

    Examples:
        >>> pair = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
        >>> start = torch.tensor([[[0.0, 1.0]]])
        >>> model = entrain.PhaseModel(torch.zeros(1, 1, 2), pair, start=start)
        >>> entrain.kernels.rollout(model, entrain.Dynamics(observation_time=9.0, steps=900))
        tensor([[[0.5000, 0.5000]]])
    """

    fields: Tensor
    couplings: Couplings
    terms: Mapping[str, Tensor]
    start: Tensor | None
    schedule: Schedule | None
    other_terms: tuple[Term, ...]
    delay: float

    def __init__(
        self,
        fields: Tensor,
        couplings: Couplings,
        *,
        terms: Mapping[str, Tensor] | None = None,
        start: Tensor | None = None,
        schedule: Schedule | None = None,
        other_terms: tuple[Term, ...] = (),
        delay: float = 0.0,
        **named: Tensor | None,
    ) -> None:
        values = {**(terms or {}), **named}
        if unknown := values.keys() - TERMS.keys():
            raise unknown_name("term", sorted(unknown)[0], TERMS)
        present = {name: values[name] for name in TERMS if values.get(name) is not None}
        for name, value in (
            ("fields", fields),
            ("couplings", couplings),
            ("terms", present),
            ("start", start),
            ("schedule", schedule),
            ("other_terms", other_terms),
            ("delay", delay),
        ):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Tensor | None:
        if name in TERMS:
            return self.terms.get(name)
        raise AttributeError(f"a phase model has no attribute {name!r}")

    @property
    def is_plain(self) -> bool:
        """True if only fields and couplings act, from pi/2."""
        others = (self.terms, self.other_terms, self.delay)
        return not any(others) and self.start is None and self.schedule is None

    @property
    def matrix(self) -> Tensor:
        """J as a matrix (R, N, N)."""
        return self.couplings if isinstance(self.couplings, Tensor) else self.couplings.dense()

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that are present, by name: J's values, and of a schedule "drive" and
        "factor of NAME"."""
        tensors = {"fields": self.fields, "couplings": values_of(self.couplings), **self.terms}
        if self.start is not None:
            tensors["start"] = self.start
        if self.schedule is not None:
            factors = self.schedule.factors.items()
            tensors |= {f"factor of {name}": factor for name, factor in factors}
            if self.schedule.drive is not None:
                tensors["drive"] = self.schedule.drive
        return tensors

    def with_tensors(self, tensors: Mapping[str, Tensor]) -> PhaseModel:
        """This model with other tensors, on the same graph.

        Args:
            tensors: New values by the names of `tensors()`; the others stay.
        """
        terms = {name: tensors.get(name, value) for name, value in self.terms.items()}
        schedule = self.schedule
        if schedule is not None:
            factors = {n: tensors.get(f"factor of {n}", f) for n, f in schedule.factors.items()}
            drive = tensors.get("drive", schedule.drive)
            schedule = replace(schedule, factors=factors, drive=drive)
        couplings = self.couplings
        if "couplings" in tensors:
            couplings = with_values(couplings, tensors["couplings"])
        return PhaseModel(
            tensors.get("fields", self.fields),
            couplings,
            terms=terms,
            start=tensors.get("start", self.start),
            schedule=schedule,
            other_terms=self.other_terms,
            delay=self.delay,
        )

    def detached(self) -> PhaseModel:
        """This model without autograd's graph."""
        return self.map(Tensor.detach)

    def map(self, change: Callable[[Tensor], Tensor]) -> PhaseModel:
        """This model with every tensor changed.

        Args:
            change: A function of a tensor.
        """
        return self.with_tensors({name: change(t) for name, t in self.tensors().items()})

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
        both = {name: ours[name] + theirs[name] for name in ours if name in theirs}
        terms = {**self.terms, **other.terms, **{n: both[n] for n in self.terms if n in both}}
        start = self.start if other.start is None else other.start
        return PhaseModel(
            both["fields"],
            with_values(self.couplings, both["couplings"]),
            terms=terms,
            start=both.get("start", start),
        )

    def components(self) -> list[Component]:
        """The coupling function as a sum of components, J with its lag first."""
        components = [Component(self.couplings)]
        for name, term in PAIR.items():
            if name in self.terms:
                components = term.change(components, self.terms[name])
        return components

    def rows(self, samples: slice) -> PhaseModel:
        """The model of a part of the batch.

        Args:
            samples: A slice of the batch axis.
        """
        shared = self.fields.shape[1] > 1
        parts = {
            name: values[..., samples, :]
            for name, values in self.tensors().items()
            if is_per_sample(name) and (values.shape[-2] != 1 or not shared)
        }
        return self.with_tensors(parts)

    def steps(self, first: int, count: int) -> PhaseModel:
        """The model of a part of the steps.

        Args:
            first: The first step.
            count: Number of steps.
        """
        if self.schedule is None:
            return self
        return replace(self, schedule=self.schedule.steps(first, count))

    def at(self, step: int) -> PhaseModel:
        """The constant model that acts in a step.

        Args:
            step: Step k.
        """
        schedule = self.schedule
        if schedule is None:
            return self
        tensors = {n: f[step] * self.tensors()[n] for n, f in schedule.factors.items()}
        if schedule.drive is not None:
            fields = tensors.get("fields", self.fields)
            tensors["fields"] = fields + schedule.drive[schedule.segment(step)]
        return replace(self, schedule=None).with_tensors(tensors)

    def starts(self) -> Tensor:
        """theta(0) of every sample: (R, B, N)."""
        if self.start is None:
            return torch.full_like(self.fields, INITIAL_PHASE)
        return self.start.expand_as(self.fields)


def is_per_sample(name: str) -> bool:
    """True if a tensor of a phase model has an axis of samples, (..., B or 1, N).

    Args:
        name: A name of `PhaseModel.tensors`.
    """
    return name in ("fields", "start", "drive") or name in LOCAL


def wrap(phases: Tensor) -> Tensor:
    """atan2(sin, cos) of the phases: their representatives on (-pi, pi]."""
    return torch.atan2(phases.sin(), phases.cos())
