"""The state of a training stage as one safetensors file, enough to go on from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from entrain.errors import InputError
from entrain.learning.trainer import TrainingState
from entrain.tensorfile import pack_tensors, read_tensors, unpack_tensors

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
        return TrainingState(
            epoch=int(header["epoch"]),
            current=group("current."),
            best=group("best."),
            best_merit=tensors["merit"],
            best_epoch=tensors["selected"],
            diverged=tensors["diverged"],
            history={name: rows.tolist() for name, rows in group("history.").items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{origin}: not a complete checkpoint ({error!r})") from error
