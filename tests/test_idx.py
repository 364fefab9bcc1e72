"""Facts about the idx format."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from entrain.data import idx
from entrain.data.idx import parse_idx, read_idx_bytes
from entrain.utils.errors import InputError
from source_folders import ZIPPED, encode


@given(arrays(np.uint8, array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)))
def test_parse_idx_gives_back_what_was_encoded(array: NDArray[np.uint8]) -> None:
    parsed = parse_idx(encode(array), "a-file")
    assert parsed.dtype == np.uint8
    assert parsed.shape == array.shape
    assert parsed.flags.writeable
    np.testing.assert_array_equal(parsed, array)


@given(st.binary(max_size=40))
def test_parse_idx_of_any_bytes_is_an_array_or_an_input_error(content: bytes) -> None:
    try:
        assert encode(parse_idx(content, "a-file")) == content
    except InputError as error:
        assert str(error).startswith("a-file: ")  # noqa: PT017 (either way is right)


@given(array_shapes(min_dims=1, max_dims=3), st.data())
def test_parse_idx_refuses_every_truncation(shape: tuple[int, ...], data: st.DataObject) -> None:
    content = encode(np.ones(shape, np.uint8))
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(InputError, match=r"^a-file: "):
        parse_idx(content[:cut], "a-file")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with the bytes '', expected 00000801 or"),
        (b"\x00\x01\x08\x01" + bytes(4), "begins with the bytes '00010801'"),
        (b"\x00\x00\x0d\x01" + bytes(4), "begins with the bytes '00000d01'"),
        (b"\x00\x00\x08\x00", "begins with the bytes '00000800'"),
        (
            b"\x00\x00\x08\x04" + bytes(16),
            "1 to 3 dimensions: .* '00000804'",
        ),
        (b"\x00\x00\x08\x03" + bytes(11), "15 bytes, expected at least 16"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x02abc", r"11 bytes, expected 10 .* shape \(2,\)"),
        (b"\x00\x00\x08\x03" + b"\xff" * 12 + b"x", r"17 bytes, expected \d{29} "),
        (b"\x00\x00\x08\x03" + bytes(4) + b"\xff" * 8, "too large"),
    ],
)
def test_parse_idx_says_what_is_wrong(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"^a-file: .*{message}"):
        parse_idx(content, "a-file")


def test_read_idx_bytes_tells_gzip_by_its_content(tmp_path: Path) -> None:
    content = encode(np.arange(6, dtype=np.uint8))
    (tmp_path / "zipped").write_bytes(gzip.compress(content))
    (tmp_path / "plain.gz").write_bytes(content)
    assert read_idx_bytes(tmp_path / "zipped") == content
    assert read_idx_bytes(tmp_path / "plain.gz") == content


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (ZIPPED[:-9], "cut off"),
        (ZIPPED[:2], "cut off"),
        (ZIPPED[:10] + b"\xff" + ZIPPED[11:], "corrupt"),
        (ZIPPED[:60] + bytes(20) + ZIPPED[80:], "corrupt"),
        (ZIPPED[:-8] + bytes(4) + ZIPPED[-4:], "corrupt"),
        (ZIPPED + b"rest", "corrupt"),
    ],
)
def test_a_broken_gzip_file_is_named(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "broken.gz"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=rf"broken\.gz: .*{message}"):
        read_idx_bytes(path)


def test_content_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.gz"
    # A cut end shows that the rest is not decompressed: it would be reported instead.
    bomb.write_bytes(gzip.compress(bytes(idx.LIMIT + 2**20), 1)[:-9])
    with pytest.raises(InputError, match=r"bomb\.gz: holds more than 67108864 bytes"):
        read_idx_bytes(bomb)
    bomb.write_bytes(gzip.compress(bytes(idx.LIMIT), 1))
    assert len(read_idx_bytes(bomb)) == idx.LIMIT
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(idx.LIMIT + 1)
    with pytest.raises(InputError, match="large: 67,108,865 bytes; expected at most 67,108,864"):
        read_idx_bytes(large)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing: no such dataset file"):
        read_idx_bytes(tmp_path / "nothing")
