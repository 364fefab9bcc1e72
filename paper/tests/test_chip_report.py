"""Facts about tables and figures of the experiments with chips: they show the numbers they are
given, and say what these are."""

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


def drawn(name: str, values: dict[str, Values]) -> Figure:
    kept = json.loads(json.dumps({need: values[need] for need in FIGURES[name].needs}))
    return FIGURES[name].draw(kept)


def cells(experiment: str, values: dict[str, Values]) -> list[list[str]]:
    """The lines of all its tables, headings too."""
    text = TABLES[experiment](json.loads(json.dumps(values[experiment])))
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# The scale


def place(axis, accuracy: float) -> float:
    """In parts of the axis."""
    return float(axis.transAxes.inverted().transform(axis.transData.transform((0, accuracy)))[1])


def test_half_the_error_is_always_the_same_distance() -> None:
    axis = Figure().subplots()
    error_scale(axis, "y", [20.0, 99.0])
    steps = np.diff([place(axis, each) for each in (20.0, 60.0, 80.0, 90.0, 95.0, 97.5)])
    assert steps == pytest.approx([steps[0]] * 5)
    assert steps[0] > 0


@pytest.mark.parametrize("around", [(40.0, 98.5), (97.9, 98.1), (88.0, 88.0), (9.0, 100.0), ()])
def test_ticks_are_few_and_inside_and_so_is_everything_drawn(around: tuple[float, ...]) -> None:
    axis = Figure().subplots()
    error_scale(axis, "y", around)
    low, high = axis.get_ylim()
    ticks = axis.get_yticks()
    assert all(low < each <= min(high, 100.0) for each in (*ticks, *(min(a, 99.9) for a in around)))
    assert 2 <= len(ticks) <= 20
    assert [place(axis, tick) for tick in ticks] == sorted(place(axis, tick) for tick in ticks)


# What results call things


def test_figures_know_what_the_experiments_name() -> None:
    assert FOR_TYPICAL in METHOD_COLOURS
    assert set(CURVES) == {*chip_curves.CURVES, *chip_curves.EVEN}
    assert set(FIELDS) == {row["fields"] for row in results(1)["published-chips"]["rows"]}


# Tables


@pytest.mark.parametrize("experiment", WITH_CHIPS)
@pytest.mark.parametrize("runs", [1, 3])
def test_every_line_of_a_table_is_as_long_as_its_heading(experiment: str, runs: int) -> None:
    found = cells(experiment, results(runs))
    assert len(found) > 2
    assert {len(line) for line in found} <= {len(found[0])}
    assert not any("None" in cell or "nan" in cell for line in found for cell in line)


def test_a_constraint_without_chance_has_no_percentile_of_chips() -> None:
    heading, typical, bits, *_ = cells("trained-for-chips", results(3))
    place = heading.index("5th percentile of chips")
    assert typical[place - 1 :] == ["98.12 ± 0.12", "97.62", "97.00", "61.62 ± 0.12"]
    assert bits[place - 1 :] == [
        "98.12 ± 0.12",
        "all chips equal",
        "all chips equal",
        "61.62 ± 0.12",
    ]


def test_fragility_has_the_ideal_network_the_middle_and_the_largest_strength() -> None:
    values = results(3)
    lines = [line for line in cells("fragility", values) if line[0] != "effect"]
    assert len(lines) == 2 * (1 + 3 * 2)
    assert lines[0][2:] == [f"{81.0 + len(method):.2f}" for method in METHODS]
    assert [line[1] for line in lines[1:3]] == ["5 bits", "3 bits"]
    path = [line[2] for line in lines[1:3]]
    assert path == ["78.12 ± 0.12", "72.12 ± 0.12"]  # 84 + 1/8 less 3 points a strength


def test_a_yield_has_its_own_thresholds_for_each_dataset() -> None:
    found = cells("typical-yield", results(1))
    headings = [line for line in found if line[0] == "method"]
    for heading, thresholds in zip(headings, BOTH.values(), strict=True):
        assert heading[-2:] == [f"% of chips with ≥ {level:g} %" for level in thresholds]
    chips = found[4]  # 75 + 16 + 0 to 4.75 on MNIST
    assert chips[0] == "DIRECT for typical chips"
    assert chips[-2:] == ["100.0", "0.0"]


def test_published_chips_say_what_was_assumed_and_what_they_lack() -> None:
    values = results(3)
    lines = {line[0].split(":")[0]: line for line in cells("published-chips", values)[1:]}
    assert lines["`lo-2023`"][1:5] == ["48 of 48", "all-to-all", "1,083", "29"]
    assert lines["`lo-2023`"][-1] == "coupling levels: range; mismatch: couplings"
    assert lines["`onn-2025`"][-1] == "coupling levels: range"
    assert "not given" in lines["`wang-2019`"][2]
    assert lines["`lo-2023`"][5:7] == ["97.12 ± 0.12 (96.62)", "96.12 ± 0.12 (95.62)"]
    assert lines["`onn-2025`"][5] == "93.12 ± 0.12"  # nothing by chance: no percentile
    text = " ".join(TABLES["published-chips"](values["published-chips"]).split())
    for lack in ("784 pixels", "reference oscillator", "π/2", "even part", "assumed"):
        assert lack in text


# Figures


def test_dots_are_the_means_and_lines_reach_the_5th_percentile() -> None:
    values = results(3)
    axes = drawn("trained-for-chips", values).axes
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
def test_an_effect_goes_from_the_ideal_network_to_its_largest_strength(
    name: str, dataset: str
) -> None:
    values = results(3)
    axes = drawn(f"{name}-fragility", values).axes
    assert [axis.get_title() for axis in axes if axis.get_visible()] == [
        "coupling bits",
        "phase noise",
        "comparator noise",
    ]
    rows = [row for row in values["fragility"]["rows"] if row["dataset"] == dataset]
    lines = [np.asarray(bars[0].get_ydata()).tolist() for bars in axes[0].containers]
    wanted = [
        [81.0 + len(row["method"]), *(each["mean"] for each in row["strengths"])]
        for row in rows
        if row["effect"] == "coupling_bits"
    ]
    assert lines == wanted
    shown = [text.get_text() for text in axes[0].get_xticklabels()]
    assert shown == ["none", "8", "6", "5", "4", "3"]
    assert [axis.get_xlabel() for axis in axes[:2]] == ["bits", "kT"]


def test_a_share_of_chips_is_of_those_with_at_least_that_accuracy() -> None:
    values = results(1)
    axis = drawn("typical-yield", values).axes[0]
    curves = [line for line in axis.lines if line.get_drawstyle() == "steps-pre"]
    assert len(curves) == len(METHODS)
    chips = np.array(values["typical-yield"]["rows"][0]["accuracies"])
    *points, (_, end) = zip(*curves[0].get_data(), strict=True)
    wanted = [100.0 * (chips >= accuracy).mean() for accuracy, _ in points]
    assert [share for _, share in points] == pytest.approx(wanted)
    assert (wanted[0], end) == (100.0, 0.0)


def test_published_chips_have_a_line_each_and_a_mark_for_both_fields() -> None:
    values = results(3)
    axes = drawn("published-chips", values).axes
    labels = [text.get_text() for text in axes[0].get_yticklabels()]
    assert labels[1] == "wang-2019\n138 of 240, 31 levels"
    for axis in axes:
        marks = [line for line in axis.lines if line.get_marker() in ("o", "s")]
        assert len(marks) == 2 * len(labels)


@pytest.mark.parametrize("name", ["chip-resources", "even-coupling"])
def test_curves_show_means_in_rising_order_and_all_of_them(name: str) -> None:
    values = results(3)
    figure = drawn(name, values)
    rows = values[name]["rows"]
    for axis, curve in zip(figure.axes, dict.fromkeys(r["curve"] for r in rows), strict=True):
        members = sorted((r for r in rows if r["curve"] == curve), key=lambda row: row["value"])
        trained = next(line for line in axis.lines if line.get_marker() == "D")
        assert np.asarray(trained.get_xdata()).tolist() == [row["value"] for row in members]
        assert np.asarray(trained.get_ydata()).tolist() == [r["trained"]["mean"] for r in members]
        low, high = axis.get_xlim()
        assert low < members[0]["value"] <= members[-1]["value"] < high
