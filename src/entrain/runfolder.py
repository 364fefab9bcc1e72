"""A training on disk: the recipe, the state of each stage, the models, the results.

run.json                       the recipe and where it was started; decides everything else
state/STAGE.safetensors        enough to go on after a kill at any moment
PROTOCOL-RUN.safetensors       the selected model of each run
results.json, trajectories.png what came out
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from entrain.errors import InputError
from entrain.files import write_atomically
from entrain.learning import Recipe, TrainingState
from entrain.model import Model
from entrain.tensorfile import read_tensors, write_tensors

SECONDS_BETWEEN_SAVES = 1.0


class RunFolder:
    """One run folder; a `Store` for the pipeline."""

    def __init__(self, path: Path, recipe: Recipe, settings: dict[str, Any]) -> None:
        self.path = path
        self.recipe = recipe
        self.settings = settings
        self._saved_at = 0.0

    @classmethod
    def create(cls, path: Path, recipe: Recipe, settings: dict[str, Any]) -> RunFolder:
        """A new folder; one that already holds anything is refused, never overwritten."""
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: is a file, expected a folder for the run")
        if path.is_dir() and any(path.iterdir()):
            holds = "another run" if (path / "run.json").exists() else "other files"
            raise InputError(
                f"{path}: already holds {holds} and nothing is ever overwritten; choose another "
                f"--out, or go on with it: entrain train --resume {path}"
            )
        text = json.dumps({"recipe": recipe.to_json(), "settings": settings}, indent=2)
        write_atomically(path / "run.json", text.encode())
        return cls(path, recipe, settings)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A folder made by `create`."""
        file = path / "run.json"
        if not file.is_file():
            raise InputError(f"{path}: not a run folder (it has no run.json)")
        try:
            content = json.loads(file.read_text())
            return cls(path, Recipe.from_json(content["recipe"]), dict(content["settings"]))
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}: not readable as a run ({error!r})") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, so that two processes never train into it at once."""
        with (self.path / "run.json").open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(f"{self.path}: another process is training this run") from error
            yield

    def load(self, stage: str) -> TrainingState | None:
        """The last saved state of `stage`, if it was begun."""
        path = self._state_path(stage)
        if not path.exists():
            return None
        tensors, header = read_tensors(path, "checkpoint")

        def group(prefix: str) -> dict[str, torch.Tensor]:
            return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}

        try:
            return TrainingState(
                epoch=int(header["epoch"]),
                current=group("current."),
                best=group("best."),
                best_merit=tensors["merit"],
                best_epoch=tensors["selected"],
                diverged=tensors["diverged"],
                history={name: rows.tolist() for name, rows in group("history.").items()},
            )
        except (KeyError, ValueError) as error:
            raise InputError(f"{path}: not a complete checkpoint ({error!r})") from error

    def save(self, stage: str, state: TrainingState, *, finished: bool) -> None:
        """Save `state`, at most once a second unless the stage is finished."""
        if not finished and time.monotonic() - self._saved_at < SECONDS_BETWEEN_SAVES:
            return
        tensors = {
            "merit": state.best_merit,
            "selected": state.best_epoch,
            "diverged": state.diverged,
        }
        for prefix, group in (("current.", state.current), ("best.", state.best)):
            tensors |= {prefix + name: tensor for name, tensor in group.items()}
        for name, rows in state.history.items():
            tensors[f"history.{name}"] = torch.tensor(rows, dtype=torch.float64)
        write_tensors(self._state_path(stage), "checkpoint", tensors, {"epoch": state.epoch})
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
        """Write results.json."""
        write_atomically(self.path / "results.json", json.dumps(results, indent=2).encode())

    def _state_path(self, stage: str) -> Path:
        return self.path / "state" / f"{stage.lower()}.safetensors"


def next_free(parent: Path, name: str) -> Path:
    """parent/name-1, or the first number that is not taken."""
    number = 1
    while (parent / f"{name}-{number}").exists():
        number += 1
    return parent / f"{name}-{number}"
