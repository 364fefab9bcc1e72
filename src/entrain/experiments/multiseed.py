"""The main result: PATH, PATH-CONT and TWO-STAGE-END over paired training orders."""

from __future__ import annotations

from entrain.experiments import main_stages
from entrain.experiments.comparison import Claim, Comparison, Row, accuracy, error
from entrain.experiments.published import published
from entrain.experiments.setting import BOTH, Setting
from entrain.experiments.spec import Experiment, ExperimentContext, Values, summary
from entrain.learning import Stage

METHODS = ("PATH", "PATH-CONT", "TWO-STAGE-END")


def students(setting: Setting, name: str) -> dict[str, Stage]:
    """The stage of each method; the continuations start from the same PATH checkpoints."""
    pair = main_stages.students(setting, name)
    return {method: pair.get(method) or setting.go_on(pair["PATH"], method) for method in METHODS}


def stages(setting: Setting) -> list[Stage]:
    """Every method on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name).values()]


def measure(context: ExperimentContext) -> Values:
    """Test metrics of every run, with mean and sample SD, and the range of selected epochs."""
    rows = []
    for name in BOTH:
        for method, stage in students(context.setting, name).items():
            rows.append({"dataset": name, "method": method, **summary(context.test(name, stage))})
            context.on_progress(len(rows) / 6)
    setting = context.setting
    epochs = {"stage1": setting.path_epochs, "stage2": setting.endpoint_epochs}
    return {"epochs": epochs, "rows": rows}


def compare(values: Values) -> Comparison:
    """Mean and SD of each metric, and the order of the methods in every run."""
    ours = {(row["dataset"], row["method"]): row for row in values["rows"]}
    rows, claims = [], []
    for paper in published()["multiseed"]["rows"]:
        name, method = paper["dataset"], paper["method"]
        mean, sd = ours[name, method]["mean"], ours[name, method]["sd"]
        cells = [
            accuracy(name, paper[f"{m}_mean"], mean[m], paper[f"{m}_sd"], sd[m])
            for m in ("top1", "top2", "agreement")
        ]
        rmse = error(
            paper["rmse_mean"], mean["endpoint_rmse"], paper["rmse_sd"], sd["endpoint_rmse"]
        )
        rows.append(Row((name, method), (*cells, rmse), group=name))
    spans = {row["dataset"]: row for row in published()["selected_epochs"]["rows"]}
    for name in BOTH:
        path, end = ([run["top1"] for run in ours[name, m]["runs"]] for m in main_stages.METHODS)
        wins = sum(b > a for a, b in zip(path, end, strict=True))
        shift = ours[name, "PATH-CONT"]["mean"]["top1"] - ours[name, "PATH"]["mean"]["top1"]
        first, second = (_span(ours[name, method]["runs"]) for method in main_stages.METHODS)
        span, last = spans[name], values["epochs"]["stage1"]
        claims += [
            Claim(
                f"{name}: TWO-STAGE-END beats PATH in every run",
                wins == len(path),
                f"{wins} of {len(path)} runs",
            ),
            Claim(
                f"{name}: PATH-CONT stays within 0.05 points of PATH",
                abs(shift) <= 0.05,
                f"{shift:+.3f} points",
            ),
            Claim(
                f"{name}: PATH is selected at its last epoch in every run",
                first == (last, last),
                f"at {first[0]} to {first[1]} of {last} (paper {span['stage1_min']} to "
                f"{span['stage1_max']}); TWO-STAGE-END at {second[0]} to {second[1]} of "
                f"{values['epochs']['stage2']} (paper {span['stage2_min']} to "
                f"{span['stage2_max']})",
            ),
        ]
    return Comparison(
        ("dataset", "method"),
        ("top-1 %", "top-2 %", "agreement %", "endpoint RMSE"),
        tuple(rows),
        tuple(claims),
        reason="our teachers are not the paper's: see teacher-seeds for what another one changes",
    )


def _span(runs: list[Values]) -> tuple[int, int]:
    """The first and last of the epochs that were selected."""
    epochs = [run["epoch"] for run in runs]
    return min(epochs), max(epochs)


EXPERIMENT = Experiment(
    "multiseed",
    "Autonomous inference over paired training orders",
    "tab:appendix_B1_multiseed_main_results_lr10",
    stages,
    measure,
    compare,
)
