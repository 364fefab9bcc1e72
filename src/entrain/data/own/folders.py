"""A user's own pictures: a folder with a folder for each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from entrain.data.datasets import ImageDataset
from entrain.data.own.examples import check_size, classes_of, quoted, safe_name, three_splits
from entrain.data.pictures import read_picture
from entrain.tasks import Classification
from entrain.utils.errors import InputError, positive_int

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_LITTER = {"thumbs.db", "desktop.ini"}


def from_folder(
    path: Path, image_size: int, seed: int, on_progress: Callable[[float], None] | None
) -> ImageDataset:
    """The pictures of the class folders in `path`, scaled to one size."""
    side = positive_int("image_size", image_size)
    files = class_files(path, SUFFIXES, "pictures")
    check_size(len(files), side * side, 1)
    names, codes = classes_of([file.parent.name.strip() for file in files], "folders", 3)
    pixels = np.empty((len(files), side * side), dtype=np.uint8)
    for i, file in enumerate(files):
        pixels[i] = np.rint(read_picture(file, (side, side), 255.0)).reshape(-1)
        if pixels[i].min() == pixels[i].max() or pixels[i].max() <= 1:
            raise InputError(
                f"{file}: constant or nearly black when made {side} x {side} pixels: it has no "
                "content to classify; leave it out or raise image_size"
            )
        if on_progress is not None:
            on_progress((i + 1) / len(files))
    splits = three_splits(pixels, codes, seed)
    return ImageDataset(safe_name(path), *splits, (side, side), 255.0, Classification(names))


def class_files(path: Path, suffixes: tuple[str, ...], what: str) -> list[Path]:
    """The files of all class folders, sorted.

    Args:
        path: The folder of the class folders.
        suffixes: Suffixes of the files, in lower case.
        what: The files in words, for errors.
    """
    root = path.resolve()
    entries = visible(path)
    folders = [entry for entry in entries if entry.is_dir()]
    loose = [e for e in entries if e.suffix.lower() in suffixes and e not in folders]
    if loose or len(folders) < 2:
        number = f"{loose[0].name} beside" if loose else f"{len(folders)}"
        raise InputError(
            f"{number} class folders; expected at least two folders of {what}, each named after "
            "its class"
        )
    names = [folder.name.strip() for folder in folders]
    if len(set(names)) < len(names):
        name, _ = Counter(names).most_common(1)[0]
        raise InputError(
            f"two class folders are called {quoted(name)}, apart from blanks; expected one for "
            "each class: rename one or merge them"
        )
    files = []
    for folder in folders:
        check_link(folder, root)
        inside = visible(folder)
        if not inside:
            raise InputError(f"{folder}: no {what}; put some in or remove the folder")
        for file in inside:
            check_link(file, root)
            if file.is_dir():
                raise InputError(
                    f"{file}: a folder within a class folder; expected {what} only. If {path} "
                    "holds sets of class folders, name one of them"
                )
            files.append(file)
    return files


def visible(folder: Path) -> list[Path]:
    """Sorted entries without hidden files and those of file managers."""
    return sorted(
        entry
        for entry in folder.iterdir()
        if not entry.name.startswith(".") and entry.name.lower() not in _LITTER
    )


def check_link(entry: Path, root: Path) -> None:
    """Refuse links that lead nowhere or out of the folder."""
    inside = not entry.is_symlink()
    with suppress(OSError, RuntimeError):  # a loop, or no target
        inside = inside or entry.resolve(strict=True).is_relative_to(root)
    if not inside:
        raise InputError(
            f"{entry}: a link that leads nowhere or out of the folder; copy its target or remove it"
        )
