"""Rollouts of the phase model and the gradients of both losses, behind one set of signatures.

`reference` is the plain definition in PyTorch operations. `cpu` (Numba) and `gpu` (CUDA) compute
the same, fast, in float32. Only this file chooses; the rest of the package calls the functions
exported here.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

import torch
from torch import Tensor

from entrain.kernels import memory, reference
from entrain.kernels.integrators import check_method
from entrain.kernels.reference import Pullback
from entrain.kernels.refinement import Convergence, convergence
from entrain.physics import Dynamics, Noise, PhaseModel, Schedule
from entrain.physics.couplings import values_of
from entrain.physics.terms import LOCAL, PAIR
from entrain.utils.errors import InputError, positive_float
from entrain.utils.threads import configure_threads

__all__ = ["Convergence", "Pullback", "announce", "convergence", "is_reference", "path_loss"]
__all__ += ["rollout", "rollout_with_pullback", "select_backend", "training_module"]
__all__ += ["use"]

_CHOICES = ("auto", "reference")
_choice = os.environ.get("ENTRAIN_KERNELS", "auto")


@contextlib.contextmanager
def use(choice: str) -> Iterator[None]:
    """A context that chooses the backend.

    The environment variable ENTRAIN_KERNELS chooses it for the process.

    Args:
        choice: "auto", or "reference" for the plain definitions alone.

    Examples:
        >>> network = entrain.KuramotoNetwork(inputs=8, hidden=16, outputs=3)
        >>> with entrain.kernels.use("reference"):
        ...     scores = network(torch.ones(5, 8))
        >>> bool(torch.allclose(scores, network(torch.ones(5, 8)), atol=1e-5))
        True
    """
    global _choice
    before, _choice = _choice, choice
    try:
        is_reference()  # refuses an unknown choice
        yield
    finally:
        _choice = before


def is_reference() -> bool:
    """True if only the reference may compute."""
    if _choice not in _CHOICES:
        raise InputError(f"kernels must be one of {', '.join(_CHOICES)}, got {_choice!r}")
    return _choice == "reference"


def select_backend(model: PhaseModel, noisy: bool = False, gradients: bool = False) -> ModuleType:
    """The module that computes rollouts of a model.

    Args:
        model: A phase model; its dtype, device, size and terms decide.
        noisy: True for rollouts with noise.
        gradients: True for rollouts with a pullback.

    Examples:
        >>> oscillators = entrain.Oscillators([[[0, 1], [1, 0.0]]], fields=[[1.0, 0.0]], runs=1)
        >>> backend = entrain.kernels.select_backend(oscillators.phase_model())
        >>> backend.__name__.startswith("entrain.kernels")
        True
    """
    fields = model.fields
    _check_tensors(model)
    if is_reference() or fields.dtype != torch.float32:
        return reference
    if model.other_terms or model.delay:
        term = "custom terms are" if model.other_terms else "a delay of the couplings is"
        _warn_once(
            f"{term} computed by PyTorch operations: about 4 times slower on a CPU, "
            "up to 250 times on a GPU"
        )
        return reference
    module = _gpu(model) if fields.is_cuda else _cpu()
    if module is None or not module.supports(model, noisy, gradients):
        return reference
    return module


def _check_tensors(model: PhaseModel) -> None:
    """Refuse wrong shapes and mixed dtypes or devices: kernels read bare addresses."""
    fields = model.fields
    if fields.dim() != 3:
        raise InputError(f"fields must be runs x samples x N, got shape {tuple(fields.shape)}")
    if fields.dtype not in (torch.float32, torch.float64):
        raise InputError(f"tensors must be float32 or float64, got {fields.dtype}")
    runs, batch, n = fields.shape
    if model.couplings.shape != (runs, n, n):
        raise InputError(
            f"couplings must be {runs} x {n} x {n}; got shape {tuple(model.couplings.shape)}"
        )
    rows = ((runs, batch, n), (runs, 1, n))
    shapes: dict[str, tuple[tuple[int, ...], ...]] = {"start": rows}
    for name in model.terms:
        if name in LOCAL:
            shapes[name] = rows
        else:
            pair = PAIR[name]
            couplings = tuple(values_of(model.couplings).shape)
            shapes[name] = (couplings if pair.shape == "couplings" else (runs, *pair.size),)
    tensors = model.tensors()
    for name, allowed in shapes.items():
        if name in tensors and tuple(tensors[name].shape) not in allowed:
            expected = " or ".join(" x ".join(map(str, shape)) for shape in allowed)
            raise InputError(f"{name} must be {expected}; got shape {tuple(tensors[name].shape)}")
    if any(t.dtype != fields.dtype or t.device != fields.device for t in tensors.values()):
        types = {name: f"{t.dtype} on {t.device}" for name, t in tensors.items()}
        raise InputError(
            f"all tensors of a phase model must have one dtype and device, got {types}"
        )
    if model.delay:
        positive_float("delay", model.delay, zero=True)


def _backend(
    model: PhaseModel,
    dynamics: Dynamics | None = None,
    noise: Noise | None = None,
    record: int = 0,
    method: str = "euler",
    gradients: bool = False,
) -> ModuleType:
    """`select_backend`; refuses noise and schedules of other samples or steps: kernels would read
    beyond them."""
    configure_threads()
    if method == "euler":
        module = select_backend(model, noise is not None, gradients)
    else:
        _check_tensors(model)
        module = reference
    if dynamics is not None and model.schedule is not None:
        model.schedule.check(dynamics.steps, model.fields.shape)
    if dynamics is not None and record and dynamics.steps % record:
        raise InputError(
            f"record must divide the {dynamics.steps} steps, to return every n-th one; got {record}"
        )
    if dynamics is not None and 0 < model.delay < dynamics.time_step / 2:
        least = math.ceil(dynamics.observation_time / model.delay / 2)
        raise InputError(
            f"the delay {model.delay:g} is below half the time step {dynamics.time_step:g} and "
            f"would be 0; take at least {least} steps, or no delay"
        )
    if noise is not None and noise.factors is not None and dynamics is not None:
        Schedule({"temperature": noise.factors}).check(dynamics.steps, model.fields.shape)
    if noise is not None and noise.samples.shape != model.fields.shape[1:2]:
        raise InputError(
            f"noise must be of the {model.fields.shape[1]} samples of the fields, got "
            f"{tuple(noise.samples.shape)}"
        )
    return module


def training_module(device: torch.device) -> ModuleType | None:
    """The module that compiles whole epochs of training on a device, if there is one.

    Args:
        device: Where the network is trained.
    """
    if is_reference() or device.type != "cpu" or _cpu() is None:
        return None
    from entrain.kernels import training_pass

    return training_pass


def announce(device: torch.device, notify: Callable[[str], None]) -> None:
    """Call `notify` with one line if kernels of a device are compiled later, at their first use."""
    if not is_reference() and device.type == "cpu" and (module := _cpu()) is not None:
        module.announce(notify)


def rollout(
    model: PhaseModel,
    dynamics: Dynamics,
    *,
    noise: Noise | None = None,
    record: int = 0,
    method: str = "euler",
) -> Tensor:
    """Phases of explicit steps at t_f (R, B, N), or at several times (K / n + 1, R, B, N).

    With noise (Euler-Maruyama, wrapped after each step) they are (R, M, B, N), for M replicates of
    every sample. `reference.rollout` defines the steps. Tensors that require gradients get them by
    the exact discrete adjoint, see `rollout_with_pullback`.

    Args:
        model: The terms of the phase model.
        dynamics: Mobility, observation time and steps.
        noise: Thermal noise; None is none.
        record: n to return the phases at the start and after every n-th of K steps, 0 for those at
            t_f alone.
        method: "euler", or "heun" and "rk4" of order 2 and 4, which PyTorch operations compute.

    Examples:
        >>> oscillators = entrain.Oscillators([[[0, 1], [1, 0.0]]], fields=[[1.0, 0.0]], runs=1)
        >>> dynamics = entrain.Dynamics(mobility=1.0, observation_time=20.0, steps=200)
        >>> phases = entrain.kernels.rollout(oscillators.phase_model(), dynamics)
        >>> bool(phases.abs().max() < 1e-3)
        True
    """
    check_method(method, model)
    if torch.is_grad_enabled() and any(t.requires_grad for t in model.tensors().values()):
        from entrain.kernels.autograd import differentiable_rollout

        return differentiable_rollout(model, dynamics, noise=noise, record=record, method=method)
    module = _backend(model, dynamics, noise, record, method)
    if module is reference:
        return reference.rollout(model, dynamics, noise=noise, record=record, method=method)
    phases: Tensor = module.rollout(model, dynamics, noise=noise, record=record)
    return phases


def rollout_with_pullback(
    model: PhaseModel,
    dynamics: Dynamics,
    *,
    noise: Noise | None = None,
    record: int = 0,
    method: str = "euler",
) -> tuple[Tensor, Pullback]:
    """`rollout`, and its pullback: gradient of a loss by the phases -> that by the model.

    The pullback is the exact discrete adjoint of the steps, see `reference.rollout_with_pullback`.
    What does not fit in memory is rolled out again by the pullback, see `kernels.memory`.

    Args:
        model: The terms of the phase model.
        dynamics: Mobility, observation time and steps.
        noise: Thermal noise; None is none.
        record: As for `rollout`.
        method: As for `rollout`.

    Examples:
        >>> oscillators = entrain.Oscillators([[[0, 1], [1, 0.0]]], fields=[[1.0, 0.0]], runs=1)
        >>> dynamics = entrain.Dynamics(mobility=1.0, observation_time=1.0, steps=10)
        >>> model = oscillators.phase_model()
        >>> phases, pullback = entrain.kernels.rollout_with_pullback(model, dynamics)
        >>> pullback(torch.ones_like(phases)).couplings.shape
        torch.Size([1, 2, 2])
    """
    check_method(method, model)
    module = _backend(model, dynamics, noise, record, method, gradients=True)
    if module is reference:  # keeps its own segments
        return reference.rollout_with_pullback(
            model, dynamics, noise=noise, record=record, method=method
        )
    return memory.rollout_with_pullback(module, model, dynamics, noise, record)


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    """L_path (R,) and its gradient with respect to the model; see `reference.path_loss`."""
    module = _backend(model) if model.fields.is_cuda else _checked_reference(model)
    if not (hasattr(module, "has_path_loss") and module.has_path_loss(model)):
        module = reference  # a few large products, as fast beyond some 160 oscillators
    result: tuple[Tensor, PhaseModel] = module.path_loss(model, coefficients, dynamics, nodes=nodes)
    return result


def _checked_reference(model: PhaseModel) -> ModuleType:
    """The reference, for a model of right shapes: no kernel is compiled."""
    configure_threads()
    _check_tensors(model)
    return reference


def _gpu(model: PhaseModel) -> ModuleType | None:
    """The kernels for networks that fit into a block of threads, or those for all others."""
    from entrain.kernels import gpu, gpu_steps

    if not _has_gpu(model.fields.device):
        return None
    return gpu if gpu.is_fastest(model) else gpu_steps


@functools.cache
def _has_gpu(device: torch.device) -> bool:
    from entrain.kernels import gpu, nvrtc

    try:
        gpu.check(device)
    except nvrtc.CudaUnavailable as error:
        _warn_once(
            "the CUDA kernels cannot be used: PyTorch operations compute the rollouts, up to 250 "
            f"times slower ({error})"
        )
        return False
    return True


@functools.cache
def _cpu() -> ModuleType | None:
    try:
        from entrain.kernels import cpu
    except Exception as error:  # another Numba may refuse what defines the kernels with any error
        _warn_once(
            "the CPU kernels cannot be used: PyTorch operations compute the rollouts, about four "
            f"times slower ({type(error).__name__}: {error})"
        )
        return None
    return cpu


@functools.cache
def _warn_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
