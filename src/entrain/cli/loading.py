"""Models, data, hardware and devices that arguments of commands name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import err
from entrain.cli.options import FRAMES, with_option_names
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    import torch

    from entrain.cluster import Engine
    from entrain.data import Dataset, Split
    from entrain.hardware import Hardware
    from entrain.models.model import Model


_MOST_CLASSES = 10  # whose sizes are printed


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
    kernels.announce(engine.device, err.print)
    return engine.device, engine


def data_source(
    dataset: str, label: str | None, image_size: int, task: str | None = None, frames: int = FRAMES
) -> dict[str, Any] | None:
    """Path and reading options of the user's own data; None for a dataset of the package."""
    from entrain.data.selection import own_source

    with with_option_names("label", "image_size", "task", "frames"):
        return own_source(dataset, label, image_size, task, frames)


def read_data(dataset: str, data_dir: Path | None, source: dict[str, Any] | None) -> Dataset:
    """The data of a `source`, with a summary on standard error, or the dataset without one."""
    from entrain.cli.progress import fraction_bar
    from entrain.data import LabelColumnError, balance
    from entrain.data.selection import read_source

    if source is None:
        return read_source(dataset, None, data_dir)
    with fraction_bar(f"reading {source['path']}") as on_progress:
        try:
            data = read_source(dataset, source, on_progress=on_progress)
        except LabelColumnError as error:
            raise InputError(f"{error}. Choose the label column with --label NAME") from error
    classes = balance(data)
    what = f"{len(data.class_names)} classes" if classes else data.task.description
    summary = (
        f"{data.name}: {_inputs(data)}, {what}, "
        f"{len(data.train)} / {len(data.validation)} / {len(data.test)} examples to train, "
        "validate and test"
    )
    if classes:
        summary += (
            f"; the largest class has {classes['imbalance']:.1f} times the smallest "
            f"({_counts(classes['counts'])})"
        )
    err.print(summary, soft_wrap=True)
    for note in getattr(data, "notes", ()):
        err.print(note, soft_wrap=True)
    return data


def _inputs(data: Dataset) -> str:
    """The inputs of an example, in words."""
    from entrain.data import SequenceDataset

    rows, columns = data.preprocessing.image_shape
    if isinstance(data, SequenceDataset):
        return f"sequences of {columns} channels, read as {rows} frames"
    return f"{columns} features" if rows == 1 else f"images of {rows} x {columns} pixels"


def _counts(counts: dict[str, int]) -> str:
    """The number of examples of each class; of many classes, the largest and smallest."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    if len(ordered) > _MOST_CLASSES:
        half = _MOST_CLASSES // 2
        ordered = [*ordered[:half], ("...", 0), *ordered[-half:]]
    return ", ".join(f"{name} {count}" if count else name for name, count in ordered)


def read_test_examples(
    usage: str,
    path: Path,
    data_dir: Path | None,
    dataset: str | None = None,
    label: str | None = None,
    image_size: int | None = None,
) -> tuple[str, Split]:
    """The name and the test examples of `dataset`, or of the data that a model was trained on.

    `usage` is the command that names the data of the user, for the error if they are needed.
    """
    from entrain.models.pretrained import DataNotNamedError, load_test_examples

    with with_option_names("label", "image_size"):
        try:
            return load_test_examples(
                path,
                dataset,
                label=label,
                image_size=image_size,
                data_dir=data_dir,
                read=lambda name, source: read_data(name, None, source),
            )
        except DataNotNamedError as error:
            raise InputError(f"{error}: {usage}") from error
