"""Lines of numbers, "i j w", parsed in blocks; an error names its line.

Files of 10^7 edges are read in blocks, by NumPy's parser. Only a block that it refuses is parsed
line by line, to find the error.
"""

from __future__ import annotations

import gzip
import io
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entrain.ising.graph import WeightedGraph
from entrain.utils.errors import InputError, short_repr
from entrain.utils.files import MOST_BYTES, open_regular

_EXACT = 2**53  # a larger weight may be an integer that float64 rounds
_BLOCK = 2**22  # bytes of lines parsed at a time
_MOST_EDGES = 2**27
_INTEGERS = np.dtype([("i", np.int64), ("j", np.int64), ("w", np.int64)])
_REALS = np.dtype([("i", np.int64), ("j", np.int64), ("w", np.float64)])

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Lines:
    """Some lines of a file.

    Args:
        first: Number of the first line, from 1.
        text: The lines.
    """

    first: int
    text: bytes


def read_lines(path: Path, on_progress: Progress | None = None) -> Iterator[Lines]:
    """The lines of a text file, gzip or plain, in blocks; the first line comes alone.

    Args:
        path: The file.
        on_progress: Called with the fraction read.
    """
    with open_regular(path, "problem file") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        size = max(1, raw.seek(0, io.SEEK_END))
        raw.seek(0)
        file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        number, rest, total, is_first = 1, b"", 0, True
        try:
            while block := file.read(_BLOCK):
                total += len(block)
                if total > MOST_BYTES:
                    raise InputError(f"{path}: more than {MOST_BYTES:,} bytes of text")
                rest += block
                if is_first and b"\n" in rest:
                    line, _, rest = rest.partition(b"\n")
                    yield Lines(1, line)
                    number, is_first = 2, False
                lines, _, rest = rest.rpartition(b"\n")
                if lines and not is_first:
                    yield Lines(number, lines)
                    number += lines.count(b"\n") + 1
                if on_progress is not None:
                    on_progress(raw.tell() / size)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{path}: a damaged gzip file ({error})") from error
        if rest:
            yield Lines(number, rest)


def parse_edges(path: Path, lines: Lines, default: int | None = 1) -> NDArray[Any]:
    """Rows (i, j, w) of lines "i j w", as a structured array; w is int64 if all are whole.

    Args:
        path: The file, for errors.
        lines: Lines; empty ones, and those that begin with # or c, are skipped.
        default: w of lines "i j"; None if every line needs one.
    """
    for names, dtype in (("ijw", _INTEGERS), ("ijw", _REALS), ("ij", _INTEGERS)):
        if names == "ij" and default is None:
            continue
        columns = np.dtype([(name, dtype[name]) for name in names])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)  # 1.5 as an integer
                warnings.simplefilter("ignore", UserWarning)  # no lines but comments
                table = np.loadtxt(io.BytesIO(lines.text), columns, comments=("#", "c"), ndmin=1)
        except (ValueError, OverflowError, DeprecationWarning):
            continue
        if names == "ij":
            filled = np.empty(len(table), _INTEGERS)
            filled["i"], filled["j"], filled["w"] = table["i"], table["j"], default
            table = filled
        if (np.abs(table["w"]) < _EXACT).all():
            return table
    return _by_line(path, lines, default)


def _by_line(path: Path, lines: Lines, default: int | None) -> NDArray[Any]:
    """As `parse_edges`, one line after the other: for lines of both kinds, and for errors."""
    rows: list[tuple[int, int, int | float]] = []
    for number, line in enumerate(lines.text.split(b"\n"), lines.first):
        words = line.split(b"#")[0].split()
        if not words or words[0] == b"c":
            continue
        where = f"{path}, line {number}"
        expected = '"i j w"' if default is None else '"i j w" or "i j"'
        if len(words) not in ((3,) if default is None else (2, 3)):
            raise InputError(
                f"{where}: expected {expected}, got {len(words)} entries: "
                f"{short_repr(line.decode(errors='replace'))}"
            )
        ends = [_number(where, word, whole=True) for word in words[:2]]
        weight = _number(where, words[2]) if len(words) == 3 else default
        assert weight is not None
        rows.append((int(ends[0]), int(ends[1]), weight))
    are_integers = all(isinstance(row[2], int) for row in rows)
    return np.array(rows, dtype=_INTEGERS if are_integers else _REALS)


def _number(where: str, word: bytes, whole: bool = False) -> int | float:
    text = word.decode(errors="replace")
    try:
        value: int | float = int(text)
        if abs(value) < 2**62:
            return value
        raise InputError(f"{where}: {short_repr(text)} is too large; expected less than 2^62")
    except InputError:
        raise
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"{where}: expected a number, got {short_repr(text)}") from error
    if whole:
        raise InputError(f"{where}: expected a whole number of a node, got {short_repr(text)}")
    if not np.isfinite(value):
        raise InputError(f"{where}: expected a finite number, got {short_repr(text)}")
    return value


@dataclass
class EdgeTable:
    """Edges collected from blocks of lines, with their line numbers for errors.

    Args:
        path: The file.
        nodes: Number of nodes.
        base: Number of the first node in the file.
        loops: True if "i i w" is a linear term.
    """

    path: Path
    nodes: int
    base: int
    loops: bool = False

    def __post_init__(self) -> None:
        self._blocks: list[NDArray[Any]] = []
        self._count = 0

    def add(self, lines: Lines, table: NDArray[Any]) -> None:
        """Add the rows of `parse_edges`, after a check of their ends.

        Args:
            lines: The lines that were parsed.
            table: Their rows.
        """
        low, high = self.base, self.base + self.nodes - 1
        wrong = np.zeros(len(table), dtype=bool)
        for end in ("i", "j"):
            wrong |= (table[end] < low) | (table[end] > high)
        if wrong.any():
            row = table[wrong][0]
            beyond = next(int(row[end]) for end in ("i", "j") if not low <= row[end] <= high)
            raise InputError(
                f"{self._place(lines, wrong)}: node {beyond} is not from {low} to {high}"
            )
        if not self.loops and (wrong := table["i"] == table["j"]).any():
            raise InputError(
                f"{self._place(lines, wrong)}: an edge from node {table['i'][wrong][0]} to itself"
            )
        self._count += len(table)
        if self._count > _MOST_EDGES:
            raise InputError(f"{self.path}: more than {_MOST_EDGES:,} edges")
        self._blocks.append(table)

    @property
    def edges(self) -> int:
        """Number of rows so far."""
        return self._count

    def graph(self) -> tuple[WeightedGraph, NDArray[Any]]:
        """The graph, and the sums of the linear terms (N,)."""
        table = np.concatenate(self._blocks) if self._blocks else np.empty(0, _INTEGERS)
        self._blocks.clear()
        rows, columns, weights = table["i"] - self.base, table["j"] - self.base, table["w"]
        loops = rows == columns
        linear = np.zeros(self.nodes, dtype=weights.dtype)
        np.add.at(linear, rows[loops], weights[loops])
        if loops.any():
            rows, columns, weights = rows[~loops], columns[~loops], weights[~loops]
        self._refuse_repetitions(rows, columns)
        try:
            return WeightedGraph.from_entries(self.nodes, rows, columns, weights), linear
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from error

    def _refuse_repetitions(self, rows: NDArray[Any], columns: NDArray[Any]) -> None:
        keys = np.minimum(rows, columns) * self.nodes + np.maximum(rows, columns)
        ordered = np.sort(keys)
        if (repeated := ordered[1:] == ordered[:-1]).any():
            i, j = divmod(int(ordered[1:][repeated][0]), self.nodes)
            again = [index + 1 for index in np.flatnonzero(keys == i * self.nodes + j)[:2].tolist()]
            raise InputError(
                f"{self.path}: the edge {i + self.base} {j + self.base} is given twice, as edges "
                f"{again[0]:,} and {again[1]:,} of the file; add their weights"
            )

    def _place(self, lines: Lines, wrong: NDArray[np.bool_]) -> str:
        """The file and the line of the first wrong row."""
        position = int(np.flatnonzero(wrong)[0])
        for number, line in enumerate(lines.text.split(b"\n"), lines.first):
            words = line.split(b"#")[0].split()
            if words and words[0] != b"c":
                if position == 0:
                    return f"{self.path}, line {number}"
                position -= 1
        raise AssertionError("a row has a line")
