"""Files that never end, claim to be huge or confuse a parser are refused at once."""

from __future__ import annotations

import io
import os
import struct
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import entrain
from command_line import Refuse, Run
from entrain.calibration import Traces, calibrate, read_traces
from entrain.data import load_own
from entrain.data.own.rows import read_rows
from entrain.utils.errors import InputError

pytestmark = pytest.mark.timeout(120)

SUFFIXES = (".png", ".csv", ".npz", ".safetensors", ".toml", ".json")


def commands(path: Path, model: Path, folder: Path) -> list[tuple[object, ...]]:
    """Commands that read a file with the suffix of `path`."""
    table = [("predict", model, path), ("train", path, "--out", folder / "run")]
    calibrate = ("calibrate", path, "--model", model, "--out", folder / "c.safetensors")
    return {
        ".png": [("predict", model, path)],
        ".csv": table,
        ".npz": [*table, calibrate],
        ".safetensors": [calibrate],
        ".toml": [
            ("evaluate", model, "--hardware", path, "--chip", 0),
            ("cost", model, "--technology", path),
        ],
        ".json": [
            ("yield", model, "--hardware", "typical", "--chips", 1, "--out", path),
            (
                "train",
                "digits",
                "--protocol",
                "DIRECT",
                "--settings",
                path,
                "--out",
                folder / "run",
            ),
        ],
    }[path.suffix]


def make_endless(path: Path, kind: str) -> None:
    """Make a pipe, a link to a device or a sparse file of 9 GB."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with open(path, "wb") as file:
            file.truncate(9 * 10**9)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_pipes_devices_and_huge_files_are_refused(
    suffix: str, kind: str, tiny_run: Run, tmp_path: Path, refuse: Refuse
) -> None:
    path = tmp_path / f"file{suffix}"
    make_endless(path, kind)
    for command in commands(path, tiny_run.model, tmp_path):
        message = refuse(*command)
        assert any(words in message for words in ("is a pipe", "at most", "no such file")), message


@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_models_are_regular_files_of_bounded_size(
    kind: str, tmp_path: Path, refuse: Refuse
) -> None:
    make_endless(tmp_path / "m.safetensors", kind)
    assert any(
        words in refuse("show", tmp_path / "m.safetensors")
        for words in ("at most", "no such model file")
    )


def npz(path: Path, zeros: dict[str, tuple[tuple[int, ...], str]]) -> Path:
    """A deflated archive of arrays of zeros, of any size."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (shape, dtype) in zeros.items():
            values = {"descr": dtype, "fortran_order": False, "shape": shape}
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_1_0(file, values)
                left = int(np.prod(shape)) * np.dtype(dtype).itemsize
                for start in range(0, left, 2**24):
                    file.write(bytes(min(2**24, left - start)))
    return path


def peak_bytes(function, *arguments: object) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_archives_that_unpack_to_much_more_are_not_unpacked(tmp_path: Path) -> None:
    table = npz(tmp_path / "t.npz", {"X": ((2**20, 32), "<f8"), "y": ((2**20,), "<i8")})
    assert table.stat().st_size < 2**20
    assert peak_bytes(load_own, table) < 2**24
    assert peak_bytes(read_rows, table, 32, ("0", "1")) < 2**24
    arrays = {"times": ((10,), "<f8"), "fields": ((2**20, 16), "<f8"), "phases": ((1,), "|u1")}
    assert peak_bytes(read_traces, npz(tmp_path / "a.npz", arrays)) < 2**24


def test_traces_are_bounded_as_float64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of a file become numbers of eight bytes each, and paths of the fitted model."""
    model = entrain.load("mnist-74")
    arrays = {"times": ((2,), "<f8"), "fields": ((20, 74), "|u1"), "phases": ((2, 20, 74), "|u1")}
    monkeypatch.setattr("entrain.calibration.traces._MOST_NUMBERS", 4000)
    with pytest.raises(InputError, match="4,442 numbers; expected at most 4,000"):
        read_traces(npz(tmp_path / "a.npz", arrays))
    readings = Traces(np.array([0.1, 0.2]), np.zeros((20, 74)), np.zeros((2, 20, 74)))
    module = sys.modules["entrain.calibration.calibrate"]  # beside a function of this name
    monkeypatch.setattr(module, "_MOST_NUMBERS", 10**5)
    with pytest.raises(InputError, match="20 runs, 2 times, 74 oscillators and 200 steps"):
        calibrate(model, readings)


HEADERS = {
    "unfinished": "{'descr': '<f8', 'fortran_order': False, 'shape': (3",
    "nested": "(" * 600 + ")" * 600,
    "long": "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",)}",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("read", [read_traces, load_own])
def test_headers_that_no_parser_takes_are_refused(read, header: str, tmp_path: Path) -> None:
    text = header.encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name in ("X", "y", "times", "fields"):
            start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text))
            archive.writestr(f"{name}.npy", start + text)
    with pytest.raises(InputError):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_damaged_compression_is_refused(method: int, tmp_path: Path) -> None:
    content = io.BytesIO()
    np.save(content, np.random.default_rng(0).normal(size=(50, 4)))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as archive:
        for name in ("times", "fields", "phases"):
            archive.writestr(f"{name}.npy", content.getvalue())
    whole = (tmp_path / "a.npz").read_bytes()
    for place in range(30, 600, 30):
        damaged = bytearray(whole)
        damaged[place : place + 8] = bytes(byte ^ 255 for byte in damaged[place : place + 8])
        (tmp_path / "a.npz").write_bytes(damaged)
        with pytest.raises(InputError):
            read_traces(tmp_path / "a.npz")


def test_rows_of_another_width_are_refused_at_the_first(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2\n" * 1_000_000)
    assert peak_bytes(read_rows, tmp_path / "t.csv", 64, ("0", "1")) < 2**20
