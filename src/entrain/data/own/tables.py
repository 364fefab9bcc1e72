"""A user's own table: a .csv or .tsv file with a header and a label column."""

from __future__ import annotations

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
    refuse_size,
    safe_name,
    shown,
    whole_split,
)
from entrain.errors import InputError, unknown_name

LABEL_COLUMNS = ("label", "class", "target", "y")


def from_table(path: Path, label: str | None, seed: int) -> FeatureDataset:
    size = path.stat().st_size
    if size > examples.LIMIT:
        raise InputError(
            f"{size:,} bytes; expected at most {examples.LIMIT:,}: leave some rows out"
        )
    if size == 0:
        raise InputError("the file is empty; expected a header line and rows of numbers")
    try:
        delimiter, header = _read_header(path)
        column, note = label_column(header, label)
        values, labels = _read_rows(path, delimiter, header, column, note)
    except UnicodeError as error:
        raise InputError(
            f"line {_undecodable_line(path)} is not UTF-8 text; save the table as CSV in UTF-8"
        ) from error
    names, codes = classes_of(labels, f"labels in {note}", 3)
    rows = np.frombuffer(values, dtype=np.float64).reshape(len(labels), -1)
    features = tuple(name for i, name in enumerate(header) if i != column)
    splits = whole_split(rows, codes, seed)
    notes = (f"labels come from {note}",)
    return feature_dataset(safe_name(path), splits, names, features, notes)


def _read_header(path: Path) -> tuple[str, list[str]]:
    """The delimiter, that which makes the most columns of the first line, and the columns."""
    delimiters = "\t,;" if path.suffix.lower() == ".tsv" else ",;\t"
    headers: dict[str, list[str]] = {}
    for delimiter in delimiters:
        with _open_table(path) as file:
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
        if _is_number(name) and not re.fullmatch("[0-9]+", name):
            raise InputError(f"line 1: column {i + 1} is called {shown(name)}; {expected}")
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(f"line 1: the name {shown(twice[0])} comes twice; {expected}")


def label_column(header: list[str], label: str | None) -> tuple[int, str]:
    """The index of the label column and words for it."""
    if label is not None:
        if label.strip() not in header:
            if len(header) <= 30:
                raise unknown_name("column", label, header)
            raise InputError(f"no column {shown(label)} among the {len(header)} of line 1")
        return header.index(label.strip()), f"column {shown(label.strip())}"
    found = [i for i, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
    if len(found) > 1:
        raise InputError(
            f"the columns {' and '.join(shown(header[i]) for i in found)} may all be labels; "
            "say which is (label), and remove the others unless they are features"
        )
    if found:
        return found[0], f"column {shown(header[found[0]])}"
    numbered = [name for name in header if re.fullmatch("[0-9]+", name)]
    if len(numbered) >= len(header) - 1 and not _consecutive(numbered):
        raise InputError(
            f"line 1 holds numbers, {shown(', '.join(numbered))}; expected the names of the "
            "columns: add a line with names"
        )
    return len(header) - 1, f"column {shown(header[-1])}, the last one"


def _consecutive(names: list[str]) -> bool:
    """Whether the columns are just counted, as where a table had no names of its own."""
    return len(names[0]) < 10 and names == [str(int(names[0]) + i) for i in range(len(names))]


def _read_rows(
    path: Path, delimiter: str, header: list[str], column: int, note: str
) -> tuple[array[float], list[str]]:
    """All features, row after row, and the labels."""
    values: array[float] = array("d")
    labels: list[str] = []
    with _open_table(path) as file:
        reader = _reader(file, delimiter)
        next(reader)
        line = reader.line_num + 1
        try:
            for row in reader:
                if len(row) > 1 or any(map(str.strip, row)):
                    if len(row) != len(header):
                        raise InputError(
                            f"line {line} has {len(row)} columns; expected {len(header)}, as in "
                            "line 1"
                        )
                    labels.append(row.pop(column).strip())
                    if not labels[-1]:
                        raise InputError(f"line {line}: no label in {note}; fill it in")
                    values.extend(_row_numbers(row, line, header, column, note))
                    if len(values) * 8 > examples.LIMIT:
                        refuse_size(len(labels), len(row), 8)
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"line {line}: {error}; check its quotation marks") from error
    return values, labels


def _row_numbers(
    cells: list[str], line: int, header: list[str], column: int, note: str
) -> list[float]:
    try:
        numbers = list(map(float, cells))
        if all(map(math.isfinite, numbers)) and "_" not in "".join(cells):
            return numbers
    except ValueError:
        pass
    names = [name for i, name in enumerate(header) if i != column]
    name, cell = next(
        (name, cell) for name, cell in zip(names, cells, strict=True) if not _is_number(cell)
    )
    found = shown(cell.strip()) if cell.strip() else "nothing"
    way_out = "fill in missing values, remove the row or the column"
    if re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+\s*", cell):
        way_out = "write decimals with a point"
    raise InputError(
        f"line {line}, column {shown(name)} holds {found}; expected a finite number: {way_out} "
        f"(labels come from {note})"
    )


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def _open_table(path: Path) -> IO[str]:
    return open(path, encoding="utf-8-sig", newline="")


def _reader(file: IO[str], delimiter: str) -> Any:
    return csv.reader(file, delimiter=delimiter, strict=True)


def _undecodable_line(path: Path) -> int:
    line = 1
    with open(path, "rb") as file:
        for content in file:
            try:
                content.decode()
            except UnicodeError:
                break
            line += 1
    return line
