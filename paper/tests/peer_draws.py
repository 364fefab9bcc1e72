"""Random numbers of compared systems in tests."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain_paper.peers.draws import SequentialDraws


def draws_for(inputs: Tensor, seed: int = 0) -> SequentialDraws:
    """Random numbers for inputs (R, ...), of their dtype; the same ones for the same seed."""
    streams = [torch.Generator().manual_seed(1000 * seed + run) for run in range(len(inputs))]
    return SequentialDraws(streams, inputs)
