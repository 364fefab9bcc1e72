"""Fifteen teacher architectures, one teacher each as in the paper, over several training orders."""

from __future__ import annotations

from entrain.evaluation import summarise
from entrain.training import Stage
from entrain_paper.experiments.architectures import ARCHITECTURES
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import AUXILIARY_RATE, FASHION, Setting


def identifiers(setting: Setting) -> list[str]:
    """Architectures at a setting."""
    return list(ARCHITECTURES)[: setting.architectures]


def students(setting: Setting) -> tuple[Stage, Stage]:
    """PATH and TWO-STAGE-END at the auxiliary rate, all orders of all teachers side by side."""
    orders = tuple(range(setting.few_runs))
    names = identifiers(setting)
    teachers = [setting.teacher(FASHION, ARCHITECTURES[name]) for name in names for _ in orders]
    path = setting.path(*teachers, runs=orders * len(names))
    return path, setting.continue_from(path, rate=AUXILIARY_RATE)


def measure(context: ExperimentContext) -> Values:
    """Test metrics of both methods over the orders, and the gain of Stage II in each."""
    few = context.setting.few_runs
    path, end = (context.test(FASHION, stage) for stage in students(context.setting))
    printed = {row["identifier"]: row for row in paper_numbers()["architecture_sweep"]["rows"]}
    rows: list[Values] = []
    for index, identifier in enumerate(identifiers(context.setting)):
        runs = slice(few * index, few * (index + 1))
        gains = [b["top1"] - a["top1"] for a, b in zip(path[runs], end[runs], strict=True)]
        gain = summarise(gains)
        rows.append(
            {
                "identifier": identifier,
                "path": summary(path[runs]),
                "two_stage_end": summary(end[runs]),
                "gain": {"mean": gain.mean, "sd": gain.sd, "least": min(gains), "most": max(gains)},
                "paper_path": printed[identifier]["path_top1"],
                "paper_two_stage_end": printed[identifier]["two_stage_end_top1"],
                "paper_gain": printed[identifier]["delta_top1"],
            }
        )
    return {"dataset": FASHION, "rows": rows}


EXPERIMENT = Experiment(
    "architecture-orders",
    "Fifteen teacher architectures over several training orders",
    "",
    lambda setting: list(students(setting)),
    measure,
)
