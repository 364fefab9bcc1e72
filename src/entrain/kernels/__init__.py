"""Rollouts of the phase model and the gradients of both losses, behind one set of signatures.

`reference` is the plain definition in PyTorch operations. `cpu` (Numba) and `gpu` (CUDA) compute
the same, fast, in float32. Only this file chooses; the rest of the package calls the functions
exported here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from entrain.kernels import reference
from entrain.kernels.reference import Pullback
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.physics.phase_model import PER_SAMPLE
from entrain.utils.errors import InputError, positive_float
from entrain.utils.threads import configure_threads

__all__ = ["Pullback", "is_reference", "path_loss", "prepare", "rollout", "rollout_with_pullback"]
__all__ += ["select_backend", "use"]

# Memory of a rollout's tape; a batch that needs more is cut into pieces. None is 1 GiB on a CPU and
# a quarter of a GPU's memory: small pieces would leave most of it idle.
TAPE_BYTES: int | None = None

_CHOICES = ("auto", "reference")
_choice = os.environ.get("ENTRAIN_KERNELS", "auto")


@contextlib.contextmanager
def use(choice: str) -> Iterator[None]:
    """A context that chooses the backend.

    The environment variable ENTRAIN_KERNELS chooses it for the process.

    Args:
        choice: "auto", or "reference" for the plain definitions alone.
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


def select_backend(model: PhaseModel) -> ModuleType:
    """The module that computes rollouts of a model.

    Args:
        model: A phase model; its dtype, device, size and terms decide.
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
    if fields.is_cuda:
        return _gpu(fields.device, fields.shape[-1]) or reference
    return _cpu() or reference


def _check_tensors(model: PhaseModel) -> None:
    """Refuse wrong shapes and mixed dtypes or devices: kernels read bare addresses."""
    fields = model.fields
    tensors: tuple[Tensor, ...] = (model.couplings,)
    if fields.dim() != 3:
        raise InputError(f"fields must be runs x samples x N, got shape {tuple(fields.shape)}")
    runs, batch, n = fields.shape
    shapes: dict[str, tuple[tuple[int, ...], ...]] = {"couplings": ((runs, n, n),)}
    if not model.is_plain:
        tensors = tuple(model.tensors().values())
        rows = ((runs, batch, n), (runs, 1, n))
        shapes |= {"frequencies": rows, "injection": rows, "start": rows}
        shapes |= {"lag": ((runs,),), "harmonic": ((runs, 2),)}
        positive_float("delay", model.delay, zero=True)
    for name, allowed in shapes.items():
        values = getattr(model, name)
        if values is not None and values.shape not in allowed:
            expected = " or ".join(" x ".join(map(str, shape)) for shape in allowed)
            raise InputError(f"{name} must be {expected}; got shape {tuple(values.shape)}")
    if any(t.dtype != fields.dtype or t.device != fields.device for t in tensors):
        types = {name: f"{t.dtype} on {t.device}" for name, t in model.tensors().items()}
        raise InputError(
            f"all tensors of a phase model must have one dtype and device, got {types}"
        )


def _backend(model: PhaseModel, noise: Noise | None = None) -> ModuleType:
    """`select_backend`; refuses noise of other samples: kernels would read beyond its indices."""
    configure_threads()
    module = select_backend(model)
    if noise is not None and noise.samples.shape != model.fields.shape[1:2]:
        raise InputError(
            f"noise must be of the {model.fields.shape[1]} samples of the fields, got "
            f"{tuple(noise.samples.shape)}"
        )
    return module


def prepare(device: torch.device, notify: Callable[[str], None]) -> None:
    """Compile the kernels of a device; `notify` is called if that takes time."""
    if not is_reference() and device.type == "cpu" and (module := _importable_cpu()) is not None:
        module.prepare(notify)


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> Tensor:
    """Phases of explicit Euler steps at t_f (R, B, N), or at all times (K + 1, R, B, N).

    With noise (Euler-Maruyama, wrapped after each step) they are (R, M, B, N), for M replicates of
    every sample. `reference.rollout` defines the steps.

    Args:
        model: The terms of the phase model.
        dynamics: Mobility, observation time and steps.
        noise: Thermal noise; None is none.
        record: Return the phases at all K + 1 grid times.
    """
    phases: Tensor = _backend(model, noise).rollout(model, dynamics, noise=noise, record=record)
    return phases


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> tuple[Tensor, Pullback]:
    """`rollout`, and its pullback: gradient of a loss by the phases -> that by the model.

    The pullback is the exact discrete adjoint of the steps, see `reference.rollout_with_pullback`.
    A batch that does not fit in memory is cut into pieces, which the pullback rolls out again.

    Args:
        model: The terms of the phase model.
        dynamics: Mobility, observation time and steps.
        noise: Thermal noise; None is none.
        record: Return the phases at all K + 1 grid times.
    """
    module = _backend(model, noise)
    rows = _rows_that_fit(module, model, dynamics, noise)
    if rows < 1 <= model.fields.shape[1]:
        _warn_once(
            f"{dynamics.steps} steps of {model.fields.shape[-1]} oscillators do not fit in memory "
            "for one sample: PyTorch operations compute them in segments, tens of times slower"
        )
        module, rows = reference, model.fields.shape[1]
    if module is not reference and rows < model.fields.shape[1]:
        return _in_pieces(module, model, dynamics, noise, record, rows)
    result: tuple[Tensor, Pullback] = module.rollout_with_pullback(
        model, dynamics, noise=noise, record=record
    )
    return result


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    """L_path (R,) and its gradient with respect to the model; see `reference.path_loss`."""
    module = _backend(model)
    if not (hasattr(module, "has_path_loss") and module.has_path_loss(model)):
        module = reference  # a few large products, as fast beyond some 160 oscillators
    result: tuple[Tensor, PhaseModel] = module.path_loss(model, coefficients, dynamics, nodes=nodes)
    return result


def _rows_that_fit(
    module: ModuleType, model: PhaseModel, dynamics: Dynamics, noise: Noise | None
) -> int:
    """The largest batch whose tape fits in memory; 0 if one sample does not fit."""
    runs, batch, oscillators = model.fields.shape
    if module is reference:
        return batch
    copies = runs * (1 if noise is None else len(noise.replicates))
    harmonic = model.harmonic is not None
    sample = copies * int(module.tape_bytes(oscillators, dynamics.steps, harmonic))
    available = _tape_bytes(model.fields.device) if TAPE_BYTES is None else TAPE_BYTES
    rows = min(batch, available // sample)
    return rows - rows % 8 if 8 < rows < batch else rows  # the CPU's tiles are of eight samples


@functools.cache
def _tape_bytes(device: torch.device) -> int:
    if device.type != "cuda":
        return 2**30
    return int(torch.cuda.get_device_properties(device).total_memory) // 4


def _in_pieces(
    module: ModuleType,
    model: PhaseModel,
    dynamics: Dynamics,
    noise: Noise | None,
    record: bool,
    rows: int,
) -> tuple[Tensor, Pullback]:
    """`rollout_with_pullback` of `rows` samples at a time, a second rollout in the pullback."""
    slices = [slice(i, i + rows) for i in range(0, model.fields.shape[1], rows)]

    def roll(samples: slice, function: Callable[..., Any]) -> Any:
        piece_noise = None if noise is None else noise.rows(samples)
        return function(model.rows(samples), dynamics, noise=piece_noise, record=record)

    def pullback(gradient: Tensor) -> PhaseModel:
        total: dict[str, Any] = {}
        for samples in slices:
            _, piece_pullback = roll(samples, module.rollout_with_pullback)
            for name, values in piece_pullback(gradient[..., samples, :]).tensors().items():
                shared = name not in ("fields", *PER_SAMPLE) or getattr(model, name).shape[1] == 1
                if name not in total:
                    total[name] = values
                elif shared:
                    total[name] = total[name] + values
                else:
                    total[name] = torch.cat([total[name], values], dim=1)
        return PhaseModel(**total)

    phases = [roll(samples, module.rollout) for samples in slices]
    return torch.cat(phases, dim=-2), pullback


@functools.cache
def _gpu(device: torch.device, oscillators: int) -> ModuleType | None:
    from entrain.kernels import gpu, nvrtc

    if oscillators > gpu.MOST_OSCILLATORS:
        _warn_once(
            f"the CUDA kernels take up to {gpu.MOST_OSCILLATORS} oscillators, got {oscillators}: "
            "PyTorch operations compute them, about 3 times slower at that size"
        )
        return None
    try:
        gpu.check(device)
    except nvrtc.CudaUnavailable as error:
        _warn_once(
            "the CUDA kernels cannot be used: PyTorch operations compute the rollouts, up to 250 "
            f"times slower ({error})"
        )
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
        _warn_once(
            "the CPU kernels cannot be used: PyTorch operations compute the rollouts, about four "
            f"times slower ({error})"
        )
        return None
    return cpu


@functools.cache
def _warn_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
