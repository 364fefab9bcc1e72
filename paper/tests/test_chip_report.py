"""Tables and figures of the experiments with chips show the numbers of the results."""

from __future__ import annotations

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from entrain_paper.experiments import chip_curves
from entrain_paper.experiments.chip_evaluation import FOR_TYPICAL
from entrain_paper.experiments.published_chips import FIELDS
from entrain_paper.figures import FIGURES
from entrain_paper.figures.chip_curves import CURVES
from entrain_paper.figures.error_scale import error_scale
from entrain_paper.figures.style import METHOD_COLOURS
from entrain_paper.report.tables import TABLES
from synthetic_chip_results import BOTH, METHODS, Values, results

pytestmark = pytest.mark.filterwarnings("error")

WITH_CHIPS = tuple(results(1))


def draw(name: str, values: dict[str, Values]) -> Figure:
    needed = json.loads(json.dumps({need: values[need] for need in FIGURES[name].needs}))
    return FIGURES[name].draw(needed)


def cells(experiment: str, values: dict[str, Values]) -> list[list[str]]:
    """Cells of all tables of an experiment, with their headings."""
    text = TABLES[experiment](json.loads(json.dumps(values[experiment])))
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# The scale


def position(axis, accuracy: float) -> float:
    """Position of an accuracy as a fraction of the axis."""
    return float(axis.transAxes.inverted().transform(axis.transData.transform((0, accuracy)))[1])


def test_halving_the_error_is_a_constant_distance() -> None:
    axis = Figure().subplots()
    error_scale(axis, "y", [20.0, 99.0])
    steps = np.diff([position(axis, top) for top in (20.0, 60.0, 80.0, 90.0, 95.0, 97.5)])
    assert steps == pytest.approx([steps[0]] * 5)
    assert steps[0] > 0


@pytest.mark.parametrize("around", [(40.0, 98.5), (97.9, 98.1), (88.0, 88.0), (9.0, 100.0), ()])
def test_ticks_and_values_are_inside_the_axis(around: tuple[float, ...]) -> None:
    axis = Figure().subplots()
    error_scale(axis, "y", around)
    low, high = axis.get_ylim()
    ticks = axis.get_yticks()
    values = [*ticks, *(min(accuracy, 99.9) for accuracy in around)]
    assert all(low < value <= min(high, 100.0) for value in values)
    assert 2 <= len(ticks) <= 20
    assert [position(axis, tick) for tick in ticks] == sorted(
        position(axis, tick) for tick in ticks
    )


# Names in results


def test_figures_have_a_look_for_every_name_in_the_results() -> None:
    assert FOR_TYPICAL in METHOD_COLOURS
    assert set(CURVES) == {*chip_curves.CURVES, *chip_curves.EVEN}
    assert set(FIELDS) == {row["fields"] for row in results(1)["published-chips"]["rows"]}


# Tables


@pytest.mark.parametrize("experiment", WITH_CHIPS)
@pytest.mark.parametrize("runs", [1, 3])
def test_table_rows_have_as_many_cells_as_the_heading(experiment: str, runs: int) -> None:
    lines = cells(experiment, results(runs))
    assert len(lines) > 2
    assert {len(line) for line in lines} <= {len(lines[0])}
    assert not any("None" in cell or "nan" in cell for line in lines for cell in line)


def test_constraint_without_random_effects_has_no_percentile_of_chips() -> None:
    heading, typical, bits, *_ = cells("trained-for-chips", results(3))
    column = heading.index("5th percentile of chips")
    assert typical[column - 1 :] == ["98.12 ± 0.12", "97.62", "97.00", "61.62 ± 0.12"]
    assert bits[column - 1 :] == [
        "98.12 ± 0.12",
        "all chips equal",
        "all chips equal",
        "61.62 ± 0.12",
    ]


def test_fragility_table_has_ideal_middle_and_largest_strength() -> None:
    values = results(3)
    lines = [line for line in cells("fragility", values) if line[0] != "effect"]
    assert len(lines) == 2 * (1 + 3 * 2)
    assert lines[0][2:] == [f"{81.0 + len(method):.2f}" for method in METHODS]
    assert [line[1] for line in lines[1:3]] == ["5 bits", "3 bits"]
    path = [line[2] for line in lines[1:3]]
    assert path == ["78.12 ± 0.12", "72.12 ± 0.12"]  # 84 + 1/8 less 3 points a strength


def test_yield_thresholds_depend_on_the_dataset() -> None:
    lines = cells("typical-yield", results(1))
    headings = [line for line in lines if line[0] == "method"]
    for heading, thresholds in zip(headings, BOTH.values(), strict=True):
        assert heading[-2:] == [f"% of chips with ≥ {level:g} %" for level in thresholds]
    chips = lines[4]  # 75 + 16 + 0 to 4.75 on MNIST
    assert chips[0] == "DIRECT for typical chips"
    assert chips[-2:] == ["100.0", "0.0"]


def test_published_chips_list_assumptions_and_missing_functions() -> None:
    values = results(3)
    lines = {line[0].split(":")[0]: line for line in cells("published-chips", values)[1:]}
    assert lines["`lo-2023`"][1:5] == ["48 of 48", "all-to-all", "1,083", "29"]
    assert lines["`lo-2023`"][-1] == "coupling levels: range; mismatch: couplings"
    assert lines["`onn-2025`"][-1] == "coupling levels: range"
    assert "not given" in lines["`wang-2019`"][2]
    assert lines["`lo-2023`"][5:7] == ["97.12 ± 0.12 (96.62)", "96.12 ± 0.12 (95.62)"]
    assert lines["`onn-2025`"][5] == "93.12 ± 0.12"  # without random effects there is no percentile
    text = " ".join(TABLES["published-chips"](values["published-chips"]).split())
    for words in ("784 pixels", "reference oscillator", "π/2", "even part", "assumed"):
        assert words in text


# Figures


def test_markers_are_means_and_lines_reach_the_5th_percentile() -> None:
    values = results(3)
    axes = draw("trained-for-chips", values).axes
    assert [axis.get_title() for axis in axes] == list(BOTH)
    for axis in axes:
        rows = [r for r in values["trained-for-chips"]["rows"] if r["dataset"] == axis.get_title()]
        assert [text.get_text() for text in axis.get_yticklabels()] == [
            row["constraint"] for row in rows
        ]
        at = {float(np.asarray(line.get_xdata())[0]) for line in axis.lines}
        assert {row["trained"]["p5"] for row in rows} <= at
        assert {row[kind]["mean"] for row in rows for kind in ("trained", "not_trained")} <= at


@pytest.mark.parametrize(("name", "dataset"), [("mnist", "MNIST"), ("fashion", "Fashion-MNIST")])
def test_effect_panel_spans_ideal_network_to_largest_strength(name: str, dataset: str) -> None:
    values = results(3)
    axes = draw(f"{name}-fragility", values).axes
    assert [axis.get_title() for axis in axes if axis.get_visible()] == [
        "coupling bits",
        "phase noise",
        "comparator noise",
    ]
    rows = [row for row in values["fragility"]["rows"] if row["dataset"] == dataset]
    lines = [np.asarray(bars[0].get_ydata()).tolist() for bars in axes[0].containers]
    expected = [
        [81.0 + len(row["method"]), *(strength["mean"] for strength in row["strengths"])]
        for row in rows
        if row["effect"] == "coupling_bits"
    ]
    assert lines == expected
    labels = [text.get_text() for text in axes[0].get_xticklabels()]
    assert labels == ["none", "8", "6", "5", "4", "3"]
    assert [axis.get_xlabel() for axis in axes[:2]] == ["bits", "kT"]


def test_yield_curve_is_the_share_of_chips_with_at_least_the_accuracy() -> None:
    values = results(1)
    axis = draw("typical-yield", values).axes[0]
    curves = [line for line in axis.lines if line.get_drawstyle() == "steps-pre"]
    assert len(curves) == len(METHODS)
    chips = np.array(values["typical-yield"]["rows"][0]["accuracies"])
    *points, (_, end) = zip(*curves[0].get_data(), strict=True)
    expected = [100.0 * (chips >= accuracy).mean() for accuracy, _ in points]
    assert [share for _, share in points] == pytest.approx(expected)
    assert (expected[0], end) == (100.0, 0.0)


def test_published_chips_have_a_row_with_marks_for_both_kinds_of_fields() -> None:
    values = results(3)
    axes = draw("published-chips", values).axes
    labels = [text.get_text() for text in axes[0].get_yticklabels()]
    assert labels[1] == "wang-2019\n138 of 240, 31 levels"
    for axis in axes:
        marks = [line for line in axis.lines if line.get_marker() in ("o", "s")]
        assert len(marks) == 2 * len(labels)


@pytest.mark.parametrize("name", ["chip-resources", "even-coupling"])
def test_curves_show_all_means_in_ascending_order(name: str) -> None:
    values = results(3)
    figure = draw(name, values)
    rows = values[name]["rows"]
    for axis, curve in zip(figure.axes, dict.fromkeys(r["curve"] for r in rows), strict=True):
        members = sorted((r for r in rows if r["curve"] == curve), key=lambda row: row["value"])
        trained = next(line for line in axis.lines if line.get_marker() == "D")
        assert np.asarray(trained.get_xdata()).tolist() == [row["value"] for row in members]
        assert np.asarray(trained.get_ydata()).tolist() == [r["trained"]["mean"] for r in members]
        low, high = axis.get_xlim()
        assert low < members[0]["value"] <= members[-1]["value"] < high
