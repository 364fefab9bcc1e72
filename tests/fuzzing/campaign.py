"""Many mutants in several processes; what they find is kept, and the others go on."""

from __future__ import annotations

import itertools
import json
import os
import queue
import selectors
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzzing.targets import TARGETS, Mutants

FINE = ("value", "refused")
GRACE = 30.0  # seconds of the clock after which a case that hears no alarm is killed
START = 240.0  # seconds for a process to import and compile
SHARES = {"model": 4, "checkpoint": 2, "design": 2, "npz": 2, "csv": 2, "picture": 2}

Case = tuple[str, int]


@dataclass
class Tally:
    """What came of the cases of one target."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0  # of the slowest
    mib: float = 0.0  # of the largest


@dataclass
class Campaign:
    """All cases of one seed, and what they found."""

    seed: int
    tallies: dict[str, Tally] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def summary(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "seed": self.seed,
            "mutants": sum(tally.outcomes.total() for tally in self.tallies.values()),
            "findings": self.findings,
            "targets": {
                name: {
                    "mutants": tally.outcomes.total(),
                    "read": tally.outcomes["value"],
                    "refused": tally.outcomes["refused"],
                    "most_seconds": round(tally.seconds, 3),
                    "most_mib": round(tally.mib, 1),
                }
                for name, tally in self.tallies.items()
            },
            "seconds": round(self.seconds, 1),
        }


def cases(count: int, targets: Sequence[str] = tuple(TARGETS)) -> list[Case]:
    """`count` cases, by turns of every target, some more often than others."""
    turn = [name for name in targets for _ in range(SHARES.get(name, 1))]
    numbers = {name: itertools.count() for name in targets}
    return [(name, next(numbers[name])) for name in itertools.islice(itertools.cycle(turn), count)]


def fuzz(todo: list[Case], seed: int, keep: Path, processes: int = 2) -> Campaign:
    """Try every case; mutants that find something are kept in the folder `keep`."""
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in todo:
        waiting.put(case)
    campaign, lock, began = Campaign(seed), threading.Lock(), time.monotonic()
    mutants = Mutants(seed)

    def work() -> None:
        for (target, number), answer in _answers(waiting, seed):
            with lock:
                tally = campaign.tallies.setdefault(target, Tally())
                tally.outcomes[answer["outcome"]] += 1
                tally.seconds = max(tally.seconds, answer["seconds"])
                tally.mib = max(tally.mib, answer["mib"])
                if answer["outcome"] not in FINE:
                    case = {"target": target, "case": number}
                    campaign.findings.append(case | answer)
                    _keep(keep, f"{target}-{seed}-{number}", mutants.make(target, number), answer)

    with ThreadPoolExecutor(processes) as pool:
        for each in [pool.submit(work) for _ in range(processes)]:
            each.result()
    campaign.tallies = {name: campaign.tallies[name] for name in sorted(campaign.tallies)}
    campaign.findings.sort(key=lambda finding: (finding["target"], finding["case"]))
    campaign.seconds = time.monotonic() - began
    return campaign


def _keep(folder: Path, name: str, content: bytes, answer: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    (folder / f"{name}.txt").write_text(f"{answer['outcome']}\n{answer['detail']}\n")


def _answers(waiting: queue.SimpleQueue[Case], seed: int) -> Iterator[tuple[Case, dict[str, Any]]]:
    """The answers of one process after another: one that dies or hangs is followed by the next."""
    worker: Worker | None = None
    try:
        while True:
            try:
                case = waiting.get_nowait()
            except queue.Empty:
                return
            worker = worker or Worker(seed)
            answer = worker.ask(case)
            yield case, answer
            if answer["outcome"] in ("crash", "memory") or answer.get("killed"):
                worker.end()
                worker = None
    finally:
        if worker is not None:
            worker.end()


class Worker:
    """A process of fuzzing.worker."""

    def __init__(self, seed: int) -> None:
        paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzzing.worker", str(seed)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if self._line(START) != b"ready\n":
            self.end()
            raise RuntimeError("a process of the fuzzing suite did not start")

    def ask(self, case: Case) -> dict[str, Any]:
        """What the process says of a case; `crash` where it died, a `killed` hang where it did not
        answer at all."""
        assert self.process.stdin is not None
        began = time.monotonic()
        self.process.stdin.write(f"{case[0]} {case[1]}\n".encode())
        self.process.stdin.flush()
        line = self._line(GRACE)
        took = time.monotonic() - began
        if line is None:
            return {"outcome": "hang", "seconds": took, "mib": 0.0, "detail": "", "killed": True}
        if not line:
            code = self.process.wait(GRACE)
            return {"outcome": "crash", "seconds": took, "mib": 0.0, "detail": f"exit code {code}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(self, seconds: float) -> bytes | None:
        """The next line, empty at the end of the process; None where none comes in time."""
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return None
        return self.process.stdout.readline()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()
