"""Figures show the numbers of results and of the paper."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from entrain.plots.style import COLUMN
from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.figures import FIGURES
from entrain_paper.figures.deviations import Place, deviations
from entrain_paper.figures.style import METHOD_COLOURS, METHOD_LINES, METHOD_MARKERS
from synthetic_results import BOTH, NAMES, Values, results, summary

pytestmark = pytest.mark.filterwarnings("error")


def draw(name: str, values: dict[str, Values]) -> Figure:
    needed = json.loads(json.dumps({need: values[need] for need in FIGURES[name].needs}))
    return FIGURES[name].draw(needed)


def heights(axis: Axes) -> list[float]:
    """The y values of all markers and lines, without the caps of error bars."""
    lines = [line for line in axis.lines if line.get_marker() != "_"]
    return [float(y) for line in lines for y in np.asarray(line.get_ydata(), dtype=float)]


def contains(values: list[float], expected: list[float]) -> bool:
    return all(np.isclose(values, value, atol=1e-12).any() for value in expected)


# The registry


def test_names_are_unique_and_needs_are_experiments() -> None:
    for name, figure in FIGURES.items():
        assert figure.name == name
        assert figure.needs
        assert set(figure.needs) <= set(EXPERIMENTS)
        assert figure.caption.endswith(".")


def test_methods_look_different_without_colour() -> None:
    assert set(METHOD_COLOURS) == set(METHOD_MARKERS) == set(METHOD_LINES)
    assert len(set(METHOD_MARKERS.values())) == len(METHOD_MARKERS)


# Every figure with one run; test_figure_data.py draws two


@pytest.mark.parametrize("name", FIGURES)
def test_figure_writes_a_single_run(name: str) -> None:
    written = io.BytesIO()
    draw(name, results(1)).savefig(written, format="svg")
    assert b"<path" in written.getvalue()


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_no_wider_than_a_column(name: str) -> None:
    assert draw(name, results(1)).get_size_inches()[0] <= COLUMN


def test_single_run_has_no_error_bars() -> None:
    bars = {
        runs: sum(
            isinstance(collection, LineCollection)
            for axis in draw("main-performance", results(runs)).axes
            for collection in axis.collections
        )
        for runs in (3, 1)
    }
    # Three methods, two datasets, three metrics: ours and the paper's in the lower row.
    assert bars == {3: 2 * 18, 1: 18}


@pytest.mark.parametrize("dataset", ["mnist", "fashion"])
def test_figure_without_misclassified_examples_has_no_axes(dataset: str) -> None:
    values = results(1)
    for row in values["output-dynamics"]["rows"]:
        row.update(labels=[], predicted=[], images=[], outputs=[])
    assert not draw(f"{dataset}-misclassified", values).axes


@pytest.mark.parametrize("cases", ["", "B", "ABC"])
def test_stochastic_dynamics_draws_the_available_cases(cases: str) -> None:
    values = results(2)
    available = [case for case in values["stochastic-dynamics"]["cases"] if case["case"] in cases]
    values["stochastic-dynamics"]["cases"] = available
    assert len(draw("stochastic-dynamics", values).axes) == 2 * max(1, len(cases))


def test_diverged_runs_are_not_drawn() -> None:
    values = results(1)
    row = values["multiseed"]["rows"][0]
    row["mean"] = row["mean"] | {"endpoint_rmse": None}
    row["runs"] = [row["runs"][0] | {"endpoint_rmse": None}]
    axes = draw("main-performance", values).axes
    assert np.isnan(heights(axes[2])).sum() == 1
    assert np.isnan(heights(axes[5])).sum() == 2


# The numbers


def test_main_performance_shows_means_runs_and_paper_numbers() -> None:
    values = results(3)
    axes = draw("main-performance", values).axes
    printed = {(row["dataset"], row["method"]): row for row in paper_numbers()["multiseed"]["rows"]}
    assert all(axis.get_title() for axis in axes)
    for above, below, metric, key in zip(
        axes[:3],
        axes[3:],
        ("top1", "agreement", "endpoint_rmse"),
        ("top1", "agreement", "rmse"),
        strict=True,
    ):
        measured, differences = [], [0.0, 0.0]  # the dashed line has two ends
        for row in values["multiseed"]["rows"]:
            reference = printed[row["dataset"], row["method"]]
            paper = reference[f"{key}_mean"]
            measured += [row["mean"][metric], paper]
            differences += [row["mean"][metric] - paper, 0.0]
            differences += [run[metric] - paper for run in row["runs"]]
        assert sorted(heights(above)) == pytest.approx(sorted(measured))
        assert sorted(heights(below)) == pytest.approx(sorted(differences))


def test_teacher_sweep_has_a_point_per_teacher_and_the_paper_number() -> None:
    values = results(3)
    axis = draw("teacher-sweep", values).axes[1]
    rows = [row for row in values["teacher-sweep"]["rows"] if row["dataset"] == "MNIST"]
    expected = [row["TWO-STAGE-END"]["top1"] for row in rows]
    (paper,) = (
        row["top1_mean"]
        for row in paper_numbers()["multiseed"]["rows"]
        if (row["dataset"], row["method"]) == ("MNIST", "TWO-STAGE-END")
    )
    assert sorted(heights(axis)) == pytest.approx(sorted([*expected, paper]))


def test_symmetry_shows_steps_and_final_values_of_all_orders() -> None:
    steps, ends, steps_at_zero, ends_at_zero = draw("from-zero-symmetry", results(3)).axes
    assert [list(line.get_xdata()) for line in steps.lines[:2]] == [[1, 2, 10]] * 2
    assert list(ends.lines[0].get_xdata()) == [20.0, 21.0, 22.0]
    positive, zeros = (list(axis.lines[0].get_ydata()) for axis in (ends, ends_at_zero))
    assert positive == pytest.approx([np.nan, 0.1, 0.2], nan_ok=True)
    assert zeros == pytest.approx([0.0, np.nan, np.nan], nan_ok=True)
    for above, below in ((steps, steps_at_zero), (ends, ends_at_zero)):
        assert (above.get_yscale(), below.get_yscale()) == ("log", "linear")
        assert [text.get_text() for text in below.get_yticklabels()] == ["0"]


def test_band_of_single_runs_ends_at_the_lowest_and_highest_run() -> None:
    values = results(3)
    axis = draw("single-runs", values).axes[0]
    rows = [row for row in values["single-runs"]["rows"] if row["dataset"] == "MNIST"]
    bands = [path.vertices[:, 0] for c in axis.collections for path in c.get_paths()]
    for row in rows:
        tops = [run["top1"] for run in row["runs"]]
        assert any(np.allclose(sorted(band), [min(tops), max(tops)]) for band in bands)


def test_gradients_have_error_bars_if_several_batches_were_measured() -> None:
    values = results(2)

    def bars() -> int:
        axes = draw("rule-gradients", values).axes
        return sum(isinstance(c, LineCollection) for axis in axes for c in axis.collections)

    assert bars() == 0
    for row in values["rule-gradients"]["rows"]:
        row["couplings"] |= {"cosine_sd": 0.1, "length_sd": 0.1}
    assert bars() > 0


def test_every_number_is_on_the_axis_of_deviations() -> None:
    places = [
        Place("a row", "MNIST", 0.5, True),
        Place("a row", "MNIST", 0.5, False),
        Place("another", "Fashion-MNIST", 7.0, True),
    ]
    axis = deviations(places).axes[0]
    marks = [line for line in axis.lines if len(line.get_xdata()) == 1]
    assert [float(line.get_xdata()[0]) for line in marks] == [0.5, 0.5, 3.0]
    assert marks[0].get_ydata()[0] != marks[1].get_ydata()[0]  # beside each other
    assert marks[1].get_markerfacecolor() == "white"
    assert marks[2].get_marker() == ">"
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a row", "another"]


def test_oscillator_scale_shows_measured_and_paper_networks_with_bars() -> None:
    values = results(3)
    axis = draw("oscillator-scale", values).axes[0]
    ours = [row for row in values["widths"]["rows"] if row["dataset"] == "MNIST"]
    expected = [row["two_stage_end"]["mean"]["top1"] for row in ours]
    expected += [
        row["two_stage_end_top1_mean"]
        for row in paper_numbers()["width_scaling"]["rows"]
        if row["dataset"] == "MNIST"
    ]
    assert contains(heights(axis), expected)
    counts = [list(line.get_xdata()) for line in axis.lines]
    assert sorted(row["N"] for row in ours) in counts
    bars = sum(isinstance(marks, LineCollection) for marks in axis.collections)
    assert bars >= len(expected)


def test_ablation_shows_a_bar_and_the_paper_number_per_protocol() -> None:
    values = results(1)
    figure = draw("ablation", values)
    rows, printed = values["ablation"]["rows"], paper_numbers()["protocol_ablation"]["rows"]
    for axis, metric in zip(figure.axes, ("top1", "agreement"), strict=True):
        bars = [patch.get_width() for patch in axis.patches]
        assert sorted(bars) == pytest.approx(sorted(row[metric] for row in rows))
        diamonds = [float(np.asarray(line.get_xdata())[0]) for line in axis.lines]
        assert sorted(diamonds) == pytest.approx(sorted(row[metric] for row in printed))


def test_bands_are_one_sample_sd_around_the_mean() -> None:
    values = results(3)
    axis = draw("validation-curves", values).axes[1]
    runs = np.array(values["validation-curves"]["rows"][0]["stage2"])
    (line,) = axis.lines
    assert np.asarray(line.get_xdata()).tolist() == [0, 1, 2]  # from the selected PATH network
    assert np.allclose(np.asarray(line.get_ydata()), runs.mean(0))
    edges = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx((runs.mean(0) - runs.std(0, ddof=1)).min())
    assert edges.max() == pytest.approx((runs.mean(0) + runs.std(0, ddof=1)).max())


def test_scaling_grid_shows_paper_numbers_at_published_widths_only() -> None:
    axes = draw("scaling-noise-grid", results(3)).axes
    assert [axis.get_title() for axis in axes[::3]] == ["Fashion-MNIST", "MNIST"]
    (known,) = (
        row
        for row in paper_numbers()["width_scaling"]["rows"]
        if (row["dataset"], row["H"]) == ("MNIST", 16)
    )
    printed = [known[f"{key}_top1_mean"] for key in ("path", "two_stage_end")]
    assert contains(heights(axes[3]), [95.0, 88.1, 96.1, known["teacher_top1"], *printed])
    diamonds = [line for line in axes[3].lines if line.get_marker() == "D"]
    assert sum(len(np.asarray(line.get_xdata())) for line in diamonds) == 3  # none at H = 8


def test_scatter_labels_the_main_and_the_extreme_architectures() -> None:
    values = results(1)
    rows = values["architectures"]["rows"]
    for shift, identifier in ((-1.0, "low"), (0.0, "middle"), (1.0, "high")):
        shifted = {key: {**rows[0][key]} for key in ("path", "two_stage_end")}
        for metrics in shifted.values():
            metrics["top1"] += shift
        rows.append(rows[0] | shifted | {"identifier": identifier})
    axis = draw("architectures-scatter", values).axes[0]
    points = {tuple(np.concatenate(line.get_data())) for line in axis.lines}
    for row in rows:
        assert (row["path"]["top1"], row["two_stage_end"]["top1"]) in points
    names = {text.get_text() for text in axis.texts}
    assert {"T32_16_16", "low", "high"} <= names
    assert "middle" not in names


def test_pairs_have_a_line_from_path_to_two_stage_end_per_teacher() -> None:
    values = results(1)
    axis = draw("architectures-pairs", values).axes[0]
    rows = values["architectures"]["rows"]
    assert [text.get_text() for text in axis.get_yticklabels()] == [r["identifier"] for r in rows]
    joined = [list(line.get_xdata()) for line in axis.lines]
    for row in rows:
        assert [row["path"]["top1"], row["two_stage_end"]["top1"]] in joined


def test_misclassified_panels_name_both_classes() -> None:
    values = results(1)
    figure = draw("mnist-misclassified", values)
    outputs = np.array(values["output-dynamics"]["rows"][1]["outputs"])
    winner = NAMES[int(outputs[0, :, -1].argmax())]
    for axis, label in zip(figure.axes, (1, 3), strict=False):
        assert winner in axis.get_title()
        assert NAMES[label] in axis.get_title()
        assert contains(heights(axis), outputs[0].ravel().tolist())


def test_records_show_measured_paper_and_published_networks() -> None:
    values = results(3)
    axes = draw("records", values).axes
    assert [axis.get_title() for axis in axes] == list(BOTH)
    for axis, names, cited in zip(
        axes,
        ({"Rageau", "Gower", "Wang (8x8 digits)"}, {"Gower"}),
        ([97.77, 97.2, 94.1], [88.0]),
        strict=True,
    ):
        dataset = axis.get_title()
        assert {text.get_text() for text in axis.texts} == names
        rows = [row for row in values["records"]["rows"] if row["dataset"] == dataset]
        expected = cited + [row["mean"]["top1"] for row in rows]
        expected += [run["top1"] for row in rows for run in row["runs"]]
        expected += [
            row["two_stage_end_top1_mean"]
            for row in paper_numbers()["width_scaling"]["rows"]
            if row["dataset"] == dataset
        ]
        assert sorted(heights(axis)) == pytest.approx(sorted(expected))


def test_anytime_marks_four_margins_of_each_method() -> None:
    values = results(3)
    axes = draw("anytime", values).axes
    assert len(axes) == 6
    for index, dataset in enumerate(BOTH):
        rows = [row for row in values["anytime"]["rows"] if row["dataset"] == dataset]
        reading, stopping, trained = axes[3 * index : 3 * index + 3]
        for line, row in zip(reading.lines, rows, strict=True):
            assert np.allclose(np.column_stack(line.get_data()), np.c_[row["time"], row["top1"]])
        assert [text.get_text() for text in stopping.texts] == ["0.1", "0.2", "0.4", "1.0"] * 3
        assert contains(heights(stopping), [top for row in rows for top in row["exit_top1"]])
        assert heights(trained) == [88.0] * (2 + 2 * 3)  # means and runs


@pytest.mark.parametrize(("base", "panes"), [(40.0, 2), (96.8, 1), (99.0, 1)])
def test_teacher_needed_breaks_its_axis_only_if_exact_zero_is_below(
    base: float, panes: int
) -> None:
    values = results(3)
    rows = values["teacher-needed"]["rows"]
    for row in rows[:2]:
        row.update(summary(base, 3))
    axes = draw("teacher-needed", values).axes
    assert len(axes) == panes
    visible = [y for axis in axes for y in heights(axis) if axis.get_ylim()[0] < y]
    assert contains(visible, [run["top1"] for row in rows for run in row["runs"]])
    labels = [text.get_text() for axis in axes for text in axis.texts]
    assert sorted(labels) == ["epoch 2"] * 4 + ["never"] * 2


def test_teacher_needed_shows_never_if_half_of_the_runs_missed_the_level() -> None:
    values = results(2)
    labels = [
        text.get_text() for axis in draw("teacher-needed", values).axes for text in axis.texts
    ]
    assert labels == ["never"] * 6
