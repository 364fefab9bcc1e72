"""Tables that pandas reads are those that the slow reader reads, compressed or not."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrain.data import Dataset, load_own
from entrain.data.own import tables
from entrain.utils.errors import InputError
from own_files import parts_of

LINES = [f"{i}.5,{i * i},{'uv'[i % 2]}" for i in range(40)]


def outcome(file: Path, monkeypatch: pytest.MonkeyPatch, *, slow: bool) -> Dataset | str:
    with monkeypatch.context() as patched:
        if slow:
            patched.setattr(tables, "read_plain", lambda *arguments: None)
        try:
            return load_own(file)
        except InputError as error:
            return str(error)


def same_outcome(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = (outcome(file, monkeypatch, slow=slow) for slow in (False, True))
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        return
    assert (fast.class_names, fast.notes) == (slow.class_names, slow.notes)
    assert all(map(np.array_equal, parts_of(fast), parts_of(slow)))


ODD = ["nan", "", "1_0", " 7 ", "0x1", "1,2", "inf", '"3"', "True", "1e5", "+2", ".5", "1e400", "٣"]


@pytest.mark.parametrize("cell", ODD)
@pytest.mark.parametrize("column", [0, 1, 2])
def test_odd_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, column: int) -> None:
    cells = LINES[7].split(",")
    cells[column] = cell
    lines = [*LINES[:7], ",".join(cells), *LINES[8:]]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,label", *lines, ""]))
    same_outcome(tmp_path / "x.csv", monkeypatch)


@pytest.mark.parametrize("line", ["1,2", "1,2,u,", "1,2,u,4", ",,", " ", "", "1,2,", '1,2,"u"v'])
def test_odd_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    for end in ("\n", "\r\n"):
        (tmp_path / "x.csv").write_text(end.join(["a,b,label", *LINES[:9], line, *LINES[9:], ""]))
        same_outcome(tmp_path / "x.csv", monkeypatch)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=40, max_size=40))
def test_numbers_have_the_same_bits(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    file = tmp_path_factory.mktemp("table") / "x.csv"
    lines = [f"{value!r},{i},{'uv'[i % 2]}" for i, value in enumerate(values)]
    file.write_text("\n".join(["a,b,label", *lines]))
    assert sorted(parts_of(load_own(file))[0][:, 0]) == sorted(values)


def test_a_compressed_table_is_the_table(tmp_path: Path) -> None:
    text = "\n".join(["a,b,label", *LINES]).encode()
    (tmp_path / "x.csv").write_bytes(text)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(text))
    plain, packed = load_own(tmp_path / "x.csv"), load_own(tmp_path / "x.csv.gz")
    assert packed.name == plain.name == "x"
    assert all(map(np.array_equal, parts_of(plain), parts_of(packed)))
    for damaged in (gzip.compress(text)[:-9], b"\x1f\x8bgarbage", text):
        (tmp_path / "x.csv.gz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"x\.csv\.gz: is not a complete gzip file"):
            load_own(tmp_path / "x.csv.gz")
