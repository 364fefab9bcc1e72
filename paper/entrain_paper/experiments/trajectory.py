"""Table 6 and Figure 7: distance of the trajectories from the teacher path, over the rollout and at
each time."""

from __future__ import annotations

from collections.abc import Sequence

from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.comparison import Cell, Claim, Comparison, Row
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, rounded
from entrain_paper.experiments.metrics import trajectory_errors, trajectory_rmse
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH
from entrain_paper.experiments.teacher_spread import branch_source, source

NODES = ("output", "hidden", "all")


def errors(
    context: ExperimentContext,
    name: str,
    pair: Sequence[Stage],
    order: int = 0,
    *,
    teacher: int = 0,
) -> dict[str, Values]:
    """Method -> node set -> RMSE of cos(theta) at each of the K + 1 times, as a tensor, for one
    run of PATH and TWO-STAGE-END against one of their teachers."""
    path, end = pair
    examples = context.test_examples(name, context.teacher(path.teachers[teacher]))
    return {
        method: trajectory_errors(
            context.networks(stage)[order], examples.inputs, examples.coefficients
        )
        for method, stage in (("path", path), ("two_stage_end", end))
    }


def measure(context: ExperimentContext) -> Values:
    """Trajectory RMSE of each node set."""
    rows = []
    for name in BOTH:
        by_method = errors(context, name, shared_stages.branch_pair(context.setting, name))
        for nodes in NODES:
            values = {f"{m}_rmse": trajectory_rmse(rmse[nodes]) for m, rmse in by_method.items()}
            rows.append({"dataset": name, "nodes": nodes, **values})
    return {"rows": rows}


def measure_in_time(context: ExperimentContext) -> Values:
    """RMSE at each time, and the number of times after the start at which PATH's is larger."""
    rows = []
    for name in BOTH:
        by_method = errors(context, name, shared_stages.branch_pair(context.setting, name))
        for nodes in ("output", "hidden"):
            path, end = by_method["path"][nodes], by_method["two_stage_end"][nodes]
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


def compare(values: Values) -> Comparison:
    """Trajectory RMSE before and after Stage II."""
    rows = []
    changes: dict[tuple[str, str], float] = {}
    papers: dict[tuple[str, str], float] = {}
    for paper, ours in zip(paper_numbers()["trajectory"]["rows"], values["rows"], strict=True):
        before, after = ours["path_rmse"], ours["two_stage_end_rmse"]
        name, nodes = ours["dataset"], ours["nodes"]
        changes[name, nodes] = 100 * (after / before - 1)
        papers[name, nodes] = 100 * (paper["two_stage_end_rmse"] / paper["path_rmse"] - 1)
        cells = tuple(
            Cell(
                printed,
                measured,
                find(name, method, f"trajectory_{nodes}"),
                form=".4f",
                nearest=source(name, method, f"trajectory_{nodes}"),
            )
            for method, find, printed, measured in (  # only PATH has the main rate
                ("PATH", source, paper["path_rmse"], before),
                ("TWO-STAGE-END", branch_source, paper["two_stage_end_rmse"], after),
            )
        )
        rows.append(Row((name, nodes), cells))
    claims = [
        Claim(
            f"{name}: the RMSE of {nodes} trajectories from the teacher path {word}",
            (changes[name, nodes] < 0) == (nodes == "output"),
            f"{changes[name, nodes]:+.1f} % (paper {papers[name, nodes]:+.1f} %)",
            follows="" if nodes == "all" else "the order at every time (time-resolved errors)",
        )
        for name in BOTH
        for nodes, word in (("output", "falls"), ("hidden", "rises"), ("all", "rises"))
    ]
    return Comparison(
        ("dataset", "nodes"),
        ("PATH", "TWO-STAGE-END"),
        tuple(rows),
        tuple(claims),
        reason="the path is that of the teacher, and our teacher is not the paper's",
    )


def compare_in_time(values: Values) -> Comparison:
    """The order of the two methods at every time after the start."""
    claims = []
    for row in values["rows"]:
        larger, times = row["times_path_is_larger"], row["times_after_start"]
        count = larger if row["nodes"] == "output" else times - larger
        method = "TWO-STAGE-END" if row["nodes"] == "output" else "PATH"
        text = f"{row['dataset']}: {method} is closer to the {row['nodes']} path at every time"
        claims.append(Claim(text, count == times, f"{count} of {times} times"))
    return Comparison((), (), (), tuple(claims))


EXPERIMENT = Experiment(
    "trajectory",
    "Output and Hidden Trajectory Reorganization",
    "tab:trajectory_reorganization",
    shared_stages.branch_pairs,
    measure,
    compare,
)
IN_TIME = Experiment(
    "time-resolved",
    "Time-Resolved Autonomous Trajectory Errors",
    "fig:time_resolved_autonomous_errors",
    shared_stages.branch_pairs,
    measure_in_time,
    compare_in_time,
)
