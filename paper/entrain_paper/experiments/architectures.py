"""Tables 7 and 8, Figures 2 and 12: fifteen Fashion-MNIST teachers with the same 64 hidden
activations, and their students."""

from __future__ import annotations

from typing import Any

from entrain.rules import TeacherSpec
from entrain.training import Stage
from entrain_paper.experiments.comparison import (
    Cell,
    Claim,
    Comparison,
    Constant,
    Row,
    Source,
    in_text,
)
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.metrics import teacher_parameter_count
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import AUXILIARY_RATE, FASHION, Setting
from entrain_paper.experiments.teacher_spread import GAIN, other_cell, source

MAIN = "T32_16_16"
ARCHITECTURES: dict[str, tuple[int, ...]] = {
    MAIN: (32, 16, 16),
    "S64": (64,),
    "D32_32": (32, 32),
    "D48_16": (48, 16),
    "D16_48": (16, 48),
    "D40_24": (40, 24),
    "D52_12": (52, 12),
    "D56_08": (56, 8),
    "T22_21_21": (22, 21, 21),
    "T40_16_08": (40, 16, 8),
    "T40_08_16": (40, 8, 16),
    "T32_24_08": (32, 24, 8),
    "T24_24_16": (24, 24, 16),
    "T16_24_24": (16, 24, 24),
    "Q16_16_16_16": (16, 16, 16, 16),
}


def students(setting: Setting) -> tuple[Stage, Stage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    widths = list(ARCHITECTURES.values())[: setting.architectures]
    teachers = [setting.teacher(FASHION, width) for width in widths]
    path = setting.path(*teachers, runs=(0,) * len(teachers))
    return path, setting.continue_from(path, rate=AUXILIARY_RATE)


def measure(context: ExperimentContext) -> Values:
    """Teacher, PATH and TWO-STAGE-END of each architecture."""
    path, end = students(context.setting)
    before, after = context.test(FASHION, path), context.test(FASHION, end)
    data = context.data(FASHION)
    rows = []
    for identifier, teacher, a, b in zip(ARCHITECTURES, path.teachers, before, after, strict=False):
        assert isinstance(teacher.rule, TeacherSpec)
        widths = teacher.rule.widths
        parameters = teacher_parameter_count(
            data.preprocessing.inputs, widths, len(data.class_names)
        )
        rows.append(
            {
                "identifier": identifier,
                "widths": list(widths),
                "parameters": parameters,
                "teacher": context.teacher_test(FASHION, teacher),
                "path": a,
                "two_stage_end": b,
            }
        )
    return {"dataset": FASHION, "rows": rows}


def compare(values: Values) -> Comparison:
    """Every architecture, and the gain of Stage II for each."""
    papers = {row["identifier"]: row for row in paper_numbers()["architecture_sweep"]["rows"]}
    counts = {
        r["identifier"]: r["parameters"] for r in paper_numbers()["teacher_architectures"]["rows"]
    }
    rows, gains, agreements, errors = [], [], [], []
    for ours in values["rows"]:
        identifier, path, end = ours["identifier"], ours["path"], ours["two_stage_end"]
        paper = papers[identifier]
        gains.append(end["top1"] - path["top1"])
        agreements.append(end["agreement"] - path["agreement"])
        errors.append(end["endpoint_rmse"] - path["endpoint_rmse"])
        main = identifier == MAIN  # its teacher and its PATH are those of multiseed
        cells: list[Cell] = [
            Constant(counts[identifier], ours["parameters"], form=",.0f"),
            _cell(
                paper["teacher_top1"],
                ours["teacher"]["test_top1"],
                source(FASHION, "teacher", "test_top1"),
                identifier,
                form=".2f",
                repeated=main,
            ),
        ]
        for metric, key, form, gain in (
            ("top1", "top1", ".2f", gains[-1]),
            ("agreement", "agreement", ".2f", agreements[-1]),
            ("endpoint_rmse", "rmse", ".4f", None),
        ):
            for prefix, method, run in (
                ("path", "PATH", path),
                ("two_stage_end", "TWO-STAGE-END", end),
            ):
                counted = main and method == "PATH"
                by = source(FASHION, method, metric)
                options = {"form": form, "repeated": counted}
                cells.append(
                    _cell(paper[f"{prefix}_{key}"], run[metric], by, identifier, **options)
                )
            if gain is not None:
                by = source(FASHION, GAIN, metric)
                options = {"form": "+.2f", "repeated": True}
                cells.append(_cell(paper[f"delta_{key}"], gain, by, identifier, **options))
        rows.append(Row((identifier,), tuple(cells)))
    count, text = len(rows), paper_numbers()["architecture_sweep"]["text"]
    pairs = list(zip(gains, agreements, strict=True))
    claims = (
        Claim(
            "TWO-STAGE-END beats PATH for every teacher",
            min(gains) > 0,
            f"{sum(gain > 0 for gain in gains)} of {count} (paper {text['improved']} of "
            f"{text['total']})",
        ),
        Claim(
            "teacher agreement rises for every teacher",
            min(agreements) > 0,
            f"{sum(gain > 0 for gain in agreements)} of {count}",
        ),
        Claim(
            "endpoint RMSE falls for every teacher",
            max(errors) < 0,
            f"{sum(change < 0 for change in errors)} of {count}",
        ),
        Claim(
            "agreement rises by more than top-1 for every teacher",
            all(agreement > gain for gain, agreement in pairs),
            f"{sum(agreement > gain for gain, agreement in pairs)} of {count}",
        ),
    )
    return Comparison(
        ("teacher",),
        (
            "parameters",
            "teacher top-1 %",
            "PATH top-1 %",
            "TWO-STAGE-END top-1 %",
            "gain, points",
            "PATH agreement %",
            "TWO-STAGE-END agreement %",
            "gain, points",
            "PATH RMSE",
            "TWO-STAGE-END RMSE",
        ),
        tuple(rows),
        claims,
        reason="each architecture has one teacher with one initialisation, a single random draw",
        text=(
            *_gains("top-1", gains, text, "delta_top1"),
            *_gains("agreement", agreements, text, "delta_agreement"),
        ),
    )


def _cell(paper: float, ours: float, by: Source, identifier: str, **options: Any) -> Cell:
    """A number of an architecture; teacher and PATH of the main one are those of the main runs."""
    if identifier == MAIN and "TWO-STAGE-END" not in by[1]:
        return Cell(paper, ours, by, **options)
    return other_cell(paper, ours, by, identifier, **options)


def _gains(metric: str, gains: list[float], text: Values, key: str) -> list[Row]:
    """Mean and range of the gains of one metric."""
    numbers = {"mean": sum(gains) / len(gains), "smallest": min(gains), "largest": max(gains)}
    paper = {"mean": "mean", "smallest": "min", "largest": "max"}
    return [
        in_text(
            f"{name} gain of {metric} over the architectures, points",
            Cell(text[f"{key}_{paper[name]}"], number, form="+.2f", repeated=True),
        )
        for name, number in numbers.items()
    ]


EXPERIMENT = Experiment(
    "architectures",
    "Robustness Across Teacher Architectures",
    "tab:appendix-c2-teacher-architecture-complete",
    lambda setting: list(students(setting)),
    measure,
    compare,
)
