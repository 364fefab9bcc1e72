"""Rows to classify, from a table or from arrays, with or without labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from entrain.data.own.arrays import read_x
from entrain.data.own.examples import quoted
from entrain.data.own.tables import (
    LABEL_COLUMNS,
    is_table,
    open_table,
    parse_numbers,
    read_cells,
)
from entrain.utils.errors import InputError

_MISSING = ("", "na", "n/a", "nan", "none", "null", "?", "inf", "-inf")
_MOST_ROWS = 1_000_000
_COUNTED = 10  # columns at least, for a first line 0, 1, 2, ... to be a header


def holds_rows(path: Path) -> bool:
    """True for the name of a table or an .npz file."""
    return is_table(path) or path.suffix.lower() == ".npz"


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
        if path.suffix.lower() != ".npz":
            with open_table(path) as file:
                return table_rows(file, width, classes, names)
        x, labels = read_x(path)
        if x.size // len(x) != width:
            raise InputError(f"X has shape {x.shape}; expected rows of {width} numbers")
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    rows = []
    for i, row in enumerate(x.reshape(len(x), -1)):
        bad = row[~np.isfinite(row)]
        fault = f"holds {bad[0]}; expected finite numbers" if len(bad) else None
        rows.append(Row(row, fault, labels[i] if labels else None))
    return rows


def table_rows(
    file: IO[str], width: int, classes: tuple[str, ...], names: Sequence[str] = ()
) -> list[Row]:
    """The rows of a table of `width` columns, or of one more that holds the labels.

    A first line that is not all numbers is a header. With all the `names` of the features in it,
    columns are found by name, in any order and beside others; with some of them, the table is
    refused. Otherwise the order counts. The label column is the one called label, class, target or
    y, or the only one in which every cell is the name of a class: of several, the right one would
    depend on the other rows.
    """
    lines = (row for _, row in read_cells(file) if any(row))
    first = next(lines, None)
    if first is None:
        raise InputError("the table is empty; expected rows of numbers")
    header = first if _is_header(first, width, classes) else []
    columns, by_name = len(first), bool(set(header) & set(names))
    if not by_name and columns not in (width, width + 1):
        raise InputError(
            f"{columns} columns; expected the model's {width} features, in the order of its "
            "training, and at most one column of labels"
        )
    body = list(islice(lines, _MOST_ROWS + 1)) if header else [first, *islice(lines, _MOST_ROWS)]
    if not body:
        raise InputError("no rows below the header; expected rows of numbers")
    if len(body) > _MOST_ROWS:
        raise InputError(f"more than {_MOST_ROWS:,} rows; split the table")
    if by_name:
        if missing := [name for name in names if name not in header]:
            raise InputError(
                f"no column {missing[0]!r}, which the model was trained with; it has "
                f"{', '.join(map(repr, header[:10]))}{', ...' * (len(header) > 10)}"
            )
        features = [header.index(name) for name in names]
        others = [i for i in range(columns) if i not in features]
        label = _label_column(others, header, body, classes)
    else:
        label = None
        if columns > width:
            label = _label_column(range(columns), header, body, classes)
        if label is None and columns > width:
            raise InputError(
                f"{columns} columns, one more than the model's {width} features, and not exactly "
                "one is called label or holds names of its classes only; name it label, or leave "
                "it out"
            )
        features = [i for i in range(columns) if i != label]
    return [_row(row, columns, features, label) for row in body]


def _is_header(row: list[str], width: int, classes: tuple[str, ...]) -> bool:
    """True if the first row holds names and not numbers."""
    words = [cell for cell in row if parse_numbers([cell]) is None]
    named = [word for word in words if word.lower() not in _MISSING]
    if len(named) < len(words) and all(word in classes for word in named):
        return False  # a row with missing values
    if not words:  # numbers of columns, as in tables written without names
        counted = [[str(start + i) for i in range(width)] for start in (0, 1)]
        return width >= _COUNTED and row[:width] in counted
    if len(words) == 1 and len(row) > 1:
        return words[0].lower() in LABEL_COLUMNS and words[0] not in classes
    return 2 * len(words) > len(row)


def _label_column(
    candidates: Iterable[int], header: list[str], body: list[list[str]], classes: tuple[str, ...]
) -> int | None:
    """The candidate called so, or else the only one with the name of a class in every cell."""
    named = [i for i in candidates if header and header[i].lower() in LABEL_COLUMNS]
    if len(named) == 1:
        return named[0]
    rows = [row for row in body if len(row) == len(header or body[0])]
    holding = [i for i in candidates if rows and all(row[i] in classes for row in rows)]
    return holding[0] if len(holding) == 1 else None


def _row(cells: list[str], columns: int, features: list[int], label: int | None) -> Row:
    if len(cells) != columns:
        return Row(None, f"{len(cells)} columns; expected {columns}")
    label_text = None if label is None else cells[label] or None
    numbers = parse_numbers([cells[i] for i in features])
    if numbers is not None:
        return Row(np.array(numbers), None, label_text)
    bad = next(i for i in features if parse_numbers([cells[i]]) is None)
    content = quoted(cells[bad]) if cells[bad] else "nothing"
    return Row(None, f"column {bad + 1} holds {content}; expected a finite number", label_text)
