"""Files that a crash leaves old or new, never a mixture; locks between processes; and JSON."""

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

_LEFTOVER = ".tmp"


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`: temporary file beside it, fsync, rename, fsync of the folder.

    An `OSError` names `path`.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    _sync_folder(path.parent)


def remove_leftovers(folder: Path, name: str = "") -> None:
    """Remove the temporary files of killed writes into `folder`, or of its file `name` alone."""
    for path in leftovers(folder, name):
        path.unlink(missing_ok=True)


def leftovers(folder: Path, name: str = "") -> list[Path]:
    """The temporary files of writes into `folder`, or of its file `name` alone."""
    return list(folder.glob(f".{name}*{_LEFTOVER}"))


@contextlib.contextmanager
def held(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock file `path` against everybody else; whether it could be held: at once, or
    when whoever has it lets it go (`wait`).

    The end of the process lets it go, a kill too. The file may stay: it means nothing.
    """
    lock = FileLock(path, thread_local=False)  # whichever thread lets it go
    with contextlib.suppress(Timeout):
        lock.acquire(blocking=wait)
    try:
        yield lock.is_locked
    finally:
        lock.release()


def strict_json(values: dict[str, Any], indent: int | None = None) -> str:
    """JSON text; a number that is not finite becomes null. Indented, a list of numbers or words
    still takes one line."""
    plain = _plain(values)
    return json.dumps(plain, allow_nan=False) if indent is None else _indented(plain, indent, 0)


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
    """Make a rename in `folder` durable (where the system lets a folder be opened)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
