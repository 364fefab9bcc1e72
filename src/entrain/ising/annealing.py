r"""The ramps of one run of an oscillator Ising machine."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from entrain.utils.errors import check_ranges, positive_float, store_plain_numbers

_MOST_STEPS = 10_000_000


@dataclass(frozen=True)
class Annealing:
    r"""Ramps of injection, noise and couplings over one run, f from 0 to 1:

        s(f)  = injection (2 / k)^2 f^injection_power,
        kT(f) = temperature (1 - f)^temperature_power,
        J(f)  = J (first_coupling + (1 - first_coupling) f),

    with injection of order k = 2 for spins, and k colours. The unit of couplings is the root of the
    mean, over oscillators, of sum_j J_ij^2 + b_i^2; the mobility is 1. Defaults were chosen on
    generated graphs: random, toroidal and planar.

    Args:
        steps: K Euler steps of a run. Twice as many give better values in twice the time.
        injection: s at the end, in units of the couplings.
        injection_power: Its exponent; 0 is constant.
        temperature: kT at the beginning, in units of the couplings; 0 is no noise.
        temperature_power: Its exponent; 0 is constant.
        first_coupling: Share of the couplings at the beginning.
        time_step: dt in units of 2 / stiffness, beyond which Euler steps overshoot in a local
            minimum of the energy.
        readings: Number of times that a run is read, evenly, the last time at its end.

    Examples:
        >>> entrain.ising.Annealing(steps=500).steps
        500
    """

    steps: int = 2000
    injection: float = 0.35
    injection_power: float = 2.0
    temperature: float = 0.25
    temperature_power: float = 0.7
    first_coupling: float = 1.0
    time_step: float = 1.1
    readings: int = 10

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        powers = ("injection_power", "temperature_power")
        check_ranges(
            self,
            whole=("steps", "readings"),
            positive=("time_step",),
            non_negative=("injection", "temperature", *powers),
            shares=("first_coupling",),
        )
        check = partial(positive_float, zero=True)
        check("steps", self.steps, most=_MOST_STEPS)
        check("time_step", self.time_step, most=10.0)
        for name in ("injection", "temperature"):
            check(name, getattr(self, name), most=1e6)
        for name in powers:
            check(name, getattr(self, name), most=100.0)

    def injections(self, order: int) -> Tensor:
        """s in the middle of every step (K,), float64.

        Args:
            order: k.
        """
        return self.injection * (2 / order) ** 2 * self._middles() ** self.injection_power

    def temperatures(self) -> Tensor:
        """kT in the middle of every step (K,), float64."""
        return self.temperature * (1 - self._middles()) ** self.temperature_power

    def coupling_factors(self) -> Tensor:
        """J(f) / J in the middle of every step (K,), float64."""
        return self.first_coupling + (1 - self.first_coupling) * self._middles()

    def parts(self) -> list[slice]:
        """The steps between two readings."""
        count = min(self.readings, self.steps)
        ends = [self.steps * part // count for part in range(count + 1)]
        return [slice(*pair) for pair in itertools.pairwise(ends)]

    def to_json(self) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def _middles(self) -> Tensor:
        return (torch.arange(self.steps, dtype=torch.float64) + 0.5) / self.steps
