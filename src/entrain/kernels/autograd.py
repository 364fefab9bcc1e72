"""Rollouts on the fast backends that autograd can differentiate."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from entrain import kernels
from entrain.kernels import reference
from entrain.physics import Dynamics, Noise, PhaseModel

_NAMES = ("fields", "couplings", "frequencies", "injection", "lag", "start", "harmonic")


def differentiable_rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> Tensor:
    """`kernels.rollout` with a backward pass: the exact discrete adjoint of the steps.

    It has first derivatives. Inside `torch.func` transforms, with custom terms or a delay, and with
    `kernels.use("reference")`, PyTorch records plain operations instead: slower, but with every
    transform and every higher derivative.
    """
    transformed = torch._C._are_functorch_transforms_active()
    if kernels.is_reference() or model.other_terms or model.delay or transformed:
        return reference.rollout(model, dynamics, noise=noise, record=record)
    tensors = tuple(getattr(model, name) for name in _NAMES)
    phases: Tensor = _Rollout.apply(dynamics, noise, record, *tensors)  # type: ignore[no-untyped-call]
    return phases


class _Rollout(torch.autograd.Function):
    """The tensors of a `PhaseModel` -> phases."""

    @staticmethod
    def forward(
        ctx: Any, dynamics: Dynamics, noise: Noise | None, record: bool, *tensors: Tensor | None
    ) -> Tensor:
        by_name: dict[str, Any] = dict(zip(_NAMES, tensors, strict=True))
        model = PhaseModel(**by_name)
        if not any(ctx.needs_input_grad):
            return kernels.rollout(model, dynamics, noise=noise, record=record)
        ctx.save_for_backward(*model.tensors().values())
        phases, ctx.pullback = kernels.rollout_with_pullback(
            model, dynamics, noise=noise, record=record
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
        return (None, None, None, *(tensors.get(name) for name in _NAMES))


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
