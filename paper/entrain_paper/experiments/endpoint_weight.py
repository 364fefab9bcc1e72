"""Table 10: the weight of the endpoint loss, on MNIST at the auxiliary rate."""

from __future__ import annotations

from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.ablation import SMALL, single
from entrain_paper.experiments.comparison import Claim, Comparison, Row
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import AUXILIARY_RATE, MNIST, Setting
from entrain_paper.experiments.teacher_spread import weight_name

OTHER_WEIGHTS = (0.1, 10.0)


def weighted(setting: Setting) -> Stage:
    """The weights 0.1 and 10 side by side, both from PATH's run 0 in the same order."""
    runs = (0,) * len(OTHER_WEIGHTS)
    path = setting.main_path(MNIST)
    return setting.continue_from(path, runs=runs, rate=AUXILIARY_RATE, weights=OTHER_WEIGHTS)


def stages(setting: Setting) -> list[Stage]:
    """Weight 0 is PATH-CONT and weight 1 TWO-STAGE-END of the ablation."""
    ablation = [shared_stages.branch(setting, MNIST, p) for p in ("PATH-CONT", "TWO-STAGE-END")]
    return [*ablation, weighted(setting)]


def measure(context: ExperimentContext) -> Values:
    """Test metrics by weight."""
    zero, one, rest = (
        context.test(MNIST, stage)
        for stage in (
            shared_stages.branch(context.setting, MNIST, "PATH-CONT"),
            shared_stages.branch(context.setting, MNIST, "TWO-STAGE-END"),
            weighted(context.setting),
        )
    )
    runs = {0.0: zero[0], 1.0: one[0]} | dict(zip(OTHER_WEIGHTS, rest, strict=True))
    rows = [{"endpoint_weight": weight, **runs[weight]} for weight in sorted(runs)]
    return {"dataset": MNIST, "rows": rows}


_EDGE = (
    "weight 10 at learning rate 30 is at the edge of stability, where training order and rounding "
    "decide the result of a run"
)


def compare(values: Values) -> Comparison:
    """Every weight."""
    rows = []
    for paper, ours in zip(paper_numbers()["endpoint_weight"]["rows"], values["rows"], strict=True):
        weight = ours["endpoint_weight"]
        branch = {0.0: "PATH-CONT", 1.0: "TWO-STAGE-END"}.get(weight, weight_name(weight))
        repeated = weight in (0.0, 1.0)  # runs of the ablation
        rows.append(Row((f"{weight:g}",), single(MNIST, branch, paper, ours, repeated=repeated)))
    top, agreement, rmse = (
        {row["endpoint_weight"]: row[metric] for row in values["rows"]}
        for metric in ("top1", "agreement", "endpoint_rmse")
    )
    claims = (
        Claim(
            "endpoint weights 0.1 and 1 are both better than weight 0",
            min(top[0.1], top[1.0]) > top[0.0] and max(rmse[0.1], rmse[1.0]) < rmse[0.0],
            f"{top[0.1]:.2f} and {top[1.0]:.2f} against {top[0.0]:.2f} %",
        ),
        Claim(
            f"endpoint weights 0.1 and 1 differ little (less than {SMALL:.0%} of their gain)",
            abs(top[0.1] - top[1.0]) < SMALL * (min(top[0.1], top[1.0]) - top[0.0]),
            f"{top[0.1]:.2f} and {top[1.0]:.2f} against {top[0.0]:.2f} %",
        ),
        Claim(
            "endpoint weight 10 is worse than weight 1",
            top[10.0] < top[1.0],
            f"{top[10.0]:.2f} against {top[1.0]:.2f} %",
        ),
        Claim(
            "endpoint weight 10 is worse than weight 0",
            top[10.0] < top[0.0],
            f"{top[10.0]:.2f} against {top[0.0]:.2f} %",
            reason=_EDGE,
            evidence="weight 10",
        ),
        Claim(
            "endpoint weight 10 agrees less with the teacher than weight 0",
            agreement[10.0] < agreement[0.0],
            f"{agreement[10.0]:.2f} against {agreement[0.0]:.2f} %",
            reason=_EDGE,
            evidence="weight 10",
        ),
        Claim(
            "endpoint weight 10 has a lower endpoint RMSE than weight 0",
            rmse[10.0] < rmse[0.0],
            f"{rmse[10.0]:.4f} against {rmse[0.0]:.4f}",
        ),
    )
    return Comparison(
        ("weight of L_end",),
        ("top-1 %", "agreement %", "endpoint RMSE"),
        tuple(rows),
        claims,
        reason=f"{_EDGE}. It is reproducible that weight 10 is worse than weight 1, but not by how "
        "much",
    )


EXPERIMENT = Experiment(
    "endpoint-weight",
    "Endpoint-Weight Sensitivity",
    "tab:endpoint_weight_sensitivity",
    stages,
    measure,
    compare,
)
