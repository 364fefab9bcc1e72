"""Five teachers where the paper and our tables have one: at H = 128, and for the architectures with
the largest differences."""

from __future__ import annotations

from dataclasses import replace

from entrain.training import Stage
from entrain_paper.experiments.architectures import ARCHITECTURES
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import AUXILIARY_RATE, BOTH, FASHION, Setting, matched_widths
from entrain_paper.experiments.teacher_sweep import rules, select_by

FARTHEST = ("T40_08_16", "T24_24_16", "D32_32", "D40_24")
TIMES_LONGER = (1, 2)


def wide(setting: Setting, name: str) -> dict[tuple[str, int], tuple[Stage, Stage]]:
    """(selection rule, epochs of Stage II) -> PATH and TWO-STAGE-END of the largest width."""
    widths = matched_widths(setting.widths[-1])
    pairs: dict[tuple[str, int], tuple[Stage, Stage]] = {}
    for rule in rules(name):
        teachers = [setting.teacher(name, widths, seed) for seed in range(setting.sweep_seeds)]
        selected = [select_by(rule, teacher) for teacher in teachers]
        path = setting.path(*selected, runs=(0,) * len(selected))
        for factor in TIMES_LONGER:
            longer = replace(setting, endpoint_epochs=factor * setting.endpoint_epochs)
            pairs[rule, longer.endpoint_epochs] = (path, longer.continue_from(path))
    return pairs


def architectures(setting: Setting) -> dict[str, tuple[Stage, Stage]]:
    """Architecture -> PATH and TWO-STAGE-END at the auxiliary rate, one student per teacher."""
    pairs = {}
    for identifier in FARTHEST[: setting.architectures]:
        widths = ARCHITECTURES[identifier]
        teachers = [setting.teacher(FASHION, widths, seed) for seed in range(setting.sweep_seeds)]
        path = setting.path(*teachers, runs=(0,) * len(teachers))
        pairs[identifier] = (path, setting.continue_from(path, rate=AUXILIARY_RATE))
    return pairs


def stages(setting: Setting) -> list[Stage]:
    """Every pair at the largest width and of the architectures."""
    pairs = [pair for name in BOTH for pair in wide(setting, name).values()]
    return [stage for pair in [*pairs, *architectures(setting).values()] for stage in pair]


def measure(context: ExperimentContext) -> Values:
    """Test metrics of every teacher's networks, with the paper's number."""
    setting = context.setting
    hidden = setting.widths[-1]
    printed = {(r["dataset"], r["H"]): r for r in paper_numbers()["width_scaling"]["rows"]}
    widths: list[Values] = []
    for name in BOTH:
        paper = printed.get((name, hidden), {})
        for (rule, epochs), pair in wide(setting, name).items():
            widths.append(
                {
                    "dataset": name,
                    "H": hidden,
                    "rule": rule,
                    "epochs": epochs,
                    "paper_path": paper.get("path_top1_mean"),
                    "paper_two_stage_end": paper.get("two_stage_end_top1_mean"),
                    **_pair(context, name, pair),
                }
            )
    sweep = {r["identifier"]: r for r in paper_numbers()["architecture_sweep"]["rows"]}
    by_architecture = [
        {
            "dataset": FASHION,
            "identifier": identifier,
            "paper_path": sweep[identifier]["path_top1"],
            "paper_two_stage_end": sweep[identifier]["two_stage_end_top1"],
            **_pair(context, FASHION, pair),
        }
        for identifier, pair in architectures(setting).items()
    ]
    return {"widths": widths, "architectures": by_architecture}


def _pair(context: ExperimentContext, name: str, pair: tuple[Stage, Stage]) -> Values:
    path, end = pair
    return {
        "teachers": [context.teacher_test(name, teacher) for teacher in path.teachers],
        "path": summary(context.test(name, path)),
        "two_stage_end": summary(context.test(name, end)),
    }


EXPERIMENT = Experiment(
    "more-teachers", "Widths and architectures with five teachers each", "", stages, measure
)
