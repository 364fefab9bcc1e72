"""A user's own table: a .csv or .tsv file with a header and a label column, in UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
import csv
import gzip
import math
import re
import tempfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import IO, BinaryIO, cast

import numpy as np

from entrain.data.own import examples
from entrain.data.own.examples import (
    FeatureDataset,
    check_size,
    feature_dataset,
    quoted,
    safe_name,
    three_splits,
    warn_many_integers,
)
from entrain.data.own.fast_table import read_plain
from entrain.data.own.targets import Targets, are_numbers
from entrain.utils.errors import InputError, unknown_name
from entrain.utils.files import open_regular

LABEL_COLUMNS = ("label", "class", "target", "y")
_SHOWN = 10  # bad cells, columns


class LabelColumnError(InputError):
    """A table cannot be used; another label column may help."""


def from_table(path: Path, label: str | None, seed: int, kind: str | None = None) -> FeatureDataset:
    """The rows of a .csv or .tsv file."""
    if kind == "sequence":
        raise InputError("a table holds rows, not sequences; give arrays, .npz, .ts or .wav files")
    with open_table(path) as file:
        lines = read_cells(file)
        _, header = next(lines, (1, []))
        _check_header(header)
        column, note = label_column(header, label)
        plain = read_plain(cast(BinaryIO, file.buffer), delimiter_of(file), len(header), column)
        if plain is None:
            values, labels = _read_rows(read_cells(file, header=False), header, column, note)
            rows = np.frombuffer(values, dtype=np.float64).reshape(len(labels), len(header) - 1)
        else:
            rows, labels = plain
            check_size(len(rows), rows.shape[1], 8)
    features = tuple(name for i, name in enumerate(header) if i != column)
    try:
        y = _numbers_or_texts(labels, kind, note)
        targets = Targets(y, f"labels in {note}", kind, 3, [header[column]])
        if y.dtype.kind != "f":
            warn_many_integers(targets.names)
    except InputError as error:
        if len(labels) < examples.LEAST_ROWS:
            raise
        raise LabelColumnError(f"{error} ({_columns(header)})") from error
    splits = three_splits(rows, targets.values, seed)
    task = targets.task(splits[0].targets)
    what = "labels" if targets.have_classes else "numbers to predict"
    notes = (f"{what} come from {note}", *targets.notes)
    return feature_dataset(safe_name(path), splits, task, features, notes)


def _numbers_or_texts(labels: list[str], kind: str | None, note: str) -> np.ndarray:
    """Labels as texts, or as float64 if they are numbers to predict."""
    if kind == "classification":
        return np.array(labels)
    numbers = np.full(len(labels), np.nan)
    for row, text in enumerate(labels):
        values = parse_numbers([text])
        if values is None:
            if kind == "regression":
                raise InputError(
                    f"the target in {note} is {quoted(text)} in row {row} (from 0); expected a "
                    "finite number"
                )
            return np.array(labels)
        numbers[row] = values[0]
    return numbers if are_numbers(numbers, kind) else np.array(labels)


@contextmanager
def open_table(path: Path) -> Iterator[TextIOWrapper]:
    """The text of a table: UTF-16 if it begins with its byte order mark, else UTF-8."""
    utf16 = False
    try:
        with _unpacked(path) as file:
            utf16 = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            file.seek(0)
            with TextIOWrapper(file, "utf-16" if utf16 else "utf-8-sig", newline="") as text:
                yield text
    except UnicodeError as error:
        if utf16:
            raise InputError(
                "begins as UTF-16 text but is not; save the table as CSV in UTF-8"
            ) from error
        raise InputError(
            f"line {_first_bad_line(path)} is not UTF-8 text; save the table as CSV in UTF-8, "
            "or convert it, from Windows-1252 say: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        ) from error


def _first_bad_line(path: Path) -> int:
    """The first line, from 1, that is not UTF-8 text."""
    with _unpacked(path) as file:
        valid = (row.decode(errors="ignore").encode() == row for row in file)
        return next((i for i, is_utf8 in enumerate(valid, 1) if not is_utf8), 1)


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, those in it if its name ends in .gz."""
    with open_regular(path, "table", examples.LIMIT) as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with tempfile.TemporaryFile() as unpacked:
            try:
                with gzip.open(file) as packed:
                    while chunk := packed.read(2**20):
                        if unpacked.tell() > examples.LIMIT:
                            break  # refused by read_cells
                        unpacked.write(chunk)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise InputError(f"is not a complete gzip file ({error})") from error
            unpacked.seek(0)
            yield unpacked


def is_table(path: Path) -> bool:
    """True for the name of a .csv or .tsv file, which may be compressed (.gz)."""
    return path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def delimiter_of(file: IO[str]) -> str:
    """The tab, comma or semicolon that splits the first row into the most columns."""
    columns = dict.fromkeys("\t,;", 0)
    for delimiter in columns:
        file.seek(0)
        with suppress(csv.Error):
            columns[delimiter] = len(next(csv.reader(file, delimiter=delimiter, strict=True), ()))
    return max(columns, key=columns.__getitem__)


def read_cells(file: IO[str], header: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Line number and stripped cells of each row; from the second row on without a `header`."""
    size = file.seek(0, 2)
    if size > examples.LIMIT:
        raise InputError(f"{size:,} bytes; expected at most {examples.LIMIT:,}: leave out rows")
    delimiter = delimiter_of(file)
    file.seek(0)
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if header or line > 1:
                yield line, [cell.strip() for cell in row]
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"line {line}: {error}; check its quotation marks") from error


def parse_numbers(cells: list[str]) -> list[float] | None:
    """The numbers of the cells; None unless all of them hold finite ones."""
    try:
        numbers = list(map(float, cells))
    except ValueError:
        return None
    return numbers if all(map(math.isfinite, numbers)) and "_" not in "".join(cells) else None


def _check_header(header: list[str]) -> None:
    expected = "expected the names of the columns, separated by commas, semicolons or tabs"
    if len(header) < 2:
        raise InputError(f"line 1 has {len(header)} columns; {expected}: features and a label")
    check_size(0, len(header) - 1, 8)
    for i, name in enumerate(header, 1):
        if not name:
            raise InputError(
                f"line 1: column {i} has no name; {expected}. Remove columns of row numbers"
            )
        if parse_numbers([name]) and not re.fullmatch("[0-9]+", name):
            raise InputError(f"line 1: column {i} is called {quoted(name)}; {expected}")
    name, count = Counter(header).most_common(1)[0]
    if count > 1:
        raise InputError(f"line 1: the name {quoted(name)} comes twice; {expected}")


def label_column(header: list[str], label: str | None) -> tuple[int, str]:
    """The index of the label column and a description of it."""
    if label is not None:
        label = label.strip()
        if label not in header:
            more = f" and {len(header) - 30} more" if len(header) > 30 else ""
            raise LabelColumnError(f"{unknown_name('column', label, header[:30])}{more}")
        return header.index(label), f"column {quoted(label)}"
    candidates = [i for i, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
    if len(candidates) > 1:
        raise LabelColumnError(
            f"the columns {' and '.join(quoted(header[i]) for i in candidates)} may all be labels; "
            "name one (label), and remove the others unless they are features"
        )
    if candidates:
        return candidates[0], f"column {quoted(header[candidates[0]])}"
    numbered = [name for name in header if re.fullmatch("[0-9]+", name)]
    if len(numbered) >= len(header) - 1:
        start = int(numbered[0][:9])  # names may count the columns
        if numbered != [str(start + i) for i in range(len(numbered))]:
            raise InputError(
                f"line 1 holds numbers, {quoted(', '.join(numbered))}; expected the names of the "
                "columns: add a line with names"
            )
    return len(header) - 1, f"column {quoted(header[-1])}, the last one"


def _read_rows(
    lines: Iterator[tuple[int, list[str]]], header: list[str], column: int, note: str
) -> tuple[array[float], list[str]]:
    """All features, row by row, and the labels."""
    values: array[float] = array("d")
    labels: list[str] = []
    faults: list[str] = []
    remedies: Counter[str] = Counter()
    not_numbers: Counter[str] = Counter()
    rows_with_faults = 0
    for line, row in lines:
        if len(row) < 2 and not any(row):
            continue
        complete = len(row) == len(header) and row[column]
        numbers = parse_numbers(row[:column] + row[column + 1 :]) if complete else None
        if numbers is not None:
            labels.append(row[column])
            values.extend(numbers)
            if len(values) * 8 > examples.LIMIT:
                check_size(len(labels), len(numbers), 8)
            continue
        for fault, remedy, name in _faults(row, header, column):
            remedies[remedy] += 1
            not_numbers[name] += 1
            if len(faults) < _SHOWN:
                faults.append(f"line {line}{fault}")
        rows_with_faults += 1
    text = [name for name, count in not_numbers.items() if name and count == rows_with_faults]
    if text and not labels:
        raise LabelColumnError(
            f"column {quoted(text[0])} holds no number in any row; leave it out, or encode its "
            f"values as numbers, with pandas.get_dummies(table, columns=[{text[0]!r}]) say (labels "
            f"come from {note}; {_columns(header)})"
        )
    if faults:
        more = remedies.total() - len(faults)
        message = "; ".join([*faults, *([f"and {more} more"] if more else []), *remedies])
        raise LabelColumnError(f"{message} (labels come from {note}; {_columns(header)})")
    return values, labels


def _faults(row: list[str], header: list[str], column: int) -> Iterator[tuple[str, str, str]]:
    """Faults of a row that cannot be used, remedies, and columns without a number."""
    if len(row) != len(header):
        yield f" has {len(row)} columns", f"expected {len(header)}, as in line 1", ""
        return
    for i, (name, cell) in enumerate(zip(header, row, strict=True)):
        if i == column and not cell:
            yield f": no label in column {quoted(name)}", "fill it in", ""
        if i != column and parse_numbers([cell]) is None:
            remedy = "fill in missing values, remove the row or the column"
            if re.fullmatch("[+-]?[0-9]+,[0-9]+", cell):
                remedy = "write decimals with a point"
            content = quoted(cell) if cell else "nothing"
            fault = f", column {quoted(name)} holds {content}"
            yield (
                fault,
                f"expected a finite number: {remedy}",
                name if any(map(str.isalpha, cell)) else "",
            )


def _columns(header: list[str]) -> str:
    """The first columns, for errors."""
    rest = f" and {len(header) - _SHOWN} more" if len(header) > _SHOWN else ""
    return f"the columns are {', '.join(map(quoted, header[:_SHOWN]))}{rest}"
