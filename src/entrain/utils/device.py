"""The choice of a device."""

from __future__ import annotations

import torch

from entrain.utils.errors import InputError


def choose_device(name: str | torch.device = "auto") -> torch.device:
    """The device `auto` (CUDA if available), `cpu`, `cuda` or `cuda:INDEX`."""
    if isinstance(name, torch.device):
        name = str(name)
    if not isinstance(name, str):
        raise TypeError(f"device must be 'cpu', 'cuda', 'cuda:INDEX' or 'auto', got {name!r}")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"unknown device {name!r}: expected auto, cpu, cuda or cuda:0") from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"device {name!r} is not supported: expected auto, cpu or cuda")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(
            f"CUDA device {device.index or 0} is not available: this machine has "
            f"{torch.cuda.device_count()} CUDA devices; choose the device cpu"
        )
    return device
