"""What every effect is: a frozen value that changes a network as a chip would."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol, Self

from torch import Tensor

from entrain.physics import Parameters, PhaseModel

FieldChange = Callable[[Tensor], Tensor]


class Draws(Protocol):
    """Random numbers of chips, the same for the same chip whenever they are asked for."""

    def normal(self, tag: str, *shape: int) -> Tensor:
        """Standard normal numbers (L, *shape), one set for each lane."""

    def uniform(self, tag: str, *shape: int) -> Tensor:
        """Uniform numbers (L, *shape) between 0 and 1."""


@dataclass(frozen=True)
class Realised:
    """What chips make of networks, L lanes side by side: parameters (L, ...) and changes of fields.

    Couplings need not be symmetric: row i is what acts on oscillator i. `moving` (L, N) is False
    for oscillators that stand still; None if all move. Couplings act after `delay`.
    """

    parameters: Parameters
    field_changes: tuple[FieldChange, ...] = ()
    moving: Tensor | None = None
    delay: float = 0.0

    def with_numbers(self, **changed: Tensor) -> Realised:
        """The same with other tensors."""
        return replace(self, parameters=replace(self.parameters, **changed))

    def with_fields(self, change: FieldChange) -> Realised:
        """The same with one more change of the fields b (L, B, N)."""
        return replace(self, field_changes=(*self.field_changes, change))

    def stopped(self, moving: Tensor) -> Realised:
        """The same with some oscillators (L, N) standing still: nothing of their own moves them."""
        terms = {name: getattr(self.parameters, name) for name in ("frequencies", "injection")}
        found = self.with_numbers(
            **{n: term * moving for n, term in terms.items() if term is not None}
        )
        both = moving if self.moving is None else self.moving & moving
        return replace(found.with_fields(lambda b: b * moving[:, None]), moving=both)

    def phase_model(self, inputs: Tensor) -> PhaseModel:
        """What acts on the phases under inputs (L, B, D), or (B, D) alike for every lane."""
        model = self.parameters.phase_model(inputs)
        fields = model.fields
        for change in self.field_changes:
            fields = change(fields)
        return replace(model, fields=fields, delay=self.delay)


class Effect(ABC):
    """One way in which a chip differs from the equations."""

    @property
    @abstractmethod
    def is_identity(self) -> bool:
        """Whether it is off, which is exactly as if it were not there."""

    def change(self, network: Realised, draws: Draws) -> Realised:
        """The network with this effect; differentiable, straight through where it rounds."""
        return network

    def times(self, factor: float) -> Self | None:
        """The same effect with each of its numbers `factor` times as large, or as far towards that
        as they go; None where an effect has no strength, or nothing would be left."""
        numbers = {each.name: factor * getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        return replace(self, **numbers)  # type: ignore[type-var]


def rms(numbers: Tensor) -> Tensor:
    """The root mean square (L,) over the numbers of each lane that are not zero; no gradient."""
    flat = numbers.detach().reshape(len(numbers), -1)
    count = (flat != 0).sum(1).clamp(min=1)
    # PyTorch shares a sum that stands alone out to threads, which rounds it otherwise: a chip would
    # not be the same alone and among others.
    rows = flat if len(flat) > 1 else flat.expand(2, -1)
    return (rows.square().sum(1)[: len(flat)] / count).sqrt()
