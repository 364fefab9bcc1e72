r"""The phase model: what acts on the phases of N coupled oscillators, and its energy.

    d theta_i / dt = w_i - mu [ b_i sin(theta_i) + sum_j J_ij g(theta_i - theta_j)
                                + 2 s_i sin(2 theta_i) ],        theta(0) given,
    g(phi) = sin(phi + a) + c sin(2 phi) + d cos(2 phi),

with local fields b, couplings J, natural frequencies w, a phase lag a and a second harmonic (c, d)
of the coupling function g, and second-harmonic injection s (the sub-harmonic locking of oscillator
Ising machines). Without the even part of g (a = 0, d = 0) and with symmetric J this is the gradient
flow d theta / dt = -mu grad E of

    E = - sum_i b_i cos(theta_i) - sum_{i<j} J_ij [ cos(phi_ij) + (c / 2) cos(2 phi_ij) ]
        - sum_i s_i cos(2 theta_i) - sum_i (w_i / mu) theta_i,        phi_ij = theta_i - theta_j.

A common lag costs nothing: with J cos and J sin turned by it,

    (J cos)_a = cos(a) J cos + sin(a) J sin,   (J sin)_a = cos(a) J sin - sin(a) J cos,
    sum_j J_ij sin(theta_i - theta_j + a) = sin_i (J cos)_a,i - cos_i (J sin)_a,i,

so that the sum takes two matrix products, never an N x N array per sample. The second harmonic
takes two more, of sin and cos of 2 theta, turned by (c, d) in place of (cos a, sin a).

With a delay tau the couplings of oscillator i see theta_j(t - tau), which is theta(0) before t = 0.

Every function takes any leading axes (a run axis, say) before the ones it names. N oscillators,
B samples. Time is in the unit set by mu.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from entrain.utils.errors import positive_float, positive_int, store_plain_numbers

# A further torque: phases (..., B, N) -> what it adds to the bracket of the phase model.
Term = Callable[[Tensor], Tensor]

INITIAL_PHASE = math.pi / 2  # where an oscillator starts unless told otherwise: cos(theta) = 0


MOST_STEPS = 1_000_000  # of a rollout: more is a slip, and would run for days


@dataclass(frozen=True)
class Dynamics:
    """How long and how finely a network evolves: mobility mu, observation time t_f, K steps."""

    mobility: float = 1.0
    observation_time: float = 0.2
    steps: int = 200

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        for name in ("mobility", "observation_time"):
            positive_float(name, getattr(self, name), least=1e-12, most=1e12)
        positive_int("steps", self.steps, most=MOST_STEPS)

    @property
    def time_step(self) -> float:
        """dt = t_f / K."""
        return self.observation_time / self.steps


@dataclass(frozen=True)
class PhaseModel:
    """The numbers of the phase model for a batch of inputs; what is None is absent.

    The gradient of a loss with respect to these numbers is a `PhaseModel` too, with the same
    shapes. Couplings are N x N independent numbers there: whoever ties J_ij to J_ji adds both.
    `other_terms` are custom torques, differentiable functions of the phases; the reference
    computes them, and differentiates through them by autograd.
    """

    fields: Tensor  # b (R, B, N)
    couplings: Tensor  # J (R, N, N)
    frequencies: Tensor | None = None  # w (R, B or 1, N)
    injection: Tensor | None = None  # s (R, B or 1, N)
    lag: Tensor | None = None  # a (R,)
    start: Tensor | None = None  # theta(0) (R, B or 1, N); pi/2 everywhere if None
    harmonic: Tensor | None = None  # c and d (R, 2)
    other_terms: tuple[Term, ...] = ()
    delay: float = 0.0  # tau, in whole Euler steps when it is run; the reference alone computes it

    @property
    def is_plain(self) -> bool:
        """Whether only fields and couplings act, from pi/2."""
        return (
            self.frequencies is None
            and self.injection is None
            and self.lag is None
            and self.start is None
            and self.harmonic is None
            and not self.other_terms
            and not self.delay
        )

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that are there, by name."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if isinstance(value, Tensor)}

    def map(self, change: Callable[[Tensor], Tensor]) -> PhaseModel:
        """This model with every tensor changed."""
        changed: dict[str, Any] = {name: change(t) for name, t in self.tensors().items()}
        return replace(self, **changed)

    def scaled(self, factor: Tensor) -> PhaseModel:
        """Every tensor times `factor` (R,): of gradients."""
        return self.map(lambda t: factor.reshape(-1, *[1] * (t.dim() - 1)) * t)

    def plus(self, other: PhaseModel) -> PhaseModel:
        """The sum of two gradients; what only one of them has is kept."""
        ours, theirs = self.tensors(), other.tensors()
        both: dict[str, Any] = {name: ours[name] + theirs[name] for name in ours if name in theirs}
        return PhaseModel(**{**ours, **theirs, **both})

    def rows(self, chosen: slice) -> PhaseModel:
        """The model of some samples of the batch."""

        def cut(values: Tensor | None) -> Tensor | None:
            return values if values is None or values.shape[1] == 1 else values[:, chosen]

        return replace(
            self,
            fields=self.fields[:, chosen],
            frequencies=cut(self.frequencies),
            injection=cut(self.injection),
            start=cut(self.start),
        )

    def starts(self) -> Tensor:
        """theta(0) of every sample: (R, B, N)."""
        if self.start is None:
            return torch.full_like(self.fields, INITIAL_PHASE)
        return self.start.expand_as(self.fields)


def coupled(sin: Tensor, cos: Tensor, model: PhaseModel) -> tuple[Tensor, Tensor]:
    """J sin and J cos, turned by the lag where there is one: two (..., B, N)."""
    j_sin, j_cos = products(sin, cos, model)
    if model.lag is None:
        return j_sin, j_cos
    a = model.lag[..., None, None]
    return turned(j_sin, j_cos, a.cos(), a.sin())


def products(sin: Tensor, cos: Tensor, model: PhaseModel) -> tuple[Tensor, Tensor]:
    """J sin and J cos: two (..., B, N)."""
    # Contiguous, so that a symmetric matrix gives the same bits either way round.
    transposed = model.couplings.mT.contiguous()
    return sin @ transposed, cos @ transposed


def turned(j_sin: Tensor, j_cos: Tensor, along: Tensor, across: Tensor) -> tuple[Tensor, Tensor]:
    """J sin and J cos turned by an angle with this cosine and sine, or by (c, d)."""
    return along * j_sin - across * j_cos, along * j_cos + across * j_sin


def doubled(sin: Tensor, cos: Tensor) -> tuple[Tensor, Tensor]:
    """sin and cos of twice the angle."""
    return 2.0 * sin * cos, cos * cos - sin * sin


def harmonic_of(harmonic: Tensor) -> tuple[Tensor, Tensor]:
    """c and d, for arrays (..., B, N)."""
    return harmonic[..., 0, None, None], harmonic[..., 1, None, None]


def second_torque(sin: Tensor, cos: Tensor, j_sin: Tensor, j_cos: Tensor, by: Tensor) -> Tensor:
    """sum_j J_ij [ c sin(2 phi) + d cos(2 phi) ] from sin, cos, J sin and J cos of 2 theta.

    `by` holds c and d.
    """
    j_sin, j_cos = turned(j_sin, j_cos, *harmonic_of(by))
    return sin * j_cos - cos * j_sin


def torque(sin: Tensor, cos: Tensor, j_sin: Tensor, j_cos: Tensor, model: PhaseModel) -> Tensor:
    """The bracket of the phase model, from sines, cosines and what `coupled` makes of them."""
    found = sin * (model.fields + j_cos) - cos * j_sin
    if model.injection is not None:
        found = found + 4.0 * model.injection * sin * cos
    return found


def drift(phases: Tensor, model: PhaseModel, mobility: float, seen: Tensor | None = None) -> Tensor:
    """d theta / dt at phases (..., B, N): (..., B, N).

    `seen` are the phases of the others as couplings see them: earlier ones, with a delay.
    """
    sin, cos = phases.sin(), phases.cos()
    there = (sin, cos) if seen is None else (seen.sin(), seen.cos())
    bracket = torque(sin, cos, *coupled(*there, model), model)
    if model.harmonic is not None:
        second = products(*doubled(*there), model)
        bracket = bracket + second_torque(*doubled(sin, cos), *second, model.harmonic)
    for term in model.other_terms:
        bracket = bracket + term(phases)
    velocity = -mobility * bracket
    return velocity if model.frequencies is None else velocity + model.frequencies


def energy(phases: Tensor, model: PhaseModel, mobility: float = 1.0) -> Tensor:
    """E at phases (..., B, N): (..., B).

    The even part of the coupling function (lag and d) and custom terms are not part of it: with
    them E may rise.
    """
    sin, cos = phases.sin(), phases.cos()
    # sum_{i<j} J_ij cos(theta_i - theta_j) is half the full quadratic form: J has no diagonal.
    pairs = 0.5 * (cos * (cos @ model.couplings) + sin * (sin @ model.couplings))
    if model.harmonic is not None:
        sin_2, cos_2 = doubled(sin, cos)
        second = cos_2 * (cos_2 @ model.couplings) + sin_2 * (sin_2 @ model.couplings)
        pairs = pairs + 0.25 * harmonic_of(model.harmonic)[0] * second
    found = -(model.fields * cos + pairs).sum(-1)
    if model.injection is not None:
        found = found - (model.injection * (2.0 * phases).cos()).sum(-1)
    if model.frequencies is not None:
        found = found - (model.frequencies * phases).sum(-1) / mobility
    return found


def energy_gradient(phases: Tensor, model: PhaseModel, mobility: float = 1.0) -> PhaseModel:
    r"""The gradient of the energy, summed over samples, with respect to what acts on the phases.

        d E / d b_i = -cos(theta_i),   d E / d J_ij = -cos(theta_i - theta_j) for the pair i < j,
        d E / d w_i = -theta_i / mu,   d E / d s_i = -cos(2 theta_i),

    at phases (R, B, N). J_ij and J_ji get half of theirs each, and a second harmonic c adds
    -(c / 2) cos(2 theta_i - 2 theta_j) to both. What is shared by the samples is summed over them.
    A lag, an even harmonic and the start are no part of the energy: their gradient is 0.
    """
    sin, cos = phases.sin(), phases.cos()
    couplings, by_harmonic = -0.5 * (cos.mT @ cos + sin.mT @ sin), None
    if model.harmonic is not None:
        sin2, cos2 = doubled(sin, cos)
        twice = cos2.mT @ cos2 + sin2.mT @ sin2
        couplings = couplings - 0.25 * model.harmonic[:, 0, None, None] * twice
        by_harmonic = torch.zeros_like(model.harmonic)
        by_harmonic[:, 0] = -0.25 * (model.couplings * twice).sum((1, 2))

    def like(found: Tensor, term: Tensor | None) -> Tensor | None:
        if term is None:
            return None
        return found.sum(1, keepdim=True) if term.shape[1] == 1 < found.shape[1] else found

    return PhaseModel(
        fields=-cos,
        couplings=couplings,
        frequencies=like(-phases / mobility, model.frequencies),
        injection=like(-(2.0 * phases).cos(), model.injection),
        lag=None if model.lag is None else torch.zeros_like(model.lag),
        start=None if model.start is None else torch.zeros_like(model.start),
        harmonic=by_harmonic,
    )


def wrap(phases: Tensor) -> Tensor:
    """The representative atan2(sin, cos) of each phase on the principal branch (-pi, pi]."""
    return torch.atan2(phases.sin(), phases.cos())
