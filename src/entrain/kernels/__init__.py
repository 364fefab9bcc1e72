"""Rollouts of the phase model and the gradients of both losses, behind one set of signatures.

`reference` is the plain definition in PyTorch operations. `cpu` (Numba) and `gpu` (CUDA) compute
the same, fast, in float32. This file is the one place that chooses; the rest of the package calls
the functions exported here and does not know which backend computes them.
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

from entrain.kernels import reference
from entrain.kernels.reference import Pullback
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.utils.errors import InputError, positive_float

__all__ = [
    "Pullback",
    "is_reference",
    "path_loss",
    "prepare",
    "rollout",
    "rollout_with_pullback",
    "select_backend",
    "use",
]

# What a backend may keep for the adjoint; more is cut along the batch. On a GPU pieces must be
# large, or most of it idles: a quarter of its memory, unless set.
TAPE_BYTES: int | None = None
_CPU_BYTES = 2**30

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


def is_reference() -> bool:
    """Whether only the reference may compute."""
    _check_choice()
    return _choice == "reference"


def select_backend(model: PhaseModel) -> ModuleType:
    """The module that computes rollouts of `model`."""
    fields = model.fields
    _check_alike(model)
    if is_reference() or fields.dtype != torch.float32:
        return reference
    if model.other_terms or model.delay:
        what = "custom terms are" if model.other_terms else "a delay of the couplings is"
        _warn_once(
            f"{what} computed by PyTorch operations: about 4 times slower on a CPU, "
            "up to 250 times on a GPU"
        )
        return reference
    if fields.is_cuda:
        return _gpu(fields.device, fields.shape[-1]) or reference
    return _cpu() or reference


def _check_alike(model: PhaseModel) -> None:
    """Refuse tensors of other shapes, or of another dtype or device than the fields': kernels take
    bare addresses."""
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
    if any(each.dtype != fields.dtype or each.device != fields.device for each in tensors):
        found = {name: f"{t.dtype} on {t.device}" for name, t in model.tensors().items()}
        raise InputError(
            f"all tensors of a phase model must have one dtype and device, got {found}"
        )


def _check_noise(model: PhaseModel, noise: Noise | None) -> None:
    """Refuse noise of other samples than the model's: kernels would read beyond its numbers."""
    if noise is not None and noise.samples.shape != model.fields.shape[1:2]:
        raise InputError(
            f"noise must be of the {model.fields.shape[1]} samples of the fields, got "
            f"{tuple(noise.samples.shape)}"
        )


def prepare(device: torch.device, notify: Callable[[str], None]) -> None:
    """Compile what is compiled at first use; `notify` the user only if something is."""
    if not is_reference() and device.type == "cpu" and (module := _importable_cpu()) is not None:
        module.prepare(notify)


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> Tensor:
    """See `reference.rollout`."""
    module = select_backend(model)
    _check_noise(model, noise)
    found: Tensor = module.rollout(model, dynamics, noise=noise, record=record)
    return found


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: bool = False
) -> tuple[Tensor, Pullback]:
    """See `reference.rollout_with_pullback`.

    What does not fit in memory is cut along the batch: the pullback rolls each piece out again.
    """
    module = select_backend(model)
    _check_noise(model, noise)
    rows = _rows_that_fit(module, model, dynamics, noise)
    if rows < 1 <= model.fields.shape[1]:
        _warn_once(
            f"{dynamics.steps} steps of {model.fields.shape[-1]} oscillators do not fit in memory "
            "for one sample: PyTorch operations compute them in segments, tens of times slower"
        )
        module, rows = reference, model.fields.shape[1]
    if module is not reference and rows < model.fields.shape[1]:
        return _in_pieces(module, model, dynamics, noise, record, rows)
    found: tuple[Tensor, Pullback] = module.rollout_with_pullback(
        model, dynamics, noise=noise, record=record
    )
    return found


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    """See `reference.path_loss`."""
    module = select_backend(model)
    if not module.has_path_loss(model):
        module = reference  # a few large products: as fast, from some 160 oscillators on
    found: tuple[Tensor, PhaseModel] = module.path_loss(model, coefficients, dynamics, nodes=nodes)
    return found


def _rows_that_fit(
    module: ModuleType, model: PhaseModel, dynamics: Dynamics, noise: Noise | None
) -> int:
    """How many samples a backend can take at a time; 0 where not even one fits."""
    runs, batch, _ = model.fields.shape
    if module is reference:
        return batch
    copies = runs * (1 if noise is None else len(noise.replicates))
    harmonic = model.harmonic is not None
    each = copies * int(module.tape_bytes(model.fields.shape[-1], dynamics.steps, harmonic))
    rows = min(batch, _tape_bytes(model.fields.device) // each)
    return rows - rows % 8 if 8 < rows < batch else rows  # the CPU's tiles are of eight samples


def _tape_bytes(device: torch.device) -> int:
    return _usual_tape_bytes(device) if TAPE_BYTES is None else TAPE_BYTES


@functools.cache
def _usual_tape_bytes(device: torch.device) -> int:
    if device.type != "cuda":
        return _CPU_BYTES
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

    def piece(chosen: slice) -> tuple[PhaseModel, Noise | None]:
        part = None if noise is None else noise.of(chosen)
        return model.rows(chosen), part

    def pullback(gradient: Tensor) -> PhaseModel:
        total: PhaseModel | None = None
        for chosen in slices:
            part, part_noise = piece(chosen)
            _, back = module.rollout_with_pullback(part, dynamics, noise=part_noise, record=record)
            found: PhaseModel = back(gradient[..., chosen, :])
            total = found if total is None else _joined(total, found, model)
        assert total is not None
        return total

    found = []
    for chosen in slices:
        part, part_noise = piece(chosen)
        found.append(module.rollout(part, dynamics, noise=part_noise, record=record))
    return torch.cat(found, dim=-2), pullback


def _joined(first: PhaseModel, second: PhaseModel, whole: PhaseModel) -> PhaseModel:
    """Gradients of two pieces of a batch as one: per sample side by side, others added."""

    def rows(a: Tensor | None, b: Tensor | None, of: Tensor | None) -> Tensor | None:
        if a is None or b is None or of is None:
            return None
        return a + b if of.shape[1] == 1 < whole.fields.shape[1] else torch.cat([a, b], dim=1)

    def added(a: Tensor | None, b: Tensor | None) -> Tensor | None:
        return None if a is None or b is None else a + b

    return PhaseModel(
        fields=torch.cat([first.fields, second.fields], dim=1),
        couplings=first.couplings + second.couplings,
        frequencies=rows(first.frequencies, second.frequencies, whole.frequencies),
        injection=rows(first.injection, second.injection, whole.injection),
        lag=added(first.lag, second.lag),
        start=rows(first.start, second.start, whole.start),
        harmonic=added(first.harmonic, second.harmonic),
    )


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


def _check_choice() -> None:
    if _choice not in _CHOICES:
        raise InputError(f"kernels must be one of {', '.join(_CHOICES)}, got {_choice!r}")
