"""A folder of results, which several processes may fill at once.

EXPERIMENT.json            what was measured, with setting, seeds, versions, device, times, digest
stages/KEY.safetensors     the state of a trained stage; while it is trained, its last epochs
stages/KEY.lock            held by the process that works on the stage
figures/, REPRODUCTION.md  made from the JSON files
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entrain.training import Stage, TrainingState, pack_state, read_state
from entrain.utils.errors import InputError
from entrain.utils.files import (
    file_lock,
    read_json_with_digest,
    remove_temporary_files,
    strict_json,
    with_digest,
    write_atomically,
)
from entrain_paper.experiments import Measurement, Values

SECONDS_BETWEEN_SAVES = 5.0

Job = Stage | Measurement

_RESULT = frozenset(
    {"experiment", "title", "source", "key", "setting", "values", "stages"}
    | {"seconds", "finished", "device", "versions"}
)


class ResultsFolder:
    """Where results and trained stages are kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stages = path / "stages"
        self._saved_at = 0.0

    def create(self) -> None:
        """Make the folder where there is none."""
        for folder in (self.path, self.stages):
            if folder.exists() and not folder.is_dir():
                raise InputError(f"{folder}: is a file, expected a folder for results")
            folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def claim(self, job: Job) -> Iterator[bool]:
        """Hold `job` against other processes; whether it could be held. A kill lets it go."""
        with file_lock(self.stages / f"{job.key}.lock") as ours:
            if ours:
                path = self._path(job)
                remove_temporary_files(
                    path.parent, path.name
                )  # of a kill: only its holder writes it
            yield ours

    def _path(self, job: Job) -> Path:
        if isinstance(job, Measurement):
            return self.result_path(job.experiment.name)
        return self.stages / f"{job.key}.safetensors"

    # Trained stages

    def state(self, stage: Stage) -> tuple[TrainingState, Values] | None:
        """The saved state of a stage and its header, if it was begun: whether it is `finished`, its
        `seconds` so far, and the `device` and `versions` that finished it."""
        path = self._path(stage)
        if not path.exists():
            return None
        try:
            return read_state(path)
        except InputError as error:
            raise InputError(f"{error}. Delete it to train its stage again") from error

    def save_state(self, stage: Stage, state: TrainingState, seconds: float) -> None:
        """Keep an unfinished state, now and then."""
        if time.monotonic() - self._saved_at < SECONDS_BETWEEN_SAVES:
            return
        self.keep_state(stage, pack_state(state, {"finished": False, "seconds": seconds}))
        self._saved_at = time.monotonic()

    def keep_state(self, stage: Stage, content: bytes) -> None:
        """Keep the packed state of a stage."""
        write_atomically(self._path(stage), content)

    # Results

    def result_path(self, experiment: str) -> Path:
        """The file of an experiment's result."""
        return self.path / f"{experiment}.json"

    def result(self, experiment: str) -> Values | None:
        """The result of an experiment, if there is one."""
        path = self.result_path(experiment)
        if not path.exists():
            return None
        found = read_json_with_digest(path, _RESULT, "a result of entrain reproduce")
        missing = sorted({"key", "setting", "values"} - set(found))
        if missing:
            raise InputError(
                f"{path}: not a result of entrain reproduce (it has no {missing[0]}); move it away"
            )
        return found

    def results(self) -> dict[str, Values]:
        """Every result in the folder, by experiment."""
        from entrain_paper.experiments import EXPERIMENTS

        found = {name: self.result(name) for name in EXPERIMENTS}
        return {name: result for name, result in found.items() if result is not None}

    def keep_result(self, job: Measurement, result: dict[str, Any]) -> None:
        """Keep a result."""
        text = strict_json(with_digest(result), 1)
        write_atomically(self.result_path(job.experiment.name), (text + "\n").encode())

    def finished(self, job: Job) -> bool:
        """Whether `job` was done; a result of another setting is refused, not overwritten."""
        if not isinstance(job, Measurement):
            kept = self.state(job)
            return kept is not None and bool(kept[1].get("finished"))
        result = self.result(job.experiment.name)
        if result is None:
            return False
        if result["key"] != job.key:
            theirs, ours = result["setting"], job.setting
            raise InputError(
                f"{self.result_path(job.experiment.name)}: holds the result of another setting "
                f"({theirs.get('name')}, {theirs.get('runs')} runs; this one is {ours.name}, "
                f"{ours.runs} runs), and nothing is overwritten; choose another folder or move it "
                "away"
            )
        return True
