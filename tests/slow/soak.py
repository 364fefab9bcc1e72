"""Real commands, killed at random moments and begun again, must end as if nothing had happened.

    make soak                                                      100 kills, into results/soak.json
    python tests/slow/soak.py --kills 8 --only search --out FILE   a few

Each scenario runs once undisturbed. Then it runs again and again: a SIGKILL of the whole process
group at a moment drawn uniformly from that time, the next start, the next kill, until it is left to
end. Every file of it must have the bits of the undisturbed run, but for the times it states. Where
measurements are apart from trainings, the results are deleted then and measured again, which must
give the same bits, too.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import platform
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from run_contents import contents, differences, kind_of, last_write

import entrain
from entrain.utils.files import strict_json, write_atomically

MOST_KILLS_OF_A_RUN = 6
SECONDS_OF_A_RUN = 900  # after which an undisturbed one is stuck
CACHE = "numba"


@dataclass(frozen=True)
class Scenario:
    """A command that writes into `out`; TABLE is a table; `weight` is its share of the kills.

    `prepare` are commands that run once before, in the folder INPUTS.
    `resume` replaces it once `out/run.json` is there; else it goes on when it is called again.
    `repeatable`: False if its outputs appear complete and at once; then it refuses to be repeated.
    `measures`: its results are deleted at the end, and measured again.
    `compiles`: the kernels too, into a cache that is as new as the run.
    """

    name: str
    command: str
    resume: str | None = None
    weight: int = 1
    prepare: tuple[str, ...] = ()
    repeatable: bool = True
    measures: bool = False
    compiles: bool = False


_RESUME = "train --resume out"
_SMALL = "--network 4,3,3 --set steps=20 --set TEACHER.epochs=60 --set TEACHER.initialisations=1"
_TINY = "--size tiny --device cpu --out out"
SCENARIOS = (
    Scenario(
        "train: six protocols, Stage I by SGD",
        f"train digits --out out {_SMALL} --runs 2 --set PATH.epochs=10 "
        "--set PATH.learning_rate=1000 --epochs 3 --protocol PATH-CONT --protocol TWO-STAGE-END "
        "--protocol PRETRAIN-END-ONLY --protocol Z-END --protocol ZERO-END-ONLY",
        _RESUME,
        weight=3,
    ),
    Scenario(
        "train: Stage I solved, then from labels",
        f"train digits --out out {_SMALL} --protocol DIRECT-FROM-PATH --epochs 8",
        _RESUME,
        weight=2,
    ),
    Scenario("train: a table", "train TABLE --out out --network 12 --epochs 30", _RESUME, weight=5),
    Scenario(
        "reproduce: teachers and runs",
        f"reproduce teachers multiseed {_TINY}",
        weight=3,
        measures=True,
    ),
    Scenario(
        "reproduce: under noise", f"reproduce stochastic-dynamics {_TINY}", weight=2, measures=True
    ),
    Scenario(
        "bakeoff: systems with noise",
        f"bakeoff wang fan whitelam laydevant-annealed aoc --dataset MNIST {_TINY}",
        weight=3,
        measures=True,
    ),
    Scenario(
        "search",
        "search TABLE --trials 14 --side-by-side 2 --epochs 3 --hidden 8 --out out/found.json",
        weight=5,
    ),
    Scenario(
        "calibrate",
        "calibrate INPUTS/traces.npz --model INPUTS/run --out out/calibrated.safetensors",
        weight=2,
        prepare=(
            "train TABLE --out INPUTS/run --network 8 --epochs 4",
            "traces INPUTS/run --hardware typical --runs 20 --out INPUTS/traces.npz",
        ),
        repeatable=False,
    ),
    Scenario(
        "export",
        "export mnist-74 --to verilog --images 100 --out out/verilog",
        weight=2,
        repeatable=False,
    ),
    Scenario(
        "train: kernels not yet compiled",
        f"train digits --out out {_SMALL} --set TWO-STAGE-END.epochs=4",
        _RESUME,
        weight=1,
        compiles=True,
    ),
)


@dataclass
class Killed:
    """What became of a scenario."""

    scenario: Scenario
    seconds: float  # of the undisturbed run
    runs: int = 0
    resumes: int = 0
    kills: list[dict[str, Any]] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)


class Run:
    """A scenario in a folder of its own: the command runs there and writes into `out`."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self.folder, self.out = scenario, folder, folder / "out"
        self.table, self.inputs = folder.parent / "table.csv", folder.parent / "inputs"
        self.attempts, self.took = 0, 0.0  # seconds of the last attempt
        folder.mkdir()

    def attempt(self, delay: float | None) -> str | None:
        """Run the command; if it has not ended after `delay` seconds, kill it and say where."""
        command = self.scenario.command
        if self.scenario.resume and (self.out / "run.json").exists():
            command = self.scenario.resume
        began, clock = time.time(), time.monotonic()
        self.attempts += 1
        process = self._start(command)
        try:
            code = process.wait(SECONDS_OF_A_RUN if delay is None else delay)
        except subprocess.TimeoutExpired:
            if delay is None:
                raise
            importing = not _has_torch(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            if code == -signal.SIGKILL:  # else it had just ended
                return "imports" if importing else last_write(self.out, began)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.took = time.monotonic() - clock
        was_complete = code == 2 and self.attempts > 1 and not self.scenario.repeatable
        if code != 0 and not was_complete:
            raise Failed(f"{command}: exit code {code}: {self._errors()}")
        return None

    def prepare(self) -> None:
        """Run the commands that come before."""
        for command in self.scenario.prepare:
            if self._start(command).wait(SECONDS_OF_A_RUN):
                raise Failed(f"{command}: {self._errors()}")

    def delete_results(self) -> None:
        """Delete what was measured, and leave what was trained."""
        for path in self.out.rglob("*"):
            if path.is_file() and "stages" not in path.parts:
                path.unlink()

    def _start(self, command: str) -> subprocess.Popen[bytes]:
        """`entrain COMMAND` in a process group of its own."""
        for word, path in (("TABLE", self.table), ("INPUTS", self.inputs)):
            command = command.replace(word, shlex.quote(str(path)))
        with self._error_file.open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "entrain", *shlex.split(command)],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    @property
    def _error_file(self) -> Path:
        return self.folder / "errors.txt"

    def _errors(self) -> str:
        return self._error_file.read_text(errors="replace")[-500:]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ENTRAIN")}
        if self.scenario.compiles:
            kept["NUMBA_CACHE_DIR"] = str(self.folder / CACHE)
        return kept


def _has_torch(process: int) -> bool:
    """Whether a process has loaded PyTorch (where the system tells)."""
    with contextlib.suppress(OSError):
        return "libtorch_cpu" in Path(f"/proc/{process}/maps").read_text()
    return True


class Failed(Exception):
    """A command did not end well though it was not killed."""


def soak(scenario: Scenario, kills: int, moments: random.Random, folder: Path) -> Killed:
    """Kill runs of `scenario`, `kills` times in all, and compare what each ends with.

    It ends early with a run that differs.
    """
    folder.mkdir()
    undisturbed = Run(scenario, folder / "undisturbed")
    write_table(undisturbed.table)
    undisturbed.prepare()
    undisturbed.attempt(None)
    expected = contents(undisturbed.out)
    result, span = Killed(scenario, undisturbed.took), undisturbed.took
    while len(result.kills) < kills and not result.mismatches:
        run = Run(scenario, folder / f"run-{result.runs}")
        left = min(moments.randint(2, MOST_KILLS_OF_A_RUN), kills - len(result.kills))
        result.runs += 1
        try:
            while left:
                delay = moments.uniform(0, span)
                place = run.attempt(delay)
                if place is None:
                    break
                result.kills.append({"run": result.runs, "after": round(delay, 3), "at": place})
                result.resumes += 1
                left -= 1
            else:
                run.attempt(None)
            wrong = differences(expected, contents(run.out))
            if scenario.measures and not wrong:
                run.delete_results()
                run.attempt(None)
                again = differences(expected, contents(run.out))
                wrong = [f"measured again, {each}" for each in again]
        except Failed as error:
            wrong = [str(error).replace(str(folder), "")]
        if run.attempts == 1:  # never killed: the machine may be less busy than it was
            span = run.took
        result.mismatches += [f"run {result.runs}: {each}" for each in wrong]
        if not wrong:
            shutil.rmtree(run.folder)
    return result


def write_table(path: Path) -> None:
    """Three classes around a line, a plane and a corner of four features."""
    draw = random.Random(7)
    rows = ["label,a,b,c,d"]
    for number in range(240):
        kind = number % 3
        centre = ((0, 1, 2, 0), (2, 0, 1, 1), (1, 2, 0, 2))[kind]
        rows.append(",".join([f"k{kind}", *(f"{draw.gauss(each, 0.7):.4f}" for each in centre)]))
    path.write_text("\n".join(rows) + "\n")


# All of it


def shares(scenarios: list[Scenario], kills: int) -> list[int]:
    """How many of `kills` each scenario gets, by weight."""
    total = sum(each.weight for each in scenarios)
    bounds, passed = [0], 0
    for each in scenarios:
        passed += each.weight
        bounds.append(round(kills * passed / total))
    return [after - before for before, after in itertools.pairwise(bounds)]


def summary(results: list[Killed], seed: int, seconds: float) -> dict[str, Any]:
    """What results/soak.json holds: no name of a machine, no path."""
    kills = [kill for result in results for kill in result.kills]
    return {
        "kills": len(kills),
        "resumes": sum(result.resumes for result in results),
        "runs": sum(result.runs for result in results),
        "mismatches": sum(len(result.mismatches) for result in results),
        "hit": dict(Counter(kind_of(kill["at"]) for kill in kills).most_common()),
        "seconds": round(seconds),
        "seed": seed,
        "device": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"entrain": entrain.__version__, "python": platform.python_version()}
        | {name: _version(name) for name in ("torch", "numpy", "numba", "optuna")},
        "scenarios": [
            {
                "name": result.scenario.name,
                "command": f"entrain {result.scenario.command}",
                "undisturbed_seconds": round(result.seconds, 1),
                "runs": result.runs,
                "kills": result.kills,
                "mismatches": result.mismatches,
            }
            for result in results
        ],
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20250114)
    parser.add_argument("--only", help="scenarios whose name holds this")
    parser.add_argument("--out", type=Path, default=Path("results/soak.json"))
    given = parser.parse_args()
    chosen = [each for each in SCENARIOS if (given.only or "") in each.name]
    folder, began, results = Path(tempfile.mkdtemp(prefix="soak-")), time.monotonic(), []
    compile_kernels()
    for number, (scenario, kills) in enumerate(
        zip(chosen, shares(chosen, given.kills), strict=True)
    ):
        moments = random.Random(given.seed + number)
        results.append(soak(scenario, kills, moments, folder / str(number)))
        found = results[-1]
        say(
            f"{scenario.name}: {len(found.kills)} kills of {found.runs} runs "
            f"({found.seconds:.1f} s undisturbed), {len(found.mismatches)} mismatches"
        )
        for mismatch in found.mismatches:
            say(f"  {mismatch}")
    whole = summary(results, given.seed, time.monotonic() - began)
    write_atomically(given.out, (strict_json(whole, 1) + "\n").encode())
    say(f"{whole['kills']} kills in {whole['seconds']} s, {whole['mismatches']} mismatches")
    if whole["mismatches"]:
        say(f"the runs that differ are kept in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def compile_kernels() -> None:
    """Once, so that an undisturbed run takes as long as those that are killed."""
    code = "import entrain; entrain.train('digits', protocol='DIRECT', epochs=1)"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
