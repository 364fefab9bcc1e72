"""Drawing of every figure whose results exist."""

from __future__ import annotations

from pathlib import Path

from entrain.plots.style import save
from entrain_paper.figures import FIGURES
from entrain_paper.reproduction import ResultsFolder
from entrain_paper.reproduction.measured import reading

DPI = 160


def draw_figures(results: ResultsFolder, *, stale_only: bool = False) -> list[str]:
    """Names of the figures whose results exist, written to figures/NAME.png.

    `stale_only` writes only figures that are older than their results.
    """
    measured = results.results()
    names = []
    for name, figure in FIGURES.items():
        if not all(need in measured for need in figure.needs):
            continue
        names.append(name)
        path = results.path / "figures" / f"{name}.png"
        if not (stale_only and _is_newer(path, [results.result_path(n) for n in figure.needs])):
            with reading(*figure.needs):
                drawn = figure.draw({n: measured[n]["values"] for n in figure.needs})
                save(drawn, path, dpi=DPI)
    return names


def _is_newer(path: Path, than: list[Path]) -> bool:
    return path.exists() and path.stat().st_mtime > max(other.stat().st_mtime for other in than)
