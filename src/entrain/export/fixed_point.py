r"""The network in integers: the computation of the exported core, bit for bit.

A phase is a fraction of a turn in P bits, so that it wraps by itself. With sines and cosines from a
table of 2^A entries of S bits (amplitude a = 2^(S-1) - 1), couplings J' = round(s J) of C bits and
fields b' = round(s a b), one Euler step is

    torque = sin_i (b'_i + sum_j J'_ij cos_j) - cos_i sum_j J'_ij sin_j,
    phase  = phase - round(torque * step / 2^shift) + frequency      (mod 2^P),

where step / 2^shift = mu dt 2^P / (2 pi s a^2). The prediction is the output whose phase is nearest
to 0, where the cosine is largest; of equals the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from entrain.export.design import Design, refuse_terms
from entrain.export.targets import WordLengths
from entrain.utils.errors import InputError

_STEP_BITS = 16
_BATCH = 256  # images that fit into a core's cache
_FIELD_BITS = 2  # a field may be larger than all couplings together
_MAX_BITS = 62  # of a product that int64 holds


@dataclass(frozen=True)
class FixedPoint:
    """A network in integers (int64).

    Args:
        lengths: Bits of each quantity.
        couplings: J' (N, N).
        start: Phases at the start (N,).
        frequencies: Phase units per step (N,).
        table: Sines of 2^A angles.
        scale: s.
        step: Numerator of an Euler step.
        shift: Binary exponent of its denominator.
        steps: Euler steps.
        outputs: The last oscillators, which are read.
    """

    lengths: WordLengths
    couplings: np.ndarray
    start: np.ndarray
    frequencies: np.ndarray
    table: np.ndarray
    scale: float
    step: int
    shift: int
    steps: int
    outputs: int

    @property
    def sum_bits(self) -> int:
        """Bits that no sum over couplings overflows, nor a field of up to 4 times the largest."""
        terms = max(1, math.ceil(math.log2(len(self.couplings))))
        return self.lengths.coupling + self.lengths.sine + terms + _FIELD_BITS

    def fields(self, fields: np.ndarray) -> np.ndarray:
        """b' (M, N), clipped to their range.

        Args:
            fields: b (M, N).
        """
        largest = 2 ** (self.sum_bits - 1) - 1
        amplitude = 2 ** (self.lengths.sine - 1) - 1
        rounded = np.rint(np.asarray(fields, dtype=np.float64) * (self.scale * amplitude))
        return np.asarray(np.clip(rounded, -largest, largest), dtype=np.int64)

    def phases(self, fields: np.ndarray) -> np.ndarray:
        """The phases at the end (M, N), from 0 to 2^P - 1.

        Args:
            fields: b' (M, N).
        """
        if len(fields) > _BATCH:
            batches = np.split(fields, range(_BATCH, len(fields), _BATCH))
            return np.concatenate([self.phases(batch) for batch in batches])
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
            decrease = (torque * self.step + half) >> self.shift
            phases = (phases - decrease + self.frequencies) & mask
        return phases

    def signed(self, phases: np.ndarray) -> np.ndarray:
        """Phases from -2^(P-1) to 2^(P-1) - 1.

        Args:
            phases: From 0 to 2^P - 1.
        """
        half = 1 << (self.lengths.phase - 1)
        return ((phases + half) & (2 * half - 1)) - half

    def verdicts(self, phases: np.ndarray) -> np.ndarray:
        """The class of each image: the output nearest to phase 0, the first of equals.

        Args:
            phases: At the end (M, N).
        """
        return np.asarray(np.abs(self.signed(phases[..., -self.outputs :])).argmin(-1))

    def radians(self, phases: np.ndarray) -> np.ndarray:
        """Phases in rad, from -pi to pi.

        Args:
            phases: From 0 to 2^P - 1.
        """
        return np.asarray(self.signed(phases) * (2.0 * math.pi / 2**self.lengths.phase))


def fixed_point(design: Design, lengths: WordLengths) -> FixedPoint:
    """A design in integers.

    Args:
        design: The network; injection, lag and harmonics are not supported.
        lengths: Bits of each quantity.
    """
    refuse_terms(design, "the fixed-point core", ("injection", "lag", "harmonic"))
    turn, amplitude = 2**lengths.phase, 2 ** (lengths.sine - 1) - 1
    largest = float(np.abs(design.couplings).max())
    if not largest:
        raise InputError("the network has no couplings; a core needs at least one")
    scale = (2 ** (lengths.coupling - 1) - 1) / largest
    dynamics = design.dynamics
    turns = dynamics.time_step / (2.0 * math.pi)
    gain = dynamics.mobility * turns * turn / (scale * amplitude**2)
    if not 0.0 < gain < math.inf:
        raise InputError(f"a step of {dynamics.time_step:g} is lost in fixed point")
    shift = _STEP_BITS - 1 - math.floor(math.log2(gain))
    frequencies = design.shared("frequencies")
    if frequencies is None:
        frequencies = np.zeros(design.oscillators)
    angles = 2.0 * math.pi * np.arange(2**lengths.address) / 2**lengths.address
    network = FixedPoint(
        lengths,
        np.rint(design.couplings * scale).astype(np.int64),
        np.rint(design.start / (2.0 * math.pi) * turn).astype(np.int64) % turn,
        np.rint(frequencies * turns * turn).astype(np.int64),
        np.rint(amplitude * np.sin(angles)).astype(np.int64),
        scale,
        round(gain * 2**shift),
        shift,
        dynamics.steps,
        design.outputs,
    )
    if shift < 1 or network.sum_bits + lengths.sine + _STEP_BITS > _MAX_BITS:
        raise InputError(
            f"incompatible word lengths for {design.oscillators} oscillators, {lengths}: products "
            f"would take more than {_MAX_BITS} bits, or a step would be lost"
        )
    return network
