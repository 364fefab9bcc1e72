"""Rows to classify, from a table or from arrays, with or without labels."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from entrain.data.own import examples
from entrain.data.own.arrays import read_x
from entrain.data.own.tables import LABEL_COLUMNS, is_number
from entrain.utils.errors import InputError

TABLES = (".csv", ".tsv", ".npz")
_COUNTED = 10  # columns at least, for a first line 0, 1, 2, ... to be a header


@dataclass(frozen=True)
class Row:
    """One row: its numbers (D,) or the reason why it cannot be used, and its label, if any."""

    values: np.ndarray | None
    error: str | None = None
    label: str | None = None


def read_rows(
    path: Path, width: int, classes: tuple[str, ...], names: Sequence[str] = ()
) -> list[Row]:
    """The rows of `width` numbers at `path`: X of an .npz file, or a .csv or .tsv file."""
    try:
        if path.suffix.lower() == ".npz":
            x, y = read_x(path)
            if x.size // len(x) != width:
                raise InputError(f"X has shape {x.shape}; expected rows of {width} numbers")
            labels = [None] * len(x) if y is None else y
            return [
                Row(row, _fault(row), label)
                for row, label in zip(x.reshape(len(x), -1), labels, strict=True)
            ]
        with open(path, encoding="utf-8-sig", newline="") as file:
            return table_rows(file, width, classes, names)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except UnicodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save the table as CSV in UTF-8") from error


def table_rows(
    file: IO[str], width: int, classes: tuple[str, ...], names: Sequence[str] = ()
) -> list[Row]:
    """The rows of a table of `width` columns, or of one more that holds the labels.

    A first line that is not all numbers is a header. With all the `names` of the features in it,
    columns are found by name, in any order and beside others; with some of them, the table is
    refused. Otherwise the order counts, and the label column is the one called label, class,
    target or y, or the one in which every cell is the name of a class.
    """
    content = file.read(examples.LIMIT + 1)
    if len(content) > examples.LIMIT:
        raise InputError(f"more than {examples.LIMIT:,} characters; split the table")
    delimiter = max("\t,;", key=next(iter(content.splitlines()), "").count)
    try:
        cells = [
            [cell.strip() for cell in row]
            for row in csv.reader(
                io.StringIO(content, newline=""), delimiter=delimiter, strict=True
            )
            if any(map(str.strip, row))
        ]
    except csv.Error as error:
        raise InputError(f"{error}; check its quotation marks") from error
    if not cells:
        raise InputError("the table is empty; expected rows of numbers")
    header = _header(cells, width, classes)
    body = cells[1:] if header is not None else cells
    if not body:
        raise InputError("no rows below the header; expected rows of numbers")
    if header is not None and (features := _by_name(header, names)) is not None:
        label = _label_beside(header, body, features, classes)
        columns = features if label is None else [*features, label]
        rows = [[row[i] for i in columns] if len(row) == len(header) else row for row in body]
        return [_row(row, None if label is None else width, width) for row in rows]
    column = _label_column(header, body, width, classes)
    return [_row(row, column, width) for row in body]


def _by_name(header: list[str], names: Sequence[str]) -> list[int] | None:
    """Columns of the features; None if the header has none of their names."""
    if not names or not set(header) & set(names):
        return None
    missing = [name for name in names if name not in header]
    if missing:
        raise InputError(
            f"no column {missing[0]!r}, which the model was trained with; it has "
            f"{', '.join(map(repr, header[:10]))}{', ...' * (len(header) > 10)}"
        )
    return [header.index(name) for name in names]


def _label_beside(
    header: list[str], body: list[list[str]], features: list[int], classes: tuple[str, ...]
) -> int | None:
    """The column of labels beside the features: called so, or with class names in all cells."""
    others = [i for i in range(len(header)) if i not in features]
    named = [i for i in others if header[i].lower() in LABEL_COLUMNS]
    rows = [row for row in body if len(row) == len(header)]
    full = [i for i in others if rows and all(row[i] in classes for row in rows)]
    return next(iter([*named, *full]), None)


def _header(cells: list[list[str]], width: int, classes: tuple[str, ...]) -> list[str] | None:
    """The first line if it holds names and not numbers."""
    first = cells[0]
    words = [cell for cell in first if not is_number(cell)]
    if not words:  # numbers of columns, as in tables written without names
        counted = [[str(start + i) for i in range(width)] for start in (0, 1)]
        return first if width >= _COUNTED and first[:width] in counted else None
    if len(words) == 1 and len(first) > 1:
        names_labels = words[0].lower() in LABEL_COLUMNS and words[0] not in classes
        return first if names_labels else None
    return first if 2 * len(words) > len(first) else None


def _label_column(
    header: list[str] | None, body: list[list[str]], width: int, classes: tuple[str, ...]
) -> int | None:
    columns = len(header if header is not None else body[0])
    if columns == width:
        return None
    if columns != width + 1:
        raise InputError(
            f"{columns} columns; expected the model's {width} features, in the order of its "
            "training, and at most one column of labels"
        )
    if header is not None:
        named = [i for i, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
        if len(named) == 1:
            return named[0]
    rows = [row for row in body if len(row) == columns]
    for i in (columns - 1, 0):
        if rows and all(row[i] in classes for row in rows):
            return i
    raise InputError(
        f"{columns} columns, one more than the model's {width} features, and none is called label "
        "or holds names of its classes only; leave out other columns"
    )


def _row(cells: list[str], column: int | None, width: int) -> Row:
    label = None
    expected = width + (column is not None)
    if len(cells) != expected:
        return Row(None, f"{len(cells)} columns; expected {expected}")
    if column is not None:
        cells = list(cells)
        label = cells.pop(column) or None
    for number, cell in enumerate(cells, 1):
        if not is_number(cell):
            content = repr(cell[:40]) if cell else "nothing"
            return Row(None, f"column {number} holds {content}; expected a finite number", label)
    return Row(np.array(cells, dtype=np.float64), None, label)


def _fault(row: np.ndarray) -> str | None:
    bad = [float(value) for value in row if not math.isfinite(value)]
    return f"holds {bad[0]}; expected finite numbers" if bad else None
