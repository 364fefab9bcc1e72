"""Random numbers of chips: a pure function of the chip's seed and of what they are for.

    key = (seed, four letters that name the effect),   counter = (i, j, 0, 0)

by Philox 4x32-10, as for thermal noise (`physics.noise`); the normal number is the first of the
Box-Muller pair of words 0 and 1, the uniform one is word 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from entrain.hardware.effect import Draws
from entrain.physics.noise import philox


class ChipDraws:
    """The numbers of chips with these `seeds` (C,), for `runs` networks on each: R C lanes.

    Lane r C + c is network r on chip c.
    """

    def __init__(
        self, seeds: Sequence[int] | Tensor, like: Tensor, runs: int = 1, first: int = 0
    ) -> None:
        """`like` has the dtype and device; rows are counted from `first` on."""
        self._seeds = torch.as_tensor(seeds, dtype=torch.int64, device=like.device)
        self._like, self._runs, self._first = like, runs, first

    def normal(self, tag: str, *shape: int) -> Tensor:
        words = self._words(tag, shape)
        radius = torch.sqrt(-2.0 * torch.log((words[0].double() + 0.5) / 2**32))
        angle = (2.0 * math.pi / 2**32) * (words[1].double() + 0.5)
        return self._lanes(radius * angle.cos())

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._lanes((self._words(tag, shape)[2].double() + 0.5) / 2**32)

    def _words(self, tag: str, shape: tuple[int, ...]) -> tuple[Tensor, ...]:
        """Four words (C, *shape) for each place (i, j), or (i,)."""
        device = self._seeds.device
        rows, columns = (shape[0], 1) if len(shape) == 1 else shape
        i = self._first + torch.arange(rows, device=device)[:, None].expand(rows, columns)
        j = torch.arange(columns, device=device).expand(rows, columns)
        zero = torch.zeros_like(i)
        seeds = self._seeds[:, None, None]
        key = (seeds, int.from_bytes(tag.encode("ascii"), "big"))
        words = philox((i, j, zero, zero), key)
        return tuple(word.reshape(len(self._seeds), *shape) for word in words)

    def _lanes(self, numbers: Tensor) -> Tensor:
        return numbers.to(self._like.dtype).repeat(self._runs, *[1] * (numbers.dim() - 1))


class KeptDraws:
    """The numbers of other draws, kept once made: of chips that are used again and again."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._kept: dict[tuple[str, str, tuple[int, ...]], Tensor] = {}

    def normal(self, tag: str, *shape: int) -> Tensor:
        return self._once("normal", tag, shape)

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._once("uniform", tag, shape)

    def _once(self, kind: str, tag: str, shape: tuple[int, ...]) -> Tensor:
        key = (kind, tag, shape)
        if key not in self._kept:
            self._kept[key] = getattr(self._draws, kind)(tag, *shape)
        return self._kept[key]


class FreshDraws:
    """New chips for a training step: numbers in buffers that keep their place in memory.

    A dry run makes the buffers; `renew` fills them before every step, so that a step recorded as a
    graph sees new chips when it is replayed.
    """

    def __init__(self, lanes: int, like: Tensor) -> None:
        self._lanes, self._like = lanes, like
        self._buffers: dict[tuple[str, tuple[int, ...]], Tensor] = {}

    def normal(self, tag: str, *shape: int) -> Tensor:
        return self._buffer(f"normal.{tag}", shape)

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._buffer(f"uniform.{tag}", shape)

    def renew(self, generators: Sequence[torch.Generator]) -> None:
        """Fill every buffer, in the order in which they were first asked for; the lanes of each
        run by its own generator, so that a run does not depend on those beside it."""
        each = self._lanes // len(generators)
        for (name, _), buffer in self._buffers.items():
            for generator, lanes in zip(generators, torch.split(buffer, each), strict=True):
                if name.startswith("normal"):
                    lanes.normal_(generator=generator)
                else:
                    lanes.uniform_(generator=generator)

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Tensor:
        key = (name, shape)
        if key not in self._buffers:
            empty = torch.zeros(self._lanes, *shape, device=self._like.device)
            self._buffers[key] = empty.to(self._like.dtype)
        return self._buffers[key]
