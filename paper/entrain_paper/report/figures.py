"""Drawing of every figure whose results exist."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from entrain.plots.style import not_drawn, save
from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.figures import FIGURES
from entrain_paper.figures.deviations import Place, deviations
from entrain_paper.report.judged import judge
from entrain_paper.reproduction import ResultsFolder
from entrain_paper.reproduction.measured import reading

DPI, COLOURS = 160, 256
DEVIATIONS = "deviations"
"""The figure of the overview, which needs all results."""


def draw_figures(results: ResultsFolder, *, stale_only: bool = False) -> list[str]:
    """Names of the figures whose results exist, written to figures/NAME.png.

    `stale_only` writes only figures that are older than their results. A figure that cannot be
    drawn is left out, with a warning: the report does not depend on it.
    """
    measured = results.results()
    names = []
    for name, figure in FIGURES.items():
        if not all(need in measured for need in figure.needs):
            continue
        path = results.path / "figures" / f"{name}.png"
        if not (stale_only and _is_newer(path, [results.result_path(n) for n in figure.needs])):
            with reading(*figure.needs):
                drawn = figure.draw({n: measured[n]["values"] for n in figure.needs})
            try:
                save(drawn, path, dpi=DPI, colours=COLOURS)
            except Exception as error:
                warnings.warn(not_drawn(path, error), RuntimeWarning, stacklevel=2)
                continue
        names.append(name)
    if _draw_deviations(results, measured):
        names.append(DEVIATIONS)
    return names


def _draw_deviations(results: ResultsFolder, measured: Mapping[str, Any]) -> bool:
    """True if the figure of all numbers was written."""
    places = [
        Place(
            EXPERIMENTS[deviation.experiment].title,
            deviation.dataset,
            deviation.position,
            deviation.verdict != "no own scale",
        )
        for deviation in judge(measured).deviations()
    ]
    if not places:
        return False
    path = results.path / "figures" / f"{DEVIATIONS}.png"
    save(deviations(places), path, dpi=DPI, colours=COLOURS)
    return True


def _is_newer(path: Path, than: list[Path]) -> bool:
    return path.exists() and path.stat().st_mtime > max(other.stat().st_mtime for other in than)
