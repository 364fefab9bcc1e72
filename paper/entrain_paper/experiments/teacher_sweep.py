"""Twenty teachers for each dataset, and the paper's numbers among theirs.

On MNIST half of them are selected by validation top-1, our reading of the paper, and half by
validation cross-entropy, which stops earlier, at less saturated teachers. checkpoint-rules has a
third reading.
"""

from __future__ import annotations

from dataclasses import replace

from entrain.evaluation import (
    noisy_scores,
    refine,
    stochastic,
    summarise,
)
from entrain.models.network import KuramotoNetwork
from entrain.rules import TeacherSpec
from entrain.rules.teacher import TeacherSelection
from entrain.training import Stage
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import METRICS, Experiment, ExperimentContext, Values
from entrain_paper.experiments.metrics import trajectory_errors, trajectory_rmse
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH, SELECTION, Setting
from entrain_paper.experiments.teacher_spread import noisy_metric
from entrain_paper.experiments.temperature import NOISE_SEED, NOISY_METRICS
from entrain_paper.experiments.trajectory import NODES

OTHER_RULE: TeacherSelection = "cross-entropy"


def rules(name: str) -> list[TeacherSelection]:
    """Selection rules: the paper's, then validation cross-entropy if it is another."""
    return list(dict.fromkeys((SELECTION[name], OTHER_RULE)))


def seed_count(setting: Setting, name: str) -> int:
    """Seeds of a dataset: twenty teachers by all rules together, at the paper's size."""
    return (20 if setting.is_paper else 4) // len(rules(name))


def teachers(setting: Setting, name: str) -> list[Stage]:
    """Teachers of the seeds 0, 1, 2, ... by every rule: twenty at the paper's size."""
    seeds = range(seed_count(setting, name))
    return [
        select_by(rule, setting.teacher(name, seed=seed)) for rule in rules(name) for seed in seeds
    ]


def select_by(rule: TeacherSelection, teacher: Stage) -> Stage:
    """The same teacher, with its epoch selected by another rule."""
    assert isinstance(teacher.rule, TeacherSpec)
    return replace(teacher, rule=replace(teacher.rule, selection=rule))


def students(setting: Setting, name: str) -> dict[str, Stage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    swept = teachers(setting, name)
    path = setting.path(*swept, runs=(0,) * len(swept))
    return {"PATH": path, "TWO-STAGE-END": setting.continue_from(path)}


def stages(setting: Setting) -> list[Stage]:
    """PATH and TWO-STAGE-END on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name).values()]


def measure(context: ExperimentContext) -> Values:
    """Every teacher with its two networks, and all metrics that other experiments measure."""
    rows: list[Values] = []
    for name in BOTH:
        rows += measure_students(context, name, students(context.setting, name))
    return {"rows": rows}


def measure_students(
    context: ExperimentContext, name: str, stages: dict[str, Stage]
) -> list[Values]:
    """Every teacher of the stages by method, with its networks and all metrics."""
    tested = {method: context.test(name, stage) for method, stage in stages.items()}
    networks = {method: context.networks(stage) for method, stage in stages.items()}
    rows, swept = list[Values](), stages["PATH"].teachers
    for run, teacher in enumerate(swept):
        assert isinstance(teacher.rule, TeacherSpec)
        row: Values = {
            "dataset": name,
            "rule": teacher.rule.selection,
            "teacher": context.teacher_test(name, teacher),
        }
        for method in stages:
            more = _more_metrics(context, name, teacher, networks[method][run])
            row[method] = tested[method][run] | more
        rows.append(row)
        context.on_progress((BOTH.index(name) + (run + 1) / len(swept)) / len(BOTH))
    return rows


def _more_metrics(
    context: ExperimentContext, name: str, teacher: Stage, network: KuramotoNetwork
) -> Values:
    """Metrics of trajectories, a finer grid and noise, by the names that the tables use."""
    setting = context.setting
    examples = context.test_examples(name, context.teacher(teacher))
    errors = trajectory_errors(network, examples.inputs, examples.coefficients)
    steps = network.dynamics.steps
    finer = refine(network, examples.inputs, examples.labels, (steps, 2 * steps))
    noisy: Values = {}
    for temperature in setting.temperatures:
        scores = noisy_scores(
            network,
            examples.inputs,
            temperature=temperature,
            replicates=setting.replicates,
            seed=NOISE_SEED,
        )
        for readout, metrics in stochastic(scores, examples.labels, examples.targets).items():
            for metric in NOISY_METRICS:
                noisy[noisy_metric(readout, metric, temperature)] = metrics[metric]
    return {
        **{f"trajectory_{nodes}": trajectory_rmse(errors[nodes]) for nodes in NODES},
        "change": finer.top1_change,
        "disagreement": finer.disagreement,
        "rms_output_change": finer.rms_output_change,
        **noisy,
    }


def quantiles(values: Values) -> list[Values]:
    """Mean, SD and range over our teachers, and the share of them below the paper's number, for
    each rule, method and main metric."""
    rows = []
    for paper in paper_numbers()["multiseed"]["rows"]:
        for rule in rules(paper["dataset"]):
            if paper["method"] == "PATH-CONT":
                continue
            runs = [
                row[paper["method"]]
                for row in values["rows"]
                if (row["dataset"], row["rule"]) == (paper["dataset"], rule)
            ]
            for metric in METRICS:
                key = "rmse" if metric == "endpoint_rmse" else metric
                numbers, printed = [run[metric] for run in runs], paper[f"{key}_mean"]
                over_teachers = summarise(numbers)
                rows.append(
                    {
                        "dataset": paper["dataset"],
                        "rule": rule,
                        "method": paper["method"],
                        "metric": metric,
                        "mean": over_teachers.mean,
                        "sd": over_teachers.sd,
                        "least": min(numbers),
                        "most": max(numbers),
                        "paper": printed,
                        "below": sum(number < printed for number in numbers) / len(numbers),
                    }
                )
    return rows


def compare(values: Values) -> Comparison:
    """Claims about every teacher."""
    claims = []
    for name in dict.fromkeys(row["dataset"] for row in values["rows"]):
        gains = [
            row["TWO-STAGE-END"]["top1"] - row["PATH"]["top1"]
            for row in values["rows"]
            if row["dataset"] == name
        ]
        claims.append(
            Claim(
                f"{name}: TWO-STAGE-END beats PATH for every teacher",
                min(gains) > 0,
                f"{len(gains)} teachers, by {min(gains):.2f} to {max(gains):.2f} points",
            )
        )
    return Comparison((), (), (), tuple(claims))


EXPERIMENT = Experiment(
    "teacher-sweep", "Spread over twenty teachers", "", stages, measure, compare
)
