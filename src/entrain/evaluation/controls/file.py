"""The file of controls: those measured so far and, in the end, the result.

JSON, replaced after each training: {..., "measured": {"key", "rows"}, "digest"}. The entries before
"measured" are those of `entrain controls --json`, once all controls are measured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entrain.evaluation.controls.measurement import ControlResult
from entrain.evaluation.yield_file import locked, write
from entrain.utils.errors import InputError, reason
from entrain.utils.files import read_json_with_digest

_WHAT = "a file of entrain controls"
_UNREADABLE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


class ControlsFile:
    """Results by name; stored in a file if there is a path.

    Args:
        path: The file, if there is one.
        key: Everything that decides the results, as a digest.
    """

    def __init__(self, path: Path | None, key: str) -> None:
        self._path, self._key = path, key
        self.rows: dict[str, ControlResult] = {}
        if path is not None and path.exists():
            self.rows = _read(path, key)

    def add(self, rows: list[ControlResult]) -> None:
        """Keep results, also in the file."""
        self.rows |= {row.name: row for row in rows}
        self.save({})

    def save(self, result: dict[str, Any]) -> None:
        """Write the file, with the JSON values of the result, if it is complete."""
        if self._path is not None:
            rows = [row.to_json() for row in self.rows.values()]
            values = result | {"measured": {"key": self._key, "rows": rows}}
            write(self._path, values)


@contextlib.contextmanager
def open_controls_file(path: Path | None, key: str) -> Iterator[ControlsFile]:
    """The file of controls, locked against other processes; one of other controls is refused.

    Args:
        path: The file, if there is one.
        key: Everything that decides the results, as a digest.
    """
    if path is None:
        yield ControlsFile(None, key)
        return
    check_path(path)
    with locked(path):
        yield ControlsFile(path, key)


def check_path(path: Path) -> None:
    """Refuse a path that cannot be such a file.

    Args:
        path: The file.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file such as {path / 'controls.json'}")
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: the file of controls ends in .json")
    if path.exists():
        read_json_with_digest(path, _WHAT)


def _read(path: Path, key: str) -> dict[str, ControlResult]:
    content = read_json_with_digest(path, _WHAT)
    try:
        measured = content["measured"]
        rows = [ControlResult.from_json(row) for row in measured["rows"]]
        same = measured["key"] == key
    except _UNREADABLE as error:
        raise InputError(f"{path}: not {_WHAT} ({reason(error)}); move it away") from error
    if not same:
        raise InputError(
            f"{path}: holds the controls of another model, other data, another recipe, or other "
            "runs, and nothing is overwritten; choose another file or move it away"
        )
    return {row.name: row for row in rows}
