"""The file of a problem's yield: the runs of the chips measured so far and, in the end, the result.

JSON, replaced at each save: {..., "measured": {"version", "problem", "settings", "hardware",
"kinds"}, "digest"}. "kinds" lists variants of the hardware with the seeds of chips and the values
of their runs; the entries before "measured" are those of `entrain yield PROBLEM --json`, once all
chips are measured.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from entrain.evaluation import yield_file
from entrain.hardware import Hardware
from entrain.ising.problems import Problem
from entrain.ising.result_folder import problem_digest
from entrain.utils.errors import InputError, reason
from entrain.utils.files import read_json_with_digest, with_digest

_WHAT = "a file of entrain yield of a problem"
_VERSION = 1
_UNREADABLE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
_DIFFERENCES = {
    "version": "of another version of entrain",
    "problem": "of another problem",
    "settings": "with other restarts, steps or another --noise-seed",
    "hardware": "of other hardware",
}
Runs = tuple[int | float, ...]


class ProblemYieldFile:
    """Values of the runs of chips, by hardware and seed; stored in a file if there is a path.

    Args:
        path: The file, if there is one.
        key: All that determines the values, as JSON values.
    """

    def __init__(self, path: Path | None, key: dict[str, Any]) -> None:
        self._path, self._key = path, key
        self._runs: dict[Hardware, dict[int, Runs]] = {}
        self._saved_at, self._unsaved = -math.inf, False
        if path is not None and path.exists():
            self._runs = _read(path, key)

    def of(self, hardware: Hardware) -> Mapping[int, Runs]:
        """The runs of the chips of a hardware measured so far, by seed.

        Args:
            hardware: The hardware, or a variant of it.
        """
        return self._runs.setdefault(hardware, {})

    def add(self, hardware: Hardware, runs: Mapping[int, Runs]) -> None:
        """Add chips; they are saved at most every `SECONDS_BETWEEN_SAVES`.

        Args:
            hardware: Their hardware.
            runs: Values of their runs, by seed.
        """
        self._runs.setdefault(hardware, {}).update(runs)
        self._unsaved = True
        if time.monotonic() - self._saved_at >= yield_file.SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Write the file if chips were added."""
        if self._path is None or not self._unsaved:
            return
        kinds = [
            {
                "hardware": yield_file.without_name(hardware),
                "seeds": sorted(known),
                "runs": [list(known[seed]) for seed in sorted(known)],
            }
            for hardware, known in self._runs.items()
            if known
        ]
        yield_file.write(self._path, {"measured": self._key | {"kinds": kinds}})
        self._saved_at, self._unsaved = time.monotonic(), False


@contextlib.contextmanager
def open_problem_yield(
    path: Path | None, problem: Problem, settings: dict[str, Any], hardware: Hardware
) -> Iterator[ProblemYieldFile]:
    """The file of a problem on one hardware and its variants, locked against other processes.

    A file of something else is refused.

    Args:
        path: The file; None stores nothing.
        problem: The problem.
        settings: All else that determines the values of the runs, as JSON values.
        hardware: The hardware.
    """
    key = {
        "version": _VERSION,
        "problem": problem_digest(problem),
        "settings": with_digest(settings),
        "hardware": yield_file.without_name(hardware),
    }
    if path is None:
        yield ProblemYieldFile(None, key)
        return
    with yield_file.locked(path):
        file = ProblemYieldFile(path, key)
        try:
            yield file
        finally:
            file.save()


def _read(path: Path, key: dict[str, Any]) -> dict[Hardware, dict[int, Runs]]:
    """The runs in a file with this key."""
    content = read_json_with_digest(path, _WHAT)
    measured = content.get("measured")
    if not isinstance(measured, dict) or "problem" not in measured:
        raise InputError(f"{path}: not {_WHAT}; choose another file or move it away")
    for name, words in _DIFFERENCES.items():
        if measured.get(name) != key[name]:
            raise InputError(
                f"{path}: holds the yield {words}, and nothing is overwritten; choose another "
                "file or move it away"
            )
    try:
        return {
            Hardware.from_json(kind["hardware"]): {
                int(seed): tuple(runs)
                for seed, runs in zip(kind["seeds"], kind["runs"], strict=True)
            }
            for kind in measured["kinds"]
        }
    except _UNREADABLE as error:
        raise InputError(f"{path}: not {_WHAT} ({reason(error)}); move it away") from error
