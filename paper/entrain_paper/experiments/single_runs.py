"""What the paper measured in single runs at rate 30, over several training orders.

From exact zero, and with endpoint weight 10, rounding decides a run: these take twenty orders each.
Continuations of PATH and their trajectories take five. In addition there is the control for
PATH-CONT: Stage I solved exactly (PATH at its minimum, where it cannot improve) and TWO-STAGE-END
from there.
"""

from __future__ import annotations

from dataclasses import replace

from entrain.evaluation import trajectory_rmse
from entrain.rules import TwoStage
from entrain.training import Stage
from entrain_paper.experiments import shared_stages, trajectory
from entrain_paper.experiments.experiment import (
    METRICS,
    Experiment,
    ExperimentContext,
    Values,
    summary,
)
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import AUXILIARY_RATE, BOTH, MNIST, Setting

SMALL_WEIGHT, LARGE_WEIGHT = 0.1, 10.0
EXACT = {"PATH": "PATH, exact", "TWO-STAGE-END": "TWO-STAGE-END from it"}


def many(setting: Setting) -> int:
    """The number of orders for runs that rounding decides: twenty at the paper's size."""
    return 20 if setting.is_paper else setting.runs + 1


def branches(setting: Setting, name: str) -> dict[str, list[Stage]]:
    """Stages by name. Several stages of one name are further orders of the same."""
    path = setting.main_path(name)
    few = tuple(range(setting.few_runs))
    found = {
        method: [setting.continue_from(path, method, runs=few, rate=AUXILIARY_RATE)]
        for method in shared_stages.CONTINUATIONS
    }
    every = tuple(range(many(setting)))
    for method in shared_stages.FROM_ZERO:
        found[method] = [setting.continue_from(path, method, runs=every, rate=AUXILIARY_RATE)]
    if name == MNIST:
        found[f"weight {SMALL_WEIGHT:g}"] = [
            setting.continue_from(
                path, runs=few, rate=AUXILIARY_RATE, weights=(SMALL_WEIGHT,) * len(few)
            )
        ]
        further = setting.path(*path.teachers, runs=every[setting.runs :])
        begun = [path, further] if further.runs else [path]
        found[f"weight {LARGE_WEIGHT:g}"] = [
            setting.continue_from(
                each, rate=AUXILIARY_RATE, weights=(LARGE_WEIGHT,) * len(each.runs)
            )
            for each in begun
        ]
    solved = replace(path, rule=_exact(path), runs=few)
    return found | {
        EXACT["PATH"]: [solved],
        EXACT["TWO-STAGE-END"]: [setting.continue_from(solved)],
    }


def _exact(path: Stage) -> TwoStage:
    assert isinstance(path.rule, TwoStage)
    return replace(path.rule, solver="exact", epochs=1)


def stages(setting: Setting) -> list[Stage]:
    """All of both datasets."""
    return [stage for name in BOTH for each in branches(setting, name).values() for stage in each]


def measure(context: ExperimentContext) -> Values:
    """Test metrics of every order, and the share of orders below the paper's single run."""
    rows: list[Values] = []
    for name in BOTH:
        found = branches(context.setting, name)
        for what, several in found.items():
            runs = [run for stage in several for run in context.test(name, stage)]
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
    """For each node set: trajectory RMSE of both methods in every order, and at how many of the
    later times PATH's is larger."""
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
            row[method] = [trajectory_rmse(each[method][nodes]) for each in orders]
        both = [(each["path"][nodes][1:], each["two_stage_end"][nodes][1:]) for each in orders]
        row["times_path_is_larger"] = [int((path > end).sum()) for path, end in both]
        row["times_after_start"] = len(both[0][0])
        rows.append(row)
    return rows


def _printed(name: str, what: str) -> float | None:
    """The paper's top-1, where it prints one."""
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
    "single-runs", "The paper's single runs over several orders", "", stages, measure
)
