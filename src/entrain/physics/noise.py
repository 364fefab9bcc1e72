r"""Thermal noise as a pure function of its indices.

The Gaussian increment eta of (seed, temperature, replicate, sample, step, oscillator) comes from
the counter-based generator Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as
1, 2, 3, SC 2011) and the Box-Muller transform:

    key     = (seed, bits of the temperature as float32)
    counter = (step // 4, oscillator, sample, replicate),   step = first + k

The four 32-bit words w0..w3 serve the four steps of a block: with u = (w + 1/2) / 2^32,

    eta_0, eta_1 = sqrt(-2 ln u(w0)) * (cos, sin)(2 pi u(w1)),   eta_2, eta_3 likewise from w2, w3.

No stream is consumed, so that batch size, chunking, threads and device do not matter and compared
models receive the same forcing.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.utils.errors import InputError, positive_float, seed_number

STEPS_PER_BLOCK = 4
_WORD = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LARGEST = 1e30  # its float32 bits are part of the key


@dataclass(frozen=True)
class Noise:
    """The forcing of replicates (M,) of samples (B,), given by their indices, at temperature kT.

    Args:
        seed: First word of the key.
        temperature: kT, the largest one if it varies.
        replicates: Indices of replicates (M,), or (M, B) of every sample.
        samples: Indices of samples (B,).
        factors: kT of every step divided by `temperature` (K,); None is constant.
        first: Steps before the first one, in a rollout that continues another.
    """

    seed: int
    temperature: float
    replicates: Tensor
    samples: Tensor
    factors: Tensor | None = None
    first: int = 0

    def __post_init__(self) -> None:
        seed_number("seed", self.seed)
        if positive_float("temperature", self.temperature) > _LARGEST:
            raise InputError(f"temperature must be at most {_LARGEST:g}, got {self.temperature!r}")

    @property
    def key(self) -> tuple[int, int]:
        """The two words of the generator."""
        return self.seed, int.from_bytes(struct.pack("<f", self.temperature), "little")

    def rows(self, samples: slice) -> Noise:
        """The forcing of a part of the samples."""
        replicates = self.replicates
        if replicates.dim() > 1:
            replicates = replicates[:, samples]
        return replace(self, samples=self.samples[samples], replicates=replicates)

    def steps(self, first: int, count: int) -> Noise:
        """The forcing of a part of the steps."""
        factors = None if self.factors is None else self.factors[first : first + count]
        return replace(self, factors=factors, first=self.first + first)

    def deviations(self, steps: int, mobility: float, time_step: float) -> Tensor:
        """Standard deviation sqrt(2 mu kT dt) of the increments of every step (K,), float64."""
        constant = math.sqrt(2.0 * mobility * self.temperature * time_step)
        if self.factors is None:
            return torch.full((steps,), constant, dtype=torch.float64)
        return constant * self.factors.double().sqrt()

    def increments(self, block: int, oscillators: int) -> Tensor:
        """Standard normal eta of steps 4 block .. 4 block + 3: float64 (4, M, B, N)."""
        shape = (len(self.replicates), len(self.samples), oscillators)
        device = self.samples.device
        counter = (
            torch.full(shape, block, dtype=torch.int64, device=device),
            torch.arange(oscillators, device=device).expand(shape),
            self.samples.to(torch.int64)[:, None].expand(shape),
            self.replicates.to(torch.int64).reshape(shape[0], -1, 1).expand(shape),
        )
        words = philox(counter, self.key)
        return torch.stack([*box_muller(words[0], words[1]), *box_muller(words[2], words[3])])


def random_phases(seed: int, samples: Tensor, replicates: Tensor, oscillators: int) -> Tensor:
    """Phases uniform on (-pi, pi), of seed, sample (B,), replicate (B,) and oscillator: (B, N).

    float64, by the generator of the noise, whose key has no temperature of 0.
    """
    shape = (len(samples), oscillators)
    counter = (
        torch.zeros(shape, dtype=torch.int64),
        torch.arange(oscillators).expand(shape),
        samples.to(torch.int64)[:, None].expand(shape),
        replicates.to(torch.int64)[:, None].expand(shape),
    )
    word = philox(counter, (seed, 0))[0]
    return math.pi * ((2.0 * word.double() + 1.0) / 2**32 - 1.0)


def philox(
    counter: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[int | Tensor, int]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Philox 4x32-10: four counter words and two key words -> four random words (in int64)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        # The products wrap in int64, with the bits of the unsigned product.
        low, high = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            ((high >> 32) & _WORD) ^ c1 ^ k0,
            high & _WORD,
            ((low >> 32) & _WORD) ^ c3 ^ k1,
            low & _WORD,
        )
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return c0, c1, c2, c3


def box_muller(radius_word: Tensor, angle_word: Tensor) -> tuple[Tensor, Tensor]:
    """Two standard normal variates from two words."""
    radius = torch.sqrt(-2.0 * torch.log((radius_word.double() + 0.5) / 2**32))
    angle = (2.0 * math.pi / 2**32) * (angle_word.double() + 0.5)
    return radius * angle.cos(), radius * angle.sin()
