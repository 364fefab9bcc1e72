"""Parts that are not alike: gains, offsets, and couplers that differ by direction."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised, rms
from entrain.utils.errors import InputError, positive_float

_MOST = 5.0  # relative: beyond, a percentage was taken for a fraction


@dataclass(frozen=True)
class _Spread(Effect):
    """An effect whose numbers are all standard deviations; it is off where they are 0."""

    def __post_init__(self) -> None:
        for each in fields(self):
            found = positive_float(each.name, getattr(self, each.name), zero=True)
            if found > _MOST:
                raise InputError(
                    f"{each.name} is a relative spread, 0.1 for 10 %, and at most {_MOST:g}; "
                    f"got {found:g}. Was it meant in percent?"
                )

    @property
    def is_identity(self) -> bool:
        return not any(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True)
class Mismatch(_Spread):
    r"""Gains that differ from part to part: x (1 + sd g), g standard normal, fixed for a chip.

    `couplings`, `input_weights`, `biases` and `fields` are relative standard deviations. A coupler
    is one part: J_ij and J_ji get the same g. A field's g belongs to its oscillator.
    """

    couplings: float = 0.0
    input_weights: float = 0.0
    biases: float = 0.0
    fields: float = 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        changed: dict[str, Tensor] = {}
        if self.couplings:
            gains = symmetric(draws.normal("mism", *p.couplings.shape[1:]))
            changed["couplings"] = p.couplings * (1.0 + self.couplings * gains)
        if self.input_weights:
            gains = draws.normal("misw", *p.input_weights.shape[1:])
            changed["input_weights"] = p.input_weights * (1.0 + self.input_weights * gains)
        if self.biases:
            gains = draws.normal("misb", *p.biases.shape[1:])
            changed["biases"] = p.biases * (1.0 + self.biases * gains)
        network = network.with_numbers(**changed)
        if self.fields:
            scale = 1.0 + self.fields * draws.normal("misf", *p.biases.shape[1:])
            network = network.with_fields(lambda b: b * scale[:, None])
        return network


@dataclass(frozen=True)
class Offset(_Spread):
    r"""Numbers that are added: x + sd rms(x) g, g standard normal, fixed for a chip.

    `couplings`, `input_weights` and `fields` are in units of the root mean square of the couplings,
    of the input weights and of the couplings, over parts that are not zero. A coupler that is not
    used (J_ij = 0) has no offset.
    """

    couplings: float = 0.0
    input_weights: float = 0.0
    fields: float = 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        changed: dict[str, Tensor] = {}
        unit = _rms(p.couplings)
        if self.couplings:
            added = symmetric(draws.normal("offs", *p.couplings.shape[1:])) * unit
            changed["couplings"] = p.couplings + self.couplings * added * (p.couplings != 0)
        if self.input_weights:
            added = draws.normal("offw", *p.input_weights.shape[1:]) * _rms(p.input_weights)
            used = p.input_weights != 0
            changed["input_weights"] = p.input_weights + self.input_weights * added * used
        network = network.with_numbers(**changed)
        if self.fields:
            shift = self.fields * unit[:, 0] * draws.normal("offf", *p.biases.shape[1:])
            network = network.with_fields(lambda b: b + shift[:, None])
        return network


@dataclass(frozen=True)
class Asymmetry(_Spread):
    r"""Couplers that act differently on their two ends: J_ij (1 + sd g_ij), g_ij != g_ji."""

    sd: float = 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        couplings = network.parameters.couplings
        gains = draws.normal("asym", *couplings.shape[1:])
        return network.with_numbers(couplings=couplings * (1.0 + self.sd * gains))


def symmetric(numbers: Tensor) -> Tensor:
    """(L, N, N) with the lower triangle replaced by the upper one: one number for each coupler."""
    upper = numbers.triu(1)
    return upper + upper.mT


def _rms(numbers: Tensor) -> Tensor:
    """The root mean square (L, 1, 1) over numbers that are not zero; no gradient."""
    return rms(numbers).reshape(-1, 1, 1)
