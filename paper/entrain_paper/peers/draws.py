"""Random numbers of compared systems outside training steps."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class SequentialDraws:
    """New random variates (R, *shape) at every call, each run's from its own generator.

    Training steps have `entrain.hardware.FreshDraws` instead, whose buffers a captured graph reads.
    """

    def __init__(self, generators: Sequence[torch.Generator], like: Tensor) -> None:
        """`like` has the dtype and device."""
        self._generators, self._like = generators, like

    def normal(self, tag: str, *shape: int) -> Tensor:
        """Standard normal variates."""
        empty = self._like.new_empty(shape)
        return torch.stack([empty.normal_(generator=each).clone() for each in self._generators])

    def uniform(self, tag: str, *shape: int) -> Tensor:
        """Variates that are uniform between 0 and 1."""
        empty = self._like.new_empty(shape)
        return torch.stack([empty.uniform_(generator=each).clone() for each in self._generators])
