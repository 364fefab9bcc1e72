"""A folder of results, which several processes may write at the same time.

EXPERIMENT.json            the measurement, with setting, seeds, versions, device, times, digest
stages/KEY.safetensors     the state of a trained stage, or of the last epochs of an unfinished one
stages/KEY.lock            locked by the process that trains the stage
protocol/NAME.json         single trainings, which the report compares between devices
figures/, REPRODUCTION.md, reproduction/*.md  made from the JSON files
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
from entrain_paper.experiments import EXPERIMENTS, Measurement, Values
from entrain_paper.reproduction.measured import check_result

SECONDS_BETWEEN_SAVES = 5.0

Job = Stage | Measurement


class ResultsFolder:
    """Storage of results and trained stages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stages = path / "stages"
        self._saved_at = 0.0

    def create(self) -> None:
        """Create the folder if it does not exist."""
        for folder in (self.path, self.stages):
            if folder.exists() and not folder.is_dir():
                raise InputError(f"{folder}: is a file, expected a folder of results")
            folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def claim(self, job: Job) -> Iterator[bool]:
        """Lock `job` against other processes; True if this process has the lock. A kill unlocks."""
        with file_lock(self.stages / f"{job.key}.lock") as locked:
            if locked:  # only this process writes the file: temporary ones are of a killed process
                path = self._path(job)
                remove_temporary_files(path.parent, path.name)
            yield locked

    def _path(self, job: Job) -> Path:
        if isinstance(job, Measurement):
            return self.result_path(job.experiment.name)
        return self.stages / f"{job.key}.safetensors"

    # Trained stages

    def state(self, stage: Stage) -> tuple[TrainingState, Values] | None:
        """The saved state of a stage and its header; None if there is none. The header has
        `finished`, the `seconds` so far, and the `device` and `versions` that finished it."""
        path = self._path(stage)
        if not path.exists():
            return None
        try:
            return read_state(path)
        except InputError as error:
            raise InputError(f"{error}. Delete it to train its stage again") from error

    def save_state(self, stage: Stage, state: TrainingState, seconds: float) -> None:
        """Write an unfinished state, at most every 5 s."""
        if time.monotonic() - self._saved_at < SECONDS_BETWEEN_SAVES:
            return
        self.write_state(stage, pack_state(state, {"finished": False, "seconds": seconds}))
        self._saved_at = time.monotonic()

    def write_state(self, stage: Stage, content: bytes) -> None:
        """Write the packed state of a stage."""
        write_atomically(self._path(stage), content)

    # Results

    def result_path(self, experiment: str) -> Path:
        """The file of the result of an experiment."""
        return self.path / f"{experiment}.json"

    def result(self, experiment: str) -> Values | None:
        """The result of an experiment; None if there is none."""
        path = self.result_path(experiment)
        if not path.exists():
            return None
        result = read_json_with_digest(path, "a result of entrain reproduce")
        try:
            check_result(result)
        except InputError as error:
            raise InputError(f"{path}: {error}; move it away and measure again") from error
        return result

    def results(self) -> dict[str, Values]:
        """Every result in the folder, by experiment."""
        results = {name: self.result(name) for name in EXPERIMENTS}
        return {name: result for name, result in results.items() if result is not None}

    def protocol(self) -> dict[str, Values]:
        """Results of single trainings (`entrain train`) in protocol/, by name."""
        paths = sorted((self.path / "protocol").glob("*.json"))
        return {
            path.stem: read_json_with_digest(path, "a result of a single training")
            for path in paths
        }

    def write_result(self, job: Measurement, result: dict[str, Any]) -> None:
        """Write a result with its digest."""
        text = strict_json(with_digest(result), 1)
        write_atomically(self.result_path(job.experiment.name), (text + "\n").encode())

    def finished(self, job: Job) -> bool:
        """True if `job` is finished; a result of another setting is an error."""
        if not isinstance(job, Measurement):
            saved = self.state(job)
            return saved is not None and bool(saved[1].get("finished"))
        result = self.result(job.experiment.name)
        if result is None:
            return False
        if result["key"] != job.key:
            stored, setting = result["setting"], job.setting
            raise InputError(
                f"{self.result_path(job.experiment.name)}: holds the result of another setting "
                f"({stored.get('name')}, {stored.get('runs')} runs; this one is {setting.name}, "
                f"{setting.runs} runs), which is not overwritten; choose another folder or move "
                "the file away"
            )
        return True
