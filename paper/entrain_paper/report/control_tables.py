"""Tables of control experiments: other teachers, parts removed, likelihoods, another norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from entrain.evaluation import summarise
from entrain_paper.experiments import teacher_sweep
from entrain_paper.experiments.comparison import printed
from entrain_paper.experiments.experiment import METRIC_NAMES
from entrain_paper.experiments.recurrence import HIDDEN, TRAINING, TWO_STEPS
from entrain_paper.report.markdown import Column, Format, Row, metric_sd, plain, table


def sweep(values: Row) -> str:
    """The paper's main numbers and their distribution over our teachers."""

    def metric(name: str) -> Format:
        return lambda row: printed(row[name], _precision(row))

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("teachers selected by", lambda row: row["rule"].replace("top1", "top-1")),
        ("method", plain("method")),
        ("metric", lambda row: METRIC_NAMES[row["metric"]]),
        ("mean ± SD", lambda row: f"{metric('mean')(row)} ± {metric('sd')(row)}"),
        ("min", metric("least")),
        ("max", metric("most")),
        ("paper", metric("paper")),
        ("below the paper", lambda row: f"{100 * row['below']:.0f} %"),
    ]
    rows = teacher_sweep.quantiles(dict(values))
    selected = {
        (row["dataset"], row["rule"]): [
            run["teacher"]
            for run in values["rows"]
            if (run["dataset"], run["rule"]) == (row["dataset"], row["rule"])
        ]
        for row in rows
    }
    text = "; ".join(
        f"{name}, {len(group)} selected by {rule.replace('top1', 'top-1')}: epochs "
        f"{min(t['epoch'] for t in group)} to {max(t['epoch'] for t in group)}, test top-1 "
        f"{min(t['test_top1'] for t in group):.2f} to {max(t['test_top1'] for t in group):.2f} %"
        for (name, rule), group in selected.items()
    )
    return "\n\n".join([f"Teachers: {text}.", table(rows, columns), *_by_epoch(values, rows)])


def _by_epoch(values: Row, quantiles: Sequence[Row]) -> list[str]:
    """Correlation of the students' metrics with the selected epoch of the teacher, and how many of
    the paper's numbers lie between the two selection rules."""
    columns: list[Column] = [("dataset", plain("dataset")), ("teachers", plain("teachers"))]
    pairs = [(method, metric) for method in ("PATH", "TWO-STAGE-END") for metric in _CORRELATED]
    columns += [(f"{m}, {METRIC_NAMES[metric]}", plain(f"{m} {metric}")) for m, metric in pairs]
    lines, sentences = [], []
    for name in dict.fromkeys(row["dataset"] for row in values["rows"]):
        rows = [row for row in values["rows"] if row["dataset"] == name]
        epochs = np.log([row["teacher"]["epoch"] for row in rows])
        if len(rows) < 3 or not epochs.std():
            continue
        correlations = {
            f"{m} {metric}": f"{np.corrcoef(epochs, [row[m][metric] for row in rows])[0, 1]:+.2f}"
            for m, metric in pairs
        }
        lines.append({"dataset": name, "teachers": str(len(rows)), **correlations})
        means: dict[tuple[str, str], list[float]] = {}
        paper: dict[tuple[str, str], float] = {}
        for row in quantiles:
            if row["dataset"] == name:
                means.setdefault((row["method"], row["metric"]), []).append(row["mean"])
                paper[row["method"], row["metric"]] = row["paper"]
        both = {key: pair for key, pair in means.items() if len(pair) == 2}
        if both:
            between = sum(min(pair) < paper[key] < max(pair) for key, pair in both.items())
            alike = (
                ": its teacher resembles one of ours that was stopped after the smallest "
                "cross-entropy and before the best top-1"
                if between > len(both) / 2
                else ""
            )
            sentences.append(
                f"On {name} both rules select from the same {len(rows) // 2} trainings, at "
                f"different epochs. {between} of the paper's {len(both)} numbers lie between the "
                f"means of the two rules{alike}."
            )
    if not lines:
        return []
    text = (
        "Correlation with the logarithm of the epoch at which the teacher was selected. A teacher "
        "that trains longer saturates: its targets are harder, and its students end farther from "
        "them."
    )
    return [text, table(lines, columns), *sentences]


_CORRELATED = ("top1", "endpoint_rmse")


def _precision(row: Row) -> str:
    return ".4f" if row["metric"] == "endpoint_rmse" else ".2f"


def recurrence(values: Row) -> str:
    """Accuracy without each part."""
    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("without", plain("without")),
        ("test top-1 %", metric_sd("top1")),
        ("runs", lambda row: str(len(row["runs"]))),
    ]
    return table(values["rows"], columns) + "\n\n" + _losses(values["rows"])


def _losses(rows: list[Row]) -> str:
    """The loss of accuracy without each part, in sentences."""
    means = {(row["dataset"], row["without"]): row["mean"]["top1"] for row in rows}
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))

    def loss(part: str) -> str:
        points = [means[name, "nothing"] - means[name, part] for name in datasets]
        return " and ".join(f"{value:.1f}" for value in points) + " points"

    return (
        f"Couplings between hidden oscillators gain {loss(HIDDEN)} ({', '.join(datasets)}), and "
        f"trained couplings gain {loss(TRAINING)} over random ones. Two Euler steps instead of 200 "
        f"lose {loss(TWO_STEPS)}: few steps are enough. After a single step from pi/2 the outputs "
        "do not yet depend on the hidden oscillators, and accuracy is at chance. Without dynamics "
        "the input weights are a linear map of the image, at best as accurate as logistic "
        "regression (see bake-off)."
    )


def symmetry(values: Row) -> str:
    """Differences of rows of W, over steps in both precisions and after every training order."""
    last = max(values["rows"][0]["step"])
    steps = [step for step in (1, 10, 100, 300, 1000) if step < last] + [last]

    def after(step: int) -> Format:
        def cell(row: Row) -> str:
            index = row["step"].index(step)
            return f"{row['spread'][index]:.1e} of {row['size'][index]:.1e}"

        return cell

    over_steps: list[Column] = [
        ("arithmetic", plain("arithmetic")),
        *((f"after {step}", after(step)) for step in steps),
    ]
    ends: list[Column] = [
        ("protocol", plain("method")),
        ("training orders", plain("orders")),
        ("rows of W equal in every bit", plain("equal")),
        ("their top-1 %", plain("equal_top1")),
        ("rows of W differ", plain("different")),
        ("their top-1 %", plain("different_top1")),
    ]
    return (
        "Largest difference between two rows of W, and largest weight, of ZERO-END-ONLY on MNIST "
        "in training order 0:\n\n"
        + table(values["rows"], over_steps)
        + "\n\nSelected networks of all training orders:\n\n"
        + table(_ends(values["runs"]), ends)
        + "\n\n"
        + _EXPLANATION
    )


_EXPLANATION = (
    "If all rows are equal, the hidden oscillators are identical, and the network distinguishes "
    "few classes. Rows become different only if a processor adds the terms of different rows in "
    "different orders. From exact zero, the result of the endpoint loss alone therefore depends on "
    "rounding more than on learning. The path loss separates the rows, because each hidden "
    "oscillator has a different target path."
)


def _ends(runs: Sequence[Row]) -> list[dict[str, Any]]:
    """Training orders with equal and with different rows, and their top-1, by protocol."""
    lines = []
    for method in dict.fromkeys(run["method"] for run in runs):
        row: dict[str, Any] = {"method": method, "orders": 0}
        for name, is_equal in (("equal", True), ("different", False)):
            tops = [
                run["top1"]
                for run in runs
                if run["method"] == method and (run["spread"] == 0.0) == is_equal
            ]
            row[name], row["orders"] = len(tops), row["orders"] + len(tops)
            row[f"{name}_top1"] = f"{min(tops):.2f} to {max(tops):.2f}" if tops else ""
        lines.append(row)
    return lines


def likelihood(values: Row) -> str:
    """Path loss over the test images, and the negative log-likelihoods that it implies."""

    def at(temperature: str) -> Format:
        return lambda row: f"{summarise(row['nll'][temperature]).mean:.4f}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("method", plain("method")),
        ("L_path", lambda row: f"{row['mean_path_loss']:.3e}"),
        *((f"NLL at kT = {kt}", at(kt)) for kt in values["rows"][0]["nll"]),
    ]
    return (
        "Path loss and negative log-likelihood (NLL) of the teacher's paths of all test images, "
        "mean over runs. The NLL is in nats per time step and oscillator.\n\n"
        + table(values["rows"], columns)
    )


def test_norm(values: Row) -> str:
    """Fashion-MNIST under both norms."""
    norms = values["norms"]
    columns: list[Column] = [
        ("method", plain("method")),
        (f"top-1 %, norm of the test images ({norms['test_norm']:.3f})", metric_sd("test_norm")),
        (
            f"top-1 %, norm of the training images ({norms['training_norm']:.3f})",
            metric_sd("training_norm"),
        ),
        ("change", lambda row: f"{row['mean']['change']:+.3f}"),
    ]
    return table(values["rows"], columns)


CONTROL_TABLES: dict[str, Format] = {
    "teacher-sweep": sweep,
    "recurrence": recurrence,
    "from-zero-symmetry": symmetry,
    "likelihood": likelihood,
    "test-norm": test_norm,
}
