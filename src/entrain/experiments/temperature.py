"""Inference under thermal noise: single trajectories, and the mean output of several."""

from __future__ import annotations

from dataclasses import asdict

from entrain.evaluation import noisy_scores, paired_effect, stochastic
from entrain.experiments import principal
from entrain.experiments.setting import BOTH
from entrain.experiments.spec import Experiment, Lab, Values, summary

NOISE_SEED = 0  # one prescribed realisation; every network meets the same noise


def measure(lab: Lab) -> Values:
    """Both readouts of every run at every temperature, and paired effects at the largest."""
    setting, rows = lab.setting, list[Values]()
    for name in BOTH:
        for method, stage in principal.students(setting, name).items():
            exam = lab.exam(name, lab.teacher(stage.teachers[0]))
            networks = lab.networks(stage)[: setting.few_runs]
            for temperature in setting.temperatures:
                found = [
                    stochastic(
                        noisy_scores(
                            network,
                            exam.inputs,
                            temperature=temperature,
                            replicates=setting.replicates,
                            seed=NOISE_SEED,
                        ),
                        exam.labels,
                        exam.targets,
                    )
                    for network in networks
                ]
                rows.append(
                    {
                        "dataset": name,
                        "method": method,
                        "temperature": temperature,
                        "single": summary([each["single"] for each in found]),
                        "ensemble": summary([each["ensemble"] for each in found]),
                    }
                )
                lab.on_progress(len(rows) / (4 * len(setting.temperatures)))
    return {"replicates": setting.replicates, "rows": rows, "effects": _effects(rows)}


def _effects(rows: list[Values]) -> list[Values]:
    """TWO-STAGE-END - PATH in ensemble top-1 at each temperature, by dataset."""
    tops = {
        (row["dataset"], row["method"], row["temperature"]): [
            run["top1"] for run in row["ensemble"]["runs"]
        ]
        for row in rows
    }
    effects = []
    for name, method, temperature in tops:
        if method != "PATH":
            continue
        path, end = tops[name, "PATH", temperature], tops[name, "TWO-STAGE-END", temperature]
        effect = asdict(paired_effect(end, path)) if len(path) > 1 else {}
        effects.append({"dataset": name, "temperature": temperature, **effect})
    return effects


EXPERIMENT = Experiment(
    "temperature",
    "Temperature-dependent robustness",
    "tab:appendix_G2_temperature_top1",
    principal.stages,
    measure,
)
