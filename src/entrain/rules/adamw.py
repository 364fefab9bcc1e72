"""AdamW for runs side by side: clipped gradients, a schedule of the rate, averaged parameters.

Among the tensors of a training are, for each parameter NAME (R, ...): `raw.NAME`, which AdamW
steps, its moments `first.NAME` and `second.NAME`, and NAME itself, the running mean of `raw.NAME`;
`adam.count` (R, 1) is the number of steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from entrain.rules.interface import Tensors

STEPPED = ("", "raw.", "first.", "second.")  # prefixes of the tensors of one parameter
_MOMENTS = (0.9, 0.999)
_EPSILON = 1e-8


def with_moments(parameters: Tensors) -> Tensors:
    """The tensors of a training that begins at `parameters`."""
    tensors = {name: tensor.clone() for name, tensor in parameters.items()}
    for name, tensor in parameters.items():
        tensors[f"raw.{name}"] = tensor
        tensors[f"first.{name}"] = torch.zeros_like(tensor)
        tensors[f"second.{name}"] = torch.zeros_like(tensor)
    some = next(iter(parameters.values()))
    tensors["adam.count"] = torch.zeros(len(some), 1, device=some.device)
    return tensors


def step(
    tensors: Tensors,
    gradients: Tensors,
    rates: Callable[[str, Tensor], tuple[Tensor, Tensor | float | None]],
    *,
    clip: float,
    averaging: float,
) -> None:
    """Step the parameters with clipped gradients, then their running means.

    Args:
        tensors: Those of the training.
        gradients: By the name of the parameter.
        rates: The rate of a parameter and its decay, None for no decay, from its name and gradient.
        clip: Largest norm of the gradients of a run.
        averaging: Largest decay of the running mean.
    """
    factor = clip_factor(gradients, clip)
    count = tensors["adam.count"]
    count += 1.0
    biases, weight = moment_biases(count), mean_weight(count, averaging)
    for name, gradient in gradients.items():
        raw, first, second = (tensors[f"{kind}.{name}"] for kind in ("raw", "first", "second"))
        direction = adam_direction(gradient * per_tensor(factor, gradient), first, second, biases)
        rate, decay = rates(name, gradient)
        if decay is not None:
            raw.mul_(1.0 - rate * decay)
        raw.sub_(rate * direction)
        update_mean(tensors[name], raw, weight)


def cosine_schedule(done: float, warm_up: float = 0.0) -> float:
    """Factor of the rate after the share `done` of a training: a line up to 1 over the share
    `warm_up`, then half a cosine down to 0."""
    if done < warm_up:
        return (done + 1e-3) / (warm_up + 1e-3)
    rest = (done - warm_up) / (1.0 - warm_up)
    return 0.5 * (1.0 + math.cos(math.pi * rest))


def clip_factor(gradients: Tensors, limit: float) -> Tensor:
    """Factor (R,) that reduces the norm of each run's gradients to `limit` where it is larger."""
    squares = sum(g.square().reshape(len(g), -1).sum(1) for g in gradients.values())
    assert isinstance(squares, Tensor)
    return (limit / (squares.sqrt() + 1e-12)).clamp(max=1.0)


def moment_biases(count: Tensor) -> tuple[Tensor, Tensor]:
    """1 - beta^k of both moments after k steps, (R, 1) each."""
    return 1.0 - _MOMENTS[0] ** count, 1.0 - _MOMENTS[1] ** count


def adam_direction(
    gradient: Tensor, first: Tensor, second: Tensor, biases: tuple[Tensor, Tensor]
) -> Tensor:
    """Adam's step at a rate of 1; updates both moments. `biases` are those of `moment_biases`."""
    first.lerp_(gradient, 1.0 - _MOMENTS[0])
    second.lerp_(gradient.square(), 1.0 - _MOMENTS[1])
    first_bias, second_bias = (per_tensor(bias, gradient) for bias in biases)
    return (first / first_bias) / ((second / second_bias).sqrt() + _EPSILON)


def mean_weight(count: Tensor, decay: float) -> Tensor:
    """Weight (R, 1) of the newest parameters in their running mean, whose decay is
    (1 + k) / (10 + k) after k steps, at most `decay`."""
    return 1.0 - torch.clamp((1.0 + count) / (10.0 + count), max=decay)


def update_mean(mean: Tensor, parameter: Tensor, weight: Tensor) -> None:
    """Move a running mean towards `parameter` by `weight`, that of `mean_weight`."""
    mean.add_((parameter - mean) * per_tensor(weight, mean))


def per_tensor(values: Tensor, like: Tensor) -> Tensor:
    """Numbers of runs, (R,) or (R, 1, ...), in a shape that multiplies `like` (R, ...)."""
    return values.reshape(-1, *[1] * (like.dim() - 1))
