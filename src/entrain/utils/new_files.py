"""New files and folders of a command, which appear together when it succeeds."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from entrain.utils.errors import InputError
from entrain.utils.files import (
    file_lock,
    read_bytes,
    remove_temporary_files,
    sync_folder,
    write_atomically,
)


class ExistsError(InputError):
    """An output exists already and is not to be overwritten."""


def check_new(*paths: Path | None, overwrite: bool = False) -> None:
    """Refuse outputs that exist. With `overwrite` regular files may exist; None is ignored."""
    for path in filter(None, paths):
        if path.is_dir():
            raise InputError(f"{path}: is a folder, expected the name of a new file")
        if os.path.lexists(path) and not overwrite:
            raise ExistsError(f"{path}: exists already; choose another name")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is a pipe or a device, expected the name of a new file")


@contextlib.contextmanager
def new_files(*paths: Path | None, overwrite: bool = False) -> Iterator[dict[Path, Path]]:
    """Where to write the files of a command, by their names; they appear together at the end.

        with new_files(model_path, figure_path) as parts:
            model.save(parts[model_path])
            draw(parts[figure_path])

    A part is a hidden file beside its target, with the same suffix. Targets that exist are refused,
    and so is a second process with the same first target. An error leaves nothing. After a kill,
    even one between two renames, the command can be repeated.

    Args:
        paths: The targets; None, for an option that is not given, is ignored.
        overwrite: Replace targets that exist.
    """
    targets = [path for path in paths if path is not None]
    if not targets:
        yield {}
        return
    if len({path.absolute() for path in targets}) < len(targets):
        raise InputError(f"{targets[0]}: is the name of two outputs; choose different names")
    for folder in {path.parent for path in targets}:
        folder.mkdir(parents=True, exist_ok=True)
    parts = {path: path.with_name(f".{path.name}.entrain-part{path.suffix}") for path in targets}
    journal = targets[0].with_name(f".{targets[0].name}.entrain-journal")
    with _claimed(targets[0]):
        unfinished = _published(journal)
        replaceable = {path for path in targets if overwrite or str(path.absolute()) in unfinished}
        for path in targets:
            check_new(path, overwrite=path in replaceable)
        try:
            yield parts
            write_atomically(
                journal, json.dumps([str(path.absolute()) for path in targets]).encode()
            )
            _publish(parts, replaceable)
            journal.unlink()
        finally:
            _remove(parts.values())


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Where to write the files of a folder that appears at the end.

    The folder must be new or empty. A second process with the same folder is refused. An error
    leaves nothing. After a kill the command can be repeated.

    Args:
        folder: The target, not the current folder.
    """
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _claimed(folder):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is a file, expected the name of a new folder")
        if folder.exists() and any(folder.iterdir()):
            raise InputError(
                f"{folder}: is not empty, and nothing is overwritten; name a new folder"
            )
        if folder.exists() and folder.samefile("."):
            raise InputError(f"{folder}: is the current folder; name a new folder in it")
        part = folder.with_name(f".{folder.name}.entrain-part")
        shutil.rmtree(part, ignore_errors=True)  # of a killed command
        try:
            part.mkdir()
            yield part
            if folder.exists():
                folder.rmdir()
            part.rename(folder)
            sync_folder(folder.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _publish(parts: dict[Path, Path], replaceable: set[Path]) -> None:
    """Rename all parts that were written to their targets."""
    written = {path: part for path, part in parts.items() if part.exists()}
    check_new(*(path for path in written if path not in replaceable))
    for path, part in written.items():
        part.replace(path)
    for folder in {path.parent for path in written}:
        sync_folder(folder)


@contextlib.contextmanager
def _claimed(path: Path) -> Iterator[None]:
    """Refuse a second process that writes `path`."""
    claim = path.with_name(f".{path.name}.entrain-lock")
    with file_lock(claim) as locked:
        if not locked:
            raise InputError(f"{path}: another process is writing it; wait, or choose another name")
        try:
            yield
        finally:
            claim.unlink(missing_ok=True)


def _published(journal: Path) -> set[str]:
    """The targets of a command that was killed while it renamed its parts."""
    if not journal.is_file():
        return set()
    try:
        return set(json.loads(read_bytes(journal, most=2**20)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{journal}: is damaged; delete it") from error


def _remove(parts: Iterable[Path]) -> None:
    for part in parts:
        part.unlink(missing_ok=True)
        remove_temporary_files(part.parent, part.name)
