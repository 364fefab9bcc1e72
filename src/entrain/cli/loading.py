"""Models, hardware and devices that arguments of commands name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entrain.cli.console import err
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    import torch

    from entrain.cluster import Engine
    from entrain.hardware import Hardware
    from entrain.models.model import Model


def load_model(name: str) -> tuple[Path, Model]:
    """The file of a model, and the model."""
    from entrain.models.pretrained import find, load

    path = find(name)
    return path, load(path)


def hardware_for(path: Path, model: Model, hardware: str | None) -> Hardware:
    """The hardware that is named, or else that the model in `path` was trained for."""
    from entrain.hardware import find

    result = model.hardware if hardware is None else find(hardware)
    if result is None:
        raise InputError(
            f"{path}: was trained for the ideal network; choose hardware with --hardware, such as "
            "typical (entrain hardware lists the presets)"
        )
    return result


def prepared_engine(name: str, address: str | None, device: str) -> tuple[torch.device, Engine]:
    """The device of this process and an engine; the workers of a cluster have their own devices."""
    import torch

    from entrain import kernels
    from entrain.cluster import LocalEngine, engine_named

    engine = engine_named(name, address, device)
    if not isinstance(engine, LocalEngine):
        return torch.device("cpu"), engine
    kernels.prepare(engine.device, err.print)
    return engine.device, engine
