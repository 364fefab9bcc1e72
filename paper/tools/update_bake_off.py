"""Replace systems of a measured bake-off by separate measurements of them.

    entrain bakeoff gower snn --out apart
    python paper/tools/update_bake_off.py results apart

Replaces the rows of these systems in results/bake-off.json, and their trainings, by those of
apart/bake-off-NAME.json. It writes only if every training of the outcome is one that the complete
bake-off would do now. The file is then the same as after one complete measurement, except that each
training keeps its device and versions. With --keep-older, systems that were measured with other
settings than now stay unchanged.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from entrain_paper.experiments import PAPER, Measurement, Setting, Values, with_prerequisites
from entrain_paper.experiments.bake_off import EXPERIMENT, stage
from entrain_paper.experiments.bake_off_entrain import ENTRAIN_SYSTEMS
from entrain_paper.peers import SYSTEMS
from entrain_paper.reproduction import ResultsFolder
from entrain_paper.reproduction.worker import training_provenance


def updated(
    complete: Values, parts: list[Values], job: Measurement, *, keep_older: bool = False
) -> Values:
    """`complete` with its rows and trainings replaced by those of the parts, for `job`."""
    newer = {_row_key(row): row for part in parts for row in part["values"]["rows"]}
    rows = [newer.pop(_row_key(row), row) for row in complete["values"]["rows"]]
    rows = [_with_reason(row) for row in (*rows, *newer.values())]
    stages = {entry["key"]: entry for entry in complete["stages"]}
    stages |= {
        entry["key"]: _entry(entry, part, complete) for part in parts for entry in part["stages"]
    }
    current = with_prerequisites(job.needs)
    needed = [stage.key for stage in current]
    missing = [stage.title for stage in current if stage.key not in stages]
    if missing and keep_older:
        older = {entry["title"]: entry["key"] for entry in complete["stages"]}
        needed = [s.key if s.key in stages else older[s.title] for s in current]
    elif missing:
        sys.exit(f"not measured, or with other settings than now: {'; '.join(missing)}")
    return complete | {
        "key": complete["key"] if missing else job.key,
        "values": {"rows": [_with_device(row, job.setting, stages, complete) for row in rows]},
        "stages": [stages[key] for key in needed],
        "seconds": sum(result["seconds"] for result in (complete, *parts)),
        "finished": max(result["finished"] for result in (complete, *parts)),
    }


def _row_key(row: Values) -> tuple[str, str]:
    return row["system"], row["dataset"]


def _entry(stage: Values, part: Values, complete: Values) -> Values:
    """A training of `part` as an entry of `complete`, with its device and versions."""
    origin = {"device": part["device"], "versions": part["versions"]} | stage
    entry = {name: value for name, value in stage.items() if name != "versions"}
    return entry | training_provenance(origin, complete)


def _with_reason(row: Values) -> Values:
    """The row with the reason for a difference that the code has now."""
    reasons = {system.name: system.why for system in (*SYSTEMS.values(), *ENTRAIN_SYSTEMS)}
    return row | {"why": reasons[row["system"]]}


def _with_device(
    row: Values, setting: Setting, stages: dict[str, Values], complete: Values
) -> Values:
    """The row with the device of its training, if that is among `stages`."""
    networks = {system.name: system for system in ENTRAIN_SYSTEMS}
    name, dataset = row["system"], row["dataset"]
    if name in networks:
        trained = networks[name].stage(setting, dataset)
    else:
        trained = stage(setting, dataset, SYSTEMS[name])
    entry = stages.get(trained.key)
    return row if entry is None else row | {"device": entry.get("device", complete.get("device"))}


def setting_of(result: Values) -> Setting:
    """The paper's setting with the teachers of a result."""
    seeds = tuple((name, seed) for name, seed in result["setting"]["teacher_seeds"])
    return replace(PAPER, teacher_seeds=seeds)


def main() -> None:
    """Update a bake-off."""
    parser = argparse.ArgumentParser(description="Replace systems of a measured bake-off.")
    parser.add_argument("folder", type=Path, help="with bake-off.json")
    parser.add_argument("apart", type=Path, help="with bake-off-NAME.json")
    parser.add_argument("--keep-older", action="store_true", help="rows of other settings stay")
    arguments = parser.parse_args()
    folder, apart = ResultsFolder(arguments.folder), ResultsFolder(arguments.apart)
    complete = folder.result(EXPERIMENT.name)
    names = sorted(path.stem for path in arguments.apart.glob(f"{EXPERIMENT.name}-*.json"))
    parts = [part for name in names if (part := apart.result(name)) is not None]
    if complete is None or not parts:
        sys.exit(f"nothing to do: no bake-off.json in {folder.path}, or no part in {apart.path}")
    job = Measurement(EXPERIMENT, setting_of(complete))
    folder.write_result(job, updated(complete, parts, job, keep_older=arguments.keep_older))
    print(", ".join(names))  # noqa: T201


if __name__ == "__main__":
    main()
