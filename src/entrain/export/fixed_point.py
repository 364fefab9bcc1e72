r"""The network in whole numbers: what the exported core computes, bit for bit.

A phase is a fraction of a turn in P bits, so that it wraps by itself. With sines and cosines from a
table of 2^A entries of S bits (amplitude a = 2^(S-1) - 1), couplings J' = round(s J) of C bits and
fields b' = round(s a b), one Euler step is

    torque = sin_i (b'_i + sum_j J'_ij cos_j) - cos_i sum_j J'_ij sin_j,
    phase  = phase - round(torque * step / 2^shift) + frequency      (mod 2^P),

where step / 2^shift = mu dt 2^P / (2 pi s a^2). The answer is the output whose phase is nearest to
0, where its cosine is largest; of equals the first.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from entrain.export.design import Design
from entrain.utils.errors import InputError, positive_int

_STEP_BITS = 16
_AT_ONCE = 256  # images: what a core's cache holds
_FIELD_BITS = 2  # a field may be larger than all couplings together
_WIDEST = 62  # bits of a product that int64 holds
_MOST = {"phase": 32, "coupling": 24, "sine": 24, "address": 14, "lanes": 64}


@dataclass(frozen=True)
class WordLengths:
    """Bits of phases, couplings, sines and of the address of the sine table; `lanes` couplings are
    multiplied in one cycle."""

    phase: int = 16
    coupling: int = 10
    sine: int = 12
    address: int = 10
    lanes: int = 4

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            named = name if name == "lanes" else f"{name} bits"
            positive_int(named, getattr(self, name), most=most)
        if self.address < 3 or self.address > self.phase:
            raise InputError(
                f"the sine table must have 3 to {self.phase} address bits (those of a phase), "
                f"got {self.address}"
            )
        if min(self.coupling, self.sine) < 2:
            raise InputError("couplings and sines must have 2 bits at least, one is the sign")

    def to_json(self) -> dict[str, Any]:
        """As a design keeps it."""
        return {"to": "verilog", **asdict(self)}


def word_lengths_from_json(target: dict[str, Any]) -> WordLengths:
    """What `to_json` gave."""
    return WordLengths(**{name: value for name, value in target.items() if name != "to"})


@dataclass(frozen=True)
class FixedPoint:
    """A network in whole numbers (int64)."""

    lengths: WordLengths
    couplings: np.ndarray  # J' (N, N)
    start: np.ndarray  # (N,)
    frequencies: np.ndarray  # phase units a step (N,)
    table: np.ndarray  # sine of 2^A angles
    scale: float  # s
    step: int
    shift: int
    steps: int
    outputs: int

    @property
    def sum_bits(self) -> int:
        """Of a sum over all couplings, and of a field."""
        return _sum_bits(self.lengths, len(self.couplings))

    def fields(self, fields: np.ndarray) -> np.ndarray:
        """b' of fields (M, N), at the end of their range where they leave it."""
        largest = 2 ** (self.sum_bits - 1) - 1
        amplitude = 2 ** (self.lengths.sine - 1) - 1
        rounded = np.rint(np.asarray(fields, dtype=np.float64) * (self.scale * amplitude))
        return np.asarray(np.clip(rounded, -largest, largest), dtype=np.int64)

    def phases(self, fields: np.ndarray) -> np.ndarray:
        """The phases at the end (M, N) under fields b' (M, N), from 0 to 2^P - 1."""
        some = np.split(fields, range(_AT_ONCE, len(fields), _AT_ONCE))
        return np.concatenate([self._phases(each) for each in some])

    def _phases(self, fields: np.ndarray) -> np.ndarray:
        bits = self.lengths.phase
        mask, half = (1 << bits) - 1, 1 << (self.shift - 1)
        quarter, size = 1 << (self.lengths.address - 2), 1 << self.lengths.address
        drop = bits - self.lengths.address
        rounding = (1 << drop) >> 1
        matrix = self.couplings.T.astype(np.float64)  # exact: sums stay below 2^53
        phases = np.broadcast_to(self.start, fields.shape).copy()
        for _ in range(self.steps):
            address = ((phases + rounding) >> drop) & (size - 1)
            sine = self.table[address]
            cosine = self.table[(address + quarter) & (size - 1)]
            along = fields + (cosine.astype(np.float64) @ matrix).astype(np.int64)
            across = (sine.astype(np.float64) @ matrix).astype(np.int64)
            torque = sine * along - cosine * across
            moved = (torque * self.step + half) >> self.shift
            phases = (phases - moved + self.frequencies) & mask
        return phases

    def signed(self, phases: np.ndarray) -> np.ndarray:
        """Phases from -2^(P-1) to 2^(P-1) - 1."""
        half = 1 << (self.lengths.phase - 1)
        return ((phases + half) & (2 * half - 1)) - half

    def verdicts(self, phases: np.ndarray) -> np.ndarray:
        """The class of each image: the output nearest to phase 0, the first of equals."""
        return np.asarray(np.abs(self.signed(phases[..., -self.outputs :])).argmin(-1))

    def radians(self, phases: np.ndarray) -> np.ndarray:
        """Phases as angles."""
        return np.asarray(self.signed(phases) * (2.0 * math.pi / 2**self.lengths.phase))


def _sum_bits(lengths: WordLengths, oscillators: int) -> int:
    """Enough that no sum overflows, and room for fields up to 4 times the largest sum."""
    terms = max(1, math.ceil(math.log2(oscillators)))
    return lengths.coupling + lengths.sine + terms + _FIELD_BITS


def fixed_point(design: Design, lengths: WordLengths) -> FixedPoint:
    """A design in whole numbers of these lengths."""
    model = design.phase_model
    for name in ("injection", "lag", "harmonic"):
        if getattr(model, name) is not None:
            raise InputError(f"the network has {name}, which the fixed-point core does not compute")
    turn, amplitude = 2**lengths.phase, 2 ** (lengths.sine - 1) - 1
    largest = float(np.abs(design.couplings).max())
    if not largest:
        raise InputError("the network has no couplings: there is nothing to compute")
    scale = (2 ** (lengths.coupling - 1) - 1) / largest
    dynamics = design.dynamics
    turns = dynamics.time_step / (2.0 * math.pi)
    gain = dynamics.mobility * turns * turn / (scale * amplitude**2)
    if not 0.0 < gain < math.inf:
        raise InputError(f"a step of {dynamics.time_step:g} is lost in fixed point")
    shift = _STEP_BITS - 1 - math.floor(math.log2(gain))
    widest = _sum_bits(lengths, design.oscillators) + lengths.sine + _STEP_BITS
    if shift < 1 or widest > _WIDEST:
        raise InputError(
            f"these word lengths do not go together ({lengths.phase} phase, {lengths.coupling} "
            f"coupling, {lengths.sine} sine bits for {design.oscillators} oscillators): products "
            f"would take more than {_WIDEST} bits, or a step would be lost"
        )
    frequencies = design.shared("frequencies")
    own = np.zeros(design.oscillators) if frequencies is None else frequencies
    angles = 2.0 * math.pi * np.arange(2**lengths.address) / 2**lengths.address
    return FixedPoint(
        lengths,
        np.rint(design.couplings * scale).astype(np.int64),
        np.rint(design.start / (2.0 * math.pi) * turn).astype(np.int64) % turn,
        np.rint(own * turns * turn).astype(np.int64),
        np.rint(amplitude * np.sin(angles)).astype(np.int64),
        scale,
        round(gain * 2**shift),
        shift,
        dynamics.steps,
        design.outputs,
    )
