"""Drawing every figure whose results are there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from entrain.figures import FIGURES, save

DPI = 110


def draw_figures(results: Mapping[str, Any], folder: Path) -> list[str]:
    """Write `folder`/NAME.png of each figure that can be drawn; their names."""
    drawn = []
    for name, figure in FIGURES.items():
        if all(need in results for need in figure.needs):
            values = {need: results[need]["values"] for need in figure.needs}
            save(figure.draw(values), folder / f"{name}.png", dpi=DPI)
            drawn.append(name)
    return drawn
