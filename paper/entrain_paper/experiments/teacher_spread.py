"""How much each metric differs between our teachers: what another teacher may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain_paper.experiments.comparison import Scale, Source
from entrain_paper.experiments.setting import SELECTION
from entrain_paper.experiments.shared_stages import FROM_ZERO

_LIKE = {"PATH-CONT": "PATH", "PRETRAIN-END-ONLY": "TWO-STAGE-END"}  # no sweep of their own
GAIN = "TWO-STAGE-END - PATH"


def source(dataset: str, method: str, metric: str) -> Source:
    """What a number of a method is judged by."""
    return dataset, _LIKE.get(method, method), metric


def own(dataset: str, method: str, metric: str, network: str) -> Source:
    """The same of networks other than the main one, by width or architecture."""
    return dataset, f"{method}, {network}", metric


def width(hidden: int) -> str:
    """The name of networks of another width."""
    return f"H = {hidden}"


def spread(results: Mapping[str, Any]) -> dict[Source, Scale]:
    """By dataset, method and metric, over the teachers of the paper's own selection rule.

    From the results of teacher-sweep, or of teacher-seeds if there are none, and of from-zero; of
    other networks from more-teachers; of what has no teachers but many training orders, from
    single-runs.
    """
    drawn = (_swept(results) or _few(results)) | _others(results)
    if rows := _rows(results, "from-zero"):
        short = min(row["epochs"] for row in rows)
        for row in rows:
            if row["epochs"] == short:
                dataset = results["from-zero"]["values"]["dataset"]
                _collect(drawn, dataset, row["method"], row["runs"])
    over_orders: dict[Source, list[float]] = {}
    for row in _rows(results, "single-runs"):
        if row["what"] in FROM_ZERO:
            _collect(over_orders, row["dataset"], row["what"], row["runs"])
    return {
        each: Scale(tuple(values), "teachers" if each in drawn else "orders")
        for each, values in (over_orders | drawn).items()
        if len(values) > 1
    }


def _swept(results: Mapping[str, Any]) -> dict[Source, list[float]]:
    drawn: dict[Source, list[float]] = {}
    rows = _rows(results, "teacher-sweep")
    for name in dict.fromkeys(row["dataset"] for row in rows):
        rule = SELECTION[name]
        kept = [row for row in rows if (row["dataset"], row["rule"]) == (name, rule)]
        _collect(drawn, name, "teacher", [row["teacher"] for row in kept])
        _pair(drawn, name, *([row[m] for row in kept] for m in ("PATH", "TWO-STAGE-END")))
    return drawn


def _few(results: Mapping[str, Any]) -> dict[Source, list[float]]:
    drawn: dict[Source, list[float]] = {}
    for row in _rows(results, "teacher-seeds"):
        _collect(drawn, row["dataset"], "teacher", row["teachers"])
        _pair(drawn, row["dataset"], row["path"]["runs"], row["two_stage_end"]["runs"])
    return drawn


def _others(results: Mapping[str, Any]) -> dict[Source, list[float]]:
    """Of another width or architecture, trained as long as the paper's."""
    drawn: dict[Source, list[float]] = {}
    if "more-teachers" not in results:
        return drawn
    values = results["more-teachers"]["values"]
    short = min((row["epochs"] for row in values["widths"]), default=0)
    wide = [
        (width(row["H"]), row)
        for row in values["widths"]
        if (row["rule"], row["epochs"]) == (SELECTION[row["dataset"]], short)
    ]
    for network, row in [*wide, *((row["identifier"], row) for row in values["architectures"])]:
        found: dict[Source, list[float]] = {}
        _collect(found, row["dataset"], "teacher", row["teachers"])
        _pair(found, row["dataset"], row["path"]["runs"], row["two_stage_end"]["runs"])
        drawn |= {own(*each, network): draws for each, draws in found.items()}
    return drawn


def _pair(drawn: dict[Source, list[float]], name: str, path: list[Any], end: list[Any]) -> None:
    """Both methods, and what Stage II changes for each teacher."""
    _collect(drawn, name, "PATH", path)
    _collect(drawn, name, "TWO-STAGE-END", end)
    for metric in _metrics(path):
        drawn[name, GAIN, metric] = [b[metric] - a[metric] for a, b in zip(path, end, strict=True)]


def _rows(results: Mapping[str, Any], name: str) -> list[Any]:
    return list(results[name]["values"]["rows"]) if name in results else []


def _metrics(runs: list[Any]) -> list[str]:
    return [metric for metric, value in runs[0].items() if isinstance(value, float)]


def _collect(drawn: dict[Source, list[float]], dataset: str, method: str, runs: list[Any]) -> None:
    for metric in _metrics(runs):
        drawn[dataset, method, metric] = [run[metric] for run in runs]
