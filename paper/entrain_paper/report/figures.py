"""Draw every figure whose results exist."""

from __future__ import annotations

from pathlib import Path

from entrain.plots.style import save
from entrain_paper.figures import FIGURES
from entrain_paper.reproduction import ResultsFolder

DPI = 160


def draw_figures(results: ResultsFolder, *, stale_only: bool = False) -> list[str]:
    """Write figures/NAME.png for each figure whose results exist, or only for those older than
    their results. Return the names of all."""
    found = results.results()
    drawn = []
    for name, figure in FIGURES.items():
        if not all(need in found for need in figure.needs):
            continue
        drawn.append(name)
        path = results.path / "figures" / f"{name}.png"
        if not (stale_only and _is_newer(path, [results.result_path(n) for n in figure.needs])):
            save(figure.draw({n: found[n]["values"] for n in figure.needs}), path, dpi=DPI)
    return drawn


def _is_newer(path: Path, than: list[Path]) -> bool:
    return path.exists() and path.stat().st_mtime > max(each.stat().st_mtime for each in than)
