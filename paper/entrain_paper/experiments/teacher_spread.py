"""Spread of each metric over our teachers: the scale that judges differences from the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain_paper.experiments.comparison import Cell, Scale, Source
from entrain_paper.experiments.setting import SELECTION
from entrain_paper.experiments.shared_stages import FROM_ZERO

# Methods without a sweep, and the method whose scale they take.
_SCALE_OF = {"PATH-CONT": "PATH", "PRETRAIN-END-ONLY": "TWO-STAGE-END"}
GAIN = "TWO-STAGE-END - PATH"
SCALES = ("teacher-sweep", "teacher-seeds", "more-teachers", "from-zero", "single-runs")
"""Experiments that `spread` reads."""


def source(dataset: str, method: str, metric: str) -> Source:
    """The metric whose scale judges a number of a method."""
    return dataset, _SCALE_OF.get(method, method), metric


def network_source(dataset: str, method: str, metric: str, network: str) -> Source:
    """Source of `network`, which has another width or architecture."""
    return dataset, f"{method}, {network}", metric


def network_cell(
    paper: float | None, ours: float | None, by: Source, network: str, **options: Any
) -> Cell:
    """A number of `network`, judged by the scale of its teachers or else by that of `by`."""
    dataset, method, metric = by
    own_source = network_source(dataset, method, metric, network)
    return Cell(paper, ours, by, own_source=own_source, **options)


def width_name(hidden: int) -> str:
    """Name of networks of another width."""
    return f"H = {hidden}"


def spread(results: Mapping[str, Any]) -> dict[Source, Scale]:
    """Scales by dataset, method and metric, over teachers selected by the paper's rule.

    They come from the results of teacher-sweep (or else of teacher-seeds) and from-zero; for other
    networks from more-teachers; over training orders, where no teachers were swept, from
    single-runs.
    """
    draws = (_swept(results) or _few(results)) | _other_networks(results)
    if rows := _rows(results, "from-zero"):
        short = min(row["epochs"] for row in rows)
        for row in rows:
            if row["epochs"] == short:
                dataset = results["from-zero"]["values"]["dataset"]
                _collect(draws, dataset, row["method"], row["runs"])
    over_orders: dict[Source, list[float]] = {}
    for row in _rows(results, "single-runs"):
        if row["what"] in FROM_ZERO:
            _collect(over_orders, row["dataset"], row["what"], row["runs"])
    return {
        source: Scale(tuple(values), "teachers" if source in draws else "orders")
        for source, values in (over_orders | draws).items()
        if len(values) > 1
    }


def _swept(results: Mapping[str, Any]) -> dict[Source, list[float]]:
    draws: dict[Source, list[float]] = {}
    rows = _rows(results, "teacher-sweep")
    for name in dict.fromkeys(row["dataset"] for row in rows):
        rule = SELECTION[name]
        selected = [row for row in rows if (row["dataset"], row["rule"]) == (name, rule)]
        _collect(draws, name, "teacher", [row["teacher"] for row in selected])
        _pair(draws, name, *([row[m] for row in selected] for m in ("PATH", "TWO-STAGE-END")))
    return draws


def _few(results: Mapping[str, Any]) -> dict[Source, list[float]]:
    draws: dict[Source, list[float]] = {}
    for row in _rows(results, "teacher-seeds"):
        _collect(draws, row["dataset"], "teacher", row["teachers"])
        _pair(draws, row["dataset"], row["path"]["runs"], row["two_stage_end"]["runs"])
    return draws


def _other_networks(results: Mapping[str, Any]) -> dict[Source, list[float]]:
    """Draws of networks of another width or architecture, trained for the paper's epochs."""
    draws: dict[Source, list[float]] = {}
    if "more-teachers" not in results:
        return draws
    values = results["more-teachers"]["values"]
    short = min((row["epochs"] for row in values["widths"]), default=0)
    wide = [
        (width_name(row["H"]), row)
        for row in values["widths"]
        if (row["rule"], row["epochs"]) == (SELECTION[row["dataset"]], short)
    ]
    for network, row in [*wide, *((row["identifier"], row) for row in values["architectures"])]:
        own_draws: dict[Source, list[float]] = {}
        _collect(own_draws, row["dataset"], "teacher", row["teachers"])
        _pair(own_draws, row["dataset"], row["path"]["runs"], row["two_stage_end"]["runs"])
        draws |= {network_source(*by, network): own for by, own in own_draws.items()}
    return draws


def _pair(draws: dict[Source, list[float]], name: str, path: list[Any], end: list[Any]) -> None:
    """Add both methods, and the gain of Stage II for each teacher."""
    _collect(draws, name, "PATH", path)
    _collect(draws, name, "TWO-STAGE-END", end)
    for metric in _metrics(path):
        draws[name, GAIN, metric] = [b[metric] - a[metric] for a, b in zip(path, end, strict=True)]


def _rows(results: Mapping[str, Any], name: str) -> list[Any]:
    return list(results[name]["values"]["rows"]) if name in results else []


def _metrics(runs: list[Any]) -> list[str]:
    return [metric for metric, value in runs[0].items() if isinstance(value, float)]


def _collect(draws: dict[Source, list[float]], dataset: str, method: str, runs: list[Any]) -> None:
    for metric in _metrics(runs):
        draws[dataset, method, metric] = [run[metric] for run in runs]
