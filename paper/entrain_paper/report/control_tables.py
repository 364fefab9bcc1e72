"""Tables of controls: other teachers, a part removed, the path as a likelihood, another norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from entrain.evaluation import summarise
from entrain_paper.experiments import teacher_sweep
from entrain_paper.experiments.recurrence import HIDDEN, TRAINING, TWO_STEPS
from entrain_paper.experiments.setting import AUXILIARY_RATE
from entrain_paper.report.markdown import Column, percent, plain, table

_METRICS = {
    "top1": "top-1 %",
    "top2": "top-2 %",
    "agreement": "agreement %",
    "endpoint_rmse": "endpoint RMSE",
}


def sweep(values: Mapping[str, Any]) -> str:
    """Each main number of the paper among those of our teachers."""

    def shown(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: f"{row[name]:{_form(row)}}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("teachers selected by", lambda row: row["rule"].replace("top1", "top-1")),
        ("method", plain("method")),
        ("metric", lambda row: _METRICS[row["metric"]]),
        ("ours, mean ± SD", lambda row: f"{row['mean']:{_form(row)}} ± {row['sd']:{_form(row)}}"),
        ("min", shown("least")),
        ("max", shown("most")),
        ("paper", shown("paper")),
        ("ours below the paper", lambda row: f"{100 * row['below']:.0f} %"),
    ]
    rows = teacher_sweep.quantiles(dict(values))
    counted = {
        (row["dataset"], row["rule"]): [
            each["teacher"]
            for each in values["rows"]
            if (each["dataset"], each["rule"]) == (row["dataset"], row["rule"])
        ]
        for row in rows
    }
    text = "; ".join(
        f"{name}, {len(found)} selected by {rule.replace('top1', 'top-1')}: epochs "
        f"{min(t['epoch'] for t in found)} to {max(t['epoch'] for t in found)}, test top-1 "
        f"{min(t['test_top1'] for t in found):.2f} to {max(t['test_top1'] for t in found):.2f} %"
        for (name, rule), found in counted.items()
    )
    return "\n\n".join([f"Teachers: {text}.", table(rows, columns), *_by_epoch(values, rows)])


def _by_epoch(values: Mapping[str, Any], quantiles: Sequence[Mapping[str, Any]]) -> list[str]:
    """How the students' numbers follow the epoch at which a teacher was selected, and where the
    paper's lie between two rules."""
    columns: list[Column] = [("dataset", plain("dataset")), ("teachers", plain("teachers"))]
    chosen = [(method, metric) for method in ("PATH", "TWO-STAGE-END") for metric in _FOLLOWED]
    columns += [(f"{m}, {_METRICS[metric]}", plain(f"{m} {metric}")) for m, metric in chosen]
    shown, sentences = [], []
    for name in dict.fromkeys(row["dataset"] for row in values["rows"]):
        rows = [row for row in values["rows"] if row["dataset"] == name]
        epochs = np.log([row["teacher"]["epoch"] for row in rows])
        if len(rows) < 3 or not epochs.std():
            continue
        followed = {
            f"{m} {metric}": f"{np.corrcoef(epochs, [row[m][metric] for row in rows])[0, 1]:+.2f}"
            for m, metric in chosen
        }
        shown.append({"dataset": name, "teachers": str(len(rows)), **followed})
        means: dict[tuple[str, str], list[float]] = {}
        paper: dict[tuple[str, str], float] = {}
        for row in quantiles:
            if row["dataset"] == name:
                means.setdefault((row["method"], row["metric"]), []).append(row["mean"])
                paper[row["method"], row["metric"]] = row["paper"]
        both = {key: found for key, found in means.items() if len(found) == 2}
        if both:
            between = sum(min(found) < paper[key] < max(found) for key, found in both.items())
            sentences.append(
                f"On {name} both rules select among the same {len(rows) // 2} trainings, only at "
                f"other epochs. {between} of the paper's {len(both)} numbers lie between the means "
                "of the two rules: its teacher is like one of ours that was stopped later than the "
                "smallest cross-entropy and earlier than the best top-1."
            )
    if not shown:
        return []
    text = (
        "Correlation with the logarithm of the epoch at which the teacher was selected. A teacher "
        "that trains longer saturates: its targets are harder, and its students end farther away "
        "from them."
    )
    return [text, table(shown, columns), *sentences]


_FOLLOWED = ("top1", "endpoint_rmse")


def _form(row: Mapping[str, Any]) -> str:
    return ".4f" if row["metric"] == "endpoint_rmse" else ".2f"


def more_teachers(values: Mapping[str, Any]) -> str:
    """Five teachers each, beside the paper's one."""

    def top1(method: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: percent(row[method]["mean"]["top1"], row[method]["sd"]["top1"])

    both: list[Column] = [
        ("PATH top-1 %", top1("path")),
        ("paper", lambda row: percent(row["paper_path"])),
        ("TWO-STAGE-END top-1 %", top1("two_stage_end")),
        ("paper", lambda row: percent(row["paper_two_stage_end"])),
    ]
    wide: list[Column] = [
        ("dataset", plain("dataset")),
        ("H", plain("H")),
        ("teachers selected by", lambda row: row["rule"].replace("top1", "top-1")),
        ("epochs of Stage II", plain("epochs")),
        *both,
    ]
    return "\n\n".join(
        [
            table(values["widths"], wide),
            _longer(values["widths"]),
            "The architectures whose numbers differ most from the paper's, at learning rate "
            f"{AUXILIARY_RATE:g}:",
            table(values["architectures"], [("teacher", plain("identifier")), *both]),
        ]
    )


def _longer(rows: Sequence[Mapping[str, Any]]) -> str:
    """What a longer Stage II gains, and how far it is from the paper's step in width."""
    tops: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        by_epochs = tops.setdefault((row["dataset"], row["rule"]), {})
        by_epochs[row["epochs"]] = row["two_stage_end"]["mean"]["top1"]
    found = [
        f"{each[max(each)] - each[min(each)]:+.2f} points on {name} (teachers selected by "
        f"{rule.replace('top1', 'top-1')})"
        for (name, rule), each in tops.items()
    ]
    return f"Twice as many epochs of Stage II change TWO-STAGE-END by {', '.join(found)}."


def recurrence(values: Mapping[str, Any]) -> str:
    """Accuracy with each part removed."""
    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("without", plain("without")),
        ("test top-1 %", lambda row: percent(row["mean"]["top1"], row["sd"]["top1"])),
        ("runs", lambda row: str(len(row["runs"]))),
    ]
    return table(values["rows"], columns) + "\n\n" + _lost(values["rows"])


def _lost(rows: list[Mapping[str, Any]]) -> str:
    """What each part is worth, by dataset."""
    means = {(row["dataset"], row["without"]): row["mean"]["top1"] for row in rows}
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))

    def worth(part: str) -> str:
        lost = [means[name, "nothing"] - means[name, part] for name in datasets]
        return " and ".join(f"{each:.1f}" for each in lost) + " points"

    return (
        f"So couplings between hidden oscillators are worth {worth(HIDDEN)} "
        f"({', '.join(datasets)}), and trained couplings {worth(TRAINING)} over random ones. Two "
        f"Euler steps in place of 200 cost {worth(TWO_STEPS)}: the network needs little time, but "
        "some. After one step from pi/2 the outputs have not heard of the hidden oscillators, and "
        "accuracy is that of chance. Without any dynamics the input weights are a linear map of "
        "the image, at best as accurate as logistic regression (see bake-off)."
    )


def symmetry(values: Mapping[str, Any]) -> str:
    """Differences of rows of W: over steps in both precisions, and at the end of every order."""
    last = max(values["rows"][0]["step"])
    shown = [step for step in (1, 10, 100, 300, 1000) if step < last] + [last]

    def after(step: int) -> Callable[[Mapping[str, Any]], str]:
        def cell(row: Mapping[str, Any]) -> str:
            index = row["step"].index(step)
            return f"{row['spread'][index]:.1e} of {row['size'][index]:.1e}"

        return cell

    over_steps: list[Column] = [
        ("arithmetic", plain("arithmetic")),
        *((f"after {step}", after(step)) for step in shown),
    ]
    ends: list[Column] = [
        ("protocol", plain("method")),
        ("training orders", plain("orders")),
        ("rows of W equal in every bit", plain("alike")),
        ("their top-1 %", plain("alike_top1")),
        ("rows of W differ", plain("apart")),
        ("their top-1 %", plain("apart_top1")),
    ]
    return (
        "ZERO-END-ONLY, MNIST, training order 0: the largest difference between two rows of W, of "
        "the largest weight.\n\n"
        + table(values["rows"], over_steps)
        + "\n\nThe selected networks of all training orders:\n\n"
        + table(_ends(values["runs"]), ends)
        + "\n\n"
        + _MEANING
    )


_MEANING = (
    "Where all rows are equal, the hidden oscillators are copies of one, and the network can tell "
    "few classes apart. Rows become different only if a processor adds up numbers of different "
    "rows in different orders. So from exact zero the endpoint loss alone says more about rounding "
    "than about learning. The path loss separates the rows by itself, because each hidden "
    "oscillator has a path of its own to follow."
)


def _ends(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each protocol: how many orders end with equal or different rows, and their top-1."""
    found = []
    for method in dict.fromkeys(run["method"] for run in runs):
        row: dict[str, Any] = {"method": method, "orders": 0}
        for name, alike in (("alike", True), ("apart", False)):
            tops = [
                run["top1"]
                for run in runs
                if run["method"] == method and (run["spread"] == 0.0) == alike
            ]
            row[name], row["orders"] = len(tops), row["orders"] + len(tops)
            row[f"{name}_top1"] = f"{min(tops):.2f} to {max(tops):.2f}" if tops else ""
        found.append(row)
    return found


def likelihood(values: Mapping[str, Any]) -> str:
    """The path loss over the test images, and what it is as a likelihood."""

    def at(temperature: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: f"{summarise(row['nll'][temperature]).mean:.4f}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("method", plain("method")),
        ("L_path", lambda row: f"{row['mean_path_loss']:.3e}"),
        *((f"NLL at kT = {each}", at(each)) for each in values["rows"][0]["nll"]),
    ]
    return (
        "Path loss and negative log-likelihood (NLL) of the teacher's paths of all test images, "
        "mean over runs. The NLL is in nats per time step and oscillator.\n\n"
        + table(values["rows"], columns)
    )


def test_norm(values: Mapping[str, Any]) -> str:
    """Fashion-MNIST under both norms."""

    def shown(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: percent(row["mean"][name], row["sd"][name])

    norms = values["norms"]
    columns: list[Column] = [
        ("method", plain("method")),
        (f"top-1 %, norm of the test images ({norms['test_norm']:.3f})", shown("test_norm")),
        (
            f"top-1 %, norm of the training images ({norms['training_norm']:.3f})",
            shown("training_norm"),
        ),
        ("change", lambda row: f"{row['mean']['change']:+.3f}"),
    ]
    return table(values["rows"], columns)


CONTROL_TABLES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "teacher-sweep": sweep,
    "more-teachers": more_teachers,
    "recurrence": recurrence,
    "from-zero-symmetry": symmetry,
    "likelihood": likelihood,
    "test-norm": test_norm,
}
