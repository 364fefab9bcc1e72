"""A user's own folders of pictures: what is read, and what is refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from entrain.data import (
    ImageDataset,
    balance,
    load_own,
)
from entrain.data.pictures import read_picture
from entrain.utils.errors import InputError
from own_files import (
    LEVELS,
    PARTS,
    folder_of_pictures,
    npz,
    parts_of,
)


@pytest.mark.parametrize("size", [8, 28])
def test_pictures_of_a_folder_are_those_predict_would_read(tmp_path: Path, size: int) -> None:
    place = folder_of_pictures(tmp_path / "Gute Bäume", {"10": 12, "9": 8})
    (place / "9" / "0.png").rename(place / "9" / "no suffix")
    (place / ".hidden").mkdir()
    (place / "9" / ".DS_Store").write_bytes(b"x")
    (place / "9" / "Thumbs.db").write_bytes(b"x")
    (place / "README.txt").write_text("x")
    seen: list[float] = []
    data = load_own(place, image_size=size, on_progress=seen.append)
    assert isinstance(data, ImageDataset)
    assert (data.name, data.class_names) == ("gute-baume", ("9", "10"))
    assert (data.image_shape, data.pixel_max) == ((size, size), 255.0)
    assert seen == sorted(seen)
    assert len(seen) == 20
    assert seen[-1] == 1.0
    expected = {
        np.rint(read_picture(file, (size, size), 255.0))
        .astype(np.uint8)
        .tobytes(): file.parent.name
        for file in place.glob("[19]*/*")
        if file.name[0] != "." and file.name != "Thumbs.db"
    }
    rows, codes = parts_of(data)
    assert len(expected) == len(rows) == 20
    for row, code in zip(rows, codes, strict=True):
        assert expected[row.tobytes()] == data.class_names[code]
    assert data.preprocessing(data.test.features).isfinite().all()


def test_pictures_of_the_size_agree_with_the_same_arrays(tmp_path: Path) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 10, "b": 10}, (8, 8))
    files = sorted(place.glob("*/*"))
    levels = np.stack([np.asarray(Image.open(file)) for file in files])
    arrays = load_own(npz(tmp_path / "x.npz", X=levels, y=[file.parent.name for file in files]))
    data = load_own(place, image_size=8)
    for part in PARTS:
        assert np.allclose(getattr(data, part).features, getattr(arrays, part).features, atol=1e-4)


def overwrite(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda place: (place / name).write_bytes(content)


def grey(place: Path) -> None:
    Image.new("L", (9, 7), 80).save(place / "a" / "grey.png")


def crowd(place: Path) -> None:
    for i in range(1001):
        (place / f"c{i}").mkdir()
        (place / f"c{i}" / "x.png").write_bytes(b"")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (overwrite("a/notes.txt", b"text"), r"notes\.txt: not a picture"),
        (overwrite("a/3.png", b""), r"3\.png: not a picture"),
        (overwrite("a/3.png", b"\x89PNG\r\n\x1a\n"), r"3\.png: "),
        (grey, r"grey\.png: the picture is constant"),
        (overwrite("loose.png", b""), r"loose\.png beside class folders"),
        (lambda place: (place / "empty").mkdir(), "empty: no pictures"),
        (lambda place: (place / "a" / "inner").mkdir(), "inner: a folder within a class folder"),
        (lambda place: (place / "b").rename(place / ".b"), "1 class folders; expected at least"),
        (lambda place: (place / "b").rename(place / "b\x1b"), "cannot be a class name"),
        (lambda place: [(place / "a" / f"{i}.png").unlink() for i in range(4)], r"'a' \(2\)"),
        (lambda place: [file.unlink() for file in place.glob("*/[0-2].png")], "9 examples"),
        (lambda place: os.symlink(place.parent / "o.png", place / "a/o.png"), "out of the folder"),
        (lambda place: os.symlink(place.parent / "other", place / "c"), "out of the folder"),
        (lambda place: os.symlink("nowhere", place / "a" / "l.png"), "leads nowhere"),
        (lambda place: os.symlink("l.png", place / "a" / "l.png"), "leads nowhere"),
        (lambda place: os.mkfifo(place / "a" / "pipe.png"), "is a pipe or a device"),
        (crowd, "1,003 different labels"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_folders_that_cannot_be_used(
    tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 9})
    folder_of_pictures(tmp_path / "other", {"deep": 3})
    Image.fromarray(LEVELS[0]).save(tmp_path / "o.png")
    load_own(place, image_size=8)
    change(place)
    with pytest.raises(InputError, match=message) as caught:
        load_own(place, image_size=8)
    assert str(caught.value).startswith(str(place))


def test_links_within_the_folder_are_followed(tmp_path: Path) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 6})
    os.symlink(place / "a" / "0.png", place / "b" / "9.png")
    os.symlink(place, tmp_path / "link")
    assert balance(load_own(tmp_path / "link", image_size=8))["counts"] == {"a": 6, "b": 7}


@pytest.mark.parametrize("size", [0, -1, 2.5, True, 317])
def test_image_sizes_that_cannot_be(tmp_path: Path, size: Any) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 6})
    with pytest.raises(InputError, match=r"whole number|at most 100,000"):
        load_own(place, image_size=size)


def test_pictures_that_a_single_pixel_cannot_hold(tmp_path: Path) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 6})
    with pytest.raises(InputError, match=r"0\.png: constant or nearly black when made 1 x 1"):
        load_own(place, image_size=1)
