"""Atomic writes, guarded reads, locks between processes, JSON with digests."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from entrain.utils.errors import InputError, reason
from entrain.utils.hashing import sha256

MOST_BYTES = 2**32
"""The most bytes of a file that is read at once."""

_TEMPORARY = "entrain-tmp"
_MOST_JSON = 2**28  # bytes
_RANDOM = 4  # bytes in the name of a temporary file


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`: temporary file beside it, fsync, rename, fsync of the folder.

    A crash leaves the old file or the new one. The umask decides who may read it. An `OSError`
    names `path`.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    sync_folder(path.parent)


def remove_temporary_files(folder: Path, *names: str) -> None:
    """Remove the temporary files of killed writes into `folder`, or of its files `names` only."""
    for path in temporary_files(folder, *names):
        path.unlink(missing_ok=True)


def temporary_files(folder: Path, *names: str) -> list[Path]:
    """The temporary files of writes into `folder`, or of its files `names` only."""
    name = "|".join(map(re.escape, names)) or ".+"
    pattern = re.compile(rf"\.({name})\.[0-9a-f]{{{2 * _RANDOM}}}\.{_TEMPORARY}", re.DOTALL)
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if pattern.fullmatch(path.name)]


def read_bytes(path: Path | str, what: str = "file", most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most `most` bytes; see `open_regular`."""
    with open_regular(path, what, most) as file:
        expected = max(os.fstat(file.fileno()).st_size, 2**16)  # files of /proc claim 0 bytes
        content = file.read(expected + 1)
    if len(content) > expected:
        raise InputError(f"{path}: grew while it was read; try again")
    return content


def open_regular(path: Path | str, what: str = "file", most: int = MOST_BYTES) -> BinaryIO:
    """The opened regular file `path`; an `InputError` if it is none or larger than `most` bytes.

    A pipe or a device is refused, as reading it could take forever.
    """
    try:
        # Without O_NONBLOCK a pipe would wait here for its writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{path}: no such {what}") from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read ({why})") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
            raise InputError(f"{path}: is {kind}, expected a {what}")
        if status.st_size > most:
            raise InputError(
                f"{path}: {status.st_size:,} bytes; expected at most {most:,} for a {what}"
            )
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


_BINARY = getattr(os, "O_BINARY", 0)  # of Windows


@contextlib.contextmanager
def file_lock(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """True inside the context if the lock `path` was acquired: at once, or after `wait`ing.

    The end of the process, a kill too, releases it. The file may remain.
    """
    lock = FileLock(path, thread_local=False)  # another thread may release it
    try:
        with contextlib.suppress(Timeout):
            lock.acquire(blocking=wait)
    except OSError as error:
        raise InputError(f"{path}: cannot be locked ({error.strerror or error})") from error
    try:
        yield lock.is_locked
    finally:
        lock.release()


def strict_json(values: dict[str, Any], indent: int | None = None) -> str:
    """JSON text with null for numbers that are not finite. A list of plain values is on one line,
    also in indented text."""
    plain = _plain(values)
    return json.dumps(plain, allow_nan=False) if indent is None else _indented(plain, indent, 0)


def with_digest(values: dict[str, Any]) -> dict[str, Any]:
    """`values` as JSON values, and last their `digest`: SHA-256 of the JSON text with sorted keys
    and no spaces."""
    plain: dict[str, Any] = json.loads(strict_json(values))
    plain.pop("digest", None)
    return plain | {"digest": _digest(plain)}


def check_digest(values: dict[str, Any], what: str) -> dict[str, Any]:
    """`values` of `with_digest` without the digest; an `InputError` if they do not match it."""
    rest = {name: value for name, value in values.items() if name != "digest"}
    if "digest" not in values:
        raise InputError(f"not {what} (no digest); move it away and measure or train again")
    if _digest(rest) != values["digest"]:
        raise InputError(
            "does not match its digest: it was changed after it was written; move it away and "
            "measure or train again"
        )
    return rest


def read_json_with_digest(path: Path, what: str) -> dict[str, Any]:
    """The values in a JSON file, see `check_digest`; an `InputError` names the file."""
    content = read_bytes(path, most=_MOST_JSON)
    try:
        values = json.loads(content.decode())
        if not isinstance(values, dict):
            raise TypeError(f"expected a JSON object, got {type(values).__name__}")
        return check_digest(values, what)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not {what} ({reason(error)}); move it away") from error


def _digest(values: dict[str, Any]) -> str:
    return sha256(json.dumps(values, sort_keys=True, separators=(",", ":")))


def _indented(value: Any, indent: int, depth: int) -> str:
    inner, outer = "\n" + " " * indent * (depth + 1), "\n" + " " * indent * depth
    if isinstance(value, dict) and value:
        entries = [
            f"{json.dumps(str(key))}: {_indented(entry, indent, depth + 1)}"
            for key, entry in value.items()
        ]
        return "{" + inner + ("," + inner).join(entries) + outer + "}"
    if isinstance(value, list) and any(isinstance(entry, dict | list) for entry in value):
        entries = [_indented(entry, indent, depth + 1) for entry in value]
        return "[" + inner + ("," + inner).join(entries) + outer + "]"
    return json.dumps(value, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _replace(path: Path, content: bytes) -> None:
    suffix = f"{secrets.token_hex(_RANDOM)}.{_TEMPORARY}"
    temporary = path.with_name(f".{path.name}.{suffix}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable, on systems that can open a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
