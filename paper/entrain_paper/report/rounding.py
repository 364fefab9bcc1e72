"""Effect of rounding: the same training, twice, beside different other trainings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from entrain_paper.experiments.architectures import MAIN
from entrain_paper.experiments.setting import FASHION, MNIST
from entrain_paper.experiments.single_runs import LARGE_WEIGHT
from entrain_paper.report.markdown import Column, plain, table

# Dataset, training, experiment and top-1 of the first, and of the second.
Pair = tuple[str, str, str, float, str, float]

REPEATED = (
    *("multiseed", "teacher-sweep", "ablation", "endpoint-weight", "single-runs"),
    "architectures",
)
"""Experiments with trainings that were repeated."""

_TEXT = (
    "The order of floating-point sums depends on the networks that are trained side by side, so "
    "that the last bits differ. Each row compares two trainings with the same teacher, training "
    "order and settings, but with different networks beside them. Each of the two is reproducible "
    "in every bit."
)


def rounding_section(results: Mapping[str, Any]) -> str:
    """The section on rounding; empty if no training was repeated."""
    rows = [
        {"dataset": a, "training": b, "first": f"{x:.2f} ({c})", "second": f"{y:.2f} ({d})"}
        | {"difference": f"{y - x:+.2f}"}
        for a, b, c, x, d, y in _pairs(results)
    ]
    if not rows:
        return ""
    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("training", plain("training")),
        ("top-1 %", plain("first")),
        ("top-1 %", plain("second")),
        ("difference", plain("difference")),
    ]
    return f"## Effect of rounding\n\n{_TEXT}\n\n{table(rows, columns)}"


def _pairs(results: Mapping[str, Any]) -> Iterator[Pair]:
    def rows(name: str) -> list[Any]:
        return list(results[name]["values"]["rows"]) if name in results else []

    main = {(r["dataset"], r["method"]): r["runs"][0]["top1"] for r in rows("multiseed")}
    for row in rows("teacher-sweep"):
        if row["teacher"]["seed"] == 0 and (row["rule"] == "top1" or row["dataset"] == FASHION):
            for method in ("PATH", "TWO-STAGE-END"):
                if (row["dataset"], method) in main:
                    first, second = main[row["dataset"], method], row[method]["top1"]
                    yield row["dataset"], method, "multiseed", first, "teacher-sweep", second
    single = {(r["dataset"], r["method"]): r["top1"] for r in rows("ablation")}
    single |= {
        (MNIST, f"weight {LARGE_WEIGHT:g}"): row["top1"]
        for row in rows("endpoint-weight")
        if row["endpoint_weight"] == LARGE_WEIGHT
    }
    for row in rows("single-runs"):
        branch = row["dataset"], row["what"]
        if branch in single:
            experiment = "endpoint-weight" if "weight" in row["what"] else "ablation"
            training, top1 = f"{row['what']}, rate 30", row["runs"][0]["top1"]
            yield row["dataset"], training, experiment, single[branch], "single-runs", top1
    for row in rows("architectures"):
        branch = FASHION, "TWO-STAGE-END"
        if row["identifier"] == MAIN and branch in single:
            training, top1 = "TWO-STAGE-END, rate 30", row["two_stage_end"]["top1"]
            yield FASHION, training, "ablation", single[branch], "architectures", top1
