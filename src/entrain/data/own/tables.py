"""A user's own table: a .csv or .tsv file with a header and a label column, in UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
import csv
import math
import re
from array import array
from collections import Counter
from pathlib import Path
from typing import IO, Any

import numpy as np

from entrain.data.own import examples
from entrain.data.own.examples import (
    FeatureDataset,
    classes_of,
    feature_dataset,
    quoted,
    refuse_size,
    safe_name,
    whole_split,
)
from entrain.utils.errors import InputError, unknown_name

LABEL_COLUMNS = ("label", "class", "target", "y")
SHOWN = 10  # bad cells, columns


class LabelColumnError(InputError):
    """A table cannot be used, and naming another label column may mend it."""


def from_table(path: Path, label: str | None, seed: int) -> FeatureDataset:
    size = path.stat().st_size
    if size > examples.LIMIT:
        raise InputError(
            f"{size:,} bytes; expected at most {examples.LIMIT:,}: leave some rows out"
        )
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
    splits = whole_split(rows, codes, seed)
    notes = (f"labels come from {note}",)
    return feature_dataset(safe_name(path), splits, names, features, notes)


def _read_header(path: Path, encoding: str) -> tuple[str, list[str]]:
    """The delimiter, that which makes the most columns of the first line, and the columns."""
    delimiters = "\t,;" if path.suffix.lower() == ".tsv" else ",;\t"
    headers: dict[str, list[str]] = {}
    for delimiter in delimiters:
        with _open_table(path, encoding) as file:
            try:
                headers[delimiter] = next(_reader(file, delimiter), [])
            except csv.Error:
                headers[delimiter] = []
    delimiter = max(delimiters, key=lambda each: len(headers[each]))
    header = [name.strip() for name in headers[delimiter]]
    _check_header(header)
    return delimiter, header


def _check_header(header: list[str]) -> None:
    expected = "expected the names of the columns, separated by commas, semicolons or tabs"
    if len(header) < 2:
        raise InputError(f"line 1 has {len(header)} columns; {expected}: features and a label")
    refuse_size(0, len(header) - 1, 8)
    for i, name in enumerate(header):
        if not name:
            raise InputError(
                f"line 1: column {i + 1} has no name; {expected}. A column of row numbers must go"
            )
        if is_number(name) and not re.fullmatch("[0-9]+", name):
            raise InputError(f"line 1: column {i + 1} is called {quoted(name)}; {expected}")
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(f"line 1: the name {quoted(twice[0])} comes twice; {expected}")


def label_column(header: list[str], label: str | None) -> tuple[int, str]:
    """The index of the label column and words for it."""
    if label is not None:
        if label.strip() not in header:
            if len(header) <= 30:
                raise LabelColumnError(str(unknown_name("column", label, header)))
            raise LabelColumnError(
                f"no column {quoted(label)} among the {len(header)} of line 1; {_columns(header)}"
            )
        return header.index(label.strip()), f"column {quoted(label.strip())}"
    found = [i for i, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
    if len(found) > 1:
        raise LabelColumnError(
            f"the columns {' and '.join(quoted(header[i]) for i in found)} may all be labels; "
            "say which is (label), and remove the others unless they are features"
        )
    if found:
        return found[0], f"column {quoted(header[found[0]])}"
    numbered = [name for name in header if re.fullmatch("[0-9]+", name)]
    if len(numbered) >= len(header) - 1 and not _consecutive(numbered):
        raise InputError(
            f"line 1 holds numbers, {quoted(', '.join(numbered))}; expected the names of the "
            "columns: add a line with names"
        )
    return len(header) - 1, f"column {quoted(header[-1])}, the last one"


def _consecutive(names: list[str]) -> bool:
    """Whether the columns are just counted, as where a table had no names of its own."""
    return len(names[0]) < 10 and names == [str(int(names[0]) + i) for i in range(len(names))]


def _read_rows(
    path: Path, encoding: str, delimiter: str, header: list[str], column: int, note: str
) -> tuple[array[float], list[str]]:
    """All features, row after row, and the labels."""
    values: array[float] = array("d")
    labels: list[str] = []
    names = [name for i, name in enumerate(header) if i != column]
    bad = _BadCells()
    with _open_table(path, encoding) as file:
        reader = _reader(file, delimiter)
        next(reader)
        line = reader.line_num + 1
        try:
            for row in reader:
                if len(row) > 1 or any(map(str.strip, row)):
                    if len(row) != len(header):
                        wanted = f"expected {len(header)}, as in line 1"
                        bad.add(f"line {line} has {len(row)} columns", wanted)
                    else:
                        labels.append(row.pop(column).strip())
                        if not labels[-1]:
                            bad.add(f"line {line}: no label in {note}", "fill it in")
                        values.extend(_row_numbers(row, line, names, bad))
                    if len(values) * 8 > examples.LIMIT:
                        refuse_size(len(labels), len(row), 8)
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"line {line}: {error}; check its quotation marks") from error
    if bad.count:
        raise LabelColumnError(f"{bad} (labels come from {note}; {_columns(header)})")
    return values, labels


class _BadCells:
    """What cannot be used in the rows of a table: the first of it in words, the rest counted."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[str] = []
        self._ways_out: dict[str, None] = {}

    def add(self, what: str, way_out: str) -> None:
        self.count += 1
        self._ways_out[way_out] = None
        if len(self._first) < SHOWN:
            self._first.append(what)

    def __str__(self) -> str:
        rest = [f"and {self.count - SHOWN} more"] if self.count > SHOWN else []
        return "; ".join([*self._first, *rest, *self._ways_out])


def _row_numbers(cells: list[str], line: int, names: list[str], bad: _BadCells) -> list[float]:
    """The numbers of a row; what is none is added to `bad`."""
    try:
        numbers = list(map(float, cells))
        if all(map(math.isfinite, numbers)) and "_" not in "".join(cells):
            return numbers
    except ValueError:
        pass
    for name, cell in zip(names, cells, strict=True):
        if not is_number(cell):
            found = quoted(cell.strip()) if cell.strip() else "nothing"
            way_out = "fill in missing values, remove the row or the column"
            if re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+\s*", cell):
                way_out = "write decimals with a point"
            where = f"line {line}, column {quoted(name)} holds {found}"
            bad.add(where, f"expected a finite number: {way_out}")
    return []


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def _columns(header: list[str]) -> str:
    """The columns in words."""
    rest = f" and {len(header) - SHOWN} more" if len(header) > SHOWN else ""
    return f"the columns are {', '.join(map(quoted, header[:SHOWN]))}{rest}"


def _encoding(path: Path) -> str:
    """UTF-16 where the file begins with its byte order mark, else UTF-8."""
    with open(path, "rb") as file:
        mark = file.read(2)
    return "utf-16" if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _open_table(path: Path, encoding: str) -> IO[str]:
    return open(path, encoding=encoding, newline="")


def _reader(file: IO[str], delimiter: str) -> Any:
    return csv.reader(file, delimiter=delimiter, strict=True)


def _undecodable(path: Path, encoding: str) -> str:
    """Where a table is not text in `encoding`, and how to convert it."""
    if encoding == "utf-16":
        return "begins as UTF-16 text but is none; save the table as CSV in UTF-8"
    line, byte = 1, b""
    with open(path, "rb") as file:
        for content in file:
            try:
                content.decode()
            except UnicodeDecodeError as error:
                byte = content[error.start : error.start + 1]
                break
            line += 1
    return (
        f"line {line} is not UTF-8 text (byte 0x{byte.hex()}); save the table as CSV in UTF-8, or "
        "convert it, from Windows-1252 say: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
    )
