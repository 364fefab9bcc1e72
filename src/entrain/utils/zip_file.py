"""Zip archives, such as .npz files, whose claims are not trusted."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from entrain.utils.errors import InputError
from entrain.utils.files import open_regular

_MOST_RATIO = 100  # of unpacked to packed bytes; deflated zeros have 1,000
_ALWAYS_ALLOWED = 2**27  # unpacked bytes


@contextlib.contextmanager
def open_zip(path: Path, what: str, most: int) -> Iterator[zipfile.ZipFile]:
    """The opened archive `path` of at most `most` bytes; an `InputError` if it is a zip bomb."""
    with open_regular(path, what, most) as file, zipfile.ZipFile(file) as archive:
        packed = os.fstat(file.fileno()).st_size
        unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > max(_ALWAYS_ALLOWED, _MOST_RATIO * packed):
            raise InputError(
                f"{packed:,} bytes claim to be {unpacked:,} when unpacked; expected at most "
                f"{_MOST_RATIO} times as many: save it again without compression"
            )
        yield archive
