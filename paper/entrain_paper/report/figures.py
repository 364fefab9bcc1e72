"""Drawing of every figure whose results exist."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.plots.style import not_drawn, save
from entrain.utils.files import write_atomically
from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.figures import FIGURES
from entrain_paper.figures.deviations import Place, deviations
from entrain_paper.report.judged import judge
from entrain_paper.reproduction import ResultsFolder
from entrain_paper.reproduction.measured import reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160
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
                _save(drawn, path)
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
    _save(deviations(places), path)
    return True


def _save(figure: Figure, path: Path) -> None:
    """Write a figure with a palette of 256 colours, a quarter of the bytes."""
    from PIL import Image

    save(figure, path, dpi=DPI)
    content = io.BytesIO()
    with Image.open(path) as image:
        method, dither = Image.Quantize.FASTOCTREE, Image.Dither.NONE
        reduced = image.convert("RGB").quantize(256, method=method, dither=dither)
    reduced.save(content, "PNG", optimize=True)
    write_atomically(path, content.getvalue())


def _is_newer(path: Path, than: list[Path]) -> bool:
    return path.exists() and path.stat().st_mtime > max(other.stat().st_mtime for other in than)
