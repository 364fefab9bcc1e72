"""The interface of effects: frozen values that change a network like a chip does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import ClassVar, Protocol, Self

from torch import Tensor

from entrain.physics import Parameters, PhaseModel
from entrain.physics.terms import LOCAL
from entrain.utils.errors import InputError, finite_float, positive_float

FieldChange = Callable[[Tensor], Tensor]


class Draws(Protocol):
    """Random variates of chips, the same for the same chip at every call."""

    def normal(self, tag: str, *shape: int) -> Tensor:
        """Standard normal variates (L, *shape), one set for each network on a chip."""

    def uniform(self, tag: str, *shape: int) -> Tensor:
        """Variates (L, *shape), uniform between 0 and 1."""


@dataclass(frozen=True)
class Realised:
    """L networks on chips: parameters (L, ...), and functions of the fields b (L, B, N).

    Couplings need not be symmetric: row i acts on oscillator i. `moving` (L, N) is False for
    oscillators that stand still; None if all move. Couplings act after `delay`.
    """

    parameters: Parameters
    field_changes: tuple[FieldChange, ...] = ()
    moving: Tensor | None = None
    delay: float = 0.0

    def with_parameters(self, **tensors: Tensor) -> Realised:
        """The same networks with other parameters."""
        return replace(self, parameters=self.parameters.with_tensors(tensors))

    def with_added(self, **summands: Tensor) -> Realised:
        """The same networks with values added to their parameters, which may be absent."""
        terms = {name: getattr(self.parameters, name) for name in summands}
        return self.with_parameters(
            **{n: s if terms[n] is None else terms[n] + s for n, s in summands.items()}
        )

    def with_fields(self, change: FieldChange) -> Realised:
        """The same networks with one more function of the fields."""
        return replace(self, field_changes=(*self.field_changes, change))

    def with_moving(self, moving: Tensor) -> Realised:
        """The same networks, without any torque on oscillators that do not move."""
        terms = {name: t for name, t in self.parameters.terms.items() if name in LOCAL}
        stopped = self.with_parameters(**{name: t * moving for name, t in terms.items()})
        both = moving if self.moving is None else self.moving & moving
        return replace(stopped.with_fields(lambda b: b * moving[:, None]), moving=both)

    def phase_model(self, inputs: Tensor, steps: int = 1) -> PhaseModel:
        """The terms of the phase model.

        Args:
            inputs: u (L, B, D), or (B, D) shared by all networks; in time (L or 1, B, T, D).
            steps: As for `Parameters.phase_model`.
        """
        model = self.parameters.phase_model(inputs, steps)
        schedule = model.schedule
        if schedule is None or schedule.drive is None:
            return replace(model, fields=self._changed(model.fields), delay=self.delay)
        frames, _, batch, _ = schedule.drive.shape
        fields = self._changed(schedule.drive.movedim(0, 1).flatten(1, 2))
        drive = fields.reshape(len(fields), frames, batch, -1).movedim(1, 0)
        return replace(model, schedule=replace(schedule, drive=drive), delay=self.delay)

    def _changed(self, fields: Tensor) -> Tensor:
        """Fields (L, B, N) after all changes."""
        for change in self.field_changes:
            fields = change(fields)
        return fields


@dataclass(frozen=True)
class Effect:
    """A difference between chips and the equations; `_check` validates every entry."""

    _check: ClassVar[staticmethod[..., object]] = staticmethod(partial(positive_float, zero=True))

    def __post_init__(self) -> None:
        for entry in fields(self):
            self._check(entry.name, getattr(self, entry.name))

    @property
    def is_identity(self) -> bool:
        """True if the effect is off, which is exactly as if it were absent."""
        return not any(getattr(self, entry.name) for entry in fields(self))

    def change(self, network: Realised, draws: Draws) -> Realised:
        """The network with this effect; differentiable, straight through where it rounds.

        Args:
            network: Networks with the effects that act before.
            draws: Random variates of the chips.
        """
        return network

    def times(self, factor: float) -> Self | None:
        """This effect `factor` times as strong, as far as its entries allow.

        None if the effect has no strength, or no working part would be left.

        Args:
            factor: A positive number.
        """
        entries = {entry.name: factor * getattr(self, entry.name) for entry in fields(self)}
        try:
            return replace(self, **entries)
        except InputError:
            return None


def symmetric(values: Tensor) -> Tensor:
    """(L, N, N) with the upper triangle mirrored: one value for each coupler."""
    upper = values.triu(1)
    return upper + upper.mT


def rms(values: Tensor) -> Tensor:
    """Root mean square (L,) of the values of each network that are not zero; no gradient."""
    flat = values.detach().reshape(len(values), -1)
    count = (flat != 0).sum(1).clamp(min=1)
    # PyTorch splits a sum over one row among threads, which rounds it otherwise: a chip would not
    # be the same alone and beside others.
    rows = flat if len(flat) > 1 else flat.expand(2, -1)
    return (rows.square().sum(1)[: len(flat)] / count).sqrt()


def relative_spread(name: str, value: object, most: float = 5.0) -> None:
    """Refuse a relative standard deviation above `most`."""
    if (sd := positive_float(name, value, zero=True)) > most:
        raise InputError(
            f"{name} is a relative spread, 0.1 for 10 %, and at most {most:g}; got {sd:g}. Was it "
            "meant in percent?"
        )


def probability(name: str, value: object) -> float:
    """`value` as a number from 0 to 1, or an `InputError` that names it."""
    share = finite_float(name, value)
    if not 0.0 <= share <= 1.0:
        raise InputError(f"{name} must be a share from 0 to 1, got {value!r}")
    return share


def share_below_one(name: str, value: object) -> None:
    """Refuse a share of broken parts that is not from 0 to below 1."""
    if probability(name, value) == 1.0:
        raise InputError(f"{name} must be a share below 1: with 100 % nothing would be left")
