"""The experiments of the paper as data, in its order: stages to train, and what to measure."""

from entrain.experiments import (
    ablation,
    anytime,
    architectures,
    configuration,
    curves,
    endpoint_weight,
    from_zero,
    multiseed,
    output_dynamics,
    paired_effects,
    preprocessing,
    published_networks,
    records,
    refinement,
    stochastic_dynamics,
    teacher_needed,
    teacher_seeds,
    teachers,
    temperature,
    trajectory,
    widths,
)
from entrain.experiments.setting import PAPER, QUICK, SETTINGS, TINY, Setting
from entrain.experiments.spec import Experiment, ExperimentContext, Measurement, Values

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        preprocessing.EXPERIMENT,
        teachers.EXPERIMENT,
        configuration.EXPERIMENT,
        multiseed.EXPERIMENT,
        paired_effects.EXPERIMENT,
        curves.VALIDATION,
        curves.COMPONENTS,
        trajectory.EXPERIMENT,
        trajectory.IN_TIME,
        output_dynamics.EXPERIMENT,
        architectures.EXPERIMENT,
        ablation.EXPERIMENT,
        ablation.CONTINUATIONS,
        endpoint_weight.EXPERIMENT,
        widths.EXPERIMENT,
        temperature.EXPERIMENT,
        stochastic_dynamics.EXPERIMENT,
        refinement.EXPERIMENT,
        published_networks.RESOURCES,
        published_networks.PROTOCOLS,
        published_networks.BROADER,
        published_networks.SCALE,
        teacher_seeds.EXPERIMENT,
        from_zero.EXPERIMENT,
        records.EXPERIMENT,
        teacher_needed.EXPERIMENT,
        anytime.EXPERIMENT,
    )
}

__all__ = [
    "EXPERIMENTS",
    "PAPER",
    "QUICK",
    "SETTINGS",
    "TINY",
    "Experiment",
    "ExperimentContext",
    "Measurement",
    "Setting",
    "Values",
]
