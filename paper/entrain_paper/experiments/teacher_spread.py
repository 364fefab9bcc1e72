"""Spread of each metric over our teachers and training orders: the scales of the verdicts.

One rule for all: a training has a scale only from draws of the same training (dataset, network,
learning rate, objective), and a family of trainings has scales over teachers only if all its
members have them. Otherwise a choice of the members that get more teachers would be a choice of the
verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain_paper.experiments.comparison import Cell, Scale, Source, Spread
from entrain_paper.experiments.setting import AUXILIARY_RATE, FASHION, SELECTION

GAIN = "TWO-STAGE-END - PATH"
SCALES = (
    "teacher-sweep",
    "single-runs",
    "architecture-orders",
    "teachers-of-widths",
    "teachers-of-architectures",
    "teachers-of-branches",
)
"""Experiments that `spread` reads."""

_METHODS = ("PATH", "TWO-STAGE-END")
Draws = dict[Source, list[float]]


def source(dataset: str, method: str, metric: str) -> Source:
    """A metric of the main network at the main learning rate."""
    return dataset, method, metric


def network_source(dataset: str, method: str, metric: str, network: str) -> Source:
    """A metric of `network`, which has another width, architecture, rate or objective."""
    return dataset, f"{method}, {network}", metric


def branch_source(dataset: str, branch: str, metric: str) -> Source:
    """A metric of a branch at the auxiliary rate."""
    return network_source(dataset, branch, metric, AT_AUXILIARY_RATE)


AT_AUXILIARY_RATE = f"rate {AUXILIARY_RATE:g}"


def other_cell(
    paper: float | None, ours: float | None, by: Source, network: str, **options: Any
) -> Cell:
    """A number of `network`, with the main network's metric `by` as the nearest one."""
    dataset, method, metric = by
    own = network_source(dataset, method, metric, network)
    return Cell(paper, ours, own, nearest=by, **options)


def noisy_metric(readout: str, metric: str, temperature: float) -> str:
    """Name of a metric of a readout at a temperature."""
    return f"{readout}_{metric}_at_{temperature:g}"


def change_metric(temperature: float) -> str:
    """Name of the change of the ensemble's top-1 from temperature 0."""
    return f"ensemble_top1_change_at_{temperature:g}"


def width_name(hidden: int | str) -> str:
    """Name of networks of another width."""
    return f"H = {hidden}"


def weight_name(weight: float) -> str:
    """Name of the branch with another weight of the endpoint loss."""
    return f"weight {weight:g}"


def spread(results: Mapping[str, Any]) -> Spread:
    """Scales over teachers selected by our reading of the paper, and over training orders.

    Where rounding decides a run, there are `DECISIVE` orders or more, and teachers are skewed, too.
    """
    teachers = _swept(results)
    for family in ("widths", "architectures", "branches"):
        teachers |= _family(results, family)
    orders = {by: Scale(tuple(v), "orders") for by, v in _several(_orders(results)).items()}
    unsteady = {by for by, scale in orders.items() if scale.decides}
    scales = {
        by: Scale(tuple(values), "teachers", skewed=by in unsteady)
        for by, values in _several(teachers).items()
    }
    return Spread(scales, orders)


def _several(draws: Draws) -> Draws:
    """Metrics with two draws or more."""
    return {by: values for by, values in draws.items() if len(values) > 1}


def _swept(results: Mapping[str, Any]) -> Draws:
    draws: Draws = {}
    rows = _rows(results, "teacher-sweep")
    for name in dict.fromkeys(row["dataset"] for row in rows):
        rule = SELECTION[name]
        selected = [row for row in rows if (row["dataset"], row["rule"]) == (name, rule)]
        _collect(draws, name, "teacher", [row["teacher"] for row in selected])
        path, end = ([_with_changes(row[m]) for row in selected] for m in _METHODS)
        _pair(draws, name, path, end)
    return draws


def _with_changes(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run with the changes of its ensemble's top-1 with temperature."""
    prefix = noisy_metric("ensemble", "top1", 0.0).removesuffix("0")
    cold = run.get(f"{prefix}0")
    changes = {
        change_metric(float(metric.removeprefix(prefix))): top - cold
        for metric, top in run.items()
        if cold is not None and metric.startswith(prefix)
    }
    return dict(run) | changes


def _family(results: Mapping[str, Any], family: str) -> Draws:
    """Draws of the members of a family, by its experiment `teachers-of-FAMILY`.

    That experiment trains all members or none, so that none is selected by its result.
    """
    draws: Draws = {}
    for row in _rows(results, f"teachers-of-{family}"):
        own: Draws = {}
        if "teachers" in row:
            _collect(own, row["dataset"], "teacher", row["teachers"])
        if "path" in row:
            _pair(own, row["dataset"], row["path"]["runs"], row["two_stage_end"]["runs"])
        else:
            _collect(own, row["dataset"], row["method"], row["runs"])
        for by, values in own.items():
            draws[network_source(*by, row["network"]) if row["network"] else by] = values
    return draws


def _orders(results: Mapping[str, Any]) -> Draws:
    """Draws over the training orders of one teacher."""
    draws: Draws = {}
    for row in _rows(results, "single-runs"):
        if "exact" not in row["what"] and "from it" not in row["what"]:
            _collect(draws, row["dataset"], f"{row['what']}, {AT_AUXILIARY_RATE}", row["runs"])
    if "single-runs" in results:
        for row in results["single-runs"]["values"].get("trajectories", []):
            by = branch_source(row["dataset"], "TWO-STAGE-END", f"trajectory_{row['nodes']}")
            draws[by] = list(row["two_stage_end"])
    for row in _rows(results, "architecture-orders"):
        own: Draws = {}
        _pair(own, FASHION, row["path"]["runs"], row["two_stage_end"]["runs"])
        draws |= {network_source(*by, row["identifier"]): values for by, values in own.items()}
    return draws


def _pair(draws: Draws, name: str, path: list[Any], end: list[Any]) -> None:
    """Add both methods, and the gain of Stage II for each teacher or order."""
    _collect(draws, name, "PATH", path)
    _collect(draws, name, "TWO-STAGE-END", end)
    for metric in _metrics(path):
        gains = [b[metric] - a[metric] for a, b in zip(path, end, strict=True)]
        if metric == "endpoint_rmse":  # as in the paper, positive is better
            draws[name, GAIN, "rmse_reduction"] = [-gain for gain in gains]
        else:
            draws[name, GAIN, metric] = gains


def _rows(results: Mapping[str, Any], name: str) -> list[Any]:
    return list(results[name]["values"]["rows"]) if name in results else []


def _metrics(runs: list[Any]) -> list[str]:
    return [metric for metric, value in runs[0].items() if isinstance(value, float)]


def _collect(draws: Draws, dataset: str, method: str, runs: list[Any]) -> None:
    for metric in _metrics(runs):
        draws[dataset, method, metric] = [run[metric] for run in runs]
