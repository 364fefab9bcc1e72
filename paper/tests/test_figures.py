"""Facts about the paper's figures: they show the numbers they are given, and the paper's."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.figures import FIGURES
from entrain_paper.figures.style import METHOD_COLOURS, METHOD_LINES, METHOD_MARKERS
from synthetic_results import BOTH, NAMES, Values, results, summary

pytestmark = pytest.mark.filterwarnings("error")


def drawn(name: str, values: dict[str, Values]) -> Figure:
    kept = json.loads(json.dumps({need: values[need] for need in FIGURES[name].needs}))
    return FIGURES[name].draw(kept)


def heights(axis: Axes) -> list[float]:
    """The y values of all markers and lines, but the caps of error bars."""
    lines = [line for line in axis.lines if line.get_marker() != "_"]
    return [float(y) for line in lines for y in np.asarray(line.get_ydata(), dtype=float)]


def contains(found: list[float], wanted: list[float]) -> bool:
    return all(np.isclose(found, value, atol=1e-12).any() for value in wanted)


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


# Every figure, of any setting


@pytest.mark.parametrize("name", FIGURES)
def test_draws_several_runs(name: str) -> None:
    assert drawn(name, results(3)).axes


@pytest.mark.parametrize("name", FIGURES)
def test_writes_a_single_run(name: str) -> None:
    written = io.BytesIO()
    drawn(name, results(1)).savefig(written, format="svg")
    assert b"<path" in written.getvalue()


def test_one_run_has_no_error_bars() -> None:
    bars = {
        runs: sum(
            isinstance(each, LineCollection)
            for axis in drawn("main-performance", results(runs)).axes
            for each in axis.collections
        )
        for runs in (3, 1)
    }
    # Three methods, two datasets, three metrics: ours and the paper's in the middle row.
    assert bars == {3: 2 * 18, 1: 18}


@pytest.mark.parametrize("dataset", ["mnist", "fashion"])
def test_without_misclassified_examples(dataset: str) -> None:
    values = results(1)
    for row in values["output-dynamics"]["rows"]:
        row.update(labels=[], predicted=[], images=[], outputs=[])
    assert not drawn(f"{dataset}-misclassified", values).axes


@pytest.mark.parametrize("cases", ["", "B", "ABC"])
def test_stochastic_dynamics_with_missing_cases(cases: str) -> None:
    values = results(2)
    found = values["stochastic-dynamics"]["cases"]
    values["stochastic-dynamics"]["cases"] = [each for each in found if each["case"] in cases]
    assert len(drawn("stochastic-dynamics", values).axes) == 2 * max(1, len(cases))


def test_a_diverged_run_is_left_out() -> None:
    values = results(1)
    row = values["multiseed"]["rows"][0]
    row["mean"] = row["mean"] | {"endpoint_rmse": None}
    row["runs"] = [row["runs"][0] | {"endpoint_rmse": None}]
    axes = drawn("main-performance", values).axes
    assert np.isnan(heights(axes[2])).sum() == 1
    assert np.isnan(heights(axes[5])).sum() == 2


# The numbers


def test_main_performance_shows_runs_means_and_the_paper() -> None:
    values = results(3)
    axes = drawn("main-performance", values).axes
    printed = {(row["dataset"], row["method"]): row for row in paper_numbers()["multiseed"]["rows"]}
    for above, between, below, metric, key in zip(
        axes[:3],
        axes[3:6],
        axes[6:],
        ("top1", "agreement", "endpoint_rmse"),
        ("top1", "agreement", "rmse"),
        strict=True,
    ):
        measured, differences, spreads = [], [0.0, 0.0], []  # the dashed line has two ends
        for row in values["multiseed"]["rows"]:
            known = printed[row["dataset"], row["method"]]
            paper = known[f"{key}_mean"]
            measured += [row["mean"][metric], paper]
            spreads += [row["sd"][metric], known[f"{key}_sd"]]
            differences += [row["mean"][metric] - paper, 0.0]
            differences += [run[metric] - paper for run in row["runs"]]
        assert sorted(heights(above)) == pytest.approx(sorted(measured))
        assert sorted(heights(between)) == pytest.approx(sorted(differences))
        assert sorted(heights(below)) == pytest.approx(sorted(spreads))


def test_sweep_has_a_point_for_each_teacher_and_the_papers_beside_them() -> None:
    values = results(3)
    axis = drawn("teacher-sweep", values).axes[1]
    rows = [row for row in values["teacher-sweep"]["rows"] if row["dataset"] == "MNIST"]
    wanted = [row["TWO-STAGE-END"]["top1"] for row in rows]
    (paper,) = (
        row["top1_mean"]
        for row in paper_numbers()["multiseed"]["rows"]
        if (row["dataset"], row["method"]) == ("MNIST", "TWO-STAGE-END")
    )
    assert sorted(heights(axis)) == pytest.approx(sorted([*wanted, paper]))


def test_symmetry_shows_steps_and_the_ends_of_all_orders() -> None:
    steps, ends = drawn("from-zero-symmetry", results(3)).axes
    assert [list(line.get_xdata()) for line in steps.lines[:2]] == [[1, 2, 10]] * 2
    assert list(ends.lines[0].get_xdata()) == [20.0, 21.0, 22.0]
    assert list(ends.lines[0].get_ydata()) == pytest.approx([0.001, 0.1, 0.2])  # 0 has a place, too
    assert ends.get_ylim()[0] < 0.001


def test_scale_shows_the_papers_own_networks_and_ours_with_their_spread() -> None:
    values = results(3)
    axis = drawn("oscillator-scale", values).axes[0]
    ours = [row for row in values["widths"]["rows"] if row["dataset"] == "MNIST"]
    wanted = [row["two_stage_end"]["mean"]["top1"] for row in ours]
    wanted += [
        row["two_stage_end_top1_mean"]
        for row in paper_numbers()["width_scaling"]["rows"]
        if row["dataset"] == "MNIST"
    ]
    assert contains(heights(axis), wanted)
    counts = [list(line.get_xdata()) for line in axis.lines]
    assert sorted(row["N"] for row in ours) in counts
    bars = sum(isinstance(each, LineCollection) for each in axis.collections)
    assert bars >= len(wanted)


def test_ablation_shows_a_bar_for_each_number_and_the_papers_beside_it() -> None:
    values = results(1)
    figure = drawn("ablation", values)
    rows, printed = values["ablation"]["rows"], paper_numbers()["protocol_ablation"]["rows"]
    for axis, metric in zip(figure.axes, ("top1", "agreement"), strict=True):
        bars = [patch.get_width() for patch in axis.patches]
        assert sorted(bars) == pytest.approx(sorted(row[metric] for row in rows))
        places = [float(np.asarray(line.get_xdata())[0]) for line in axis.lines]
        assert sorted(places) == pytest.approx(sorted(row[metric] for row in printed))


def test_bands_are_mean_and_sample_deviation_over_runs() -> None:
    values = results(3)
    axis = drawn("validation-curves", values).axes[1]
    runs = np.array(values["validation-curves"]["rows"][0]["stage2"])
    (line,) = axis.lines
    assert np.asarray(line.get_xdata()).tolist() == [0, 1, 2]  # from the selected PATH network
    assert np.allclose(np.asarray(line.get_ydata()), runs.mean(0))
    edges = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx((runs.mean(0) - runs.std(0, ddof=1)).min())
    assert edges.max() == pytest.approx((runs.mean(0) + runs.std(0, ddof=1)).max())


def test_scaling_puts_fashion_above_and_the_paper_where_it_has_such_a_network() -> None:
    axes = drawn("scaling-noise-grid", results(3)).axes
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


def test_scatter_has_path_across_and_names_the_main_and_the_outermost_points() -> None:
    values = results(1)
    rows = values["architectures"]["rows"]
    for place, identifier in enumerate(("low", "middle", "high")):
        moved = {key: {**rows[0][key]} for key in ("path", "two_stage_end")}
        for top in moved.values():
            top["top1"] += place - 1.0
        rows.append(rows[0] | moved | {"identifier": identifier})
    axis = drawn("architectures-scatter", values).axes[0]
    points = {tuple(np.concatenate(line.get_data())) for line in axis.lines}
    for row in rows:
        assert (row["path"]["top1"], row["two_stage_end"]["top1"]) in points
    names = {text.get_text() for text in axis.texts}
    assert {"T32_16_16", "low", "high"} <= names
    assert "middle" not in names


def test_pairs_have_a_row_for_each_teacher_and_join_its_two_numbers() -> None:
    values = results(1)
    axis = drawn("architectures-pairs", values).axes[0]
    rows = values["architectures"]["rows"]
    assert [text.get_text() for text in axis.get_yticklabels()] == [r["identifier"] for r in rows]
    joined = [list(line.get_xdata()) for line in axis.lines]
    for row in rows:
        assert [row["path"]["top1"], row["two_stage_end"]["top1"]] in joined


def test_misclassified_panels_name_both_classes() -> None:
    values = results(1)
    figure = drawn("mnist-misclassified", values)
    outputs = np.array(values["output-dynamics"]["rows"][1]["outputs"])
    winner = NAMES[int(outputs[0, :, -1].argmax())]
    for axis, label in zip(figure.axes, (1, 3), strict=False):
        assert winner in axis.get_title()
        assert NAMES[label] in axis.get_title()
        assert contains(heights(axis), outputs[0].ravel().tolist())


def test_records_have_ours_the_papers_and_published_networks_by_name() -> None:
    values = results(3)
    axes = drawn("records", values).axes
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
        wanted = cited + [row["mean"]["top1"] for row in rows]
        wanted += [run["top1"] for row in rows for run in row["runs"]]
        wanted += [
            row["two_stage_end_top1_mean"]
            for row in paper_numbers()["width_scaling"]["rows"]
            if row["dataset"] == dataset
        ]
        assert sorted(heights(axis)) == pytest.approx(sorted(wanted))


def test_anytime_marks_four_margins_of_each_method() -> None:
    values = results(3)
    axes = drawn("anytime", values).axes
    assert len(axes) == 6
    for place, dataset in enumerate(BOTH):
        rows = [row for row in values["anytime"]["rows"] if row["dataset"] == dataset]
        reading, leaving, trained = axes[3 * place : 3 * place + 3]
        for line, row in zip(reading.lines, rows, strict=True):
            assert np.allclose(np.column_stack(line.get_data()), np.c_[row["time"], row["top1"]])
        assert [text.get_text() for text in leaving.texts] == ["0.1", "0.2", "0.4", "1.0"] * 3
        assert contains(heights(leaving), [top for row in rows for top in row["exit_top1"]])
        assert heights(trained) == [88.0] * (2 + 2 * 3)  # means and runs


@pytest.mark.parametrize(("base", "panes"), [(40.0, 2), (96.8, 1), (99.0, 1)])
def test_teacher_needed_breaks_its_axis_only_where_exact_zero_is_below(
    base: float, panes: int
) -> None:
    values = results(3)
    rows = values["teacher-needed"]["rows"]
    for row in rows[:2]:
        row.update(summary(base, 3))
    axes = drawn("teacher-needed", values).axes
    assert len(axes) == panes
    seen = [y for axis in axes for y in heights(axis) if axis.get_ylim()[0] < y]
    assert contains(seen, [run["top1"] for row in rows for run in row["runs"]])
    written = [text.get_text() for axis in axes for text in axis.texts]
    assert sorted(written) == ["epoch 2"] * 4 + ["never"] * 2


def test_teacher_needed_says_never_where_half_the_runs_did_not_get_there() -> None:
    values = results(2)
    written = [
        text.get_text() for axis in drawn("teacher-needed", values).axes for text in axis.texts
    ]
    assert written == ["never"] * 6
