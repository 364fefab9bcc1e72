"""Rollouts on the fast backends that autograd can differentiate."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from entrain import kernels
from entrain.kernels import reference
from entrain.physics import Dynamics, Noise, PhaseModel


def differentiable_rollout(
    model: PhaseModel,
    dynamics: Dynamics,
    *,
    noise: Noise | None = None,
    record: int = 0,
    method: str = "euler",
) -> Tensor:
    """`kernels.rollout` with a backward pass: the exact discrete adjoint of the steps.

    It has first derivatives. Inside `torch.func` transforms, with custom terms or a delay, and with
    `kernels.use("reference")`, PyTorch records plain operations instead: slower, but with every
    transform and every higher derivative.
    """
    transformed = torch._C._are_functorch_transforms_active()
    if kernels.is_reference() or model.other_terms or model.delay or transformed:
        return reference.rollout(model, dynamics, noise=noise, record=record, method=method)
    tensors = model.tensors()
    settings = model, tuple(tensors), dynamics, noise, record, method
    phases: Tensor = _Rollout.apply(*settings, *tensors.values())  # type: ignore[no-untyped-call]
    return phases


class _Rollout(torch.autograd.Function):
    """The tensors of a `PhaseModel` -> phases."""

    @staticmethod
    def forward(
        ctx: Any,
        model: PhaseModel,
        names: tuple[str, ...],
        dynamics: Dynamics,
        noise: Noise | None,
        record: int,
        method: str,
        *tensors: Tensor,
    ) -> Tensor:
        model = model.with_tensors(dict(zip(names, tensors, strict=True)))
        if not any(ctx.needs_input_grad):
            return kernels.rollout(model, dynamics, noise=noise, record=record, method=method)
        ctx.save_for_backward(*tensors)
        ctx.names = names
        phases, ctx.pullback = kernels.rollout_with_pullback(
            model, dynamics, noise=noise, record=record, method=method
        )
        return phases

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        _ = ctx.saved_tensors  # raises where one was changed in place since the rollout
        with torch.no_grad():
            tensors: dict[str, Tensor] = ctx.pullback(gradients[0]).tensors()
        if torch.is_grad_enabled():  # create_graph: a second derivative must raise
            inputs = (*tensors.values(), gradients[0], *ctx.saved_tensors)
            copies = _FirstDerivatives.apply(len(tensors), *inputs)  # type: ignore[no-untyped-call]
            tensors = dict(zip(tensors, copies, strict=True))
        return (None,) * 6 + tuple(tensors.get(name) for name in ctx.names)


class _FirstDerivatives(torch.autograd.Function):
    """Copies of first derivatives; their backward pass raises."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensor.clone() for tensor in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> None:
        raise RuntimeError(
            "a rollout has first derivatives only; within entrain.kernels.use('reference') it can "
            "be differentiated as often as you like"
        )
