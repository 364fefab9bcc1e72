"""Put systems that were measured apart into a bake-off that was measured before.

    entrain bakeoff gower snn --out apart
    python tools/update_bake_off.py results apart

Replaces the rows of these systems in results/bake-off.json, and the trainings behind them, by those
of apart/bake-off-NAME.json. It writes nothing unless every training of the outcome is the one that
the whole bake-off would do now; so the file is as if all had been measured at once, but that each
training keeps the device and the versions it was made by. With --keep-older, systems that were
measured by other settings than now stay as they are.
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
    whole: Values, parts: list[Values], job: Measurement, *, keep_older: bool = False
) -> Values:
    """`whole` with the rows and trainings of the parts in place of its own, for `job`."""
    newer = {_place(row): row for part in parts for row in part["values"]["rows"]}
    rows = [newer.pop(_place(row), row) for row in whole["values"]["rows"]]
    rows = [_explained(row) for row in (*rows, *newer.values())]
    stages = {each["key"]: each for each in whole["stages"]}
    stages |= {each["key"]: _moved(each, part, whole) for part in parts for each in part["stages"]}
    now = with_prerequisites(job.needs)
    needed = [each.key for each in now]
    missing = [each.title for each in now if each.key not in stages]
    if missing and keep_older:
        older = {each["title"]: each["key"] for each in whole["stages"]}
        needed = [each.key if each.key in stages else older[each.title] for each in now]
    elif missing:
        sys.exit(f"not measured, or by other settings than now: {'; '.join(missing)}")
    return whole | {
        "key": whole["key"] if missing else job.key,
        "values": {"rows": [_placed(row, job.setting, stages, whole) for row in rows]},
        "stages": [stages[key] for key in needed],
        "seconds": sum(result["seconds"] for result in (whole, *parts)),
        "finished": max(result["finished"] for result in (whole, *parts)),
    }


def _place(row: Values) -> tuple[str, str]:
    return row["system"], row["dataset"]


def _moved(stage: Values, part: Values, whole: Values) -> Values:
    """A training of `part` as an entry of `whole`: made where it says or, if not, `part` says."""
    origin = {"device": part["device"], "versions": part["versions"]} | stage
    kept = {name: value for name, value in stage.items() if name != "versions"}
    return kept | training_provenance(origin, whole)


def _explained(row: Values) -> Values:
    """The row with the reason for a difference that is known now: it was not measured."""
    reasons = {name: each.why for name, each in SYSTEMS.items()} | {
        o.name: o.why for o in ENTRAIN_SYSTEMS
    }
    return row | {"why": reasons[row["system"]]}


def _placed(row: Values, setting: Setting, stages: dict[str, Values], whole: Values) -> Values:
    """The row with the device of its training, where that is among `stages`."""
    own = {each.name: each for each in ENTRAIN_SYSTEMS}
    name, dataset = row["system"], row["dataset"]
    trained = (
        own[name].stage(setting, dataset) if name in own else stage(setting, dataset, SYSTEMS[name])
    )
    found = stages.get(trained.key)
    return row if found is None else row | {"device": found.get("device", whole.get("device"))}


def setting_of(result: Values) -> Setting:
    """The paper's setting with the teachers of a result."""
    seeds = tuple((name, seed) for name, seed in result["setting"]["teacher_seeds"])
    return replace(PAPER, teacher_seeds=seeds)


def main() -> None:
    """Update what the command line names."""
    parser = argparse.ArgumentParser(description="Renew some systems of a measured bake-off.")
    parser.add_argument("folder", type=Path, help="with bake-off.json")
    parser.add_argument("apart", type=Path, help="with bake-off-NAME.json")
    parser.add_argument("--keep-older", action="store_true", help="rows of other settings stay")
    given = parser.parse_args()
    folder, apart = ResultsFolder(given.folder), ResultsFolder(given.apart)
    whole = folder.result(EXPERIMENT.name)
    names = sorted(path.stem for path in given.apart.glob(f"{EXPERIMENT.name}-*.json"))
    parts = [part for name in names if (part := apart.result(name)) is not None]
    if whole is None or not parts:
        sys.exit(f"nothing to do: no bake-off.json in {folder.path}, or no part in {apart.path}")
    job = Measurement(EXPERIMENT, setting_of(whole))
    folder.write_result(job, updated(whole, parts, job, keep_older=given.keep_older))
    print(", ".join(names))  # noqa: T201


if __name__ == "__main__":
    main()
