"""Linear layers with a run axis, and their initial parameters."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from entrain.rules import Tensors


def glorot(outputs: int, inputs: int, generator: torch.Generator) -> Tensor:
    """Uniform weights (outputs, inputs) of variance 2 / (outputs + inputs)."""
    return uniform((outputs, inputs), math.sqrt(6.0 / (outputs + inputs)), generator)


def normal(outputs: int, inputs: int, generator: torch.Generator, gain: float = 1.0) -> Tensor:
    """Normal weights (outputs, inputs) of deviation gain / sqrt(inputs)."""
    return torch.randn(outputs, inputs, generator=generator) * (gain / math.sqrt(inputs))


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> Tensor:
    """Uniform numbers between -bound and bound."""
    return bound * (2.0 * torch.rand(shape, generator=generator) - 1.0)


def glorot_layers(inputs: int, hidden: int, outputs: int, generator: torch.Generator) -> Tensors:
    """W (H, D) and V (O, H) by Glorot, biases b (H,) and c (O,) zero."""
    return {
        "W": glorot(hidden, inputs, generator),
        "V": glorot(outputs, hidden, generator),
        "b": torch.zeros(hidden),
        "c": torch.zeros(outputs),
    }


def normal_layers(
    shape: tuple[int, int, int], deviations: tuple[float, float], generator: torch.Generator
) -> Tensors:
    """Normal W (H, D) and V (O, H) of these deviations, biases b (H,) and c (O,) zero; `shape` is
    (D, H, O)."""
    inputs, hidden, outputs = shape
    return {
        "W": deviations[0] * torch.randn(hidden, inputs, generator=generator),
        "V": deviations[1] * torch.randn(outputs, hidden, generator=generator),
        "b": torch.zeros(hidden),
        "c": torch.zeros(outputs),
    }


def implicit_layers(
    shape: tuple[int, int, int], gain: float, generator: torch.Generator
) -> Tensors:
    """Recurrent W (H, H), normal of deviation gain / sqrt(H); inputs U (H, D) and readout V (O, H)
    by Glorot; biases b (H,) and c (O,) zero; `shape` is (D, H, O)."""
    inputs, hidden, outputs = shape
    return {
        "W": normal(hidden, hidden, generator, gain),
        "U": glorot(hidden, inputs, generator),
        "b": torch.zeros(hidden),
        "V": glorot(outputs, hidden, generator),
        "c": torch.zeros(outputs),
    }


def linear(inputs: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b: inputs (R, B, D), weights (R, O, D), bias (R, O) -> (R, B, O)."""
    outputs = inputs @ weights.mT
    return outputs if bias is None else outputs + bias[:, None]
