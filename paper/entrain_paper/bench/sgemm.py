"""Matrix products in float32, whose rate bounds that of a rollout."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from entrain_paper.bench.problem import Problem

_SIZE = {"cpu": 1024, "cuda": 4096}


def product(device: str) -> tuple[Callable[[], Tensor], int]:
    """A square product by PyTorch, large enough for its full rate, and its operations."""
    size = _SIZE[device]
    left, right = (torch.ones(size, size, device=device) for _ in range(2))
    return lambda: left @ right, 2 * size**3


def operations(problem: Problem) -> tuple[int, int]:
    """Operations of the products of a training step, and of a rollout, by the identity form.

    Two products of a sample in a step: 4 N^2. The adjoint has as many, and so has the gradient
    by the couplings.
    """
    rollout = 4 * problem.runs * problem.batch * problem.steps * problem.oscillators**2
    return 3 * rollout, rollout
