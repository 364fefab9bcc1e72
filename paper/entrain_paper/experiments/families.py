"""Five teachers for every member of a family: all widths, all architectures, all branches at the
auxiliary rate. They are the scales of the numbers for which the paper has one teacher.

No member is chosen by its result: an experiment trains its whole family.
"""

from __future__ import annotations

from collections.abc import Callable

from entrain.training import Stage
from entrain_paper.experiments import shared_stages, trajectory
from entrain_paper.experiments.architectures import ARCHITECTURES
from entrain_paper.experiments.endpoint_weight import OTHER_WEIGHTS
from entrain_paper.experiments.experiment import (
    METRICS,
    Experiment,
    ExperimentContext,
    Values,
    summary,
)
from entrain_paper.experiments.metrics import trajectory_rmse
from entrain_paper.experiments.setting import (
    AUXILIARY_RATE,
    BOTH,
    FASHION,
    MNIST,
    Setting,
    matched_widths,
)
from entrain_paper.experiments.teacher_spread import AT_AUXILIARY_RATE, weight_name, width_name

Pair = tuple[Stage, Stage]


def _path(setting: Setting, name: str, widths: tuple[int, ...]) -> Stage:
    """PATH of five teachers of an architecture, one student each in training order 0."""
    teachers = [setting.teacher(name, widths, seed) for seed in range(setting.sweep_seeds)]
    return setting.path(*teachers, runs=(0,) * len(teachers))


def width_pairs(setting: Setting) -> dict[tuple[str, str], Pair]:
    """(dataset, network) -> PATH and TWO-STAGE-END of every width but the main one, whose teachers
    are those of teacher-sweep."""
    pairs = {}
    for name in BOTH:
        for hidden in setting.widths:
            if hidden != setting.hidden:
                path = _path(setting, name, matched_widths(hidden))
                pairs[name, width_name(hidden)] = (path, setting.continue_from(path))
    return pairs


def architecture_pairs(setting: Setting) -> dict[tuple[str, str], Pair]:
    """(dataset, network) -> PATH and TWO-STAGE-END at the auxiliary rate of every architecture."""
    pairs = {}
    for identifier in list(ARCHITECTURES)[: setting.architectures]:
        path = _path(setting, FASHION, ARCHITECTURES[identifier])
        pairs[FASHION, identifier] = (path, setting.continue_from(path, rate=AUXILIARY_RATE))
    return pairs


def branches(setting: Setting, name: str) -> dict[tuple[str, str], Stage]:
    """(method, network) -> a stage with one student for each of five teachers."""
    path, end = shared_stages.teacher_students(setting, name)
    stages = {
        ("PATH", ""): path,
        ("TWO-STAGE-END", ""): end,
        ("PATH-CONT", ""): setting.continue_from(path, "PATH-CONT"),
    }
    for method in (*shared_stages.CONTINUATIONS, *shared_stages.FROM_ZERO):
        stage = setting.continue_from(path, method, rate=AUXILIARY_RATE)
        stages[method, AT_AUXILIARY_RATE] = stage
    if name == MNIST:
        for weight in OTHER_WEIGHTS:
            weights = (weight,) * len(path.runs)
            stage = setting.continue_from(path, rate=AUXILIARY_RATE, weights=weights)
            stages[weight_name(weight), AT_AUXILIARY_RATE] = stage
    return stages


def measure_pairs(
    pairs: Callable[[Setting], dict[tuple[str, str], Pair]], context: ExperimentContext
) -> Values:
    """Teachers, PATH and TWO-STAGE-END of every member of a family."""
    rows: list[Values] = []
    members = pairs(context.setting)
    for (name, network), (path, end) in members.items():
        rows.append(
            {
                "dataset": name,
                "network": network,
                "teachers": [context.teacher_test(name, teacher) for teacher in path.teachers],
                "path": summary(context.test(name, path)),
                "two_stage_end": summary(context.test(name, end)),
            }
        )
        context.on_progress(len(rows) / len(members))
    return {"rows": rows}


def measure_branches(context: ExperimentContext) -> Values:
    """Test metrics of every branch and teacher; trajectories of TWO-STAGE-END at the auxiliary
    rate; differences of PATH-CONT and the main methods by teacher."""
    rows: list[Values] = []
    for name in BOTH:
        stages = branches(context.setting, name)
        tested = {branch: context.test(name, stage) for branch, stage in stages.items()}
        end = ("TWO-STAGE-END", AT_AUXILIARY_RATE)
        for index, run in enumerate(tested[end]):
            run |= _trajectories(context, name, (stages["PATH", ""], stages[end]), index)
        for (method, network), runs in tested.items():
            if (method, network) not in (("PATH", ""), ("TWO-STAGE-END", "")):
                rows.append({"dataset": name, "network": network, "method": method, "runs": runs})
        control = tested["PATH-CONT", ""]
        for better, worse, label in (
            (tested["TWO-STAGE-END", ""], control, "TWO-STAGE-END - PATH-CONT"),
            (control, tested["PATH", ""], "PATH-CONT - PATH"),
        ):
            effects = [_effect(a, b) for a, b in zip(better, worse, strict=True)]
            rows.append({"dataset": name, "network": "", "method": label, "runs": effects})
        context.on_progress((BOTH.index(name) + 1) / len(BOTH))
    return {"rows": rows}


def _effect(a: Values, b: Values) -> Values:
    """Differences of two runs, by metric; positive is better."""
    gains = {metric: a[metric] - b[metric] for metric in METRICS if metric != "endpoint_rmse"}
    return gains | {"rmse_reduction": b["endpoint_rmse"] - a["endpoint_rmse"]}


def _trajectories(context: ExperimentContext, name: str, pair: Pair, run: int) -> Values:
    """Trajectory RMSE of TWO-STAGE-END of one teacher."""
    errors = trajectory.errors(context, name, pair, run, teacher=run)["two_stage_end"]
    return {f"trajectory_{nodes}": trajectory_rmse(errors[nodes]) for nodes in trajectory.NODES}


def _stages(pairs: Callable[[Setting], dict[tuple[str, str], Pair]]) -> Callable[..., list[Stage]]:
    return lambda setting: [stage for pair in pairs(setting).values() for stage in pair]


WIDTHS = Experiment(
    "teachers-of-widths",
    "Five teachers for every width",
    "",
    _stages(width_pairs),
    lambda context: measure_pairs(width_pairs, context),
)
ARCHITECTURE_FAMILY = Experiment(
    "teachers-of-architectures",
    "Five teachers for every architecture",
    "",
    _stages(architecture_pairs),
    lambda context: measure_pairs(architecture_pairs, context),
)
BRANCHES = Experiment(
    "teachers-of-branches",
    "Five teachers for every branch at learning rate 30",
    "",
    lambda setting: [stage for name in BOTH for stage in branches(setting, name).values()],
    measure_branches,
)
