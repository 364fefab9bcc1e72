"""A user's own data on the command line: what was given, and reading it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import err
from entrain.cli.options import with_option_names

if TYPE_CHECKING:
    from entrain.data import Dataset


IMAGE_SIZE = 28
SHOWN = 10  # classes


def own_data(dataset: str, label: str | None, image_size: int) -> dict[str, Any] | None:
    """What the user's own data are, or None for a dataset by name."""
    from entrain.data.given import own_source

    with with_option_names("label", "image_size"):
        return own_source(dataset, label, image_size)


def read(dataset: str, data_dir: Path | None, own: dict[str, Any] | None) -> Dataset:
    from entrain.cli.progress import fraction_bar
    from entrain.data import LabelColumnError, balance
    from entrain.data.given import read_source
    from entrain.utils.errors import InputError

    if own is None:
        return read_source(dataset, None, data_dir)
    with fraction_bar(f"reading {own['path']}") as on_progress:
        try:
            data = read_source(dataset, own, on_progress=on_progress)
        except LabelColumnError as error:
            raise InputError(f"{error}. Choose the label column with --label NAME") from error
    found = balance(data)
    err.print(
        f"{data.name}: {data.preprocessing.inputs} inputs, {len(data.class_names)} classes, "
        f"{len(data.train)} / {len(data.validation)} / {len(data.test)} examples to train, "
        f"validate and test; the largest class has {found['imbalance']:.1f} times the smallest "
        f"({_counts(found['counts'])})",
        soft_wrap=True,
    )
    for note in getattr(data, "notes", ()):
        err.print(note, soft_wrap=True)
    return data


def _counts(counts: dict[str, int]) -> str:
    """How many examples the classes have, or the largest and smallest where they are many."""
    ordered = sorted(counts.items(), key=lambda each: -each[1])
    if len(ordered) > SHOWN:
        ordered = [*ordered[: SHOWN // 2], ("...", 0), *ordered[-(SHOWN // 2) :]]
    return ", ".join(f"{name} {count}" if count else name for name, count in ordered)
