"""Inputs of `entrain predict`: pictures, sounds, folders, tables and standard input, as items."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from entrain.data import Preprocessing, SequenceScaling
from entrain.data.own.arrays import read_x
from entrain.data.own.folders import SUFFIXES
from entrain.data.own.rows import Row, holds_rows, read_rows, table_rows
from entrain.data.pictures import decode_picture, read_picture
from entrain.data.sequence_scaling import checked_sequences
from entrain.data.sounds import SUFFIXES as WAV_SUFFIXES
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from entrain.models.model import Model

STDIN = "-"
_MOST_BYTES = 2**28  # on standard input


@dataclass
class Item:
    """An input to classify: a picture, a sound, or a row (from 1) of a table."""

    source: str
    row: int | None = None
    content: bytes | None = None  # of a picture on standard input
    values: np.ndarray | None = None
    error: str | None = None
    label: str | None = None  # label of its row
    answer: tuple[Tensor, str | None, Tensor] | None = None  # scores, reject reason, p

    def read(self, model: Model, polarity: str) -> None:
        """Read the pixels of a picture or the frames of a sound, or set `error`."""
        constants = model.preprocessing
        if self.values is not None or self.error is not None:
            return
        try:
            if isinstance(constants, SequenceScaling):
                self.values = constants.read_sounds([self.source])[0]
                return
            assert isinstance(constants, Preprocessing)
            shape, most = constants.image_shape, 1.0  # fractions, whatever it was trained on
            if self.content is None:
                pixels = read_picture(Path(self.source), shape, most, polarity)
            else:
                pixels = decode_picture(
                    io.BytesIO(self.content), self.source, shape, most, polarity
                )
            self.values = pixels.reshape(-1)
        except InputError as error:
            self.error = str(error)
        except OSError as error:
            self.error = f"{self.source}: {error.strerror or error}"


def items_of(source: str, model: Model) -> list[Item]:
    """The items of a source; pictures are read later, one at a time."""
    images = isinstance(model.preprocessing, Preprocessing)
    path = Path(source)
    try:
        if isinstance(model.preprocessing, SequenceScaling):
            return _sequences(source, model.preprocessing)
        if source == STDIN:
            content = sys.stdin.buffer.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise InputError(f"more than {_MOST_BYTES:,} bytes; name the file instead")
            text = _text(content)
            if text is None and images:
                return [Item(source, content=content)]
            if text is None:
                raise InputError("not text; expected rows of numbers as CSV")
            rows = table_rows(
                io.StringIO(text), model.network.inputs, model.class_names, model.feature_names
            )
        elif holds_rows(path) and not path.is_dir():
            rows = read_rows(path, model.network.inputs, model.class_names, model.feature_names)
        elif not images:
            raise InputError(
                f"the model reads rows of {model.preprocessing.inputs} features, not pictures; "
                "expected a .csv, .tsv or .npz file, or - for CSV on standard input"
            )
        elif path.is_dir():
            return [Item(str(file)) for file in _files_below(path, SUFFIXES, "pictures")]
        else:
            return [Item(source)]
    except InputError as error:
        message = str(error)
        prefix = "" if message.startswith(source) else f"{source}: "
        return [Item(source, error=prefix + message)]
    except OSError as error:
        return [Item(source, error=f"{source}: {error.strerror or error}")]
    return [_item(source, number, row) for number, row in enumerate(rows, 1)]


def _sequences(source: str, scaling: SequenceScaling) -> list[Item]:
    """The sequences X (n, T, D) of an .npz file; of models of sounds also WAV files."""
    path = Path(source)
    if scaling.sound is not None and path.suffix.lower() != ".npz":
        files = _files_below(path, WAV_SUFFIXES, "WAV files") if path.is_dir() else [path]
        return [Item(str(file)) for file in files]
    if path.suffix.lower() != ".npz" or path.is_dir():
        sounds = "a WAV file, a folder of them or " if scaling.sound is not None else ""
        raise InputError(
            f"the model reads sequences of {scaling.inputs} channels; expected {sounds}an .npz "
            f"file with X (n, frames, {scaling.inputs})"
        )
    x, labels = read_x(path)
    sequences = checked_sequences(x, scaling.inputs)
    return [
        Item(source, row + 1, values=values, label=labels[row] if labels else None)
        for row, values in enumerate(sequences)
    ]


def _item(source: str, number: int, row: Row) -> Item:
    if row.error is None:
        return Item(source, number, values=row.values, label=row.label)
    return Item(source, number, error=f"{source}: row {number}: {row.error}", label=row.label)


def _text(content: bytes) -> str | None:
    """Standard input as text; None if it is not text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeError:
        return None
    return None if "\0" in text else text


def _files_below(folder: Path, suffixes: tuple[str, ...], what: str) -> list[Path]:
    """All files below a folder, sorted; hidden files and folders are left out."""
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in suffixes
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    if not files:
        raise InputError(f"a folder without {what}; expected {', '.join(suffixes)} files in it")
    return files
