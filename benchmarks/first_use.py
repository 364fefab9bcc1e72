"""CPU and wall seconds of what a user meets first, each in fresh processes, as one JSON file.

    python benchmarks/first_use.py OUT.json [--repeats 5]

The kernels are compiled into an empty cache; then imports and commands, which find them compiled,
take turns with `import torch`, so that ratios hold on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sklearn.datasets import load_iris

from entrain.utils.threads import cpu_share

FIT = """
from sklearn.datasets import load_iris
from entrain.sklearn import KuramotoClassifier
KuramotoClassifier().fit(*load_iris(return_X_y=True))
"""
ROLLOUT = """
import torch
from entrain import kernels
from entrain.physics import Dynamics, PhaseModel
fields = torch.ones(1, 8, 5)
kernels.{function}(PhaseModel(fields, torch.zeros(1, 5, 5){terms}), Dynamics())
"""
COMPILE = {
    "a fit of KuramotoClassifier": FIT,
    "rollout": ROLLOUT.format(function="rollout", terms=""),
    "rollout and its adjoint": ROLLOUT.format(function="rollout_with_pullback", terms=""),
    "rollout with natural frequencies": ROLLOUT.format(
        function="rollout", terms=", frequencies=fields"
    ),
}
WARM = {
    "import torch": ["-c", "import torch"],
    "import entrain": ["-c", "import entrain"],
    "entrain --help": ["-m", "entrain", "--help"],
    "entrain show mnist-74": ["-m", "entrain", "show", "mnist-74"],
    "entrain predict mnist-74 ROWS": ["-m", "entrain", "predict", "mnist-74", "rows.csv"],
    "entrain evaluate mnist-74-direct": ["-m", "entrain", "evaluate", "mnist-74-direct"],
    "entrain train IRIS": ["-m", "entrain", "train", "iris.csv"],
    "entrain solve GRAPH --chip lo-2023": [
        "-m",
        "entrain",
        "solve",
        "ring.txt",
        "--chip",
        "lo-2023",
    ],
    "entrain export mnist-74 --to spice": ["-m", "entrain", "export", "mnist-74", "--to", "spice"],
}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    spent: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        for _ in range(options.repeats):
            for name, code in COMPILE.items():
                with tempfile.TemporaryDirectory() as cache:
                    first = run(["-c", code], folder, cache)
                    again = run(["-c", code], folder, cache)
                seconds = (first[0] - again[0], first[1] - again[1])
                spent.setdefault(f"compile: {name}", []).append(seconds)
        cache = str(Path(folder, "cache"))
        for turn in range(options.repeats + 1):
            for name, command in WARM.items():
                for old in (*Path(folder).glob("runs"), *Path(folder).glob("*-spice-phase")):
                    shutil.rmtree(old)  # a command continues what it finds
                seconds = run(command, folder, cache)
                if turn:  # the first one compiles
                    spent.setdefault(name, []).append(seconds)
    result = {
        "unit": "median CPU seconds, with children, and wall seconds",
        "seconds": {
            name: [round(statistics.median(part), 3) for part in zip(*runs, strict=True)]
            for name, runs in spent.items()
        },
        "load": round(os.getloadavg()[0], 1),
        "cores": cpu_share(),
        "python": platform.python_version(),
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    json.dump(result, sys.stdout, indent=1)


def write_inputs(folder: Path) -> None:
    """Files that the commands read."""
    rows = [",".join(["0"] * 783 + ["9"])] * 10
    Path(folder, "rows.csv").write_text("\n".join(rows))
    numbers, labels = load_iris(return_X_y=True)
    lines = [",".join(map(str, [*row, f"s{y}"])) for row, y in zip(numbers, labels, strict=True)]
    Path(folder, "iris.csv").write_text("\n".join(["a,b,c,d,species", *lines]))
    edges = [f"{i + 1} {(i + step) % 40 + 1} 1" for i in range(40) for step in (1, 7)]
    Path(folder, "ring.txt").write_text("\n".join(["40 80", *edges]))


def run(arguments: list[str], folder: str, cache: str) -> tuple[float, float]:
    """CPU seconds, with children, and wall seconds of Python with these arguments."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"ENTRAIN_CACHE": cache},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{arguments} failed")
    return used.ru_utime + used.ru_stime, time.monotonic() - began


if __name__ == "__main__":
    main()
