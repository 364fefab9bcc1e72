"""Times of `entrain yield`: `python benchmarks/yield_times.py [--chips 1000]`.

The shipped MNIST network on the 10,000 test images, on chips with thermal noise (`typical`) and
without (`ark`), each as a separate command. Prints a table and writes results/yield-times.json:
wall seconds, CPU seconds and accuracy. The limits are 90 s for 100 chips on two cores and 10 s
for 1,000 on an H200.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from entrain.utils.threads import cpu_share

ROOT = Path(__file__).resolve().parent.parent
HARDWARE = ("typical", "ark")
MODEL = "mnist-74-direct"


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chips", type=int, default=100)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "yield-times.json")
    options = parser.parse_args()
    measure(HARDWARE[0], 1, options.device)  # compiles the kernels
    rows = {name: measure(name, options.chips, options.device) for name in HARDWARE}
    cuda = options.device != "cpu" and torch.cuda.is_available()
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    machine = torch.cuda.get_device_name() if cuda else f"{platform.machine()}, {cpu_share()} cores"
    results[f"{machine}, {options.chips} chips"] = rows
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    table = Table(machine, "chips", "images", "mean top-1 %", "s", "CPU s")
    for name, row in rows.items():
        table.add_row(name, *(f"{value:g}" for value in row.values()))
    Console().print(table)


def measure(hardware: str, chips: int, device: str) -> dict[str, float]:
    """Seconds of one command, with the start of Python."""
    command = ["yield", MODEL, "--hardware", hardware, "--chips", str(chips), "--device", device]
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "entrain", *command, "--json"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    result = json.load(process.stdout)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"entrain {' '.join(command)} failed: {result}")
    return {
        "chips": chips,
        "examples": result["examples"],
        "mean": round(result["mean"], 3),
        "seconds": round(time.monotonic() - began, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
    }


if __name__ == "__main__":
    main()
