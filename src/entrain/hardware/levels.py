"""Resolution: numbers that a chip can only hold as one of a few levels."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised, rms
from entrain.utils.errors import InputError, finite_numbers, one_of, positive_float, positive_int

RangeRule = Literal["rms", "max", "absolute", "couplings"]
_MOST_BITS = 24  # of a float32
_UNEVEN = 1e-3  # of the range: more than a list of rounded levels is off


@dataclass(frozen=True)
class Levels(Effect):
    r"""Numbers rounded to the nearest of some levels between -r and r; beyond, they are clipped.

    `bits` = b makes 2^b - 1 levels, r k / (2^(b-1) - 1) for whole k; or `levels` gives them, in
    units of r. The range r is `range` times the root mean square of the numbers that are not zero
    ("rms"), times the largest ("max"), itself ("absolute"), or times the couplings' own range
    ("couplings": a field made by a coupler to a reference oscillator). Halves are rounded away from
    zero. The gradient is that of the clipped numbers, as if they were not rounded.
    """

    part: str = field(default="couplings", kw_only=True)  # couplings, input_weights, biases, fields
    bits: int | None = None
    levels: tuple[float, ...] | None = None
    range: float = 3.0
    rule: RangeRule = "rms"

    def __post_init__(self) -> None:
        one_of("part", self.part, Literal["couplings", "input_weights", "biases", "fields"])
        one_of("rule", self.rule, RangeRule)
        if (self.bits is None) == (self.levels is None):
            raise InputError(
                f"give bits or levels of the {self.part}, one of them; got "
                f"{'neither' if self.bits is None else 'both'}"
            )
        if self.bits is not None:
            positive_int("bits", self.bits, most=_MOST_BITS)
            if self.bits < 2:
                raise InputError(
                    f"bits must be from 2 to {_MOST_BITS}, got {self.bits}; two levels without a "
                    "zero are levels = [-1, 1]"
                )
        else:
            assert self.levels is not None
            found = finite_numbers("levels", self.levels)
            if len(found) < 2 or list(found) != sorted(set(found)):
                raise InputError(f"levels must be two or more, in rising order, got {list(found)}")
            if max(map(abs, found)) > 1.0:
                raise InputError(
                    f"levels are in units of the range, from -1 to 1, got {list(found)}; divide "
                    "by the largest and give the range"
                )
            object.__setattr__(self, "levels", found)
        positive_float("range", self.range)
        if self.part == "fields" and self.rule in ("rms", "max"):
            raise InputError(
                f"fields change with the input: their range must be absolute or in units of the "
                f"couplings' range, got the rule {self.rule!r}"
            )

    @property
    def is_identity(self) -> bool:
        """Never: levels that are given round."""
        return False

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        if self.part == "fields":
            unit = self._unit(parameters.couplings)
            return network.with_fields(lambda b: self.rounded(b, unit.reshape(-1, 1, 1)))
        numbers = getattr(parameters, self.part)
        unit = self._unit(parameters.couplings if self.rule == "couplings" else numbers)
        shape = (-1,) + (1,) * (numbers.dim() - 1)
        return network.with_numbers(**{self.part: self.rounded(numbers, unit.reshape(shape))})

    def times(self, factor: float) -> Levels | None:
        """Steps `factor` times as large, to the nearest whole bit, or number of levels on either
        side of zero; None for levels without a zero or at uneven distances."""
        if self.levels is None:
            assert self.bits is not None
            return replace(self, bits=coarser(self.bits, factor, least=2))
        sides = [sum(level < 0 for level in self.levels), sum(level > 0 for level in self.levels)]
        even = _evenly(self.levels, sides)
        if len(even) != len(self.levels) or any(
            abs(one - other) > _UNEVEN for one, other in zip(even, self.levels, strict=True)
        ):
            return None
        fewer = [max(1, round(side / factor)) if side else 0 for side in sides]
        return replace(self, levels=_evenly(self.levels, fewer))

    def _unit(self, numbers: Tensor) -> Tensor:
        """The range r of each lane (L,)."""
        flat = numbers.detach().reshape(len(numbers), -1)
        if self.rule == "absolute":
            return flat.new_full((len(flat),), self.range)
        if self.rule == "max":
            return self.range * flat.abs().amax(1)
        return self.range * rms(flat)

    def rounded(self, numbers: Tensor, unit: Tensor) -> Tensor:
        """`numbers` at the nearest level of the range `unit`; a range of zero changes nothing."""
        size = torch.where(unit > 0, unit, torch.full_like(unit, torch.inf))
        clipped = torch.clamp(numbers, -size, size)
        with torch.no_grad():
            if self.levels is None:
                assert self.bits is not None
                step = unit / ((1 << self.bits - 1) - 1)
                nearest = torch.sign(clipped) * torch.floor(clipped.abs() / step + 0.5) * step
            else:
                levels = _tensor(self.levels, clipped.dtype, clipped.device)
                nearest = _nearest(clipped / unit, levels) * unit
            nearest = torch.where(unit > 0, nearest, numbers)
        return straight_through(nearest, clipped)


def coarser(bits: int, factor: float, least: int) -> int:
    """The bits with which steps are `factor` times as large."""
    return min(_MOST_BITS, max(least, bits - round(math.log2(factor))))


def _evenly(levels: tuple[float, ...], sides: list[int]) -> tuple[float, ...]:
    """Levels from the first to 0 and from 0 to the last, so many on either side of it."""
    below = (levels[0] * k / sides[0] for k in range(sides[0], 0, -1))
    above = (levels[-1] * k / sides[1] for k in range(1, sides[1] + 1))
    return (*below, 0.0, *above)


def straight_through(rounded: Tensor, smooth: Tensor) -> Tensor:
    """`rounded`, exactly, with the gradient of `smooth`."""
    return rounded.detach() + (smooth - smooth.detach())  # x + (rounded - x) would miss by a bit


def _nearest(numbers: Tensor, levels: Tensor) -> Tensor:
    """The nearest of rising `levels`; half way between two, the one further from zero."""
    middles = (levels[1:] + levels[:-1]) / 2
    upward = torch.bucketize(numbers, middles, right=True)
    downward = torch.bucketize(numbers, middles)
    return levels[torch.where(numbers >= 0, upward, downward)]


@functools.cache
def _tensor(levels: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Kept, since a step that is recorded as a graph must not copy from the host."""
    return torch.tensor(levels, dtype=dtype, device=device)
