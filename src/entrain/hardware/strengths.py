"""Effects at several strengths: five of each alone, and those of hardware at 1/4 to 4 times."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from entrain.hardware.effect import Effect
from entrain.hardware.hardware import EFFECT_TYPES, Hardware
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
    """Five strengths of one effect alone, from weak to strong.

    Args:
        name: An entry of an effect, such as "coupling_bits" or "lag".

    Examples:
        >>> [strength.label for strength in entrain.hardware.strengths.ladder("coupling_bits")]
        ['8 bits', '6 bits', '5 bits', '4 bits', '3 bits']
    """
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


_SHARES = ("couplings", "input_weights", "biases", "fields", "couplers", "oscillators", "sd")
_TEXTS: dict[str, Callable[[Any], str]] = {  # by "effect.entry", or by the entry alone
    **dict.fromkeys((*_SHARES, "jitter", "spread"), _percent),
    "bits": lambda bits: f"{bits} bit{'s' if bits > 1 else ''}",
    "levels": lambda levels: f"{len(levels)} levels",
    "inputs": lambda inputs: f"{inputs} inputs",
    "kept": lambda kept: f"{_percent(kept)} kept",
    "frequency_spread.sd": lambda sd: f"{sd:.3g} rad/time",
    "lag": lambda lag: f"{lag:.3g} rad",
    "temperature": lambda kt: f"kT {kt:.3g}",
    "time": lambda time: f"{time:.3g} units of time",
}


def _ladder(name: str, entry: str, values: tuple[float, ...], **rest: Any) -> tuple[Strength, ...]:
    """The effect `name` with these values of an entry, and the `rest` fixed."""
    strengths = []
    for value in values:
        effect = EFFECT_TYPES[name](**{entry: value}, **rest)
        effects: dict[str, Any] = {name: effect}
        strengths.append(Strength(name, label(name, effect), value, Hardware(**effects)))
    return tuple(strengths)


_SPREADS = (0.05, 0.1, 0.2, 0.3, 0.5)
_OFFSETS = (0.02, 0.05, 0.1, 0.2, 0.3)
_HARMONICS = (0.05, 0.1, 0.2, 0.4, 0.8)
_COMPARATORS = (0.02, 0.05, 0.1, 0.2, 0.4)
_BROKEN = (0.01, 0.02, 0.05, 0.1, 0.2)
_WORD_LENGTHS = (8, 6, 5, 4, 3)

LADDERS: dict[str, tuple[Strength, ...]] = {
    "coupling_bits": _ladder("coupling_levels", "bits", _WORD_LENGTHS),
    "weight_bits": _ladder("weight_levels", "bits", _WORD_LENGTHS, range=4.0),
    "bias_bits": _ladder("bias_levels", "bits", _WORD_LENGTHS, range=1.0, rule="max"),
    # Fields of trained networks are 20 to 75 times as large as couplings, rms.
    "field_bits": _ladder("field_levels", "bits", _WORD_LENGTHS, range=100.0, rule="couplings"),
    "coupling_mismatch": _ladder("mismatch", "couplings", _SPREADS),
    "weight_mismatch": _ladder("mismatch", "input_weights", _SPREADS),
    "bias_mismatch": _ladder("mismatch", "biases", _SPREADS),
    "field_mismatch": _ladder("mismatch", "fields", _SPREADS),
    "coupling_offset": _ladder("offset", "couplings", _OFFSETS),
    "weight_offset": _ladder("offset", "input_weights", _OFFSETS),
    "field_offset": _ladder("offset", "fields", (0.5, 1.0, 2.0, 3.0, 5.0)),
    "asymmetry": _ladder("asymmetry", "sd", _SPREADS),
    "couplers_kept": _ladder("sparsity", "kept", (0.9, 0.75, 0.5, 0.25, 0.1)),
    "dead_couplers": _ladder("dead", "couplers", _BROKEN),
    "dead_oscillators": _ladder("dead", "oscillators", _BROKEN),
    "stuck_oscillators": _ladder("stuck", "oscillators", _BROKEN),
    "frequency_spread": _ladder("frequency_spread", "sd", (0.5, 1.0, 2.0, 4.0, 8.0)),
    "phase_lag": _ladder("coupling_function", "lag", _HARMONICS),
    "second_harmonic": _ladder("coupling_function", "second", _HARMONICS),
    "even_second_harmonic": _ladder("coupling_function", "second_even", _HARMONICS),
    "delay": _ladder("delay", "time", (0.002, 0.005, 0.01, 0.02, 0.05)),
    "phase_noise": _ladder("phase_noise", "temperature", (0.05, 0.1, 0.3, 1.0, 3.0)),
    "readout_bits": _ladder("readout", "bits", (6, 5, 4, 3, 2)),
    "comparator_noise": _ladder("readout", "noise", _COMPARATORS),
    "comparator_offset": _ladder("readout", "offset", _COMPARATORS),
    "time_jitter": _ladder("readout", "jitter", _BROKEN),
    "time_spread": _ladder("readout", "spread", _BROKEN),
}
"""Name of what varies -> its strengths."""
