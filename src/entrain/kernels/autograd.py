"""Rollouts that autograd can differentiate, on the fast backends."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from entrain import kernels
from entrain.kernels import reference
from entrain.physics import Dynamics, Noise, PhaseModel


def differentiable_rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> Tensor:
    """`kernels.rollout` with a backward pass: the exact discrete adjoint of the steps.

    It can be differentiated once. Inside `torch.func` transforms, with terms of your own, and with
    `kernels.use("reference")`, plain PyTorch operations are recorded instead: every transform and
    every higher derivative is right there, and slower.
    """
    if kernels.is_reference() or model.other_terms or _inside_a_transform():
        return reference.rollout(model, dynamics, noise=noise, record=record)
    tensors = (
        model.fields,
        model.couplings,
        model.frequencies,
        model.injection,
        model.lag,
        model.start,
    )
    phases: Tensor = _Rollout.apply(dynamics, noise, record, *tensors)  # type: ignore[no-untyped-call]
    return phases


class _Rollout(torch.autograd.Function):
    """The tensors of a `PhaseModel` -> phases."""

    @staticmethod
    def forward(
        ctx: Any, dynamics: Dynamics, noise: Noise | None, record: bool, *tensors: Tensor | None
    ) -> Tensor:
        fields, couplings, frequencies, injection, lag, start = tensors
        assert fields is not None
        assert couplings is not None
        model = PhaseModel(fields, couplings, frequencies, injection, lag, start)
        if not any(ctx.needs_input_grad):
            return kernels.rollout(model, dynamics, noise=noise, record=record)
        found = kernels.rollout_with_pullback(model, dynamics, noise=noise, record=record)
        phases, ctx.pullback = found
        return phases

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        found: PhaseModel = ctx.pullback(gradients[0])
        return (
            *(None, None, None),
            found.fields,
            found.couplings,
            found.frequencies,
            found.injection,
            found.lag,
            found.start,
        )


def _inside_a_transform() -> bool:
    """Whether vmap, grad, jacrev or another transform of torch.func is at work."""
    return bool(torch._C._are_functorch_transforms_active())
