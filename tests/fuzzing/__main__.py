"""`python -m fuzzing`: see the package."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
from pathlib import Path

import entrain
from entrain.utils.files import strict_json, with_digest, write_atomically
from fuzzing.campaign import FINE, cases, fuzz
from fuzzing.targets import TARGETS, Mutants
from fuzzing.worker import alarm, attempt


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzzing", description="Mutants of every kind of file.")
    parser.add_argument("--mutants", type=int, default=12_000)
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzzing"), help="for findings")
    parser.add_argument("--out", type=Path, help="JSON file of the summary")
    parser.add_argument("--case", help="TARGET:NUMBER, tried again in this process")
    options = parser.parse_args()
    if options.case:
        return again(options.seed, *options.case.split(":"))
    todo = cases(options.mutants, options.target or tuple(TARGETS))
    campaign = fuzz(todo, options.seed, options.keep, options.processes)
    summary = campaign.summary() | {"versions": versions()}
    if options.out:
        write_atomically(options.out, (strict_json(with_digest(summary), 1) + "\n").encode())
    for finding in campaign.findings:
        last = finding["detail"].strip().splitlines()[-1:] or [""]
        print(f"{finding['outcome']} {finding['target']}:{finding['case']}  {last[0][:150]}")  # noqa: T201
    found = f"{len(campaign.findings)} findings (kept in {options.keep})"
    print(f"{summary['mutants']} mutants, {found}")  # noqa: T201
    return 1 if campaign.findings else 0


def again(seed: int, target: str, number: str) -> int:
    signal.signal(signal.SIGPROF, alarm)
    with tempfile.TemporaryDirectory() as folder:
        answer = attempt(Mutants(seed), target, int(number), Path(folder))
    print(json.dumps({name: answer[name] for name in answer if name != "detail"}))  # noqa: T201
    print(answer["detail"])  # noqa: T201
    return 0 if answer["outcome"] in FINE else 1


def versions() -> dict[str, str]:
    import numpy
    import PIL
    import safetensors
    import torch

    found = {each.__name__: each.__version__ for each in (entrain, numpy, PIL, safetensors, torch)}
    return found | {"python": platform.python_version()}


if __name__ == "__main__":
    sys.exit(main())
