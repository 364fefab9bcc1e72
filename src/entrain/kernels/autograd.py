"""Rollouts that autograd can differentiate, on the fast backends."""

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

    It can be differentiated once. Inside `torch.func` transforms, with custom terms or a delay, and
    with `kernels.use("reference")`, plain PyTorch operations are recorded instead: every transform
    and every higher derivative is right there, and slower.
    """
    recorded = model.other_terms or model.delay
    if kernels.is_reference() or recorded or _inside_a_transform():
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
        given: dict[str, Any] = dict(zip(_NAMES, tensors, strict=True))
        model = PhaseModel(**given)
        if not any(ctx.needs_input_grad):
            return kernels.rollout(model, dynamics, noise=noise, record=record)
        ctx.save_for_backward(*model.tensors().values())
        found = kernels.rollout_with_pullback(model, dynamics, noise=noise, record=record)
        phases, ctx.pullback = found
        return phases

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        _ = ctx.saved_tensors  # raises where one was changed in place since the rollout
        with torch.no_grad():
            found: PhaseModel = ctx.pullback(gradients[0])
        tensors = found.tensors()
        if torch.is_grad_enabled():  # with create_graph: to differentiate these is an error
            given = (*tensors.values(), gradients[0], *ctx.saved_tensors)
            once = _Once.apply(len(tensors), *given)  # type: ignore[no-untyped-call]
            tensors = dict(zip(tensors, once, strict=True))
        return (None, None, None, *(tensors.get(name) for name in _NAMES))


class _Once(torch.autograd.Function):
    """First derivatives as they are; to differentiate them is an error."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensor.clone() for tensor in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> None:
        raise RuntimeError(
            "a rollout has first derivatives only; within entrain.kernels.use('reference') it can "
            "be differentiated as often as you like"
        )


def _inside_a_transform() -> bool:
    """Whether vmap, grad, jacrev or another transform of torch.func is at work."""
    return bool(torch._C._are_functorch_transforms_active())
