"""CPU seconds on an idle machine and on a busy one: `python benchmarks/busy_machine.py`.

Every command runs alone and beside two endless loops for each core, in turns. Threads that spin
while they wait would take several times the CPU seconds on a busy machine; the limit is 1.5 times.
Prints a table and writes results/busy-machine.json. `--tests` adds the tests with most training
(ten minutes), `--all-tests` all tests (an hour).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from entrain.utils.threads import cpu_share

BAR = 1.5
LOOPS_PER_CORE = 2
ROOT = Path(__file__).resolve().parent.parent

_FIT = """
from sklearn.datasets import load_wine
from entrain.sklearn.estimator import KuramotoClassifier
X, y = load_wine(return_X_y=True)
KuramotoClassifier(epochs=200, random_state=0).fit(X, y)
"""

COMMANDS = {
    "estimator, wine": [sys.executable, "-c", _FIT],
    "estimator, PyTorch first": [sys.executable, "-c", f"import torch\n{_FIT}"],
    "train digits": [sys.executable, "-m", "entrain", "train", "digits"],
}
PYTEST = [sys.executable, "-m", "pytest", "-x"]
FILES = ("training", "direct", "direct_step", "estimator", "door", "rules", "cli", "chip_training")
TESTS = {"tests that train": [*PYTEST, *(str(ROOT / f"tests/test_{name}.py") for name in FILES)]}
ALL_TESTS = {"all tests": [*PYTEST, str(ROOT / "tests")]}


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--tests", action="store_true", help="also the tests with most training, once"
    )
    parser.add_argument("--all-tests", action="store_true", help="also all tests, once")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "busy-machine.json")
    options = parser.parse_args()
    rows = {name: measure(name, command, options.repeats) for name, command in COMMANDS.items()}
    chosen = (TESTS if options.tests else {}) | (ALL_TESTS if options.all_tests else {})
    rows |= {name: measure(name, command, 1) for name, command in chosen.items()}
    result = {
        "cores": cpu_share(),
        "loops": LOOPS_PER_CORE * cpu_share(),
        "bar": BAR,
        "python": platform.python_version(),
        "commands": rows,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print_table(rows)
    if max(row["ratio"] for row in rows.values()) > BAR:
        sys.exit(1)


def measure(name: str, command: list[str], repeats: int) -> dict[str, object]:
    """Seconds of `command`, idle and busy in turns, after one run that may compile."""
    if repeats > 1:
        run(command)
    idle, busy = [], []
    for _ in range(repeats):
        idle.append(run(command))
        with busy_cores():
            busy.append(run(command))
        Console(stderr=True).print(f"{name}: idle {idle[-1]}, busy {busy[-1]}")
    cpu, busy_cpu = (statistics.median(seconds[0] for seconds in runs) for runs in (idle, busy))
    return {
        "idle": idle,
        "busy": busy,
        "unit": "CPU seconds, wall seconds",
        "ratio": round(busy_cpu / cpu, 3),
    }


def run(command: list[str]) -> tuple[float, float]:
    """CPU seconds (with children) and wall seconds of a command, which must succeed."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        cwd = ROOT if "pytest" in command else folder
        process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=None)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return round(used.ru_utime + used.ru_stime, 2), round(wall, 2)


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Two endless loops for each core."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(LOOPS_PER_CORE * cpu_share())
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def print_table(rows: dict[str, dict[str, object]]) -> None:
    table = Table("", "idle, CPU s", "busy, CPU s", "ratio", "idle, s", "busy, s")
    for name, row in rows.items():
        columns = [
            f"{statistics.median(run[index] for run in row[load]):.1f}"  # type: ignore[attr-defined]
            for index in (0, 1)
            for load in ("idle", "busy")
        ]
        table.add_row(name, *columns[:2], f"{row['ratio']:.2f}", *columns[2:])
    Console().print(table)


if __name__ == "__main__":
    main()
