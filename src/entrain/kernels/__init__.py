"""Rollouts and the gradients of both losses, behind one set of signatures.

`reference` is the plain definition in PyTorch operations. `cpu` (Numba) and `gpu` (CUDA) compute
the same, fast, in float32. This file is the one place that chooses; the rest of the package calls
the functions exported here and does not know which implementation answers.
"""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

import torch
from torch import Tensor

from entrain.errors import InputError
from entrain.kernels import reference
from entrain.kernels.reference import Pullback, fits_in_memory
from entrain.physics import Dynamics, Noise

__all__ = [
    "Pullback",
    "answering",
    "noisy_rollout",
    "path_loss",
    "rollout",
    "rollout_with_pullback",
    "use",
    "warm",
]

_CHOICES = ("auto", "reference")
_choice = os.environ.get("ENTRAIN_KERNELS", "auto")


@contextlib.contextmanager
def use(choice: str) -> Iterator[None]:
    """Within this context: "auto", or "reference" for the plain definitions alone.

    The environment variable ENTRAIN_KERNELS sets it for a whole process.
    """
    global _choice
    before, _choice = _choice, choice
    try:
        _check_choice()
        yield
    finally:
        _choice = before


def answering(fields: Tensor) -> ModuleType:
    """The module that computes rollouts of `fields` (R, B, N)."""
    _check_choice()
    if _choice == "reference" or fields.dtype != torch.float32:
        return reference
    if fields.is_cuda:
        return _gpu(fields.device, fields.shape[-1]) or reference
    return _cpu() or reference


def warm(device: torch.device, say: Callable[[str], None]) -> None:
    """Make ready what is compiled at first use, and `say` so where it takes a while."""
    _check_choice()
    if _choice == "auto" and device.type == "cpu" and (module := _importable_cpu()) is not None:
        module.warm(say)


def rollout(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics, *, record: bool = False
) -> Tensor:
    """See `reference.rollout`."""
    found: Tensor = answering(fields).rollout(fields, couplings, dynamics, record=record)
    return found


def rollout_with_pullback(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics
) -> tuple[Tensor, Pullback]:
    """See `reference.rollout_with_pullback`; long rollouts of large networks are checkpointed."""
    module = answering(fields) if fits_in_memory(fields, dynamics.steps) else reference
    found: tuple[Tensor, Pullback] = module.rollout_with_pullback(fields, couplings, dynamics)
    return found


def noisy_rollout(
    fields: Tensor,
    couplings: Tensor,
    dynamics: Dynamics,
    noise: Noise,
    *,
    record: bool = False,
) -> Tensor:
    """See `reference.noisy_rollout`."""
    module = answering(fields)
    found: Tensor = module.noisy_rollout(fields, couplings, dynamics, noise, record=record)
    return found


def path_loss(
    fields: Tensor,
    couplings: Tensor,
    coefficients: Tensor,
    dynamics: Dynamics,
    *,
    nodes: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """See `reference.path_loss`."""
    module = answering(fields)
    if not getattr(module, "has_path_loss", lambda _: False)(fields.shape[-1]):
        module = reference
    found: tuple[Tensor, Tensor, Tensor] = module.path_loss(
        fields, couplings, coefficients, dynamics, nodes=nodes
    )
    return found


@functools.cache
def _gpu(device: torch.device, oscillators: int) -> ModuleType | None:
    from entrain.kernels import gpu, nvrtc

    if oscillators > gpu.MOST_OSCILLATORS:
        return None
    try:
        gpu.check(device)
    except nvrtc.CudaUnavailable as error:
        _say_once(f"the CUDA kernels cannot be used, PyTorch operations do the work: {error}")
        return None
    return gpu


@functools.cache
def _cpu() -> ModuleType | None:
    module = _importable_cpu()
    return module if module is not None and module.available() else None


@functools.cache
def _importable_cpu() -> ModuleType | None:
    try:
        import numba  # noqa: F401

        from entrain.kernels import cpu
    except ImportError as error:
        _say_once(f"the CPU kernels cannot be used, PyTorch operations do the work: {error}")
        return None
    return cpu


@functools.cache
def _say_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)


def _check_choice() -> None:
    if _choice not in _CHOICES:
        raise InputError(f"kernels must be one of {', '.join(_CHOICES)}, got {_choice!r}")
