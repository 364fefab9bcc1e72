"""How much numerics alone move a result: one training, made twice beside other trainings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from entrain_paper.experiments.architectures import MAIN
from entrain_paper.experiments.setting import FASHION, MNIST
from entrain_paper.experiments.single_runs import LARGE_WEIGHT
from entrain_paper.report.markdown import Column, plain, table

Pair = tuple[str, str, str, float, str, float]  # dataset, training, where and top-1, twice

_TEXT = (
    "Trained side by side with other networks, sums are taken in another order, and the last bits "
    "differ. Each row below is one training, made twice from the same teacher in the same training "
    "order with the same settings, beside different others. Each of the two repeats in every bit."
)


def numerics(results: Mapping[str, Any]) -> str:
    """The section, or nothing where no training was made twice."""
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
    return f"## How much numerics alone move a result\n\n{_TEXT}\n\n{table(rows, columns)}"


def _pairs(results: Mapping[str, Any]) -> Iterator[Pair]:
    def rows(name: str) -> list[Any]:
        return list(results[name]["values"]["rows"]) if name in results else []

    main = {(r["dataset"], r["method"]): r["runs"][0]["top1"] for r in rows("multiseed")}
    for row in rows("teacher-sweep"):
        if row["teacher"]["seed"] == 0 and (row["rule"] == "top1" or row["dataset"] == FASHION):
            for method in ("PATH", "TWO-STAGE-END"):
                if (row["dataset"], method) in main:
                    here = main[row["dataset"], method]
                    there = row[method]["top1"]
                    yield row["dataset"], method, "multiseed", here, "teacher-sweep", there
    alone = {(r["dataset"], r["method"]): r["top1"] for r in rows("ablation")}
    alone |= {
        (MNIST, f"weight {LARGE_WEIGHT:g}"): row["top1"]
        for row in rows("endpoint-weight")
        if row["endpoint_weight"] == LARGE_WEIGHT
    }
    for row in rows("single-runs"):
        key = row["dataset"], row["what"]
        if key in alone:
            where = "endpoint-weight" if "weight" in row["what"] else "ablation"
            what = f"{row['what']}, rate 30"
            yield key[0], what, where, alone[key], "single-runs", row["runs"][0]["top1"]
    for row in rows("architectures"):
        key = FASHION, "TWO-STAGE-END"
        if row["identifier"] == MAIN and key in alone:
            found = row["two_stage_end"]["top1"]
            yield FASHION, f"{key[1]}, rate 30", "ablation", alone[key], "architectures", found
