"""The state of a training stage as one safetensors file, enough to continue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from entrain.training.loop import TrainingState
from entrain.utils.errors import InputError, reason, short_repr
from entrain.utils.tensor_file import pack_tensors, read_tensors, unpack_tensors

_KIND = "checkpoint"


def pack_state(state: TrainingState, header: dict[str, Any]) -> bytes:
    """The content of a checkpoint file: `state`, and `header` (JSON values)."""
    tensors = {"merit": state.best_merit, "selected": state.best_epoch, "diverged": state.diverged}
    for prefix, group in (("current.", state.current), ("best.", state.best)):
        tensors |= {prefix + name: tensor for name, tensor in group.items()}
    for name, rows in state.history.items():
        tensors[f"history.{name}"] = torch.tensor(rows, dtype=torch.float64)
    return pack_tensors(_KIND, tensors, {"epoch": state.epoch, **header})


def unpack_state(content: bytes, origin: str) -> tuple[TrainingState, dict[str, Any]]:
    """The state and the header of `pack_state`'s content; `origin` names it in errors."""
    tensors, header = unpack_tensors(content, _KIND, origin)
    return _state(tensors, header, origin), header


def read_state(path: Path) -> tuple[TrainingState, dict[str, Any]]:
    """The state and the header of a checkpoint file."""
    tensors, header = read_tensors(path, _KIND)
    return _state(tensors, header, str(path)), header


def _state(tensors: dict[str, Tensor], header: dict[str, Any], origin: str) -> TrainingState:
    def group(prefix: str) -> dict[str, Tensor]:
        return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}

    try:
        _check(tensors, header["epoch"])
        return TrainingState(
            epoch=header["epoch"],
            current=group("current."),
            best=group("best."),
            best_merit=tensors["merit"],
            best_epoch=tensors["selected"],
            diverged=tensors["diverged"],
            history={name: rows.tolist() for name, rows in group("history.").items()},
        )
    except InputError as error:
        raise InputError(f"{origin}: not a complete checkpoint: {reason(error)}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{origin}: not a complete checkpoint ({reason(error)})") from error


def _check(tensors: dict[str, Tensor], epoch: object) -> None:
    """Raise an `InputError` unless shapes and epochs are those of the R runs of `selected`."""
    if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
        raise InputError(f"epoch must be a non-negative whole number, got {short_repr(epoch)}")
    selected, runs = tensors["selected"], tensors["selected"].numel()
    for name in ("selected", "diverged"):
        tensor = tensors[name]
        if tensor.dtype != torch.int64 or tensor.shape != (runs,) or not runs:
            raise InputError(f"{name} must be int64 of shape (R,), got {_shape(tensor)}")
        if int(tensor.min()) < 0 or int(tensor.max()) > epoch:
            raise InputError(f"{name} must hold epochs from 0 to {epoch}, got {tensor.tolist()}")
    for name, tensor in tensors.items():
        if name.startswith("history."):
            if tensor.dtype != torch.float64 or tensor.shape[1:] != (runs,):
                raise InputError(f"{name} must be float64 (epochs, {runs}), got {_shape(tensor)}")
            if len(tensor) < int(selected.max()):
                raise InputError(f"{name} ends before the epoch that was selected")
        elif tensor.shape[:1] != (runs,):
            raise InputError(f"{name} must have {runs} runs, got {_shape(tensor)}")
    if tensors["merit"].dtype != torch.float64 or tensors["merit"].ndim != 2:
        raise InputError(f"merit must be float64 ({runs}, n), got {_shape(tensors['merit'])}")


def _shape(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)}"
