"""Patterns of spins or phases: random ones, corrupted ones, and overlaps of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.rules.interface import generators
from entrain.utils.errors import InputError, finite_float, positive_int, seed_number

_ALIKE = 1e-6  # distance of an overlap from 1 at which two patterns are the same


def overlaps(states: Any, patterns: Any, *, phases: bool = False) -> Tensor:
    r"""Overlaps m (B, P) of states with patterns, 1 for equal ones.

        spins:   m = 1/N sum_i s_i xi_i,                   -1 for the inverse pattern;
        phases:  m = | 1/N sum_j exp(i (theta_j - xi_j)) |,  the same for rotated patterns.

    Spins of which a share c is wrong have m = 1 - 2 c.

    Args:
        states: Spins or phases (B, N).
        patterns: Spins or phases (P, N).
        phases: True for phases.

    Examples:
        >>> patterns = entrain.memory.random_patterns(2, 60)
        >>> entrain.memory.overlaps(patterns[0], patterns)[0].item()
        1.0
    """
    reached, stored = numbers("states", states), numbers("patterns", patterns)
    stored = stored[None] if stored.dim() == 1 else stored
    if reached.dim() == 0 or reached.shape[-1] != stored.shape[-1]:
        raise InputError(
            f"states must be {stored.shape[-1]} numbers, one for each oscillator, or B x "
            f"{stored.shape[-1]}; got shape {tuple(reached.shape)}"
        )
    if phases:
        return complex_overlaps(reached, stored).abs()
    return reached @ stored.mT / stored.shape[-1]


def complex_overlaps(states: Tensor, patterns: Tensor) -> Tensor:
    """1/N sum_j exp(i (theta_j - xi_j)) (B, P), with the rotation as its angle."""
    waves = torch.polar(torch.ones_like(states, dtype=torch.float64), states.double())
    stored = torch.polar(torch.ones_like(patterns, dtype=torch.float64), patterns.double())
    return waves @ stored.conj().mT / patterns.shape[-1]


def random_patterns(
    patterns: int, oscillators: int, *, phases: bool = False, seed: int = 0
) -> Tensor:
    """Independent spins of equal probability, or phases uniform on the circle (P, N).

    Args:
        patterns: P.
        oscillators: N.
        phases: True for phases.
        seed: Seed of the random numbers.

    Examples:
        >>> entrain.memory.random_patterns(2, 60).shape
        torch.Size([2, 60])
    """
    shape = positive_int("patterns", patterns), positive_int("oscillators", oscillators)
    generator = _generator("patterns", seed)
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
    return (2 * uniform - 1) * math.pi if phases else torch.where(uniform < 0.5, -1.0, 1.0)


def corrupt(patterns: Any, corruption: float, *, phases: bool = False, seed: int = 0) -> Tensor:
    """Patterns (B, N), float64, with round(c N) random spins flipped, or phases replaced.

    The new phases are uniform on the circle.

    Args:
        patterns: Spins or phases (B, N).
        corruption: c, from 0 to 1.
        phases: True for phases.
        seed: Seed of the random numbers.

    Examples:
        >>> patterns = entrain.memory.random_patterns(2, 60)
        >>> cues = entrain.memory.corrupt(patterns, 0.1)
        >>> (cues != patterns).sum(1).tolist()
        [6, 6]
    """
    share = finite_float("corruption", corruption, least=0.0, most=1.0)
    generator = _generator("corruption", seed)
    values = numbers("patterns", patterns)
    order = torch.rand(values.shape, generator=generator).argsort(-1)
    wrong = order < round(share * values.shape[-1])
    others = -values
    if phases:
        uniform = torch.rand(values.shape, generator=generator, dtype=values.dtype)
        others = (2 * uniform - 1) * math.pi
    return torch.where(wrong, others, values)


def check_patterns(patterns: Any, phases: bool) -> Tensor:
    """Patterns (P, N) as float64; an `InputError` says what is wrong with them."""
    tensor = numbers("patterns", patterns)
    tensor = tensor[None] if tensor.dim() == 1 else tensor
    if tensor.dim() != 2 or len(tensor) == 0 or tensor.shape[1] < 2:
        raise InputError(
            "patterns must be P x N numbers, of one pattern and two oscillators at least; got "
            f"shape {tuple(tensor.shape)}"
        )
    if not phases:
        check_spins("patterns", tensor, (-1, 1))
    _check_different(tensor, phases)
    return tensor


def check_cues(cues: Any, oscillators: int, phases: bool) -> tuple[Tensor, bool]:
    """Cues (B, N) as float64, and True if they had an axis of samples."""
    tensor = numbers("cues", cues)
    is_batched = tensor.dim() != 1
    tensor = tensor if is_batched else tensor[None]
    if tensor.dim() != 2 or tensor.shape[1] != oscillators or len(tensor) == 0:
        raise InputError(
            f"cues must be {oscillators} numbers, one for each oscillator, or B x {oscillators}; "
            f"got shape {tuple(tensor.shape if is_batched else tensor.shape[1:])}"
        )
    if not phases:
        check_spins("cues", tensor, (-1, 0, 1))
    return tensor, is_batched


def numbers(name: str, values: Any) -> Tensor:
    """Values as float64, all finite."""
    try:
        plain = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} must be rows of numbers of one length") from error
    if plain.is_complex():
        raise InputError(f"{name} must be real; phases are the angles of complex numbers")
    tensor = plain.detach().cpu().double()
    if not bool(tensor.isfinite().all()):
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return tensor


def check_spins(name: str, tensor: Tensor, allowed: tuple[int, ...]) -> None:
    """Refuse spins that are not among `allowed`."""
    wrong = tensor[~torch.isin(tensor, torch.tensor(allowed, dtype=tensor.dtype))]
    if not len(wrong):
        return
    bits = name == "patterns" and bool(torch.isin(tensor, tensor.new_tensor((0, 1))).all())
    hint = "turn bits x into 2 x - 1" if bits else "for phases in radians, set phases=True"
    known = " and ".join(f"{value:+d}" if value else "0 (unknown)" for value in allowed)
    raise InputError(f"{name} must be {known}, got {wrong[0].item():g}; {hint}")


def _check_different(patterns: Tensor, phases: bool) -> None:
    same = overlaps(patterns, patterns, phases=phases).abs() > 1 - _ALIKE
    pairs = same.triu(1).nonzero()
    if len(pairs):
        i, j = pairs[0].tolist()
        also = "after a rotation" if phases else "or inverse"
        raise InputError(
            f"patterns must differ: {i} and {j} are equal {also}, which a memory does not tell "
            "apart; give one of them"
        )


def _generator(purpose: str, seed: int) -> torch.Generator:
    cpu = torch.device("cpu")
    return generators(f"memory {purpose}", seed_number("seed", seed), (0,), 0, cpu)[0]
