"""A training on disk: the recipe, the state of each stage, the models, the results.

run.json                       the recipe, the device and the data
run.lock                       locked by the process that trains
state/STAGE.safetensors        checkpoints, from which a killed training continues
PROTOCOL-RUN.safetensors       the selected model of each run
results.json, trajectories.png metrics and a figure of the result
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entrain.data import Dataset, fingerprint
from entrain.models.model import Model
from entrain.training import Recipe, TrainingState, pack_state, read_state
from entrain.utils.errors import InputError, reason
from entrain.utils.files import (
    check_digest,
    file_lock,
    read_bytes,
    read_json_with_digest,
    remove_temporary_files,
    strict_json,
    temporary_files,
    with_digest,
    write_atomically,
)
from entrain.utils.hashing import sha256_of_json

SECONDS_BETWEEN_SAVES = 1.0
_TRAIN_AGAIN = "Delete it to train its stage again"
_LOCK = "run.lock"
_MOST_BYTES = 2**24  # of run.json


class ResumableError(InputError):
    """The unfinished or existing run in `folder` could be continued."""

    def __init__(self, message: str, folder: Path) -> None:
        super().__init__(message)
        self.folder = folder


class RunFolder:
    """One run folder; a `Store` of the pipeline."""

    def __init__(self, path: Path, recipe: Recipe, settings: dict[str, Any]) -> None:
        self.path = path
        self.recipe = recipe
        self.settings = settings
        self._saved_at = 0.0
        self._recipe_hash = sha256_of_json(recipe.to_json())
        _check_file_names([protocol.name for protocol in recipe.protocols])

    @classmethod
    def create(cls, path: Path, recipe: Recipe, settings: dict[str, Any]) -> RunFolder:
        """A new folder; raises an `InputError` if it already holds anything."""
        folder = cls(path, recipe, settings)
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: is a file, expected a folder for the run")
        path.mkdir(parents=True, exist_ok=True)
        _check_unused(path)
        text = json.dumps(with_digest({"recipe": recipe.to_json(), "settings": settings}), indent=2)
        with folder.locked():
            _check_unused(path)
            write_atomically(path / "run.json", text.encode())
        return folder

    @classmethod
    def continued_or_new(
        cls, path: Path, recipe: Recipe, settings: dict[str, Any], data: Dataset
    ) -> RunFolder:
        """The folder of a run with the same recipe and data, or a new one."""
        folder = cls.open(path) if (path / "run.json").exists() else None
        if folder is None or folder.recipe != recipe:
            folder = cls.create(path, recipe, settings)
        folder.require(data)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A folder made by `create`."""
        file = path / "run.json"
        if not file.is_file():
            raise InputError(f"{path}: not a run folder (it has no run.json)")
        try:
            content = check_digest(json.loads(read_bytes(file, "run", _MOST_BYTES)), "a run")
            settings = dict(content["settings"])
            folder = cls(path, Recipe.from_json(content["recipe"]), settings)
            folder._recipe_hash = sha256_of_json(content["recipe"])
            texts = {name: settings[name] for name in ("device", "examples")}
            texts["data_dir"] = settings["data_dir"] or ""
        except InputError as error:
            raise InputError(f"{file}: {reason(error)}") from error
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{file}: not readable as a run ({reason(error)})") from error
        for name, value in texts.items():
            if not isinstance(value, str):
                raise InputError(f"{file}: {name} must be text, got {value!r}")
        _check_own(file, folder.own)
        return folder

    @property
    def own(self) -> dict[str, Any] | None:
        """Path, label and image_size of the user's own data; None for a dataset by name, and for a
        run that was started with arrays in Python."""
        own: dict[str, Any] | None = self.settings.get("own")
        return own

    def has(self, data: Dataset) -> bool:
        """True if the run was started with these examples."""
        return bool(self.settings["examples"] == fingerprint(data))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, so that two processes never train into it at once."""
        with file_lock(self.path / _LOCK) as locked:
            if not locked:
                raise InputError(f"{self.path}: another process is training this run")
            for folder in (self.path, self.path / "state"):
                remove_temporary_files(folder)
            yield

    def require(self, data: Dataset) -> None:
        """Raise an `InputError` for other examples than those the run was started with."""
        if not self.has(data):
            raise InputError(
                f"{self.path}: was started with other examples than {data.name} has now; choose "
                "another folder"
            )

    def load(self, stage: str) -> TrainingState | None:
        """The last saved state of `stage`, if any."""
        path = self._state_path(stage)
        if not path.exists():
            return None
        try:
            state, header = read_state(path)
        except InputError as error:
            raise InputError(f"{error}. {_TRAIN_AGAIN}") from error
        if header.get("recipe") != self._recipe_hash:
            raise InputError(
                f"{path}: belongs to another recipe than the one in run.json. {_TRAIN_AGAIN}"
            )
        return state

    def save(self, stage: str, state: TrainingState, *, finished: bool) -> None:
        """Save `state`, at most once a second unless the stage is finished."""
        if not finished and time.monotonic() - self._saved_at < SECONDS_BETWEEN_SAVES:
            return
        write_atomically(self._state_path(stage), pack_state(state, {"recipe": self._recipe_hash}))
        self._saved_at = time.monotonic()

    def model_path(self, protocol: str, run: int = 0) -> Path:
        """The file of the model of one run of a protocol."""
        return self.path / f"{protocol.lower()}-{run}.safetensors"

    @property
    def main_model_path(self) -> Path:
        """The model of the last protocol's first run, which represents the folder."""
        return self.model_path(self.recipe.protocols[-1].name)

    def save_models(self, models: dict[str, tuple[Model, ...]]) -> None:
        """Write every model."""
        for protocol, runs in models.items():
            for run, model in enumerate(runs):
                model.save(self.model_path(protocol, run))

    def save_results(self, results: dict[str, Any]) -> None:
        """Write results.json, with a digest of its content."""
        text = strict_json(with_digest(results), 2)
        write_atomically(self.path / "results.json", text.encode())

    def results(self) -> dict[str, Any] | None:
        """The results of a finished run; raises an `InputError` if the file was changed."""
        path = self.path / "results.json"
        if not path.exists():
            return None
        return read_json_with_digest(path, "the results of a run")

    def _state_path(self, stage: str) -> Path:
        return self.path / "state" / f"{stage.lower()}.safetensors"


def new_folder(parent: Path, name: str) -> Path:
    """The new folder parent/name-1, or with the next free number."""
    number = 1
    while True:
        path = parent / f"{name}-{number}"
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            number += 1


def check_unfinished(path: Path) -> None:
    """Raise an `InputError` if the folder holds a finished run."""
    if (path / "results.json").exists():
        _check_unused(path)


def _check_unused(path: Path) -> None:
    """Raise an `InputError` if the folder holds more than a process leaves that was killed at its
    start."""
    leftovers = {path / _LOCK, *temporary_files(path, "run.json")}
    if all(file in leftovers for file in path.iterdir()):
        return
    remedy = "nothing is ever overwritten; choose another folder"
    if (path / "run.json").exists():
        message = f"{path}: already holds another run and {remedy}, or continue it"
        raise ResumableError(message, path)
    raise InputError(f"{path}: already holds other files and {remedy}")


def _check_own(file: Path, own: Any) -> None:
    expected = {"path": str, "label": str | None, "image_size": int}
    optional = {"task": str, "frames": int, "seed": int}
    known = expected | optional
    if own is not None and not (
        isinstance(own, dict)
        and expected.keys() <= own.keys() <= known.keys()
        and all(isinstance(own[name], known[name]) for name in own)
    ):
        raise InputError(f"{file}: own must have path, label and image_size, got {own!r}")


def _check_file_names(protocols: list[str]) -> None:
    """Raise an `InputError` unless each protocol names a file of its own in the folder."""
    stages = ["teacher", *(str(name).lower() for name in protocols)]
    for stage in stages:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", stage):
            raise InputError(
                f"a protocol's name must be letters, digits, - and _, as it names files; "
                f"got {stage!r}"
            )
    if len(set(stages)) != len(stages):
        raise InputError(f"stages must have different names in lower case, got {stages}")
