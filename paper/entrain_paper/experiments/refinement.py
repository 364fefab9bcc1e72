"""Table 14, Figure 4 c and f: the same frozen networks on a grid twice as fine."""

from __future__ import annotations

import math
from dataclasses import asdict

from entrain.evaluation import Refinement, refine, summarise
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.comparison import Cell, Claim, Comparison, Row, in_text
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH, MNIST
from entrain_paper.experiments.teacher_spread import source


def measure(context: ExperimentContext) -> Values:
    """Top-1, predictions and outputs at K and 2 K Euler steps of every run."""
    rows: list[Values] = []
    for name in BOTH:
        for method, stage in shared_stages.main_students(context.setting, name).items():
            inputs, labels = context.examples(name)
            steps = stage.network.dynamics.steps
            runs = [
                refine(network, inputs, labels, (steps, 2 * steps))
                for network in context.networks(stage)[: context.setting.few_runs]
            ]
            rows.append({"dataset": name, "method": method, **_summary(runs)})
            context.on_progress(len(rows) / 4)
    return {"rows": rows}


def _summary(runs: list[Refinement]) -> Values:
    columns = {
        "top1_coarse": [run.top1[0] for run in runs],
        "top1_fine": [run.top1[1] for run in runs],
        "change": [run.top1_change for run in runs],
        "disagreement": [run.disagreement for run in runs],
        "rms_output_change": [run.rms_output_change for run in runs],
    }
    summaries = {name: summarise(values) for name, values in columns.items()}
    return {
        "steps": list(runs[0].steps),
        "mean": {name: value.mean for name, value in summaries.items()},
        "sd": {name: value.sd for name, value in summaries.items()},
        "largest_output_change": max(run.largest_output_change for run in runs),
        "largest_phase_increment": [
            max(run.largest_phase_increment[grid] for run in runs) for grid in (0, 1)
        ],
        "runs": [asdict(run) for run in runs],
    }


def compare(values: Values) -> Comparison:
    """Top-1 on both grids, and the changes between them."""
    papers = {(row["dataset"], row["method"]): row for row in paper_numbers()["refinement"]["rows"]}
    rows = []
    for ours in values["rows"]:
        name, method, mean, sd = ours["dataset"], ours["method"], ours["mean"], ours["sd"]
        paper = papers[name, method]
        cells = []
        for metric, key, form, repeated in (
            ("top1_coarse", "top1_200", ".3f", True),  # the networks of multiseed
            ("top1_fine", "top1_400", ".3f", True),  # that and the change
            ("change", "change", "+.3f", False),
            ("disagreement", "disagreement", ".3f", False),
            ("rms_output_change", "rms_output_change", ".6f", False),
        ):
            by = source(name, method, "top1" if metric.startswith("top1") else metric)
            number, spread = paper[f"{key}_mean"], paper.get(f"{key}_sd")
            cells.append(
                Cell(number, mean[metric], by, spread, sd[metric], form, repeated=repeated)
            )
        rows.append(Row((name, method), tuple(cells)))
    coarse_steps, fine_steps = values["rows"][0]["steps"]
    return Comparison(
        ("dataset", "method"),
        (
            f"top-1 % at K={coarse_steps}",
            f"top-1 % at K={fine_steps}",
            "change, points",
            "changed predictions %",
            "RMS output change",
        ),
        tuple(rows),
        _claims(values["rows"]),
        text=_text(values["rows"]),
    )


def _claims(rows: list[Values]) -> tuple[Claim, ...]:
    """The paper's sentences about its grids."""
    text = paper_numbers()["refinement"]
    largest = max(abs(row["mean"]["change"]) for row in rows)
    output = max(row["largest_output_change"] for row in rows)
    steps = {(r["dataset"], r["method"]): r["largest_phase_increment"] for r in rows}
    ratios = [coarse / fine for coarse, fine in steps.values()]
    steepest = max(steps, key=lambda group: float(steps[group][0]))
    group = text["max_phase_increment_group"]
    tops = {(row["dataset"], row["method"]): row["mean"] for row in rows}
    gaps = [
        tops[name, "TWO-STAGE-END"][grid] - tops[name, "PATH"][grid]
        for name in BOTH
        for grid in ("top1_coarse", "top1_fine")
    ]
    numbers = [largest, output, *ratios, *(n for mean in tops.values() for n in mean.values())]
    return (
        Claim(
            "MNIST PATH changes most",
            abs(tops[MNIST, "PATH"]["change"]) == largest,
            ", ".join(f"{' '.join(group)} {mean['change']:+.3f}" for group, mean in tops.items()),
        ),
        Claim(
            "the largest phase increment halves in every group, within 1 %",
            all(abs(ratio / 2.0 - 1.0) <= 0.01 for ratio in ratios),
            f"factor {min(ratios):.4f} to {max(ratios):.4f}",
        ),
        Claim(
            f"{group['dataset']} {group['method']} has the largest phase increment",
            steepest == (group["dataset"], group["method"]),
            f"{steps[steepest][0]:.4f} to {steps[steepest][1]:.4f} rad, {' '.join(steepest)}",
        ),
        Claim(
            "TWO-STAGE-END stays above PATH on both grids",
            min(gaps) > 0,
            f"by {min(gaps):.2f} points or more",
        ),
        Claim(
            "all outputs and increments are finite on both grids",
            all(math.isfinite(number) for number in numbers),
            f"{sum(math.isfinite(n) for n in numbers)} of {len(numbers)} summaries",
        ),
    )


def _text(rows: list[Values]) -> tuple[Row, ...]:
    """Numbers of the text: the largest changes over all groups."""
    printed = paper_numbers()["refinement"]
    coarse, fine = (max(row["largest_phase_increment"][grid] for row in rows) for grid in (0, 1))
    return (
        in_text(
            "largest change of a mean top-1, points",
            Cell(
                printed["max_abs_mean_top1_change"],
                max(abs(row["mean"]["change"]) for row in rows),
                repeated=True,  # in the table
            ),
        ),
        in_text(
            "largest change of an output",
            Cell(
                printed["max_output_difference"],
                max(row["largest_output_change"] for row in rows),
                form=".4f",
            ),
        ),
        in_text(
            "largest phase increment on the coarse grid, rad",
            Cell(printed["max_phase_increment_200"], coarse, form=".4f"),
        ),
        in_text(
            "largest phase increment on the fine grid, rad",
            Cell(printed["max_phase_increment_400"], fine, form=".4f"),
        ),
    )


EXPERIMENT = Experiment(
    "refinement",
    "Numerical Sensitivity",
    "tab:appendix_H_numerical_refinement",
    shared_stages.main_stages,
    measure,
    compare,
)
