"""A training on disk: the recipe, the state of each stage, the models, the results.

run.json                       the recipe and where it was started; decides everything else
run.lock                       held by the process that trains
state/STAGE.safetensors        enough to go on after a kill at any moment
PROTOCOL-RUN.safetensors       the selected model of each run
results.json, trajectories.png what came out
"""

from __future__ import annotations

import contextlib
import hashlib
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
    read_json_with_digest,
    remove_temporary_files,
    strict_json,
    temporary_files,
    with_digest,
    write_atomically,
)

SECONDS_BETWEEN_SAVES = 1.0
_TRAIN_AGAIN = "Delete it to train its stage again"
_RESULTS = frozenset(
    {"dataset", "split", "examples", "seed", "teacher", "results"}
    | {"folder", "model", "figure", "device", "seconds"}
)
_LOCK = "run.lock"


class ResumableError(InputError):
    """A run in `folder` is in the way, or not finished: it can be gone on with."""

    def __init__(self, message: str, folder: Path) -> None:
        super().__init__(message)
        self.folder = folder


class RunFolder:
    """One run folder; a `Store` for the pipeline."""

    def __init__(self, path: Path, recipe: Recipe, settings: dict[str, Any]) -> None:
        self.path = path
        self.recipe = recipe
        self.settings = settings
        self._saved_at = 0.0
        self._mark = _mark(recipe.to_json())
        _check_file_names([protocol.name for protocol in recipe.protocols])

    @classmethod
    def create(cls, path: Path, recipe: Recipe, settings: dict[str, Any]) -> RunFolder:
        """A new folder; one that already holds anything is refused, never overwritten."""
        folder = cls(path, recipe, settings)
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: is a file, expected a folder for the run")
        if path.is_dir() and _holds_something(path):
            raise _taken(path)
        path.mkdir(parents=True, exist_ok=True)
        text = json.dumps(with_digest({"recipe": recipe.to_json(), "settings": settings}), indent=2)
        with file_lock(path / _LOCK) as ours:
            if not ours:
                raise _busy(path)
            if _holds_something(path):
                raise _taken(path)
            write_atomically(path / "run.json", text.encode())
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A folder made by `create`."""
        file = path / "run.json"
        if not file.is_file():
            raise InputError(f"{path}: not a run folder (it has no run.json)")
        try:
            content = check_digest(json.loads(file.read_text()), {"recipe", "settings"}, "a run")
            settings = content["settings"]
            folder = cls(path, Recipe.from_json(content["recipe"]), dict(settings))
            folder._mark = _mark(content["recipe"])
            given = folder.recipe.dataset, settings["device"], settings["data_dir"] or ""
        except InputError as error:
            raise InputError(f"{file}: {reason(error)}") from error
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{file}: not readable as a run ({reason(error)})") from error
        for name, value in zip(("dataset", "device", "data_dir"), given, strict=True):
            if not isinstance(value, str):
                raise InputError(f"{file}: {name} must be text, got {value!r}")
        _check_own(file, folder.own)
        return folder

    @property
    def own(self) -> dict[str, Any] | None:
        """The user's own data that it was begun with on the command line: path, label, image_size;
        None for a dataset by name, and where it was begun in Python."""
        found: dict[str, Any] | None = self.settings.get("own")
        return found

    def has(self, data: Dataset) -> bool:
        """Whether it was begun with these examples (version 0.1 kept no hash)."""
        found = fingerprint(data)
        return bool(self.settings.get("examples", found) == found)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, so that two processes never train into it at once."""
        with file_lock(self.path / _LOCK) as ours:
            if not ours:
                raise _busy(self.path)
            for folder in (self.path, self.path / "state"):
                remove_temporary_files(folder)
            yield

    def require(self, data: Dataset) -> None:
        """Refuse other examples than those the run was begun with."""
        if not self.has(data):
            raise InputError(
                f"{self.path}: was begun with other examples than {data.name} has now; choose "
                "another folder"
            )

    def load(self, stage: str) -> TrainingState | None:
        """The last saved state of `stage`, if it was begun."""
        path = self._state_path(stage)
        if not path.exists():
            return None
        try:
            state, header = read_state(path)
        except InputError as error:
            raise InputError(f"{error}. {_TRAIN_AGAIN}") from error
        if header.get("recipe") != self._mark:
            raise InputError(
                f"{path}: belongs to another recipe than the one in run.json. {_TRAIN_AGAIN}"
            )
        return state

    def save(self, stage: str, state: TrainingState, *, finished: bool) -> None:
        """Save `state`, at most once a second unless the stage is finished."""
        if not finished and time.monotonic() - self._saved_at < SECONDS_BETWEEN_SAVES:
            return
        write_atomically(self._state_path(stage), pack_state(state, {"recipe": self._mark}))
        self._saved_at = time.monotonic()

    def model_path(self, protocol: str, run: int = 0) -> Path:
        """Where the model of one run of a protocol lies."""
        return self.path / f"{protocol.lower()}-{run}.safetensors"

    @property
    def main_model_path(self) -> Path:
        """The model the folder stands for: the last protocol's first run."""
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
        """What `save_results` wrote, if the run is finished; a file changed since is refused."""
        path = self.path / "results.json"
        return (
            read_json_with_digest(path, _RESULTS, "the results of a run") if path.exists() else None
        )

    def _state_path(self, stage: str) -> Path:
        return self.path / "state" / f"{stage.lower()}.safetensors"


def new_folder(parent: Path, name: str) -> Path:
    """Make parent/name-1, or the first number that is not taken."""
    number = 1
    while True:
        path = parent / f"{name}-{number}"
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            number += 1


def _holds_something(path: Path) -> bool:
    """Whether there is more than a process leaves that was killed before it wrote run.json."""
    left = {path / _LOCK, *temporary_files(path, "run.json")}
    return any(each not in left for each in path.iterdir())


def _busy(path: Path) -> InputError:
    return InputError(f"{path}: another process is training this run")


def _taken(path: Path) -> InputError:
    kept = "nothing is ever overwritten; choose another folder"
    if (path / "run.json").exists():
        return ResumableError(f"{path}: already holds another run and {kept}, or continue it", path)
    return InputError(f"{path}: already holds other files and {kept}")


def _check_own(file: Path, own: Any) -> None:
    expected = {"path": str, "label": str | None, "image_size": int}
    if own is not None and not (
        isinstance(own, dict)
        and own.keys() == expected.keys()
        and all(isinstance(own[name], kind) for name, kind in expected.items())
    ):
        raise InputError(f"{file}: own must have path, label and image_size, got {own!r}")


def _mark(recipe: dict[str, Any]) -> str:
    """What tells the checkpoints of one recipe from those of another."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def _check_file_names(protocols: list[str]) -> None:
    """Protocols name files: none may lead elsewhere or take the file of another stage."""
    stages = ["teacher", *(str(name).lower() for name in protocols)]
    for stage in stages:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", stage):
            raise InputError(
                f"a protocol's name must be letters, digits, - and _, as it names files; "
                f"got {stage!r}"
            )
    if len(set(stages)) != len(stages):
        raise InputError(f"stages must have different names in lower case, got {stages}")
