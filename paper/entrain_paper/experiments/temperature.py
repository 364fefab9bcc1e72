"""Table 13, Figure 4 b and e: inference under thermal noise, by single trajectories and by the mean
output of several."""

from __future__ import annotations

from dataclasses import asdict

from entrain.evaluation import noisy_scores, stochastic
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.comparison import Cell, Claim, Comparison, Row, in_text, listed
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.metrics import paired_effect
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH, MNIST
from entrain_paper.experiments.teacher_spread import change_metric, noisy_metric, source

NOISE_SEED = 0  # one realisation; every network has the same noise
NOISY_METRICS = ("top1", "endpoint_rmse")


def measure(context: ExperimentContext) -> Values:
    """Metrics of both readouts of every run, and paired effects, at every temperature."""
    setting, rows = context.setting, list[Values]()
    for name in BOTH:
        for method, stage in shared_stages.main_students(setting, name).items():
            examples = context.test_examples(name, context.teacher(stage.teachers[0]))
            networks = context.networks(stage)[: setting.few_runs]
            for temperature in setting.temperatures:
                runs = [
                    stochastic(
                        noisy_scores(
                            network,
                            examples.inputs,
                            temperature=temperature,
                            replicates=setting.replicates,
                            seed=NOISE_SEED,
                        ),
                        examples.labels,
                        examples.targets,
                    )
                    for network in networks
                ]
                rows.append(
                    {
                        "dataset": name,
                        "method": method,
                        "temperature": temperature,
                        "single": summary([run["single"] for run in runs]),
                        "ensemble": summary([run["ensemble"] for run in runs]),
                    }
                )
                context.on_progress(len(rows) / (4 * len(setting.temperatures)))
    return {
        "replicates": setting.replicates,
        "noise_seed": NOISE_SEED,
        "rows": rows,
        "effects": _effects(rows),
    }


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
    """Comparison of both readouts at every temperature, and claims about noise."""
    table = paper_numbers()["temperature"]
    papers, errors = (
        {(row["dataset"], row["method"], float(row["kT"])): row for row in table[part]}
        for part in ("rows", "ensemble_rmse_at_1")
    )
    ours = {(row["dataset"], row["method"], row["temperature"]): row for row in values["rows"]}
    rows = []
    for (name, method, temperature), row in ours.items():
        paper = papers.get((name, method, temperature), {})
        repeated = temperature == 0.0  # the networks of multiseed
        cells = [
            Cell(
                paper.get(f"{readout}_mean"),
                row[readout]["mean"]["top1"],
                source(name, method, noisy_metric(readout, "top1", temperature)),
                paper.get(f"{readout}_sd"),
                row[readout]["sd"]["top1"],
                repeated=repeated,
            )
            for readout in ("single", "ensemble")
        ]
        known = errors.get((name, method, temperature), {}).get("rmse_mean")
        by = source(name, method, noisy_metric("ensemble", "endpoint_rmse", temperature))
        rmse = row["ensemble"]["mean"]["endpoint_rmse"]
        cells.append(Cell(known, rmse, by, form=".4f", repeated=repeated))
        rows.append(Row((name, method, f"{temperature:g}"), tuple(cells)))
    return Comparison(
        ("dataset", "method", "kT"),
        (
            "single trajectory (mean), top-1 %",
            f"ensemble of {values['replicates']}, top-1 %",
            "ensemble, endpoint RMSE",
        ),
        tuple(rows),
        tuple(_claims(ours, values["effects"])),
        reason="our teachers are not the paper's",
        notes=tuple(_paired(values["effects"], table["paired_effects_at_1"])),
        text=tuple(_text(ours)),
    )


def _paired(effects: list[Values], papers: list[Values]) -> list[str]:
    """TWO-STAGE-END - PATH in ensemble top-1, where the paper has it."""
    notes = []
    for paper in papers:
        for ours in effects:
            alike = (ours["dataset"], ours["temperature"]) == (paper["dataset"], paper["kT"])
            if alike and ours.get("t_interval"):
                (low, high), (a, b) = ours["t_interval"], paper["t_ci"]
                notes.append(
                    f"{ours['dataset']}, kT = {ours['temperature']:g}, TWO-STAGE-END - PATH in "
                    f"ensemble top-1: {ours['mean']:+.3f} ± {ours['sd']:.3f}, t [{low:+.3f}, "
                    f"{high:+.3f}], positive in {ours['positive']} (paper {paper['mean']:+.3f} ± "
                    f"{paper['sd']:.3f}, [{a:+.3f}, {b:+.3f}], {paper['positive']} of "
                    f"{paper['runs']})."
                )
    return notes


def _claims(ours: dict[tuple[str, str, float], Values], effects: list[Values]) -> list[Claim]:
    temperatures = sorted({temperature for _, _, temperature in ours})

    def series(name: str, method: str, readout: str, metric: str = "top1") -> list[float]:
        return [ours[name, method, t][readout]["mean"][metric] for t in temperatures]

    hottest, claims = temperatures[-1], list[Claim]()
    for name in BOTH:
        path, end = (series(name, method, "ensemble") for method in shared_stages.METHODS)
        gaps = [b - a for a, b in zip(path, end, strict=True)]
        paired = [e for e in effects if e["dataset"] == name and e.get("t_interval")]
        singles = {method: series(name, method, "single") for method in shared_stages.METHODS}
        errors = [series(name, m, "ensemble", "endpoint_rmse") for m in shared_stages.METHODS]
        claims += [
            Claim(
                f"{name}: TWO-STAGE-END beats PATH at every temperature",
                min(gaps) > 0 and all(e["negative"] == e["zero"] == 0 for e in paired),
                f"by {min(gaps):.2f} points or more; in {sum(e['positive'] for e in paired)} of "
                f"{sum(e['positive'] + e['zero'] + e['negative'] for e in paired)} pairs of runs",
            ),
            Claim(
                f"{name}: single trajectories of both methods lose with every higher kT",
                all(tops == sorted(tops, reverse=True) for tops in singles.values()),
                "; ".join(f"{m} {listed(tops)}" for m, tops in singles.items()),
            ),
            Claim(
                f"{name}: single trajectories of TWO-STAGE-END are the more accurate at every kT",
                all(b > a for a, b in zip(*singles.values(), strict=True)),
                f"at kT = {hottest:g}, {singles['TWO-STAGE-END'][-1]:.2f} against "
                f"{singles['PATH'][-1]:.2f} %",
            ),
            *(
                _averaging(name, method, hottest, singles[method], tops[-1])
                for method, tops in zip(shared_stages.METHODS, (path, end), strict=True)
            ),
            Claim(
                f"{name}: TWO-STAGE-END has the lower ensemble RMSE at every temperature",
                all(b < a for a, b in zip(*errors, strict=True)),
                f"{listed(errors[1], '.3f')} against {listed(errors[0], '.3f')}",
            ),
        ]
    runs = [
        [run["top1"] for run in ours[MNIST, "PATH", t]["ensemble"]["runs"]] for t in temperatures
    ]
    return claims + _noise_helps(runs, temperatures)


def _text(ours: dict[tuple[str, str, float], Values]) -> list[Row]:
    """Numbers of the text: changes of ensembles with temperature. They follow from the table."""
    table = paper_numbers()["temperature"]

    def change(name: str, method: str, temperature: float) -> float | None:
        if (name, method, temperature) not in ours:
            return None
        hot, cold = (ours[name, method, t]["ensemble"]["mean"]["top1"] for t in (temperature, 0.0))
        return float(hot - cold)

    numbers = [
        (name, "TWO-STAGE-END", 1.0, -table["text"][f"two_stage_end_ensemble_drop_at_1_{key}"])
        for name, key in zip(BOTH, ("mnist", "fashion"), strict=True)
    ]
    warm = table["mnist_path_paired_improvement_at_0.25"]
    numbers.append((MNIST, "PATH", warm["kT"], warm["mean"]))
    rows = []
    for name, method, temperature, paper in numbers:
        by = source(name, method, change_metric(temperature))
        measured = change(name, method, temperature)
        if measured is not None:
            cell = Cell(paper, measured, by, form="+.3f", repeated=True)
            label = (
                f"{name}: change of the {method} ensemble from kT = 0 to {temperature:g}, points"
            )
            rows.append(in_text(label, cell))
    return rows


def _averaging(name: str, method: str, kt: float, single: list[float], ensemble: float) -> Claim:
    """The claim that the ensemble regains much of what single trajectories lose: half or more."""
    printed = {
        float(row["kT"]): row
        for row in paper_numbers()["temperature"]["rows"]
        if (row["dataset"], row["method"]) == (name, method)
    }
    hot = printed.get(kt, printed[max(printed)])
    paper = _regained(printed[0.0]["single_mean"], hot["single_mean"], hot["ensemble_mean"])
    share = _regained(single[0], single[-1], ensemble)
    return Claim(
        f"{name}: at kT = {kt:g} averaging regains most of what single trajectories of {method} "
        "lose",
        share > 0.5,
        f"{100 * share:.0f} % (paper {100 * paper:.0f} %): {single[-1]:.2f} to {ensemble:.2f} of "
        f"{single[0]:.2f} %",
    )


def _regained(cold: float, single: float, ensemble: float) -> float:
    return (ensemble - single) / (cold - single) if cold > single else 1.0


def _noise_helps(runs: list[list[float]], temperatures: list[float]) -> list[Claim]:
    """The claims that the MNIST ensemble of PATH, by temperature and run, is best at a temperature
    above zero."""
    paper = paper_numbers()["temperature"]["mnist_path_paired_improvement_at_0.25"]
    warm = paper["kT"]
    if warm not in temperatures:
        return []
    path = [sum(tops) / len(tops) for tops in runs]
    best = temperatures[path.index(max(path))]
    rises = [b - a for a, b in zip(runs[0], runs[temperatures.index(warm)], strict=True)]
    return [
        Claim(
            f"MNIST: at kT = {warm:g} the PATH ensemble gains in every run",
            min(rises) > 0,
            f"{min(rises):+.2f} to {max(rises):+.2f} points in {len(rises)} runs",
        ),
        Claim(
            f"MNIST: the PATH ensemble is best at kT = {warm:g}",
            best == warm,
            f"best at kT = {best:g}, {max(path) - path[0]:+.2f} points",
        ),
    ]


EXPERIMENT = Experiment(
    "temperature",
    "Temperature-Dependent Robustness",
    "tab:appendix_G2_temperature_top1",
    shared_stages.main_stages,
    measure,
    compare,
)
