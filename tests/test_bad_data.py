"""Datasets, pictures and arrays that cannot be read are refused with a reason."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import entrain
from command_line import Invoke, Refuse, Run, strict
from entrain.data.pictures import read_picture
from entrain.data.sources import FILES
from entrain.models.model import read_model
from entrain.utils.errors import InputError

BUNDLED = Path(entrain.__file__).parent / "data" / "bundled"


# Datasets


def mnist_folder(folder: Path, **files: bytes | None) -> Path:
    """A data folder for MNIST: the official test files, changed by `images` and `labels`."""
    place = folder / "mnist"
    place.mkdir()
    for kind, name in (("images", "t10k-images-idx3-ubyte"), ("labels", "t10k-labels-idx1-ubyte")):
        content = files.get(kind, (BUNDLED / "mnist" / f"{name}.gz").read_bytes())
        if content is not None:
            (place / f"{name}.gz").write_bytes(content)
    return folder


def official(dataset: str) -> bytes:
    return (BUNDLED / dataset / "t10k-images-idx3-ubyte.gz").read_bytes()


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (None, "no t10k-images-idx3-ubyte"),
        (b"", "magic of 4 bytes, got 0|not mnist's t10k-images-idx3-ubyte"),
        (official("mnist")[:100_000], "the gzip file is cut off (100000 bytes)"),
        (official("mnist")[:5000] + b"\xff" * 5000 + official("mnist")[10_000:], "is corrupt"),
        (gzip.decompress(official("mnist"))[:-1], "has SHA-256"),
        (official("fashion-mnist"), "this is fashion-mnist's t10k-images-idx3-ubyte"),
        (b"hello", "not mnist's t10k-images-idx3-ubyte"),
    ],
    ids=["missing", "empty", "truncated", "corrupt", "short", "mislabelled", "garbage"],
)
def test_test_images_that_are_not_official(
    refuse: Refuse, tiny_run: Run, tmp_path: Path, images: bytes | None, message: str
) -> None:
    folder = mnist_folder(tmp_path, images=images)
    found = refuse("evaluate", tiny_run.model, "mnist", "--data-dir", folder, "--json")
    assert any(part in found for part in message.split("|"))
    assert str(folder / "mnist") in found


@pytest.mark.parametrize("content", [None, b"garbage", b"\x1f\x8bgarbage"])
def test_training_images_that_are_not_official(
    refuse: Refuse, tmp_path: Path, content: bytes | None
) -> None:
    folder, out = mnist_folder(tmp_path), tmp_path / "run"
    for name in FILES["mnist"]:
        if name.startswith("train") and content is not None:
            (folder / "mnist" / name).write_bytes(content)
    message = refuse("train", "mnist", "--data-dir", folder, "--out", out, "--json")
    assert "train-images-idx3-ubyte" in message
    assert "train-images-idx3-ubyte" in refuse("data", "mnist", "--data-dir", folder, "--json")
    assert not out.exists()


def test_a_data_folder_that_is_not_there(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    place = tmp_path / "nowhere"
    message = refuse("evaluate", tiny_run.model, "mnist", "--data-dir", place, "--json")
    assert f"{place}: no such folder" in message


def test_a_model_on_images_of_another_size(refuse: Refuse, tiny_run: Run) -> None:
    message = refuse("evaluate", tiny_run.model, "mnist", "--json")
    assert "mnist has images of 784 pixels" in message
    assert "takes 64 (it was trained on digits)" in message


# Pictures


def png(width: int = 30, height: int = 20, kind: str = "PNG") -> bytes:
    """A picture with something in it."""
    levels = np.zeros((height, width), np.uint8)
    levels[4:15, 6:21] = np.arange(165).reshape(11, 15)
    file = io.BytesIO()
    Image.fromarray(levels).save(file, kind)
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG file that claims a size and holds nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"")), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def constant(level: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (30, 20), level).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such picture"),
        (b"", "not a picture"),
        (b"This is text.", "expected one of PNG, JPEG"),
        (png()[:-40], "truncated or corrupt"),
        (png()[:20], "not a picture|truncated or corrupt"),
        (constant(0), "constant"),
        (constant(255), "constant"),
        (png_header(10_000, 6_000), "10000 x 6000 pixels are too many; at most 50,000,000"),
        (png_header(40_000, 40_000), "too many"),
        (png_header(0, 5), "not a picture|truncated or corrupt"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
    ],
    ids=[
        "missing",
        "empty",
        "text",
        "truncated",
        "header-cut",
        "black",
        "white",
        "60-megapixels",
        "1600-megapixels",
        "no-pixels",
        "program",
    ],
)
def test_pictures_that_cannot_be_read(
    invoke: Invoke,
    refuse: Refuse,
    tiny_run: Run,
    tmp_path: Path,
    content: bytes | None,
    message: str,
) -> None:
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    good.write_bytes(png())
    if content is not None:
        bad.write_bytes(content)
    found = refuse("predict", tiny_run.model, bad, bad, "--json")
    assert f"{bad}: " in found
    assert any(part in found for part in message.split("|"))
    some = invoke("predict", tiny_run.model, good, bad, good, "--json")
    assert some.exit_code == 1
    first, failed, last = strict(some.stdout)["predictions"]
    assert failed["image"] == str(bad)
    assert any(part in failed["error"] for part in message.split("|"))
    assert first == last
    assert "error" not in first


def test_an_empty_folder_is_no_picture(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    assert f"{tmp_path}: a folder without pictures" in refuse("predict", tiny_run.model, tmp_path)


@pytest.mark.parametrize("pixel", [np.nan, np.inf])
def test_a_picture_of_no_numbers(tmp_path: Path, pixel: float) -> None:
    levels = np.eye(9, dtype=np.float32)
    levels[0, 0] = pixel
    Image.fromarray(levels).save(tmp_path / "x.tiff")
    with pytest.raises(InputError, match="NaN or infinite"):
        read_picture(tmp_path / "x.tiff", (8, 8), 16.0)


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    kind=st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"]),
    place=st.floats(0, 1, exclude_max=True),
    put=st.binary(min_size=1, max_size=6),
    cut=st.booleans(),
)
def test_a_damaged_picture_is_read_or_refused(
    tmp_path: Path, kind: str, place: float, put: bytes, cut: bool
) -> None:
    content = png(kind=kind)
    at = int(place * len(content))
    path = tmp_path / "x.png"
    path.write_bytes(content[:at] + (b"" if cut else put + content[at + len(put) :]))
    try:
        pixels = read_picture(path, (8, 8), 16.0)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017 (either way is right)
    else:
        assert pixels.shape == (8, 8)
        assert 0 <= pixels.min() < pixels.max() <= 16


# Arrays


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.ones((3, 28, 28)), r"images must be 8 x 8 pixels .* got shape \(3, 28, 28\)"),
        (np.ones(63), r"got shape \(63,\)"),
        (np.ones(()), r"got shape \(\)"),
        (np.ones((0, 8, 8)), "at least one image"),
        (np.full((2, 64), 3.0), "image 0 is constant"),
        (np.where(np.arange(64) == 5, np.nan, 1.0), "NaN or infinite"),
        (np.where(np.arange(64) == 5, np.inf, 1.0), "NaN or infinite"),
        (
            np.arange(64.0),
            "whole numbers from 0 to 16 or fractions from 0 to 1, got numbers from 0 to 63",
        ),
        (np.arange(64.0) / 5, "from 0 to 16 or fractions from 0 to 1, got numbers from 0 to 12.6"),
        (np.arange(64), "got whole numbers from 0 to 63"),
        (np.arange(64).astype(str), "must be numbers, got an array of <U"),
        (-np.arange(64.0) / 8, "got numbers from -7.875 to -0"),
    ],
)
def test_arrays_a_model_cannot_read(tiny_run: Run, pixels: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_model(tiny_run.model).predict(pixels)
