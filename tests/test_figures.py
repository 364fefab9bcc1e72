"""Facts about the paper's figures: they show the numbers they are given, and the paper's."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from entrain.experiments import EXPERIMENTS
from entrain.experiments.published import published
from entrain.figures import FIGURES
from entrain.figures.style import METHOD_COLOURS, METHOD_LINES, METHOD_MARKERS

pytestmark = pytest.mark.filterwarnings("error")

Values = dict[str, Any]
BOTH = ("MNIST", "Fashion-MNIST")
PAIR = ("PATH", "TWO-STAGE-END")
NAMES = [f"class {index}" for index in range(10)]
IMAGE = [[0, 255], [128, 0]]


# Results as the experiments write them, with made-up numbers


def metrics(base: float) -> Values:
    return {"top1": base, "agreement": base + 1.0, "endpoint_rmse": 0.4 - base / 1000}


def summary(base: float, runs: int) -> Values:
    each = [metrics(base + 0.1 * run) for run in range(runs)]
    table = {name: [run[name] for run in each] for name in each[0]}
    return {
        "mean": {name: float(np.mean(column)) for name, column in table.items()},
        "sd": {
            name: float(np.std(column, ddof=1)) if runs > 1 else None
            for name, column in table.items()
        },
        "runs": each,
    }


def curves(runs: int, epochs: int) -> list[list[float]]:
    return [[80.0 + run + epoch for epoch in range(epochs)] for run in range(runs)]


def traces(lanes: int) -> list[list[float]]:
    time = np.linspace(0.0, 1.0, 5)
    return [list(np.sin(time * (lane - 1))) for lane in range(lanes)]


def noisy(runs: int) -> Values:
    found = {"predicted": 1, "competitor": 2, "correct_trajectories": 1, "mean": traces(10)}
    single = {"true_class": traces(runs), "competing_class": traces(runs)}
    return found | single | {"time": list(np.linspace(0.0, 1.0, 5))}


def refinement(runs: int) -> Values:
    spread = 0.1 if runs > 1 else None
    return {
        "steps": [200, 400],
        "mean": {"top1_coarse": 89.0, "top1_fine": 89.1},
        "sd": {"top1_coarse": spread, "top1_fine": spread},
        "runs": [{"top1": [89.0, 89.1]}] * runs,
    }


def anytime(base: float) -> Values:
    times = list(np.linspace(0.0, 1.0, 11))
    margins = [0.1, 0.2, 0.3, 0.4, 1.0, 1.9]
    return {
        "time": times,
        "top1": [10.0 + (base - 10.0) * time**0.2 for time in times],
        "margins": margins,
        "exit_top1": [base - 0.1 / margin for margin in margins],
        "exit_time": [margin / 2 for margin in margins],
    }


def starts(runs: int) -> list[Values]:
    """From exact zero no run gets to 96 %, from elsewhere all but the last do, in epoch 2."""
    found = []
    for start, base in (("exact zero", 40.0), ("small random", 97.0), ("path exact", 96.5)):
        for shift, objective in enumerate(("labels", "teacher's outputs")):
            never = start == "exact zero"
            epochs = [None if never or (run and run == runs - 1) else 2 for run in range(runs)]
            reached = {"95": [1] * runs, "96": epochs, "97": [None] * runs}
            row = {"start": start, "objective": objective, "epochs": 15, "reached": reached}
            found.append(row | summary(base - 0.2 * shift, runs))
    return found


def results(runs: int) -> dict[str, Values]:
    """Values of every experiment that a figure needs."""
    three = ("PATH", "PATH-CONT", "TWO-STAGE-END")
    six = (*three, "Z-END", "ZERO-END-ONLY", "PRETRAIN-END-ONLY")
    teacher = {"test_top1": 95.0, "seed": 3}
    students = {"path": summary(88.0, runs), "two_stage_end": summary(96.0, runs)}
    architectures = {"T32_16_16": [32, 16, 16], "S64": [64], "other": [4, 4, 4, 4, 4]}
    rows: dict[str, list[Values]] = {
        "multiseed": [{"method": m} | summary(80.0 + len(m), runs) for m in three],
        "validation-curves": [{"stage1": curves(runs, 4), "stage2": curves(runs, 3)}],
        "stage2-components": [{"path_loss": curves(runs, 3), "endpoint_loss": curves(runs, 3)}],
        "time-resolved": [
            {"nodes": nodes, "path": [0.0, 0.2, 0.3], "two_stage_end": [0.0, 0.1, 0.15]}
            for nodes in ("output", "hidden")
        ],
        "ablation": [{"method": m} | metrics(50.0 + len(m)) for m in six],
        "matched-continuations": [
            {"method": m, "selected": 1, "top1": [80.0, 90.0], "endpoint_rmse": [0.3, 0.1]}
            for m in (*three[1:], "PRETRAIN-END-ONLY")
        ],
        "widths": [{"H": width, "teacher": teacher} | students for width in (8, 16)],
        "temperature": [
            {"method": m, "temperature": heat}
            | {"single": summary(60.0, runs), "ensemble": summary(84.0, runs)}
            for m in PAIR
            for heat in (0.0, 1.0)
        ],
        "refinement": [{"method": m} | refinement(runs) for m in PAIR],
        "teacher-seeds": [{"teachers": [teacher] * runs} | students],
        "records": [
            {"H": width, "N": width + 10, "augmented": augmented}
            | summary(80.0 + width / 8 - (not augmented), runs)
            for width, augmented in ((16, True), (64, True), (64, False))
        ],
        "anytime": [{"method": m} | anytime(80.0 + len(m)) for m in (*PAIR, "DIRECT")],
        "output-dynamics": [
            {
                "kind": kind,
                "labels": [1, 3],
                "predicted": [1, 1],
                "class_names": NAMES,
                "images": [IMAGE, IMAGE],
                "outputs": [traces(10), traces(10)],
            }
            for kind in ("correct", "misclassified")
        ],
    }
    found = {
        name: {"rows": [{"dataset": dataset} | row for dataset in BOTH for row in each]}
        for name, each in rows.items()
    } | {
        "architectures": {
            "dataset": "Fashion-MNIST",
            "rows": [
                {"identifier": identifier, "widths": widths}
                | {"path": metrics(80.0 + len(widths)), "two_stage_end": metrics(86.0)}
                for identifier, widths in architectures.items()
            ],
        },
        "stochastic-dynamics": {
            "class_names": NAMES,
            "cases": [
                {"case": case, "label": 1, "image": IMAGE} | {m: noisy(runs) for m in PAIR}
                for case in "ABCD"
            ],
        },
        "oscillator-scale": {
            "ours": [{"oscillators": 26, "top1": 91.0}, {"oscillators": 74, "top1": 96.0}],
            "others": [
                {"system": "Rageau", "oscillators": 510, "top1": 97.8, "task": "MNIST"}
                | {"standard": True},
                {"system": "Wang", "oscillators": 210, "top1": 94.1, "task": "8x8 Digits"}
                | {"standard": False},
            ],
        },
        "teacher-needed": {"dataset": "MNIST", "rows": starts(runs)},
    }
    found["anytime"]["trained"] = [
        {"dataset": dataset, "observation_time": time, "mean": 88.0}
        | {"sd": 0.1 if runs > 1 else None, "runs": [88.0] * runs}
        for dataset in BOTH
        for time in (0.1, 0.2)
    ]
    return found


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
    assert len(FIGURES) == 19
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
    assert bars == {3: 18, 1: 0}  # a bar for each of three methods, two datasets, three metrics


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
    assert np.isnan(heights(drawn("main-performance", values).axes[2])).sum() == 2


# The numbers


def test_main_performance_shows_runs_means_and_the_paper() -> None:
    values = results(3)
    figure = drawn("main-performance", values)
    for axis, metric, key in zip(
        figure.axes,
        ("top1", "agreement", "endpoint_rmse"),
        ("top1_mean", "agreement_mean", "rmse_mean"),
        strict=True,
    ):
        rows = values["multiseed"]["rows"]
        wanted = [row["mean"][metric] for row in rows]
        wanted += [run[metric] for row in rows for run in row["runs"]]
        wanted += [row[key] for row in published()["multiseed"]["rows"]]
        assert sorted(heights(axis)) == pytest.approx(sorted(wanted))


def test_ablation_shows_a_bar_for_each_number_and_the_papers_beside_it() -> None:
    values = results(1)
    figure = drawn("ablation", values)
    rows, printed = values["ablation"]["rows"], published()["protocol_ablation"]["rows"]
    for axis, metric in zip(figure.axes, ("top1", "agreement"), strict=True):
        bars = [patch.get_width() for patch in axis.patches]
        assert sorted(bars) == pytest.approx(sorted(row[metric] for row in rows))
        places = [float(np.asarray(line.get_xdata())[0]) for line in axis.lines]
        assert sorted(places) == pytest.approx(sorted(row[metric] for row in printed))


def test_bands_are_mean_and_sample_deviation_over_runs() -> None:
    values = results(3)
    axis = drawn("validation-curves", values).axes[1]
    lanes = np.array(values["validation-curves"]["rows"][0]["stage2"])
    (line,) = axis.lines
    assert np.asarray(line.get_xdata()).tolist() == [0, 1, 2]  # from the selected PATH network
    assert np.allclose(np.asarray(line.get_ydata()), lanes.mean(0))
    edges = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx((lanes.mean(0) - lanes.std(0, ddof=1)).min())
    assert edges.max() == pytest.approx((lanes.mean(0) + lanes.std(0, ddof=1)).max())


def test_scaling_puts_fashion_above_and_the_paper_where_it_has_such_a_network() -> None:
    axes = drawn("scaling-noise-grid", results(3)).axes
    assert [axis.get_title() for axis in axes[::3]] == ["Fashion-MNIST", "MNIST"]
    (known,) = (
        row
        for row in published()["width_scaling"]["rows"]
        if (row["dataset"], row["H"]) == ("MNIST", 16)
    )
    printed = [known[f"{key}_top1_mean"] for key in ("path", "two_stage_end")]
    assert contains(heights(axes[3]), [95.0, 88.1, 96.1, known["teacher_top1"], *printed])
    diamonds = [line for line in axes[3].lines if line.get_marker() == "D"]
    assert sum(len(np.asarray(line.get_xdata())) for line in diamonds) == 3  # none at H = 8


def test_scatter_has_path_across_and_names_its_points() -> None:
    values = results(1)
    axis = drawn("architectures-scatter", values).axes[0]
    points = {tuple(np.concatenate(line.get_data())) for line in axis.lines}
    for row in values["architectures"]["rows"]:
        assert (row["path"]["top1"], row["two_stage_end"]["top1"]) in points
        assert row["identifier"] in {text.get_text() for text in axis.texts}


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
            for row in published()["width_scaling"]["rows"]
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
