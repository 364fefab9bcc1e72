"""Atomic writes, locks between processes, JSON with digests."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from entrain.utils.errors import InputError, reason
from entrain.utils.hashing import sha256

_LEFTOVER = ".tmp"


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`: temporary file beside it, fsync, rename, fsync of the folder.

    A crash leaves the old file or the new one. An `OSError` names `path`.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    _sync_folder(path.parent)


def remove_temporary_files(folder: Path, name: str = "") -> None:
    """Remove the temporary files of killed writes into `folder`, or of its file `name` only."""
    for path in temporary_files(folder, name):
        path.unlink(missing_ok=True)


def temporary_files(folder: Path, name: str = "") -> list[Path]:
    """The temporary files of writes into `folder`, or of its file `name` only."""
    return list(folder.glob(f".{name}*{_LEFTOVER}"))


@contextlib.contextmanager
def file_lock(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """True inside the context if the lock `path` was acquired: at once, or after `wait`ing.

    The end of the process, a kill too, releases it. The file may remain.
    """
    lock = FileLock(path, thread_local=False)  # another thread may release it
    with contextlib.suppress(Timeout):
        lock.acquire(blocking=wait)
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
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
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
    descriptor, temporary = tempfile.mkstemp(_LEFTOVER, f".{path.name}.", path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable, on systems that can open a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
