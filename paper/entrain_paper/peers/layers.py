"""Linear layers with a run axis: how they are drawn, and what they compute."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def glorot(outputs: int, inputs: int, generator: torch.Generator) -> Tensor:
    """Uniform weights (outputs, inputs) of variance 2 / (outputs + inputs)."""
    return uniform((outputs, inputs), math.sqrt(6.0 / (outputs + inputs)), generator)


def normal(outputs: int, inputs: int, generator: torch.Generator, gain: float = 1.0) -> Tensor:
    """Normal weights (outputs, inputs) of deviation gain / sqrt(inputs)."""
    return torch.randn(outputs, inputs, generator=generator) * (gain / math.sqrt(inputs))


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> Tensor:
    """Numbers from -bound to bound."""
    return bound * (2.0 * torch.rand(shape, generator=generator) - 1.0)


def linear(inputs: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b: inputs (R, B, D), weights (R, O, D), bias (R, O) -> (R, B, O)."""
    found = inputs @ weights.mT
    return found if bias is None else found + bias[:, None]
