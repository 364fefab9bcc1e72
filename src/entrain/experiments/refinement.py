"""The same frozen networks on a grid twice as fine."""

from __future__ import annotations

from dataclasses import asdict

from entrain.evaluation import Refinement, refine, summarise
from entrain.experiments import main_stages
from entrain.experiments.comparison import Cell, Claim, Comparison, Row, accuracy
from entrain.experiments.published import published
from entrain.experiments.setting import BOTH
from entrain.experiments.spec import Experiment, ExperimentContext, Values


def measure(context: ExperimentContext) -> Values:
    """Top-1, predictions and outputs at K and 2 K Euler steps of every run."""
    rows: list[Values] = []
    for name in BOTH:
        for method, stage in main_stages.students(context.setting, name).items():
            inputs, labels = context.examples(name)
            steps = stage.network.dynamics.steps
            found = [
                refine(network, inputs, labels, (steps, 2 * steps))
                for network in context.networks(stage)[: context.setting.few_runs]
            ]
            rows.append({"dataset": name, "method": method, **_summary(found)})
            context.on_progress(len(rows) / 4)
    return {"rows": rows}


def _summary(found: list[Refinement]) -> Values:
    columns = {
        "top1_coarse": [each.top1[0] for each in found],
        "top1_fine": [each.top1[1] for each in found],
        "change": [each.top1_change for each in found],
        "disagreement": [each.disagreement for each in found],
        "rms_output_change": [each.rms_output_change for each in found],
    }
    summaries = {name: summarise(values) for name, values in columns.items()}
    return {
        "steps": list(found[0].steps),
        "mean": {name: each.mean for name, each in summaries.items()},
        "sd": {name: each.sd for name, each in summaries.items()},
        "largest_output_change": max(each.largest_output_change for each in found),
        "largest_phase_increment": [
            max(each.largest_phase_increment[grid] for each in found) for grid in (0, 1)
        ],
        "runs": [asdict(each) for each in found],
    }


def compare(values: Values) -> Comparison:
    """Top-1 on both grids, and how much changes between them."""
    papers = {(row["dataset"], row["method"]): row for row in published()["refinement"]["rows"]}
    rows = []
    for ours in values["rows"]:
        name, mean, sd = ours["dataset"], ours["mean"], ours["sd"]
        paper = papers[name, ours["method"]]

        tops = [
            accuracy(name, paper[f"{theirs}_mean"], mean[mine], paper[f"{theirs}_sd"], sd[mine])
            for mine, theirs in (("top1_coarse", "top1_200"), ("top1_fine", "top1_400"))
        ]
        cells = (
            *tops,
            Cell(paper["change_mean"], mean["change"], 0.1, ours_sd=sd["change"], form="+.3f"),
            Cell(paper["disagreement_mean"], mean["disagreement"], 0.1),
            Cell(
                paper["rms_output_change_mean"],
                mean["rms_output_change"],
                5e-4,
                ours_sd=sd["rms_output_change"],
                form=".5f",
            ),
        )
        rows.append(Row((name, ours["method"]), cells, group=name))
    largest = max(abs(row["mean"]["change"]) for row in values["rows"])
    steep = max(values["rows"], key=lambda row: float(row["largest_phase_increment"][0]))
    coarse, fine = steep["largest_phase_increment"]
    output = max(row["largest_output_change"] for row in values["rows"])
    text = published()["refinement"]
    claims = (
        Claim(
            "a grid twice as fine moves no mean by 0.2 points",
            largest < 0.2,
            f"largest {largest:.3f} points (paper {text['max_abs_mean_top1_change']})",
        ),
        Claim(
            "the largest phase increment halves",
            abs(fine / coarse - 0.5) < 0.05,
            f"{coarse:.4f} to {fine:.4f} rad, {steep['dataset']} {steep['method']} (paper "
            f"{text['max_phase_increment_200']:.4f} to {text['max_phase_increment_400']:.4f})",
        ),
        Claim(
            "no output changes by 0.1",
            output < 0.1,
            f"largest {output:.4f} (paper {text['max_output_difference']:.4f})",
        ),
    )
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
        claims,
    )


EXPERIMENT = Experiment(
    "refinement",
    "Sensitivity to a twofold finer integration grid",
    "tab:appendix_H_numerical_refinement",
    main_stages.stages,
    measure,
    compare,
)
