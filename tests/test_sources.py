"""Facts about where the idx files are found: the order of the sources, the cache, the messages."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from entrain.data import downloads, sources
from entrain.data.sources import FILES, Part, locate, status
from entrain.utils.cache import cache_folder
from entrain.utils.errors import InputError
from source_folders import T10K, TRAIN, ZIPPED, SourceFolders, encode

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


Attempts = Callable[[str, Sequence[str]], Iterator[tuple[str, dict[str, bytes] | str]]]


def serve(folders: SourceFolders, place: str = "download") -> Attempts:
    """A replacement of `downloads.attempts` that has everything."""

    def attempts(dataset: str, names: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
        yield place, {name: folders.contents[dataset][name] for name in names}

    return attempts


def refuse(dataset: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    raise AssertionError("nothing must be downloaded")


def test_the_nearest_source_serves(folders: SourceFolders, monkeypatch: pytest.MonkeyPatch) -> None:
    def source(part: Part, data_dir: Path | None = None) -> str:
        return locate("mnist", part, data_dir).source

    with monkeypatch.context() as patch:
        patch.setattr(sources, "_write_to_cache", lambda dataset, contents: None)
        patch.setattr(downloads, "attempts", serve(folders))
        assert source("train") == source("t10k") == "download"
    monkeypatch.setattr(downloads, "attempts", refuse)
    folders.put(folders.system / "mnist", *TRAIN, *T10K)
    assert source("train") == source("t10k") == "system copy"
    folders.put(folders.cache / "mnist", *TRAIN)
    assert source("train") == "cache"
    folders.put(folders.bundled / "mnist", *T10K)
    assert source("t10k") == "bundled"
    folders.put(folders.data / "mnist", *TRAIN, *T10K)
    monkeypatch.setenv("ENTRAIN_DATA", str(folders.data))
    assert source("train") == source("t10k") == "data folder"


def test_located_holds_the_arrays_and_the_folder(folders: SourceFolders) -> None:
    folders.put(folders.data / "mnist", *TRAIN)
    located = locate("mnist", "train", folders.data)
    assert located.folder == folders.data / "mnist"
    assert located.images.shape == (5, 28, 28)
    assert encode(located.images) == folders.contents["mnist"][TRAIN[0]]
    assert encode(located.labels) == folders.contents["mnist"][TRAIN[1]]


def test_the_prefix_of_python_is_a_system_copy(folders: SourceFolders) -> None:
    folder = Path(sys.prefix) / "share" / "datasets" / "fashion-mnist"
    folders.put(folder, *TRAIN, dataset="fashion-mnist")
    assert locate("fashion-mnist", "train").folder == folder


def test_unknown_names_are_refused(folders: SourceFolders) -> None:
    with pytest.raises(InputError, match="unknown dataset 'mnits'; did you mean 'mnist'"):
        locate("mnits", "train")
    with pytest.raises(InputError, match="unknown part 'test'"):
        locate("mnist", "test")  # type: ignore[arg-type]


# Folders the user gives


def test_files_may_be_plain_and_lie_in_the_folder_itself(folders: SourceFolders) -> None:
    folders.put(folders.data, TRAIN[0], suffix="")
    folders.put(folders.data, TRAIN[1])
    assert locate("mnist", "train", folders.data).folder == folders.data
    (folders.data / "mnist").mkdir()
    with pytest.raises(InputError, match=f"{folders.data / 'mnist'}: no {TRAIN[0]}"):
        locate("mnist", "train", folders.data)


def test_a_given_folder_wins_over_the_setting(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENTRAIN_DATA", str(tmp_path / "nothing"))
    folders.put(folders.data / "mnist", *TRAIN)
    assert locate("mnist", "train", folders.data).folder == folders.data / "mnist"


def test_a_given_folder_must_have_both_files(folders: SourceFolders) -> None:
    folders.put(folders.cache / "mnist", *TRAIN)
    with pytest.raises(InputError, match=f"{folders.data / 'nothing'}: no such folder"):
        locate("mnist", "train", folders.data / "nothing")
    with pytest.raises(InputError, match=f"{folders.data}: no {TRAIN[0]} and no {TRAIN[1]}"):
        locate("mnist", "train", folders.data)
    folders.put(folders.data, TRAIN[0])
    with pytest.raises(InputError, match=f"{folders.data}: no {TRAIN[1]};"):
        locate("mnist", "train", folders.data)


def test_the_setting_may_lack_both_files_but_not_one(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENTRAIN_DATA", str(folders.data))
    with pytest.raises(InputError, match=f"- ENTRAIN_DATA {folders.data}: no {TRAIN[0]} and no"):
        locate("mnist", "train")
    folders.put(folders.cache / "mnist", *TRAIN)
    assert locate("mnist", "train").source == "cache"
    folders.put(folders.data, TRAIN[1])
    with pytest.raises(InputError, match=f"^ENTRAIN_DATA {folders.data}: no {TRAIN[0]};"):
        locate("mnist", "train")


def test_the_setting_must_be_a_folder(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.put(folders.cache / "mnist", *TRAIN)
    monkeypatch.setenv("ENTRAIN_DATA", str(folders.data / "nothing"))
    with pytest.raises(
        InputError, match=f"ENTRAIN_DATA {folders.data / 'nothing'}: no such folder"
    ):
        locate("mnist", "train")
    monkeypatch.setenv("ENTRAIN_DATA", "")
    assert locate("mnist", "train").source == "cache"


# Files that are not what they should be


def test_a_mislabelled_file_is_recognised(folders: SourceFolders) -> None:
    folders.put(folders.data / "fashion-mnist", *TRAIN, dataset="mnist")
    path = folders.data / "fashion-mnist" / f"{TRAIN[0]}.gz"
    with pytest.raises(InputError, match=f"{path}: .*this is mnist's {TRAIN[0]}") as caught:
        locate("fashion-mnist", "train", folders.data)
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
    folders: SourceFolders,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    part: Part,
    remedy: str,
    raw: bytes,
) -> None:
    monkeypatch.setattr(downloads, "attempts", refuse)
    monkeypatch.setenv("ENTRAIN_DATA", str(folders.data))
    folder: Path = getattr(folders, place) / "mnist"
    folders.put(folder, *(TRAIN if part == "train" else T10K))
    path = folder / f"{part}-labels-idx1-ubyte.gz"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"{path}: .*; {remedy}") as caught:
        locate("mnist", part)
    if not raw.startswith(b"\x1f\x8b"):
        assert hashlib.sha256(raw).hexdigest() in str(caught.value)
        assert sources.FILES["mnist"][path.stem] in str(caught.value)


# Downloads and the cache


def test_a_download_is_kept_and_used_next_time(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "attempts", serve(folders))
    first = locate("mnist", "train")
    assert (first.source, first.folder) == ("download", folders.cache / "mnist")
    assert sorted(path.name for path in (folders.cache / "mnist").iterdir()) == [
        f"{name}.gz" for name in TRAIN
    ]
    monkeypatch.setattr(downloads, "attempts", refuse)
    again = locate("mnist", "train")
    assert (again.source, again.folder) == ("cache", folders.cache / "mnist")
    np.testing.assert_array_equal(again.images, first.images)
    np.testing.assert_array_equal(again.labels, first.labels)


def test_half_a_cache_is_completed_by_a_download(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.put(folders.cache / "mnist", TRAIN[0])
    monkeypatch.setattr(downloads, "attempts", serve(folders))
    assert locate("mnist", "train").source == "download"
    assert locate("mnist", "train").source == "cache"


def test_a_cache_that_cannot_be_written_does_not_lose_the_download(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.cache.write_text("a file, not a folder")
    monkeypatch.setattr(downloads, "attempts", serve(folders))
    located = locate("mnist", "train")
    assert (located.source, located.folder) == ("download", None)
    assert encode(located.images) == folders.contents["mnist"][TRAIN[0]]


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
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError) as caught:
        locate("mnist", "train")
    lines = str(caught.value).splitlines()
    assert lines[0] == "no source has the train part of mnist:"
    starts = [
        "data folder: none was named and ENTRAIN_DATA is not set",
        f"bundled {folders.bundled / 'mnist'}: no {TRAIN[0]}",
        f"cache {folders.cache / 'mnist'}: no {TRAIN[0]}",
        f"system copy {sys.prefix}/share/datasets/mnist: no {TRAIN[0]}",
        f"system copy {folders.system / 'mnist'}: no {TRAIN[0]}",
        "download: no network in this test",
    ]
    assert len(lines) == len(starts) + 2
    for line, start in zip(lines[1:-1], starts, strict=True):
        assert line.startswith(f"  - {start}")
    for word in (*TRAIN, *T10K, "ENTRAIN_DATA=DIR", "name DIR as the data folder", "DIR/mnist"):
        assert word in lines[-1]


def test_nothing_is_downloaded_unasked(
    folders: SourceFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "attempts", refuse)
    with pytest.raises(InputError, match="- download: switched off"):
        locate("mnist", "train", download=False)
    folders.put(folders.bundled / "mnist", *T10K)
    assert status("mnist") == {"train": None, "t10k": f"bundled ({folders.bundled / 'mnist'})"}
    folders.put(folders.data, *TRAIN, *T10K)
    place = f"data folder ({folders.data})"
    assert status("mnist", folders.data) == {"train": place, "t10k": place}
