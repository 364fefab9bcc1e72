"""Effects at several strengths: five of each alone, and those of hardware at 1/4 to 4 times."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from entrain.hardware.asymmetry import Asymmetry
from entrain.hardware.coupling_function import CouplingFunction
from entrain.hardware.dead import Dead
from entrain.hardware.delay import Delay
from entrain.hardware.effect import Effect
from entrain.hardware.frequency_spread import FrequencySpread
from entrain.hardware.hardware import Hardware
from entrain.hardware.levels import Levels
from entrain.hardware.mismatch import Mismatch
from entrain.hardware.offset import Offset
from entrain.hardware.phase_noise import PhaseNoise
from entrain.hardware.readout import Readout
from entrain.hardware.sparsity import Sparsity
from entrain.hardware.stuck import Stuck
from entrain.utils.errors import unknown_name

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Strength:
    """Hardware with a certain strength of one `effect`.

    `label` is the strength with its unit. On a ladder `hardware` has that effect alone, and `value`
    is the entry that varies (a share, not percent). Among `variations` it has all effects, and
    `value` is the factor of the strength.
    """

    effect: str
    label: str
    value: float
    hardware: Hardware


def ladder(name: str) -> tuple[Strength, ...]:
    """Five strengths of one effect alone, from weak to strong."""
    if name not in LADDERS:
        raise unknown_name("ladder of strengths", name, LADDERS)
    return LADDERS[name]


def variations(hardware: Hardware, name: str) -> tuple[Strength, ...]:
    """Hardware with one effect at 1/4 to 4 times its strength, without repetitions at the limits of
    its entries; empty for an effect without a strength."""
    strengths: dict[Hardware, Strength] = {}
    for factor in sorted(FACTORS, key=lambda factor: abs(math.log(factor))):
        scaled = hardware.scaled(name, factor)
        if scaled is not None and scaled not in strengths:
            strengths[scaled] = Strength(name, label(name, getattr(scaled, name)), factor, scaled)
    return tuple(sorted(strengths.values(), key=lambda strength: strength.value))


def label(name: str, effect: Effect) -> str:
    """The entries of an effect that are on, without repetitions: "10 %", "4 bits"."""
    texts: dict[str, None] = {}
    for entry in fields(effect):
        value = getattr(effect, entry.name)
        text_of = _TEXTS.get(f"{name}.{entry.name}", _TEXTS.get(entry.name))
        if text_of is None and isinstance(value, float) and entry.name != "range":
            text_of = "{:.3g}".format
        if value and text_of is not None:
            texts[text_of(value)] = None
    return ", ".join(texts)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


_TEXTS: dict[str, Callable[[Any], str]] = {  # by "effect.entry", or by the entry alone
    "bits": lambda bits: f"{bits} bit{'s' if bits > 1 else ''}",
    "levels": lambda levels: f"{len(levels)} levels",
    "inputs": lambda inputs: f"{inputs} inputs",
    "kept": lambda kept: f"{_percent(kept)} kept",
    "couplings": _percent,
    "input_weights": _percent,
    "biases": _percent,
    "fields": _percent,
    "couplers": _percent,
    "oscillators": _percent,
    "sd": _percent,
    "frequency_spread.sd": lambda sd: f"{sd:.3g} rad/time",
    "lag": lambda lag: f"{lag:.3g} rad",
    "temperature": lambda kt: f"kT {kt:.3g}",
    "time": lambda time: f"{time:.3g} units of time",
    "jitter": _percent,
    "spread": _percent,
}


def _ladder(
    effect: str, make: Callable[[float], Effect], values: tuple[float, ...]
) -> tuple[Strength, ...]:
    def strength(value: float) -> Strength:
        made = make(value)
        hardware = Hardware(**{effect: made})  # type: ignore[arg-type]
        return Strength(effect, label(effect, made), value, hardware)

    return tuple(map(strength, values))


_SPREADS = (0.05, 0.1, 0.2, 0.3, 0.5)
_OFFSETS = (0.02, 0.05, 0.1, 0.2, 0.3)
_HARMONICS = (0.05, 0.1, 0.2, 0.4, 0.8)
_COMPARATORS = (0.02, 0.05, 0.1, 0.2, 0.4)
_BROKEN = (0.01, 0.02, 0.05, 0.1, 0.2)
_WORD_LENGTHS = (8, 6, 5, 4, 3)

LADDERS: dict[str, tuple[Strength, ...]] = {
    "coupling_bits": _ladder("coupling_levels", lambda b: Levels(bits=int(b)), _WORD_LENGTHS),
    "weight_bits": _ladder(
        "weight_levels",
        lambda b: Levels(bits=int(b), range=4.0, part="input_weights"),
        _WORD_LENGTHS,
    ),
    "bias_bits": _ladder(
        "bias_levels",
        lambda b: Levels(bits=int(b), range=1.0, part="biases", rule="max"),
        _WORD_LENGTHS,
    ),
    "field_bits": _ladder(
        "field_levels",
        # Fields of trained networks are 20 to 75 times as large as couplings, rms.
        lambda b: Levels(bits=int(b), range=100.0, part="fields", rule="couplings"),
        _WORD_LENGTHS,
    ),
    "coupling_mismatch": _ladder("mismatch", lambda sd: Mismatch(couplings=sd), _SPREADS),
    "weight_mismatch": _ladder("mismatch", lambda sd: Mismatch(input_weights=sd), _SPREADS),
    "bias_mismatch": _ladder("mismatch", lambda sd: Mismatch(biases=sd), _SPREADS),
    "field_mismatch": _ladder("mismatch", lambda sd: Mismatch(fields=sd), _SPREADS),
    "coupling_offset": _ladder("offset", lambda sd: Offset(couplings=sd), _OFFSETS),
    "weight_offset": _ladder("offset", lambda sd: Offset(input_weights=sd), _OFFSETS),
    "field_offset": _ladder("offset", lambda sd: Offset(fields=sd), (0.5, 1.0, 2.0, 3.0, 5.0)),
    "asymmetry": _ladder("asymmetry", lambda sd: Asymmetry(sd), _SPREADS),
    "couplers_kept": _ladder("sparsity", lambda kept: Sparsity(kept), (0.9, 0.75, 0.5, 0.25, 0.1)),
    "dead_couplers": _ladder("dead", lambda share: Dead(couplers=share), _BROKEN),
    "dead_oscillators": _ladder("dead", lambda share: Dead(oscillators=share), _BROKEN),
    "stuck_oscillators": _ladder("stuck", lambda share: Stuck(share), _BROKEN),
    "frequency_spread": _ladder(
        "frequency_spread", lambda sd: FrequencySpread(sd), (0.5, 1.0, 2.0, 4.0, 8.0)
    ),
    "phase_lag": _ladder(
        "coupling_function", lambda lag: CouplingFunction(lag), (0.05, 0.1, 0.2, 0.4, 0.8)
    ),
    "second_harmonic": _ladder(
        "coupling_function", lambda second: CouplingFunction(second=second), _HARMONICS
    ),
    "even_second_harmonic": _ladder(
        "coupling_function", lambda second: CouplingFunction(second_even=second), _HARMONICS
    ),
    "delay": _ladder("delay", lambda time: Delay(time), (0.002, 0.005, 0.01, 0.02, 0.05)),
    "phase_noise": _ladder("phase_noise", lambda kt: PhaseNoise(kt), (0.05, 0.1, 0.3, 1.0, 3.0)),
    "readout_bits": _ladder("readout", lambda b: Readout(bits=int(b)), (6, 5, 4, 3, 2)),
    "comparator_noise": _ladder("readout", lambda sd: Readout(noise=sd), _COMPARATORS),
    "comparator_offset": _ladder("readout", lambda sd: Readout(offset=sd), _COMPARATORS),
    "time_jitter": _ladder("readout", lambda sd: Readout(jitter=sd), _BROKEN),
    "time_spread": _ladder("readout", lambda sd: Readout(spread=sd), _BROKEN),
}
"""Name of what varies -> its strengths."""
