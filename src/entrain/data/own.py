"""A user's own data: arrays (.npz), a table (.csv, .tsv) or a folder of pictures for each class."""

from __future__ import annotations

import csv
import math
import re
import unicodedata
import warnings
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from entrain.data.datasets import CLASS_NAMES, SPLIT_SEED, Dataset, Split
from entrain.data.features import FeatureScaling, checked_rows
from entrain.data.pictures import read_picture
from entrain.errors import InputError, positive_int, seed_number, unknown_name

LIMIT = 4 * 10**9
"""The most bytes the data may take in memory."""

MOST_CLASSES = 1_000
MOST_FEATURES = 100_000
LEAST_ROWS = 10
LABEL_COLUMNS = ("label", "class", "target", "y")

_SHARE = 0.15  # of the examples for validation, and as much for the test
_LONGEST_LABEL = 100
_ARRAYS = ("X", "y", "X_validation", "y_validation", "X_test", "y_test")
_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_LITTER = {"thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class FeatureDataset:
    """Training, validation and test rows of features; `pixels` of a split are its rows (n, D)."""

    name: str
    train: Split
    validation: Split
    test: Split
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def image_shape(self) -> tuple[int, int]:
        """(1, D): a row seen as a picture."""
        return 1, len(self.feature_names)

    @cached_property
    def preprocessing(self) -> FeatureScaling:
        """The constants of the training rows."""
        return FeatureScaling.fit(self.train.pixels)


OwnData = Dataset | FeatureDataset


def load_own(
    path: Path | str,
    *,
    label: str | None = None,
    image_size: int = 28,
    seed: int = SPLIT_SEED,
    on_progress: Callable[[float], None] | None = None,
) -> OwnData:
    """The data at `path`: images as a `Dataset`, features as a `FeatureDataset`.

    - `.npz`: arrays X and y; X numbers (n, D) for features or uint8 (n, rows, columns) for images,
      y whole numbers or strings (n,). X_validation, y_validation, X_test and y_test may be there.
    - `.csv`, `.tsv`: a header line, the column `label` (otherwise one called label, class, target
      or y, otherwise the last), and numbers in all other columns.
    - a folder with a folder of pictures for each class, read as `image_size` x `image_size` pixels;
      `on_progress` gets the fraction read.

    Where no validation or test examples are given, 15 % of each class are taken for either, at
    least one example, by `seed`.
    """
    path = Path(path)
    seed_number("seed", seed)
    with _naming(path):
        if path.is_dir():
            _only_for_tables(label)
            return _from_folder(path, image_size, seed, on_progress)
        suffix = path.suffix.lower()
        if not path.is_file():
            raise InputError("no such file or folder")
        if suffix == ".npz":
            _only_for_tables(label)
            return _from_npz(path, seed)
        if suffix in (".csv", ".tsv"):
            return _from_table(path, label, seed)
    raise InputError(
        f"{path}: the name ends in {suffix!r}; expected .npz, .csv, .tsv "
        "or a folder with a folder of pictures for each class"
    )


def balance(dataset: OwnData) -> dict[str, Any]:
    """`counts` of the examples of each class, all splits together, and `imbalance`, the largest
    by the smallest (none where a class has no examples)."""
    splits = (dataset.train, dataset.validation, dataset.test)
    classes = len(dataset.class_names)
    labels = np.concatenate([split.labels for split in splits])
    counts = np.bincount(labels, minlength=classes).tolist()
    return {
        "counts": dict(zip(dataset.class_names, counts, strict=True)),
        "imbalance": max(counts) / min(counts) if min(counts) else None,
    }


def safe_name(path: Path) -> str:
    """A short name of [a-z0-9_-] for the data at `path`, never that of a dataset of the package."""
    try:
        stem = path.resolve().name if path.is_dir() else path.stem
    except (OSError, RuntimeError):
        stem = path.stem
    plain = unicodedata.normalize("NFKD", stem.casefold()).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9_-]+", "-", plain)[:40].strip("-") or "data"
    return f"{name}-own" if name in CLASS_NAMES else name


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors within name the file or folder they are about."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(str(path)):
            raise
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def _only_for_tables(label: str | None) -> None:
    if label is not None:
        raise InputError(
            f"a label column ({label!r}) can be named for .csv and .tsv files only; leave it out"
        )


# Labels and splits


def _classes(labels: Sequence[str], what: str, needed: int) -> tuple[tuple[str, ...], np.ndarray]:
    """Class names, sorted, and labels as their indices; each class needs `needed` examples."""
    if len(labels) < LEAST_ROWS:
        raise InputError(f"{len(labels)} examples; expected at least {LEAST_ROWS}")
    counts = Counter(labels)
    if len(counts) < 2:
        only = next(iter(counts))
        raise InputError(f"{what}: every label is {_shown(only)}; expected at least 2 classes")
    if len(counts) > MOST_CLASSES:
        raise InputError(
            f"{what}: {len(counts):,} different labels among {len(labels):,} examples; expected at "
            f"most {MOST_CLASSES:,} classes: numbers to predict must be grouped into classes first"
        )
    for name in counts:
        _check_name(name, what)
    small = [f"{name!r} ({count})" for name, count in counts.items() if count < needed]
    if small:
        more = f" and {len(small) - 5} more" if len(small) > 5 else ""
        raise InputError(
            f"{what}: too few examples of {', '.join(small[:5])}{more}; expected at least {needed} "
            "of each class: add some, merge classes or leave the class out"
        )
    names = _sorted(counts)
    return names, _codes(labels, names)


def _codes(labels: Iterable[str], names: Sequence[str]) -> np.ndarray:
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels], dtype=np.int64)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    """By number where all are whole numbers, else by text."""
    names = sorted(names)
    if all(re.fullmatch(r"[+-]?[0-9]+", name) for name in names):
        names.sort(key=int)
    return tuple(names)


def _check_name(name: str, what: str) -> None:
    if not name:
        raise InputError(f"{what}: a label is empty; expected a name or a number")
    if len(name) > _LONGEST_LABEL or not name.isprintable():
        raise InputError(
            f"{what}: the label {_shown(name)} cannot be a class name; expected at most "
            f"{_LONGEST_LABEL} printable characters"
        )


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else f"{text[:40]}...")


def _split(labels: np.ndarray, parts: int, seed: int) -> list[np.ndarray]:
    """Indices of the rest and of `parts` further splits, stratified, each in ascending order.

    A split takes its share of the examples: of each class in proportion, largest remainders
    rounded up, and at least one.
    """
    counts = np.bincount(labels)
    exact = counts * _SHARE
    quota = np.floor(exact).astype(np.int64)
    places = max(0, round(len(labels) * _SHARE) - int(quota.sum()))
    quota[np.argsort(quota - exact, kind="stable")[:places]] += 1
    quota = np.maximum(quota, 1)
    # RandomState, because its stream is frozen for good: the split must never move.
    order = np.random.RandomState(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]  # class by class
    rank = np.empty(len(labels), dtype=np.int64)  # of an example among those of its class
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = np.minimum(rank // quota[labels], parts)
    return [np.flatnonzero(part == each) for each in (parts, *range(parts))]


def _whole_split(x: np.ndarray, y: np.ndarray, seed: int) -> tuple[Split, Split, Split]:
    train, validation, test = (Split(x[rows], y[rows]) for rows in _split(y, 2, seed))
    return train, validation, test


def _features(
    path: Path,
    splits: tuple[Split, Split, Split],
    class_names: tuple[str, ...],
    feature_names: tuple[str, ...],
    notes: tuple[str, ...],
) -> FeatureDataset:
    data = FeatureDataset(safe_name(path), *splits, class_names, feature_names, notes)
    for split in splits[1:]:
        data.preprocessing.check(split.pixels)
    return data


def _images(
    path: Path,
    splits: tuple[Split, Split, Split],
    class_names: tuple[str, ...],
    image_shape: tuple[int, int],
) -> Dataset:
    return Dataset(safe_name(path), *splits, image_shape, 255.0, class_names)


def _refuse_size(count: int, width: int, bytes_each: int) -> None:
    if width > MOST_FEATURES:
        raise InputError(
            f"{width:,} numbers for each example; expected at most {MOST_FEATURES:,}: "
            "choose features, or make images smaller"
        )
    if count * width * bytes_each > LIMIT:
        raise InputError(
            f"{count:,} examples of {width:,} numbers take {count * width * bytes_each:,} bytes; "
            f"expected at most {LIMIT:,}: leave some examples or features out"
        )


# Arrays


def _from_npz(path: Path, seed: int) -> OwnData:
    arrays = _read_npz(path)
    x, labels = arrays["X"], _texts(arrays["y"], "y")
    images = x.ndim == 3
    given = [part for part in ("validation", "test") if f"X_{part}" in arrays]
    names, codes = _classes(labels, "y", 3 - len(given))
    splits = {}
    for part in given:
        rows = arrays[f"X_{part}"]
        if rows.shape[1:] != x.shape[1:]:
            raise InputError(
                f"X_{part} has shape {rows.shape}; expected (n, {', '.join(map(str, x.shape[1:]))})"
                f", as X has shape {x.shape}"
            )
        found = _texts(arrays[f"y_{part}"], f"y_{part}")
        strange = sorted(set(found) - set(names))
        if strange:
            raise InputError(
                f"y_{part} holds the label {_shown(strange[0])}, which y does not; expected the "
                f"classes of y: {', '.join(map(_shown, names[:10]))}{', ...' * (len(names) > 10)}"
            )
        splits[part] = Split(_usable(rows, f"X_{part}"), _codes(found, names))
    x = _usable(x, "X")
    left = [part for part in ("validation", "test") if part not in given]
    for part, index in zip(["train", *left], _split(codes, len(left), seed), strict=True):
        splits[part] = Split(x[index], codes[index])
    three = splits["train"], splits["validation"], splits["test"]
    if images:
        rows, columns = arrays["X"].shape[1:]
        return _images(path, three, names, (rows, columns))
    notes = []
    if arrays["X"].dtype == np.uint8:
        notes.append("X is read as features; save it as (n, rows, columns) if it holds images")
    return _features(path, three, names, tuple(map(str, range(x.shape[1]))), tuple(notes))


def _usable(x: np.ndarray, name: str) -> np.ndarray:
    """Rows (n, D) of X: float64 features, or uint8 images none of which is constant."""
    if x.ndim == 2:
        try:
            return checked_rows(x).astype(np.float64, copy=False)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    pixels = x.reshape(len(x), -1)
    constant = np.flatnonzero(pixels.max(axis=1) == pixels.min(axis=1))
    if len(constant):
        bad = constant[0]
        raise InputError(
            f"{name}: image {bad} (from 0) is constant, every pixel {pixels[bad, 0]}; "
            "it has no content to classify: leave it out"
        )
    return pixels


def _texts(y: np.ndarray, name: str) -> list[str]:
    """Labels as strings."""
    if y.dtype.kind == "f":
        whole = np.isfinite(y) & (np.abs(y) < 2**53)
        whole[whole] = y[whole] == np.rint(y[whole])
        if not whole.all():
            bad = np.flatnonzero(~whole)[0]
            raise InputError(
                f"{name} holds {y[bad]} in row {bad} (from 0); expected whole numbers or strings: "
                "numbers to predict must be grouped into classes first"
            )
        y = y.astype(np.int64)
    try:
        if y.dtype.kind == "S":
            return [text.decode().strip() for text in y.tolist()]
        return [str(value).strip() for value in y.tolist()]
    except (ValueError, SystemError) as error:  # the latter for numbers that are no characters
        raise InputError(f"{name} holds strings that are not text ({error})") from error


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with _zip_errors("not a complete .npz file"), zipfile.ZipFile(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        wanted = _wanted(list(members))
        headers = {}
        for name in wanted:
            with _zip_errors(f"the array {name} is corrupt"), archive.open(members[name]) as file:
                headers[name] = _header(name, file, members[name].file_size)
        _check_shapes(headers)
        arrays = {}
        for name in wanted:
            with _zip_errors(f"the array {name} is corrupt"), archive.open(members[name]) as file:
                arrays[name] = np.asarray(npy.read_array(file, allow_pickle=False))
        return arrays


@contextmanager
def _zip_errors(what: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers in an old style
            yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # broken archives raise many kinds
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(
            f"{what} ({error}); expected one written by numpy.savez: write it again"
        ) from error


def _wanted(found: list[str]) -> list[str]:
    """Those of the arrays to read that are there, X and y among them."""
    listed = ", ".join(_shown(name) for name in sorted(found)[:10]) or "nothing"
    for name in ("X", "y"):
        if name not in found:
            raise InputError(f"no array {name}: it holds {listed}; expected X and y")
    for name in found:
        if name not in _ARRAYS and name.lower().startswith(("x_", "y_")):
            raise InputError(
                f"the array {_shown(name)} has no meaning here; expected {', '.join(_ARRAYS)}: "
                "rename it or leave it out"
            )
    for part in ("validation", "test"):
        pair = [f"X_{part}", f"y_{part}"]
        missing = [name for name in pair if name not in found]
        if len(missing) == 1:
            raise InputError(f"no array {missing[0]}: expected both {pair[0]} and {pair[1]}")
    return [name for name in _ARRAYS if name in found]


def _header(name: str, file: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an array, when they fit the `size` of its file and the limit."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise InputError(f"the array {name} has a format {version}; expected numbers or strings")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, _, dtype = read(file)
    except MemoryError as error:  # of a header nested too deeply
        raise InputError(f"the array {name} has a corrupt header") from error
    if dtype.hasobject:
        raise InputError(
            f"the array {name} holds Python objects; expected numbers or strings: make it one with "
            f"{name}.astype({'str' if name.startswith('y') else 'float'}) before saving"
        )
    declared = math.prod(shape) * dtype.itemsize
    if declared > LIMIT or max(shape, default=0) > LIMIT:
        raise InputError(
            f"the array {name} claims shape {shape} of {dtype}, {declared:,} bytes; expected at "
            f"most {LIMIT:,}"
        )
    if min(shape, default=1) < 0 or declared != size - file.tell():
        raise InputError(
            f"the array {name} claims shape {shape} of {dtype}, {declared:,} bytes, but has "
            f"{size - file.tell():,}; write the file again"
        )
    return shape, dtype


def _check_shapes(headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> None:
    total = 0
    for name, (shape, dtype) in headers.items():
        if name.startswith("y"):
            _check_y(name, shape, dtype)
            rows = headers[name.replace("y", "X", 1)][0]
            if shape[0] != rows[0]:
                raise InputError(
                    f"{name.replace('y', 'X', 1)} has {rows[0]} rows and {name} has {shape[0]} "
                    "labels; expected as many"
                )
            continue
        _check_x(name, shape, dtype)
        each = 1 if len(shape) == 3 else 8
        _refuse_size(shape[0], math.prod(shape[1:]), each)
        total += math.prod(shape) * each
    if total > LIMIT:
        raise InputError(f"the arrays take {total:,} bytes; expected at most {LIMIT:,}")


def _check_x(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    expected = "expected numbers of shape (n, D), or images of uint8 of shape (n, rows, columns)"
    if len(shape) not in (2, 3) or 0 in shape:
        way_out = ": make colours grey first" if len(shape) == 4 else ""
        raise InputError(f"{name} has shape {shape}; {expected}{way_out}")
    if len(shape) == 3 and dtype != np.uint8:
        raise InputError(
            f"{name} has shape {shape} and holds {dtype}; {expected}: scale the images from 0 to "
            "255 and convert them with astype('uint8')"
        )
    if dtype.kind not in "buif":
        raise InputError(f"{name} holds {dtype}; {expected}")


def _check_y(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 1 or shape[0] == 0:
        raise InputError(f"{name} has shape {shape}; expected (n,), one label for each row")
    if dtype.kind not in "buifSU":
        raise InputError(f"{name} holds {dtype}; expected whole numbers or strings")


# Tables


def _from_table(path: Path, label: str | None, seed: int) -> FeatureDataset:
    size = path.stat().st_size
    if size > LIMIT:
        raise InputError(f"{size:,} bytes; expected at most {LIMIT:,}: leave some rows out")
    if size == 0:
        raise InputError("the file is empty; expected a header line and rows of numbers")
    try:
        delimiter, header = _read_header(path)
        column, note = _label_column(header, label)
        values, labels = _read_rows(path, delimiter, header, column, note)
    except UnicodeError as error:
        raise InputError(
            f"line {_undecodable_line(path)} is not UTF-8 text; save the table as CSV in UTF-8"
        ) from error
    names, codes = _classes(labels, f"labels in {note}", 3)
    rows = np.frombuffer(values, dtype=np.float64).reshape(len(labels), -1)
    features = tuple(name for i, name in enumerate(header) if i != column)
    splits = _whole_split(rows, codes, seed)
    return _features(path, splits, names, features, (f"labels come from {note}",))


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
    _refuse_size(0, len(header) - 1, 8)
    for i, name in enumerate(header):
        if not name:
            raise InputError(
                f"line 1: column {i + 1} has no name; {expected}. A column of row numbers must go"
            )
        if _is_number(name) and not re.fullmatch("[0-9]+", name):
            raise InputError(f"line 1: column {i + 1} is called {_shown(name)}; {expected}")
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(f"line 1: the name {_shown(twice[0])} comes twice; {expected}")


def _label_column(header: list[str], label: str | None) -> tuple[int, str]:
    """The index of the label column and words for it."""
    if label is not None:
        if label.strip() not in header:
            if len(header) <= 30:
                raise unknown_name("column", label, header)
            raise InputError(f"no column {_shown(label)} among the {len(header)} of line 1")
        return header.index(label.strip()), f"column {_shown(label.strip())}"
    found = [i for i, name in enumerate(header) if name.lower() in LABEL_COLUMNS]
    if len(found) > 1:
        raise InputError(
            f"the columns {' and '.join(_shown(header[i]) for i in found)} may all be labels; "
            "say which is (label), and remove the others unless they are features"
        )
    if found:
        return found[0], f"column {_shown(header[found[0]])}"
    numbered = [name for name in header if re.fullmatch("[0-9]+", name)]
    if len(numbered) >= len(header) - 1 and not _consecutive(numbered):
        raise InputError(
            f"line 1 holds numbers, {_shown(', '.join(numbered))}; expected the names of the "
            "columns: add a line with names"
        )
    return len(header) - 1, f"column {_shown(header[-1])}, the last one"


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
                    if len(values) * 8 > LIMIT:
                        _refuse_size(len(labels), len(row), 8)
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
    found = _shown(cell.strip()) if cell.strip() else "nothing"
    way_out = "fill in missing values, remove the row or the column"
    if re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+\s*", cell):
        way_out = "write decimals with a point"
    raise InputError(
        f"line {line}, column {_shown(name)} holds {found}; expected a finite number: {way_out} "
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


# Pictures


def _from_folder(
    path: Path, image_size: int, seed: int, on_progress: Callable[[float], None] | None
) -> Dataset:
    side = positive_int("image_size", image_size)
    files = _pictures(path)
    _refuse_size(len(files), side * side, 4)
    names, codes = _classes([file.parent.name.strip() for file in files], "folders", 3)
    pixels = np.empty((len(files), side * side), dtype=np.float32)
    for i, file in enumerate(files):
        pixels[i] = read_picture(file, (side, side), 255.0).reshape(-1)
        if pixels[i].min() == pixels[i].max():
            raise InputError(
                f"{file}: constant when made {side} x {side} pixels: it has no content to "
                "classify; leave it out or raise image_size"
            )
        if on_progress is not None:
            on_progress((i + 1) / len(files))
    return _images(path, _whole_split(pixels, codes, seed), names, (side, side))


def _pictures(path: Path) -> list[Path]:
    """The files of all class folders, in order of their names."""
    root = path.resolve()
    entries = _visible(path)
    folders = [entry for entry in entries if entry.is_dir()]
    loose = [e for e in entries if e.suffix.lower() in _SUFFIXES and e not in folders]
    if loose or len(folders) < 2:
        found = f"{loose[0].name} beside" if loose else f"{len(folders)}"
        raise InputError(
            f"{found} class folders; expected at least two folders, each named after a class and "
            "holding its pictures"
        )
    files = []
    for folder in folders:
        _refuse_outside(folder, root)
        inside = _visible(folder)
        if not inside:
            raise InputError(f"{folder}: no pictures; put some in or remove the folder")
        for file in inside:
            _refuse_outside(file, root)
            if file.is_dir():
                raise InputError(
                    f"{file}: a folder within a class folder; expected pictures only. If {path} "
                    "holds sets of class folders, give one of them"
                )
            files.append(file)
    return files


def _visible(folder: Path) -> list[Path]:
    return sorted(
        entry
        for entry in folder.iterdir()
        if not entry.name.startswith(".") and entry.name.lower() not in _LITTER
    )


def _refuse_outside(entry: Path, root: Path) -> None:
    try:
        inside = not entry.is_symlink() or entry.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError) as error:  # a loop, or nothing there
        raise InputError(f"{entry}: a link that leads nowhere; remove it") from error
    if not inside:
        raise InputError(
            f"{entry}: a link that leads out of the folder is not followed; copy what it leads to"
        )
