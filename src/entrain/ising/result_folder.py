"""The folder of a solution: batches so far and the best state, in one JSON file.

{"version", "problem", "settings", "best", "states", "batches", "result", "digest"}. "problem" is a
digest, "result" the values of `entrain solve --json`. The file is replaced after every batch, and
with a better state at an interruption.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from entrain.ising.batch import BatchResult, Best
from entrain.ising.problems import Problem
from entrain.utils.errors import InputError, reason
from entrain.utils.files import (
    file_lock,
    read_json_with_digest,
    remove_temporary_files,
    strict_json,
    with_digest,
    write_atomically,
)
from entrain.utils.hashing import sha256

_WHAT = "a result of entrain solve"
_VERSION = 1
_UNREADABLE = (AttributeError, KeyError, OverflowError, TypeError, ValueError)


class ResultFolder:
    """Batches and the best state of one problem with one set of settings.

    Args:
        path: The folder; None stores nothing.
        problem: The problem.
        settings: All that determines the values of a batch, as JSON values.
    """

    def __init__(self, path: Path | None, problem: Problem, settings: dict[str, Any]) -> None:
        self._file = None if path is None else path / "solution.json"
        self._problem = problem
        self._key = {
            "version": _VERSION,
            "problem": problem_digest(problem),
            "settings": with_digest(settings),
        }
        self.batches: list[BatchResult] = []
        self.best: Best | None = None
        if self._file is not None and self._file.exists():
            self._read(self._file)

    def add(self, result: BatchResult, best: Best) -> None:
        """Store a batch.

        Args:
            result: Its result.
            best: Its best state.
        """
        self.batches.append(result)
        self.batches.sort(key=lambda stored: stored.batch.index)
        self.consider(best)
        self.save()

    def consider(self, best: Best) -> None:
        """Take a state if it is better than the best so far.

        Args:
            best: A state with its value.
        """
        if self.best is None:
            self.best = best
            return
        costs = self._problem.costs(np.array([best.value, self.best.value]))
        if costs[0] < costs[1]:
            self.best = best

    def save(self, result: dict[str, Any] | None = None) -> None:
        """Write the file.

        Args:
            result: The values of `entrain solve --json`, once they are known.
        """
        if self._file is None or self.best is None:
            return
        values = self._key | {
            "best": self.best.value,
            "states": self.best.states.tolist(),
            "batches": [stored.to_json() for stored in self.batches],
            "result": result,
        }
        write_atomically(self._file, (strict_json(with_digest(values), 1) + "\n").encode())

    def _read(self, file: Path) -> None:
        content = read_json_with_digest(file, _WHAT)
        for name, words in (
            ("version", "of another version of entrain"),
            ("problem", "of another problem"),
            ("settings", "with other settings"),
        ):
            if content.get(name) != self._key[name]:
                raise InputError(
                    f"{file}: holds a solution {words}, and nothing is overwritten; choose another "
                    "folder or move it away"
                )
        try:
            self.batches = [BatchResult.from_json(values) for values in content["batches"]]
            states = np.array(content["states"], dtype=np.int8)
            value = self._problem.values(states)[0].item()
            if value != content["best"]:
                raise ValueError(f"the states have the value {value}, not {content['best']}")
        except _UNREADABLE as error:
            raise InputError(f"{file}: not {_WHAT} ({reason(error)}); move it away") from error
        self.best = Best(value, states)


@contextlib.contextmanager
def open_results(
    path: Path | None, problem: Problem, settings: dict[str, Any]
) -> Iterator[ResultFolder]:
    """The folder, locked against other processes; one of another problem is refused.

    Args:
        path: The folder; None stores nothing.
        problem: The problem.
        settings: All that determines the values of a batch.
    """
    if path is None:
        yield ResultFolder(None, problem, settings)
        return
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file, expected the name of a folder")
    path.mkdir(parents=True, exist_ok=True)
    with file_lock(path / "solve.lock") as locked:
        if not locked:
            raise InputError(f"{path}: another process is solving into it; choose another folder")
        remove_temporary_files(path)
        yield ResultFolder(path, problem, settings)


def problem_digest(problem: Problem) -> str:
    """A digest of everything that determines the values of a problem.

    Args:
        problem: The problem.
    """
    graph = problem.graph
    parts: list[Any] = [type(problem).__name__, str(graph.nodes), str(problem.choices)]
    arrays: Sequence[Any] = (
        graph.first,
        graph.second,
        graph.weights,
        getattr(problem, "linear", np.zeros(0)),
        np.array([getattr(problem, "offset", 0)]),
    )
    for array in arrays:
        parts += [str(array.dtype), np.ascontiguousarray(array).data.cast("B")]
    return sha256(*parts)
