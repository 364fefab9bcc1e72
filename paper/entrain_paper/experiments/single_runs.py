"""The paper's single runs at rate 30, over several training orders.

Rounding decides runs from exact zero and with endpoint weight 10, which have twenty orders each.
Continuations of PATH and their trajectories have five. The control for PATH-CONT is Stage I solved
exactly (PATH at its minimum, where it cannot improve) and TWO-STAGE-END from there.
"""

from __future__ import annotations

from dataclasses import replace

from entrain.training import Stage
from entrain_paper.experiments import shared_stages, trajectory
from entrain_paper.experiments.experiment import (
    METRICS,
    Experiment,
    ExperimentContext,
    Values,
    summary,
)
from entrain_paper.experiments.metrics import trajectory_rmse
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import AUXILIARY_RATE, BOTH, MNIST, Setting

SMALL_WEIGHT, LARGE_WEIGHT = 0.1, 10.0
EXACT = {"PATH": "PATH, exact", "TWO-STAGE-END": "TWO-STAGE-END from it"}


def order_count(setting: Setting) -> int:
    """Training orders of runs that rounding decides: twenty at the paper's size."""
    return 20 if setting.is_paper else setting.runs + 1


def branches(setting: Setting, name: str) -> dict[str, list[Stage]]:
    """Stages by name; several stages of one name have different training orders."""
    path = setting.main_path(name)
    few = tuple(range(setting.few_runs))
    stages = {
        method: [setting.continue_from(path, method, runs=few, rate=AUXILIARY_RATE)]
        for method in shared_stages.CONTINUATIONS
    }
    every = tuple(range(order_count(setting)))
    for method in shared_stages.FROM_ZERO:
        stages[method] = [setting.continue_from(path, method, runs=every, rate=AUXILIARY_RATE)]
    if name == MNIST:
        stages[f"weight {SMALL_WEIGHT:g}"] = [
            setting.continue_from(
                path, runs=few, rate=AUXILIARY_RATE, weights=(SMALL_WEIGHT,) * len(few)
            )
        ]
        further = setting.path(*path.teachers, runs=every[setting.runs :])
        starts = [path, further] if further.runs else [path]
        stages[f"weight {LARGE_WEIGHT:g}"] = [
            setting.continue_from(
                start, rate=AUXILIARY_RATE, weights=(LARGE_WEIGHT,) * len(start.runs)
            )
            for start in starts
        ]
    solved = replace(shared_stages.exact_path(path), runs=few)
    return stages | {
        EXACT["PATH"]: [solved],
        EXACT["TWO-STAGE-END"]: [setting.continue_from(solved)],
    }


def stages(setting: Setting) -> list[Stage]:
    """Every branch on both datasets."""
    return [
        stage for name in BOTH for stages in branches(setting, name).values() for stage in stages
    ]


def measure(context: ExperimentContext) -> Values:
    """Test metrics of every order, and the share of orders below the paper's single run."""
    rows: list[Values] = []
    for name in BOTH:
        for what, same in branches(context.setting, name).items():
            runs = [run for stage in same for run in context.test(name, stage)]
            rows.append(
                {
                    "dataset": name,
                    "what": what,
                    "paper": _printed(name, what),
                    **summary(runs, METRICS),
                }
            )
            context.on_progress(min(0.6, 0.6 * len(rows) / 16))
    for row in rows:
        row["below"] = _below([run["top1"] for run in row["runs"]], row["paper"])
    trajectories: list[Values] = []
    for done, name in enumerate(BOTH, start=1):
        trajectories += _trajectories(context, name)
        context.on_progress(0.6 + 0.4 * done / len(BOTH))
    return {"rows": rows, "trajectories": trajectories}


def _trajectories(context: ExperimentContext, name: str) -> list[Values]:
    """Trajectory RMSE of both methods in every order, and the number of times after the start at
    which PATH's is larger, for each node set."""
    setting = context.setting
    (end,) = branches(setting, name)["TWO-STAGE-END"]
    orders = [
        trajectory.errors(context, name, (setting.main_path(name), end), order)
        for order in range(len(end.runs))
    ]
    rows: list[Values] = []
    for nodes in trajectory.NODES:
        row: Values = {"dataset": name, "nodes": nodes}
        for method in ("path", "two_stage_end"):
            row[method] = [trajectory_rmse(order[method][nodes]) for order in orders]
        both = [(order["path"][nodes][1:], order["two_stage_end"][nodes][1:]) for order in orders]
        row["times_path_is_larger"] = [int((path > end).sum()) for path, end in both]
        row["times_after_start"] = len(both[0][0])
        rows.append(row)
    return rows


def _printed(name: str, what: str) -> float | None:
    """The paper's top-1; None if it prints none."""
    if what.startswith("weight"):
        weights = {row["lambda_end"]: row for row in paper_numbers()["endpoint_weight"]["rows"]}
        return float(weights[float(what.removeprefix("weight "))]["top1"])
    for row in paper_numbers()["protocol_ablation"]["rows"]:
        if (row["dataset"], row["method"]) == (name, what):
            return float(row["top1"])
    return None


def _below(tops: list[float], paper: float | None) -> float | None:
    return None if paper is None else sum(top < paper for top in tops) / len(tops)


EXPERIMENT = Experiment(
    "single-runs", "The paper's single runs over several training orders", "", stages, measure
)
