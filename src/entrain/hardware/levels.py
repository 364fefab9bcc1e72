"""Resolution of the values that a chip stores."""

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
_UNEVEN = 1e-3  # of the range: more than the error of levels that a file rounds


@dataclass(frozen=True)
class Levels(Effect):
    """r k / (2^(bits-1) - 1), k whole: values rounded to 2^bits - 1 levels, clipped to [-r, r].

    Halves are rounded away from zero. The gradient is that of the clipped values, as if they were
    not rounded.

    Args:
        bits: Word length; or `levels` instead.
        levels: The levels in rising order, in units of r.
        range: r, in the unit of `rule`.
        rule: "rms": `range` is in units of the root mean square of the values that are not zero.
            "max": in units of the largest. "absolute": r itself. "couplings": in units of the rms
            coupling, for a field that a coupler to a reference oscillator makes.
        part: "couplings", "input_weights", "biases" or "fields".

    Examples:
        >>> from entrain.hardware import Hardware, Levels
        >>> Hardware(coupling_levels=Levels(bits=3, range=2.5)).to_json()
        {'coupling_levels': {'bits': 3, 'range': 2.5}}
    """

    part: str = field(default="couplings", kw_only=True)
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
            levels = finite_numbers("levels", self.levels)
            if len(levels) < 2 or list(levels) != sorted(set(levels)):
                raise InputError(f"levels must be two or more, in rising order, got {list(levels)}")
            if max(map(abs, levels)) > 1.0:
                raise InputError(
                    f"levels are in units of the range, from -1 to 1, got {list(levels)}; divide "
                    "by the largest and give the range"
                )
            object.__setattr__(self, "levels", levels)
        positive_float("range", self.range)
        if self.part == "fields" and self.rule in ("rms", "max"):
            raise InputError(
                f"fields change with the input: their range must be absolute or in units of the "
                f"couplings' range, got the rule {self.rule!r}"
            )

    @property
    def is_identity(self) -> bool:
        return False

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        if self.part == "fields":
            unit = self._unit(parameters.couplings)
            return network.with_fields(lambda b: self.rounded(b, unit.reshape(-1, 1, 1)))
        values = getattr(parameters, self.part)
        unit = self._unit(parameters.couplings if self.rule == "couplings" else values)
        shape = (-1,) + (1,) * (values.dim() - 1)
        return network.with_parameters(**{self.part: self.rounded(values, unit.reshape(shape))})

    def times(self, factor: float) -> Levels | None:
        # Steps `factor` times as large, to the nearest whole bit, or number of levels on either
        # side of zero; None for levels without a zero or at uneven distances.
        if self.levels is None:
            assert self.bits is not None
            return replace(self, bits=coarser(self.bits, factor, least=2))
        sides = [sum(level < 0 for level in self.levels), sum(level > 0 for level in self.levels)]
        even = _evenly(self.levels, sides)
        if len(even) != len(self.levels) or any(
            abs(a - b) > _UNEVEN for a, b in zip(even, self.levels, strict=True)
        ):
            return None
        fewer = [max(1, round(side / factor)) if side else 0 for side in sides]
        return replace(self, levels=_evenly(self.levels, fewer))

    def _unit(self, values: Tensor) -> Tensor:
        """The range r of each network (L,)."""
        flat = values.detach().reshape(len(values), -1)
        if self.rule == "absolute":
            return flat.new_full((len(flat),), self.range)
        if self.rule == "max":
            return self.range * flat.abs().amax(1)
        return self.range * rms(flat)

    def rounded(self, values: Tensor, unit: Tensor) -> Tensor:
        """`values` at the nearest level; a range of zero changes nothing.

        Args:
            values: Parameters or fields (L, ...).
            unit: The range r, in a shape that broadcasts with `values`.
        """
        size = torch.where(unit > 0, unit, torch.full_like(unit, torch.inf))
        clipped = torch.clamp(values, -size, size)
        with torch.no_grad():
            if self.levels is None:
                assert self.bits is not None
                step = unit / ((1 << self.bits - 1) - 1)
                nearest = torch.sign(clipped) * torch.floor(clipped.abs() / step + 0.5) * step
            else:
                levels = _tensor(self.levels, clipped.dtype, clipped.device)
                nearest = _nearest(clipped / unit, levels) * unit
            nearest = torch.where(unit > 0, nearest, values)
        return straight_through(nearest, clipped)


def coarser(bits: int, factor: float, least: int) -> int:
    """The word length whose steps are `factor` times as large."""
    return min(_MOST_BITS, max(least, bits - round(math.log2(factor))))


def _evenly(levels: tuple[float, ...], sides: list[int]) -> tuple[float, ...]:
    """Even levels from the first to 0 and from 0 to the last; `sides` counts those of each."""
    below = (levels[0] * k / sides[0] for k in range(sides[0], 0, -1))
    above = (levels[-1] * k / sides[1] for k in range(1, sides[1] + 1))
    return (*below, 0.0, *above)


def straight_through(rounded: Tensor, smooth: Tensor) -> Tensor:
    """`rounded`, exactly, with the gradient of `smooth`."""
    return rounded.detach() + (smooth - smooth.detach())  # x + (rounded - x) would miss by a bit


def _nearest(values: Tensor, levels: Tensor) -> Tensor:
    """The nearest of rising `levels`; half way between two, the one further from zero."""
    middles = (levels[1:] + levels[:-1]) / 2
    upward = torch.bucketize(values, middles, right=True)
    downward = torch.bucketize(values, middles)
    return levels[torch.where(values >= 0, upward, downward)]


@functools.cache
def _tensor(levels: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Cached, since a captured CUDA graph must not copy from the host."""
    return torch.tensor(levels, dtype=dtype, device=device)
