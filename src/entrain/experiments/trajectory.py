"""Autonomous trajectories against the teacher path: over the whole rollout, and in time."""

from __future__ import annotations

from entrain.evaluation import trajectory_errors, trajectory_rmse
from entrain.experiments import auxiliary
from entrain.experiments.setting import BOTH
from entrain.experiments.spec import Experiment, Lab, Values
from entrain.experiments.values import rounded

NODES = ("output", "hidden", "all")


def errors(lab: Lab, name: str) -> dict[str, Values]:
    """Method -> node set -> RMSE of cos(theta) at each of the K + 1 times, as a tensor."""
    path, end = auxiliary.pair(lab.setting, name)
    exam = lab.exam(name, lab.teacher(path.teachers[0]))
    return {
        method: trajectory_errors(lab.networks(stage)[0], exam.inputs, exam.coefficients)
        for method, stage in (("path", path), ("two_stage_end", end))
    }


def measure(lab: Lab) -> Values:
    """Trajectory RMSE of each node set."""
    rows = []
    for name in BOTH:
        found = errors(lab, name)
        for nodes in NODES:
            values = {f"{m}_rmse": trajectory_rmse(each[nodes]) for m, each in found.items()}
            rows.append({"dataset": name, "nodes": nodes, **values})
    return {"rows": rows}


def measure_in_time(lab: Lab) -> Values:
    """The time-resolved RMSE, and at how many later times each ordering holds."""
    rows = []
    for name in BOTH:
        found = errors(lab, name)
        for nodes in ("output", "hidden"):
            path, end = found["path"][nodes], found["two_stage_end"][nodes]
            rows.append(
                {
                    "dataset": name,
                    "nodes": nodes,
                    "path": rounded(path, 6),
                    "two_stage_end": rounded(end, 6),
                    "times_after_start": len(path) - 1,
                    "times_path_is_larger": int((path[1:] > end[1:]).sum()),
                }
            )
    return {"rows": rows}


EXPERIMENT = Experiment(
    "trajectory",
    "Output and hidden trajectory reorganisation",
    "tab:trajectory_reorganization",
    auxiliary.pairs,
    measure,
)
IN_TIME = Experiment(
    "time-resolved",
    "Time-resolved autonomous trajectory errors",
    "fig:time_resolved_autonomous_errors",
    auxiliary.pairs,
    measure_in_time,
)
