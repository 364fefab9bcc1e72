"""Random variates of chips: a pure function of seed, effect and indices.

    key = (seed, four letters that name the effect),   counter = (i, j, 0, 0)

by Philox 4x32-10, as for thermal noise (`physics.noise`). A normal variate is the first of the
Box-Muller pair of words 0 and 1, a uniform one is word 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from entrain.hardware.effect import Draws
from entrain.physics.noise import box_muller, philox


class ChipDraws:
    """Variates of chips with `seeds` (C,) for `runs` networks: index r C + c is run r on chip c."""

    def __init__(
        self, seeds: Sequence[int] | Tensor, like: Tensor, runs: int = 1, first: int = 0
    ) -> None:
        """`like` has the dtype and device; `first` is the index of the first row."""
        self._seeds = torch.as_tensor(seeds, dtype=torch.int64, device=like.device)
        self._like, self._runs, self._first = like, runs, first

    def normal(self, tag: str, *shape: int) -> Tensor:
        words = self._words(tag, shape)
        return self._for_runs(box_muller(words[0], words[1])[0])

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._for_runs((self._words(tag, shape)[2].double() + 0.5) / 2**32)

    def _words(self, tag: str, shape: tuple[int, ...]) -> tuple[Tensor, ...]:
        """Four words (C, *shape) for each index (i, j), or (i,)."""
        device = self._seeds.device
        rows, columns = (shape[0], 1) if len(shape) == 1 else shape
        i = self._first + self._positions(rows, device)[:, None].expand(rows, columns)
        j = self._positions(columns, device).expand(rows, columns)
        zero = torch.zeros_like(i)
        seeds = self._seeds[:, None, None]
        key = (seeds, int.from_bytes(tag.encode("ascii"), "big"))
        words = philox((i, j, zero, zero), key)
        return tuple(word.reshape(len(self._seeds), *shape) for word in words)

    def _positions(self, size: int, device: torch.device) -> Tensor:
        """Indices of `size` parts."""
        return torch.arange(size, device=device)

    def _for_runs(self, values: Tensor) -> Tensor:
        return values.to(self._like.dtype).repeat(self._runs, *[1] * (values.dim() - 1))


def noise_seeds(noise_seed: int, seeds: Sequence[int]) -> list[int]:
    """Seeds of the noise of inferences on chips with these seeds, one for each chip.

    The first word of Philox with key (noise_seed, "infr") and counter (seed of the chip, 0, 0, 0),
    so that the noise of a chip is independent of that of others, and the same beside any of them.
    """
    chips = torch.as_tensor(seeds, dtype=torch.int64)
    zero = torch.zeros_like(chips)
    key = (noise_seed, int.from_bytes(b"infr", "big"))
    words: list[int] = philox((chips, zero, zero, zero), key)[0].tolist()
    return words


class CachedDraws:
    """The variates of other draws, cached for chips that are used repeatedly."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._cache: dict[tuple[str, str, tuple[int, ...]], Tensor] = {}

    def normal(self, tag: str, *shape: int) -> Tensor:
        return self._cached("normal", tag, shape)

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._cached("uniform", tag, shape)

    def _cached(self, distribution: str, tag: str, shape: tuple[int, ...]) -> Tensor:
        key = (distribution, tag, shape)
        if key not in self._cache:
            self._cache[key] = getattr(self._draws, distribution)(tag, *shape)
        return self._cache[key]


class FreshDraws:
    """New chips for every training step: variates in buffers with fixed addresses.

    A dry run allocates the buffers; `renew` fills them before every step, so that a captured CUDA
    graph has new chips when it is replayed.
    """

    def __init__(self, networks: int, like: Tensor) -> None:
        self._networks, self._like = networks, like
        self._buffers: dict[tuple[str, tuple[int, ...]], Tensor] = {}

    def normal(self, tag: str, *shape: int) -> Tensor:
        return self._buffer(f"normal.{tag}", shape)

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._buffer(f"uniform.{tag}", shape)

    def renew(self, generators: Sequence[torch.Generator]) -> None:
        """Fill every buffer, in the order of their first use. Each run has its own generator, so
        that it does not depend on the runs beside it."""
        chips = self._networks // len(generators)
        for (name, _), buffer in self._buffers.items():
            for generator, variates in zip(generators, torch.split(buffer, chips), strict=True):
                if name.startswith("normal"):
                    variates.normal_(generator=generator)
                else:
                    variates.uniform_(generator=generator)

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Tensor:
        key = (name, shape)
        if key not in self._buffers:
            empty = torch.zeros(self._networks, *shape, device=self._like.device)
            self._buffers[key] = empty.to(self._like.dtype)
        return self._buffers[key]
