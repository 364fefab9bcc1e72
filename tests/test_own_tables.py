"""A user's own tables: what is read, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from entrain.data import (
    FeatureDataset,
    LabelColumnError,
    load_own,
)
from entrain.data.own import examples
from entrain.utils.errors import InputError
from own_files import (
    LABELS,
    PARTS,
    ROWS,
    npz,
    parts_of,
)


def table(
    delimiter: str = ",",
    header: tuple[str, ...] = ("width", "height", "depth", "label"),
    change: Callable[[list[list[str]]], object] | None = None,
) -> str:
    lines = [list(header)]
    lines += [[*map(repr, row.tolist()), str(label)] for row, label in zip(ROWS, LABELS)]  # noqa: B905
    if change is not None:
        change(lines)
    return "\n".join(delimiter.join(line) for line in lines) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".CSV"])
@pytest.mark.parametrize("prefix", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_tables_are_read(
    tmp_path: Path, delimiter: str, suffix: str, prefix: str, newline: str
) -> None:
    path = tmp_path / f"x{suffix}"
    text = prefix + table(delimiter).replace("\n", newline) + newline
    path.write_text(text, encoding="utf-8", newline="")
    data = load_own(path)
    arrays = load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS))
    assert isinstance(data, FeatureDataset)
    assert data.feature_names == ("width", "height", "depth")
    assert (data.name, data.class_names) == ("x", ("a", "b"))
    for part in PARTS:
        assert np.array_equal(getattr(data, part).features, getattr(arrays, part).features)
        assert np.array_equal(getattr(data, part).labels, getattr(arrays, part).labels)
    assert data.notes == ("labels come from column 'label'",)


QUOTED = '"a,""b"""'


def test_quoted_cells_may_hold_delimiters_and_line_ends(tmp_path: Path) -> None:
    rows = [f'"{i}",{("c", QUOTED)[i % 2]}' for i in range(20)]
    text = "\n".join(['"size; total","la\nbel"', *rows])
    (tmp_path / "x.csv").write_text(text)
    data = load_own(tmp_path / "x.csv")
    assert data.class_names == ('a,"b"', "c")
    assert data.feature_names == ("size; total",)
    assert sorted(parts_of(data)[0][:, 0]) == list(range(20))


@pytest.mark.parametrize(
    ("header", "label", "column", "note"),
    [
        (("label", "b", "c"), None, 0, "column 'label'"),
        (("a", " Class ", "c"), None, 1, "column 'Class'"),
        (("TARGET", "b", "c"), None, 0, "column 'TARGET'"),
        (("a", "y", "c"), None, 1, "column 'y'"),
        (("a", "b", "c"), None, 2, "column 'c', the last one"),
        (("0", "1", "2"), None, 2, "column '2', the last one"),
        (("a", "label", "c"), "a", 0, "column 'a'"),
        (("2010", "2015", "kind"), "kind", 2, "column 'kind'"),
    ],
)
def test_the_label_column_is_named_or_found(
    tmp_path: Path, header: tuple[str, ...], label: str | None, column: int, note: str
) -> None:
    numbers = np.arange(60).reshape(20, 3)
    numbers[:, column] %= 2
    lines = [",".join(header), *(",".join(map(str, row)) for row in numbers)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    data = load_own(tmp_path / "x.csv", label=label)
    assert isinstance(data, FeatureDataset)
    assert data.class_names == ("0", "1")
    assert data.notes == (f"labels come from {note}",)
    left = tuple(name.strip() for i, name in enumerate(header) if i != column)
    assert data.feature_names == left


def cell(line: int, column: int, value: str) -> Callable[[list[list[str]]], object]:
    return lambda lines: lines[line - 1].__setitem__(column, value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 has 0 columns"),
        ("\n", "line 1 has 0 columns"),
        ("just text\nmore\n", "line 1 has 1 columns; .* commas, semicolons or tabs"),
        ("a,label\n", "0 examples; expected at least 10"),
        (table(change=lambda lines: lines.__delitem__(slice(9, None))), "8 examples"),
        (table(change=lambda lines: lines[4].pop()), "line 5 has 3 columns; expected 4"),
        (table(change=lambda lines: lines[4].append("1")), "line 5 has 5 columns; expected 4"),
        (table(change=cell(6, 1, "")), "line 6, column 'height' holds nothing; .* missing"),
        (table(change=cell(6, 1, " ")), "line 6, column 'height' holds nothing"),
        (table(change=cell(6, 0, "tall")), "line 6, column 'width' holds 'tall'; .* number"),
        (table(change=cell(6, 2, "nan")), "line 6, column 'depth' holds 'nan'; expected a finite"),
        (table(change=cell(6, 2, "-inf")), "line 6, column 'depth' holds '-inf'"),
        (table(change=cell(6, 2, "1e999")), "line 6, column 'depth' holds '1e999'"),
        (table(change=cell(6, 2, "1_000")), "line 6, column 'depth' holds '1_000'"),
        (table(change=cell(6, 2, "\x1b[2J")), r"holds '\\x1b\[2J'"),
        (table(";", change=cell(6, 2, "1,5")), "column 'depth' holds '1,5'; .* with a point"),
        (table(change=cell(6, 3, " ")), "line 6: no label in column 'label'"),
        (table(change=cell(6, 2, '"1')), "line 6: .* quotation marks"),
        (table(change=cell(6, 2, '"1"2')), "line 6: .* quotation marks"),
        (table(change=cell(6, 2, '"' + "1" * 200_000)), "line 6: .* quotation marks"),
        (table(change=cell(6, 2, "1\r2")), "line 6"),
        (table(header=("", "b", "c", "label")), "column 1 has no name; .* Remove columns"),
        (table(header=("a", "a", "c", "label")), "the name 'a' comes twice"),
        (table(header=("5.1", "3.5", "1.4", "x")), "column 1 is called '5.1'; expected the names"),
        (table(header=("5", "3", "1", "x")), "line 1 holds numbers, '5, 3, 1'"),
        (table(header=("9" * 5000, "3", "1", "x")), "line 1 holds numbers"),
        (table(header=("a", "y", "c", "label")), "'y' and 'label' may all be labels"),
        (table(header=("a", "b", "label", "c")), "column 'c' holds no number.*from column 'label'"),
        (table(change=lambda lines: [line.reverse() for line in lines[1:]]), "column 'width'"),
        (
            "a,b\n" + "".join(f"{i},{i}\n" for i in range(30)),
            "labels in column 'b', the last one: too few examples",
        ),
        ("a,b\n" + "".join(f"{i},1\n" for i in range(30)), "every label is '1'"),
        ("a,b\n" + "".join(f"1,{i % 2}\n" for i in range(30)), "every feature is constant"),
        (",".join(f"f{i}" for i in range(100_002)) + "\n", "100,001 numbers"),
    ],
    ids=lambda value: value[:40] if re.match("[a-z0-9']", value) and "\n" not in value else "",
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, newline="")
    with pytest.raises(InputError, match=message) as caught:
        load_own(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff\xfe\x00\xd8,\x00", None),
        (b"\x89PNG\r\n\x1a\n", 1),
        (table().replace("width", "höhe").encode("latin-1"), 1),
        ((table() * 50 + "ö").encode("latin-1"), 2051),
        (table(change=cell(30, 3, "ä")).encode("latin-1"), 30),
    ],
)
def test_tables_in_another_encoding_are_refused(
    tmp_path: Path, content: bytes, line: int | None
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    where = f"line {line} is not UTF-8 text; .*iconv -f" if line else "begins as UTF-16 text"
    with pytest.raises(InputError, match=where):
        load_own(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_tables_are_read_whatever_their_byte_order_mark(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(table(header=("höhe", "b", "c", "label")).encode(encoding))
    data = load_own(path)
    assert isinstance(data, FeatureDataset)
    assert data.feature_names[0] == "höhe"
    assert np.array_equal(
        data.train.features, load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS)).train.features
    )


def test_all_bad_cells_are_listed_the_first_ten_in_words(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"

    def spoil(lines: list[list[str]]) -> None:
        lines[3][0], lines[3][2] = "x", ""
        lines[7].pop()
        lines[9][3] = ""

    path.write_text(table(change=spoil))
    with pytest.raises(LabelColumnError) as caught:
        load_own(path)
    for what in (
        "line 4, column 'width' holds 'x'; line 4, column 'depth' holds nothing; ",
        "line 8 has 3 columns; line 10: no label in column 'label'; ",
        "the columns are 'width', 'height', 'depth', 'label'",
    ):
        assert what in str(caught.value)
    path.write_text(table(change=lambda lines: [line.__setitem__(1, "?") for line in lines[1:]]))
    with pytest.raises(
        LabelColumnError, match=r"line 11, .* holds '\?'; and 30 more; expected"
    ) as many:
        load_own(path)
    assert "line 12" not in str(many.value)


def test_a_label_column_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(table())
    with pytest.raises(InputError, match="unknown column 'lable'; did you mean 'label'"):
        load_own(tmp_path / "x.csv", label="lable")
    (tmp_path / "wide.csv").write_text(",".join(f"f{i}" for i in range(50)))
    with pytest.raises(LabelColumnError, match=r"unknown column 'kind'; .* f9 and 20 more"):
        load_own(tmp_path / "wide.csv", label="kind")
    with pytest.raises(InputError, match=r"for \.csv and \.tsv files only"):
        load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS), label="label")
    with pytest.raises(InputError, match=r"for \.csv and \.tsv files only"):
        load_own(tmp_path, label="label")


def test_a_table_too_large_for_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 100)
    monkeypatch.setattr(examples, "LIMIT", 100)
    with pytest.raises(InputError, match="404 bytes; expected at most 100"):
        load_own(path)
    monkeypatch.setattr(examples, "LIMIT", 500)
    with pytest.raises(InputError, match="63 examples of 1 numbers take 504 bytes"):
        load_own(path)
