"""Table 5: paired effects of the main result, with Student-t and bootstrap intervals."""

from __future__ import annotations

from dataclasses import asdict

from entrain_paper.experiments import multiseed
from entrain_paper.experiments.comparison import Cell, Claim, Comparison, Row
from entrain_paper.experiments.experiment import (
    METRIC_NAMES,
    METRICS,
    Experiment,
    ExperimentContext,
    Values,
)
from entrain_paper.experiments.metrics import paired_effect
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH
from entrain_paper.experiments.teacher_spread import GAIN

COMPARISONS = (("TWO-STAGE-END", "PATH"), ("TWO-STAGE-END", "PATH-CONT"), ("PATH-CONT", "PATH"))


def measure(context: ExperimentContext) -> Values:
    """Each comparison a - b on each metric; b - a for the RMSE, so that positive is better."""
    measured = {(row["dataset"], row["method"]): row for row in multiseed.measure(context)["rows"]}
    rows = []
    for name in BOTH:
        for a, b in COMPARISONS:
            for metric in METRICS:
                better, worse = (
                    [run[metric] for run in measured[name, method]["runs"]] for method in (a, b)
                )
                if metric == "endpoint_rmse":
                    better, worse = worse, better
                label = "rmse_reduction" if metric == "endpoint_rmse" else metric
                effect = asdict(paired_effect(better, worse)) if len(better) > 1 else {}
                rows.append({"dataset": name, "a": a, "b": b, "metric": label, **effect})
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """Mean effects, with our intervals and sign counts as notes."""
    rows, notes, positive = [], [], 0
    for paper, ours in zip(paper_numbers()["paired_effects"]["rows"], values["rows"], strict=True):
        control = ours["a"] == "PATH-CONT"
        gain = f"{ours['a']} - {ours['b']}"
        labels = (ours["dataset"], gain, METRIC_NAMES[ours["metric"]].replace(" %", ", points"))
        reduction = ours["metric"] == "rmse_reduction"
        form = "+.5f" if reduction else "+.3f"
        cell = Cell(
            paper["mean"],
            ours.get("mean"),
            (ours["dataset"], gain, ours["metric"]),
            paper["sd"],
            ours.get("sd"),
            form,
            repeated=True,  # a difference of two means of multiseed
            nearest=None if control else (ours["dataset"], GAIN, ours["metric"]),
        )
        rows.append(Row(labels, (cell,)))
        if not ours.get("t_interval"):
            continue
        positive += not control and ours["negative"] == ours["zero"] == 0
        intervals = [
            f"{name} {_interval(ours[key], form)} (paper {_interval(paper[short], form)})"
            for name, key, short in (
                ("t", "t_interval", "t_ci"),
                ("bootstrap", "bootstrap_interval", "bootstrap_ci"),
            )
        ]
        notes.append(
            f"{', '.join(labels)}: {', '.join(intervals)}, signs "
            f"{ours['positive']}/{ours['zero']}/{ours['negative']} "
            f"(paper {paper['positive']}/{paper['zero']}/{paper['negative']})."
        )
    expected = sum(a == "TWO-STAGE-END" for a, _ in COMPARISONS) * len(BOTH) * len(METRICS)
    effects = [row for row in values["rows"] if row.get("t_interval")]
    return Comparison(
        ("dataset", "comparison", "metric"),
        ("mean effect",),
        tuple(rows),
        (
            Claim(
                "every effect of TWO-STAGE-END is positive in every run",
                positive == expected,
                f"{positive} of {expected} effects",
            ),
            _intervals_agree(effects),
        ),
        reason="the size of the effects depends on PATH, and PATH depends on the teacher",
        notes=tuple(notes),
    )


def _intervals_agree(effects: list[Values]) -> Claim:
    """The claim that no conclusion depends on the kind of interval."""
    pairs = [(effect["t_interval"], effect["bootstrap_interval"]) for effect in effects]
    same = sum(_side(t) == _side(bootstrap) for t, bootstrap in pairs)
    widths = [(b[1] - b[0]) / (a[1] - a[0]) for a, b in pairs if a[1] > a[0]]
    extent = f"; {min(widths):.2f} to {max(widths):.2f} times as wide" if widths else ""
    return Claim(
        "bootstrap and Student-t intervals lead to the same conclusion: both lie above zero, below "
        "it or around it",
        same == len(pairs),
        f"in {same} of {len(pairs)} effects{extent}",
    )


def _side(interval: list[float]) -> int:
    """1 above zero, -1 below it, 0 around it."""
    low, high = interval
    return (low > 0) - (high < 0)


def _interval(ends: list[float], form: str) -> str:
    return f"[{ends[0]:{form}}, {ends[1]:{form}}]"


EXPERIMENT = Experiment(
    "paired-effects",
    "Paired Effects Across Training Runs",
    "tab:appendix_B2_paired_improvements_lr10",
    multiseed.stages,
    measure,
    compare,
)
