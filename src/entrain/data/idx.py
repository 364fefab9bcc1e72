"""Reading the idx format of MNIST: a big-endian header, then bytes in C order."""

from __future__ import annotations

import gzip
import io
import math
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from entrain.utils.errors import InputError
from entrain.utils.files import read_bytes

LIMIT = 64 * 2**20
"""The largest size of an idx file in bytes; the largest of MNIST has 47,040,016."""

_GZIP = b"\x1f\x8b"
_MAGICS = (b"\0\0\x08\x01", b"\0\0\x08\x02", b"\0\0\x08\x03")  # uint8; dimensions


def parse_idx(content: bytes, name: str) -> NDArray[np.uint8]:
    """The uint8 array of 1 to 3 dimensions in the idx file `content`; `name` is for errors."""
    if content[:4] not in _MAGICS:
        raise InputError(
            f"{name}: not an idx file of uint8 in 1 to 3 dimensions: it begins with the bytes "
            f"'{content[:4].hex()}', expected {' or '.join(magic.hex() for magic in _MAGICS)}"
        )
    ndim = content[3]
    header = 4 + 4 * ndim
    if len(content) < header:
        raise InputError(
            f"{name}: cut off in the header: {len(content)} bytes, expected at least {header}"
        )
    shape: tuple[int, ...] = struct.unpack_from(f">{ndim}I", content, 4)
    expected = header + math.prod(shape)
    if len(content) != expected:
        raise InputError(
            f"{name}: {len(content)} bytes, expected {expected} for an array of shape {shape}"
        )
    # A length of zero beside huge ones passes the check above, yet numpy cannot hold the shape.
    if math.prod(max(length, 1) for length in shape) > sys.maxsize:
        raise InputError(f"{name}: an array of shape {shape} is too large")
    # A view of `content` would be read-only.
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape).copy()


def read_idx_bytes(path: Path) -> bytes:
    """The idx content of the file `path`, decompressed if it is gzip; at most `LIMIT` bytes."""
    return unpack_idx(read_bytes(path, "dataset file", LIMIT), str(path))


def unpack_idx(raw: bytes, name: str) -> bytes:
    """`raw`, decompressed if it begins as gzip; at most `LIMIT` bytes."""
    content = raw
    if raw.startswith(_GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
                content = file.read(LIMIT + 1)
        except EOFError as error:
            raise InputError(f"{name}: the gzip file is cut off ({len(raw)} bytes)") from error
        except (OSError, zlib.error) as error:
            raise InputError(f"{name}: the gzip file is corrupt: {error}") from error
    if max(len(raw), len(content)) > LIMIT:
        raise InputError(f"{name}: holds more than {LIMIT} bytes, expected an idx file within that")
    return content
