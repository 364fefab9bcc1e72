"""A user's own table: a .csv or .tsv file with a header and a label column, in UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
import csv
import math
import re
from array import array
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np

from entrain.data.own import examples
from entrain.data.own.examples import (
    FeatureDataset,
    check_size,
    classes_of,
    feature_dataset,
    quoted,
    safe_name,
    three_splits,
)
from entrain.utils.errors import InputError, unknown_name

LABEL_COLUMNS = ("label", "class", "target", "y")
_SHOWN = 10  # bad cells, columns


class LabelColumnError(InputError):
    """A table cannot be used; another label column may help."""


def from_table(path: Path, label: str | None, seed: int) -> FeatureDataset:
    """The rows of a .csv or .tsv file."""
    size = path.stat().st_size
    if size > examples.LIMIT:
        raise InputError(f"{size:,} bytes; expected at most {examples.LIMIT:,}: leave out rows")
    if size == 0:
        raise InputError("the file is empty; expected a header line and rows of numbers")
    encoding = _encoding(path)
    try:
        delimiter, header = _read_header(path, encoding)
        column, note = label_column(header, label)
        values, labels = _read_rows(path, encoding, delimiter, header, column, note)
    except UnicodeError as error:
        raise InputError(_undecodable(path, encoding)) from error
    features = tuple(name for i, name in enumerate(header) if i != column)
    try:
        names, codes = classes_of(labels, f"labels in {note}", 3)
    except InputError as error:
        if len(labels) < examples.LEAST_ROWS:
            raise
        raise LabelColumnError(f"{error} ({_columns(header)})") from error
    rows = np.frombuffer(values, dtype=np.float64).reshape(len(labels), -1)
    splits = three_splits(rows, codes, seed)
    notes = (f"labels come from {note}",)
    return feature_dataset(safe_name(path), splits, names, features, notes)


def _read_header(path: Path, encoding: str) -> tuple[str, list[str]]:
    """The delimiter that splits the first line into the most columns, and their names."""
    headers: dict[str, list[str]] = {}
    for delimiter in "\t,;" if path.suffix.lower() == ".tsv" else ",;\t":
        headers[delimiter] = []
        with open(path, encoding=encoding, newline="") as file, suppress(csv.Error):
            headers[delimiter] = next(csv.reader(file, delimiter=delimiter, strict=True), [])
    delimiter = max(headers, key=lambda delimiter: len(headers[delimiter]))
    header = [name.strip() for name in headers[delimiter]]
    _check_header(header)
    return delimiter, header


def _check_header(header: list[str]) -> None:
    expected = "expected the names of the columns, separated by commas, semicolons or tabs"
    if len(header) < 2:
        raise InputError(f"line 1 has {len(header)} columns; {expected}: features and a label")
    check_size(0, len(header) - 1, 8)
    for i, name in enumerate(header):
        if not name:
            raise InputError(
                f"line 1: column {i + 1} has no name; {expected}. Remove columns of row numbers"
            )
        if is_number(name) and not re.fullmatch("[0-9]+", name):
            raise InputError(f"line 1: column {i + 1} is called {quoted(name)}; {expected}")
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(f"line 1: the name {quoted(twice[0])} comes twice; {expected}")


def label_column(header: list[str], label: str | None) -> tuple[int, str]:
    """The index of the label column and a description of it."""
    if label is not None:
        if label.strip() not in header:
            if len(header) <= 30:
                raise LabelColumnError(str(unknown_name("column", label, header)))
            raise LabelColumnError(
                f"no column {quoted(label)} among the {len(header)} of line 1; {_columns(header)}"
            )
        return header.index(label.strip()), f"column {quoted(label.strip())}"
    candidates = [i for i, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
    if len(candidates) > 1:
        raise LabelColumnError(
            f"the columns {' and '.join(quoted(header[i]) for i in candidates)} may all be labels; "
            "name one (label), and remove the others unless they are features"
        )
    if candidates:
        return candidates[0], f"column {quoted(header[candidates[0]])}"
    numbered = [name for name in header if re.fullmatch("[0-9]+", name)]
    if len(numbered) >= len(header) - 1 and not _consecutive(numbered):
        raise InputError(
            f"line 1 holds numbers, {quoted(', '.join(numbered))}; expected the names of the "
            "columns: add a line with names"
        )
    return len(header) - 1, f"column {quoted(header[-1])}, the last one"


def _consecutive(names: list[str]) -> bool:
    """True if the names count the columns, as in tables written without names."""
    return len(names[0]) < 10 and names == [str(int(names[0]) + i) for i in range(len(names))]


def _read_rows(
    path: Path, encoding: str, delimiter: str, header: list[str], column: int, note: str
) -> tuple[array[float], list[str]]:
    """All features, row by row, and the labels."""
    values: array[float] = array("d")
    labels: list[str] = []
    names = [name for i, name in enumerate(header) if i != column]
    bad = _BadCells()
    with open(path, encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        next(reader)
        line = reader.line_num + 1
        try:
            for row in reader:
                if len(row) > 1 or any(map(str.strip, row)):
                    if len(row) != len(header):
                        expected = f"expected {len(header)}, as in line 1"
                        bad.add(f"line {line} has {len(row)} columns", expected)
                    else:
                        labels.append(row.pop(column).strip())
                        if not labels[-1]:
                            bad.add(f"line {line}: no label in {note}", "fill it in")
                        values.extend(_row_numbers(row, line, names, bad))
                    if len(values) * 8 > examples.LIMIT:
                        check_size(len(labels), len(row), 8)
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"line {line}: {error}; check its quotation marks") from error
    if bad.count:
        raise LabelColumnError(f"{bad} (labels come from {note}; {_columns(header)})")
    return values, labels


class _BadCells:
    """Faults in the rows of a table: the first ones in words, and their number."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[str] = []
        self._remedies: dict[str, None] = {}

    def add(self, fault: str, remedy: str) -> None:
        self.count += 1
        self._remedies[remedy] = None
        if len(self._first) < _SHOWN:
            self._first.append(fault)

    def __str__(self) -> str:
        rest = [f"and {self.count - _SHOWN} more"] if self.count > _SHOWN else []
        return "; ".join([*self._first, *rest, *self._remedies])


def _row_numbers(cells: list[str], line: int, names: list[str], bad: _BadCells) -> list[float]:
    """The numbers of a row; cells that hold no number are added to `bad`."""
    try:
        numbers = list(map(float, cells))
        if all(map(math.isfinite, numbers)) and "_" not in "".join(cells):
            return numbers
    except ValueError:
        pass
    for name, cell in zip(names, cells, strict=True):
        if not is_number(cell):
            content = quoted(cell.strip()) if cell.strip() else "nothing"
            remedy = "fill in missing values, remove the row or the column"
            if re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+\s*", cell):
                remedy = "write decimals with a point"
            fault = f"line {line}, column {quoted(name)} holds {content}"
            bad.add(fault, f"expected a finite number: {remedy}")
    return []


def is_number(cell: str) -> bool:
    """True if a cell holds a finite number."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def _columns(header: list[str]) -> str:
    """The first columns, for errors."""
    rest = f" and {len(header) - _SHOWN} more" if len(header) > _SHOWN else ""
    return f"the columns are {', '.join(map(quoted, header[:_SHOWN]))}{rest}"


def _encoding(path: Path) -> str:
    """UTF-16 if the file begins with its byte order mark, else UTF-8."""
    with open(path, "rb") as file:
        mark = file.read(2)
    return "utf-16" if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _undecodable(path: Path, encoding: str) -> str:
    """The line of a table that is not text in `encoding`, and how to convert it."""
    if encoding == "utf-16":
        return "begins as UTF-16 text but is not; save the table as CSV in UTF-8"
    with open(path, "rb") as file:
        for line, content in enumerate(file, 1):
            try:
                content.decode()
            except UnicodeDecodeError as error:
                return (
                    f"line {line} is not UTF-8 text (byte 0x{content[error.start]:02x}); save the "
                    "table as CSV in UTF-8, or convert it, from Windows-1252 say: "
                    "iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
                )
    return "is not UTF-8 text"
