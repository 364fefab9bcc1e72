"""Twenty teachers for each dataset, and the paper's numbers among theirs.

On MNIST half of them are selected by validation top-1, the paper's rule, and half by validation
cross-entropy, which stops earlier, at less saturated teachers.
"""

from __future__ import annotations

from dataclasses import replace

from entrain.evaluation import (
    noisy_scores,
    refine,
    stochastic,
    summarise,
    trajectory_errors,
    trajectory_rmse,
)
from entrain.models.network import KuramotoNetwork
from entrain.rules import TeacherSpec
from entrain.rules.teacher import TeacherSelection
from entrain.training import Stage
from entrain_paper.experiments.experiment import METRICS, Experiment, ExperimentContext, Values
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH, SELECTION, Setting
from entrain_paper.experiments.temperature import NOISE_SEED, NOISY_METRICS, noisy_metric
from entrain_paper.experiments.trajectory import NODES

OTHER_RULE: TeacherSelection = "cross-entropy"


def rules(name: str) -> list[TeacherSelection]:
    """The paper's rule first, then the other one if it differs."""
    return list(dict.fromkeys((SELECTION[name], OTHER_RULE)))


def _count(setting: Setting) -> int:
    return 20 if setting.is_paper else 4


def teachers(setting: Setting, name: str) -> list[Stage]:
    """Twenty of them at the paper's size, from seeds 0, 1, 2, ... by every rule."""
    found = []
    for rule in rules(name):
        for seed in range(_count(setting) // len(rules(name))):
            stage = setting.teacher(name, seed=seed)
            assert isinstance(stage.rule, TeacherSpec)
            found.append(replace(stage, rule=replace(stage.rule, selection=rule)))
    return found


def students(setting: Setting, name: str) -> dict[str, Stage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    each = teachers(setting, name)
    path = setting.path(*each, runs=(0,) * len(each))
    return {"PATH": path, "TWO-STAGE-END": setting.continue_from(path)}


def stages(setting: Setting) -> list[Stage]:
    """Both on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name).values()]


def measure(context: ExperimentContext) -> Values:
    """Every teacher with its two networks, and all metrics that other experiments measure."""
    rows: list[Values] = []
    for name in BOTH:
        found = students(context.setting, name)
        tested = {method: context.test(name, stage) for method, stage in found.items()}
        networks = {method: context.networks(stage) for method, stage in found.items()}
        taught = found["PATH"].teachers
        for run, teacher in enumerate(taught):
            assert isinstance(teacher.rule, TeacherSpec)
            row: Values = {
                "dataset": name,
                "rule": teacher.rule.selection,
                "teacher": context.teacher_test(name, teacher),
            }
            for method in found:
                more = _more(context, name, teacher, networks[method][run])
                row[method] = tested[method][run] | more
            rows.append(row)
            context.on_progress((BOTH.index(name) + (run + 1) / len(taught)) / len(BOTH))
    return {"rows": rows}


def _more(
    context: ExperimentContext, name: str, teacher: Stage, network: KuramotoNetwork
) -> Values:
    """Trajectories, a finer grid and noise, by the names that the tables judge them by."""
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
        for readout, each in stochastic(scores, examples.labels, examples.targets).items():
            for metric in NOISY_METRICS:
                noisy[noisy_metric(readout, metric, temperature)] = each[metric]
    return {
        **{f"trajectory_{nodes}": trajectory_rmse(errors[nodes]) for nodes in NODES},
        "change": finer.top1_change,
        "disagreement": finer.disagreement,
        "rms_output_change": finer.rms_output_change,
        **noisy,
    }


def quantiles(values: Values) -> list[Values]:
    """For each rule, method and main metric: our teachers' mean, SD, range, and the share of them
    that lies below the paper's number."""
    found = []
    for paper in paper_numbers()["multiseed"]["rows"]:
        for rule in rules(paper["dataset"]):
            if paper["method"] == "PATH-CONT":
                continue
            drawn = [
                row[paper["method"]]
                for row in values["rows"]
                if (row["dataset"], row["rule"]) == (paper["dataset"], rule)
            ]
            for metric in METRICS:
                theirs = "rmse" if metric == "endpoint_rmse" else metric
                numbers, printed = [run[metric] for run in drawn], paper[f"{theirs}_mean"]
                each = summarise(numbers)
                found.append(
                    {
                        "dataset": paper["dataset"],
                        "rule": rule,
                        "method": paper["method"],
                        "metric": metric,
                        "mean": each.mean,
                        "sd": each.sd,
                        "least": min(numbers),
                        "most": max(numbers),
                        "paper": printed,
                        "below": sum(number < printed for number in numbers) / len(numbers),
                    }
                )
    return found


EXPERIMENT = Experiment(
    "teacher-sweep", "The paper's numbers among twenty teachers", "", stages, measure
)
