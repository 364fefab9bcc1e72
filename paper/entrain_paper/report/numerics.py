"""Effect of numerics: the same training beside different other trainings, and on two devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from entrain_paper.experiments.architectures import MAIN
from entrain_paper.experiments.comparison import printed
from entrain_paper.experiments.setting import FASHION, MNIST
from entrain_paper.experiments.single_runs import LARGE_WEIGHT
from entrain_paper.report.markdown import Column, percent, plain, table
from entrain_paper.reproduction.measured import read_together, reading

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


_DEVICES = (
    "Each row compares one training, from the same seed and with the same settings, on two "
    "devices. They add in different orders, too, and the 300 epochs of the teacher amplify the "
    "last bit: the teachers differ already, and with them all networks. Stage I is solved exactly "
    "in these runs."
)


def numerics_section(results: Mapping[str, Any], protocol: Mapping[str, Any]) -> str:
    """The section on rounding: the same training beside others, and on another device.

    `protocol` has the results of single trainings by name; NAME and NAME-cpu are one training on
    two devices.
    """
    parts = [
        read_together(rounding_section, results, REPEATED),
        devices_section(protocol),
    ]
    text = "\n\n".join(filter(None, parts))
    return f"## How much numerics move a result\n\n{text}" if text else ""


def devices_section(protocol: Mapping[str, Any]) -> str:
    """Single trainings on a GPU and on a CPU; empty without such a pair."""
    rows = []
    for name, first in protocol.items():
        second = protocol.get(f"{name}-cpu")
        if second is None:
            continue
        with reading(f"protocol/{name}", f"protocol/{name}-cpu"):
            pairs = {"teacher": (first["teacher"]["top1"], second["teacher"]["top1"])}
            for method, result in first["results"].items():
                pairs[method] = (result["top1"], second["results"][method]["top1"])
            rows += [
                {
                    "dataset": _DATASETS.get(first["dataset"], first["dataset"]),
                    "training": f"{training}, seed {first['seed']}",
                    "first": f"{percent(x)} ({first['device']})",
                    "second": f"{percent(y)} ({second['device']})",
                    "difference": printed(y - x, "+.2f"),
                }
                for training, (x, y) in pairs.items()
            ]
    return f"{_DEVICES}\n\n{table(rows, _COLUMNS)}" if rows else ""


_DATASETS = {"mnist": MNIST, "fashion-mnist": FASHION}
_COLUMNS: list[Column] = [
    ("dataset", plain("dataset")),
    ("training", plain("training")),
    ("top-1 %", plain("first")),
    ("top-1 %", plain("second")),
    ("difference", plain("difference")),
]


def rounding_section(results: Mapping[str, Any]) -> str:
    """Trainings that were repeated beside other ones; empty if none was."""
    rows = [
        {"dataset": a, "training": b, "first": f"{percent(x)} ({c})"}
        | {"second": f"{percent(y)} ({d})", "difference": printed(y - x, "+.2f")}
        for a, b, c, x, d, y in _pairs(results)
    ]
    if not rows:
        return ""
    return f"{_TEXT}\n\n{table(rows, _COLUMNS)}"


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
