"""Every figure of the report can be drawn, whatever the data."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from entrain.plots.style import boxes_for_missing_glyphs
from entrain_paper.figures import FIGURES, growth_figure
from entrain_paper.report import draw_figures
from entrain_paper.reproduction import ResultsFolder
from synthetic_results import Values, results

pytestmark = pytest.mark.filterwarnings("error")

TEXTS = ("class_names", "identifier", "chip", "constraint", "what", "without")
STRANGE = "\u65e5\u672c $x_1^ {%\udcff"
GROWTH = {"batch": {"sizes": [1, 2], "ms": {"PyTorch": [1.0, 3.0]}, "exponent": {"PyTorch": 1.0}}}


def changed(values: Any, change: Callable[[float], float]) -> Any:
    """JSON values with every number changed that is not a standard deviation."""
    if isinstance(values, dict):
        return {
            name: entry if name.endswith("sd") else changed(entry, change)
            for name, entry in values.items()
        }
    if isinstance(values, list):
        return [changed(entry, change) for entry in values]
    return change(values) if isinstance(values, float) else values


def renamed(values: Any, inside: bool = False) -> Any:
    """Values with other names of classes, architectures, chips and rows."""
    if isinstance(values, dict):
        return {name: renamed(entry, name in TEXTS) for name, entry in values.items()}
    if isinstance(values, list):
        return [renamed(entry, inside) for entry in values]
    return f"{values} {STRANGE}" if inside and isinstance(values, str) else values


def emptied(values: Values) -> Values:
    return {
        name: [] if name in ("rows", "runs", "cases", "ideal", "trained") else entry
        for name, entry in values.items()
    }


KINDS: dict[str, Callable[[Any], Any]] = {
    "negative and not ASCII": lambda values: changed(renamed(values), lambda number: -number),
    "constant": lambda values: changed(values, lambda number: 1.0),
    "empty": emptied,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_without_a_warning(name: str, kind: str) -> None:
    measured = json.loads(json.dumps(results(2)))
    figure = FIGURES[name].draw({need: KINDS[kind](measured[need]) for need in FIGURES[name].needs})
    with boxes_for_missing_glyphs():
        figure.draw_without_rendering()


@pytest.mark.parametrize("kind", KINDS)
def test_growth_is_drawn_without_a_warning(kind: str) -> None:
    axes = {} if kind == "empty" else KINDS[kind](GROWTH)
    with boxes_for_missing_glyphs():
        growth_figure(axes, STRANGE).draw_without_rendering()


def test_a_figure_that_fails_is_left_out_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(results: Values) -> Figure:
        figure = Figure()
        figure.text(0, 0, "$a^$")
        return figure

    monkeypatch.setitem(FIGURES, "ablation", replace(FIGURES["ablation"], function=fail))
    folder = ResultsFolder(tmp_path)
    monkeypatch.setattr(
        folder,
        "results",
        lambda: {name: {"values": results(1)[name]} for name in ("ablation", "widths", "records")},
    )
    monkeypatch.setattr("entrain_paper.report.figures._draw_deviations", lambda *_: False)
    with pytest.warns(RuntimeWarning, match="ablation.png: no figure was drawn .ValueError: a"):
        assert draw_figures(folder) == ["records"]
    assert [path.stem for path in (tmp_path / "figures").iterdir()] == ["records"]
