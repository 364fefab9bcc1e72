"""A machine on which no source has anything, and small idx files to put there."""

from __future__ import annotations

import gzip
import hashlib
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from entrain.data import downloads, sources
from entrain.data.sources import FILES

TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
T10K = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def encode(array: NDArray[np.uint8]) -> bytes:
    """`array` as an idx file."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 0x08, array.ndim, *array.shape)
    return header + array.tobytes()


NO_DOWNLOAD = ("download", "no network in this test")
ZIPPED = gzip.compress(encode(np.arange(200, dtype=np.uint8)), mtime=0)  # ids of tests contain it


@dataclass(frozen=True)
class SourceFolders:
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
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceFolders:
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
    made = SourceFolders(
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
    monkeypatch.setattr(downloads, "attempts", lambda dataset, names: iter([NO_DOWNLOAD]))
    return made
