"""A process that tries mutants one after another and tells how each went.

    python -m fuzzing.worker SEED < lines of "TARGET NUMBER"

Each line is answered by a line of JSON: `outcome` (value, refused, exception, hang, memory, or
flood: a message that repeats the file), `seconds` of CPU (a busy machine must not make a hang),
`mib` (the peak above what was in use before) and `detail`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import torch

from entrain.utils.errors import InputError
from fuzzing.targets import TARGETS, Mutants

SECONDS = 5.0
MIB = 1024.0
CHARACTERS = 5000  # of a message, which must not repeat the file
_STATUS = Path("/proc/self/status")


class Hang(BaseException):
    """A case took longer than it may. No `Exception`: readers that catch those must not stop it."""


def attempt(mutants: Mutants, target: str, number: int, folder: Path) -> dict[str, Any]:
    """One case in this process; see the module."""
    place = folder / target
    if not place.exists():
        place.mkdir()
        mutants.prepare(place)
        warm_up(mutants, target, place)
    (place / TARGETS[target].name).write_bytes(mutants.make(target, number))
    _forget_peak()
    before, began, detail = _memory("VmRSS"), time.process_time(), ""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        TARGETS[target].use(place)
        outcome = "value"
    except InputError as error:
        detail = str(error)
        outcome = "refused" if len(detail) <= CHARACTERS else "flood"
    except Hang:
        outcome, detail = "hang", traceback.format_exc()
    except Exception as error:
        outcome = "memory" if isinstance(error, MemoryError) else "exception"
        detail = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    took, peak = time.process_time() - began, _memory("VmHWM") - before
    if outcome in ("value", "refused") and (took > SECONDS or peak > MIB):
        outcome = "hang" if took > SECONDS else "memory"
        detail = f"{outcome}: {took:.1f} s, {peak:.0f} MiB"
    return {"outcome": outcome, "seconds": took, "mib": peak, "detail": detail[-4000:]}


def warm_up(mutants: Mutants, target: str, place: Path) -> None:
    """Use every valid file once: to import and to compile is no case's own time."""
    for content in mutants.seeds[target]:
        (place / TARGETS[target].name).write_bytes(content)
        with contextlib.suppress(InputError):  # tables in encodings that are not read
            TARGETS[target].use(place)


def _memory(field: str) -> float:
    """MiB of this process, now (VmRSS) or at most since the peak was forgotten (VmHWM)."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"{_STATUS} has no {field}")


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def limit_memory() -> None:
    """An allocation far above the limit fails, so that it cannot take the machine along."""
    most = int((_memory("VmSize") + 2 * MIB) * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def alarm(*_: object) -> None:
    raise Hang


def main(seed: int) -> None:
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # nothing that is read may write an answer
    faulthandler.enable()
    signal.signal(signal.SIGPROF, alarm)
    mutants = Mutants(seed)
    folder = Path(tempfile.mkdtemp(prefix="fuzzing-"))
    try:
        for target in TARGETS:
            attempt(mutants, target, -1, folder)
        limit_memory()
        answers.write("ready\n")
        answers.flush()
        for line in sys.stdin:
            target, number = line.split()
            answers.write(json.dumps(attempt(mutants, target, int(number), folder)) + "\n")
            answers.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
