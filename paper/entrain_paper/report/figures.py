"""Drawing of every figure whose results exist."""

from __future__ import annotations

import warnings
from pathlib import Path

from entrain.plots.style import not_drawn, save
from entrain_paper.figures import FIGURES
from entrain_paper.reproduction import ResultsFolder
from entrain_paper.reproduction.measured import reading

DPI = 160


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
                save(drawn, path, dpi=DPI)
            except Exception as error:
                warnings.warn(not_drawn(path, error), RuntimeWarning, stacklevel=2)
                continue
        names.append(name)
    return names


def _is_newer(path: Path, than: list[Path]) -> bool:
    return path.exists() and path.stat().st_mtime > max(other.stat().st_mtime for other in than)
