"""Inference under thermal noise: single trajectories, and the mean output of several."""

from __future__ import annotations

from dataclasses import asdict

from entrain.evaluation import noisy_scores, paired_effect, stochastic
from entrain.experiments import principal
from entrain.experiments.comparison import Claim, Comparison, Row, accuracy
from entrain.experiments.published import published
from entrain.experiments.setting import BOTH, MNIST
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


def compare(values: Values) -> Comparison:
    """Both readouts at every temperature."""
    papers = {
        (row["dataset"], row["method"], float(row["kT"])): row
        for row in published()["temperature"]["rows"]
    }
    ours = {(row["dataset"], row["method"], row["temperature"]): row for row in values["rows"]}
    rows = []
    for (name, method, temperature), found in ours.items():
        paper = papers.get((name, method, temperature), {})
        cells = tuple(
            accuracy(
                name,
                paper.get(f"{readout}_mean"),
                found[readout]["mean"]["top1"],
                paper.get(f"{readout}_sd"),
                found[readout]["sd"]["top1"],
            )
            for readout in ("single", "ensemble")
        )
        rows.append(Row((name, method, f"{temperature:g}"), cells, group=name))
    return Comparison(
        ("dataset", "method", "kT"),
        ("mean single trajectory, top-1 %", f"ensemble of {values['replicates']}, top-1 %"),
        tuple(rows),
        tuple(_claims(ours, values["effects"])),
        reason="our teachers are not the paper's",
    )


def _claims(ours: dict[tuple[str, str, float], Values], effects: list[Values]) -> list[Claim]:
    def ensemble(name: str, method: str, temperature: float) -> float:
        return float(ours[name, method, temperature]["ensemble"]["mean"]["top1"])

    temperatures = sorted({temperature for _, _, temperature in ours})
    hottest, claims = temperatures[-1], []
    for name in BOTH:
        gaps = [
            ensemble(name, "TWO-STAGE-END", t) - ensemble(name, "PATH", t) for t in temperatures
        ]
        drop = ensemble(name, "TWO-STAGE-END", 0.0) - ensemble(name, "TWO-STAGE-END", hottest)
        paired = [e for e in effects if e["dataset"] == name and e.get("t_interval")]
        claims += [
            Claim(
                f"{name}: TWO-STAGE-END beats PATH at every temperature",
                min(gaps) > 0 and all(e["negative"] == e["zero"] == 0 for e in paired),
                f"by {min(gaps):.2f} points or more, in every run",
            ),
            Claim(
                f"{name}: at kT = {hottest:g} the ensemble keeps TWO-STAGE-END within 1.5 points"
                if name == MNIST
                else f"{name}: at kT = {hottest:g} the ensemble keeps it within 2 points",
                drop <= (1.5 if name == MNIST else 2.0),
                f"{-drop:+.2f} points",
            ),
        ]
    if 0.25 in temperatures:
        rise = ensemble(MNIST, "PATH", 0.25) - ensemble(MNIST, "PATH", 0.0)
        text = "MNIST: an ensemble at kT = 0.25 helps PATH"
        claims.append(Claim(text, rise > 0, f"{rise:+.2f} points (paper +2.01)"))
    return claims


EXPERIMENT = Experiment(
    "temperature",
    "Temperature-dependent robustness",
    "tab:appendix_G2_temperature_top1",
    principal.stages,
    measure,
    compare,
)
