"""Most accurate networks of each size: DIRECT with and without augmentation."""

from __future__ import annotations

from dataclasses import replace

from entrain.rules import Direct
from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH, FASHION, MNIST, Setting

METRICS = ("top1", "top2")


def stages(setting: Setting) -> list[Stage]:
    """Every width with augmentation, and the main width without."""
    return [
        stage
        for name in BOTH
        for stage in (
            *(shared_stages.direct_stage(setting, name, hidden) for hidden in setting.widths),
            shared_stages.direct_stage(setting, name, augmented=False),
        )
    ]


def measure(context: ExperimentContext) -> Values:
    """Validation and test accuracy of every run at every width."""
    rows: list[Values] = []
    setting = context.setting
    for name in BOTH:
        sizes = [(hidden, True) for hidden in setting.widths] + [(setting.hidden, False)]
        for hidden, augmented in sizes:
            stage = shared_stages.direct_stage(setting, name, hidden, augmented=augmented)
            rows.append(_row(context, name, stage) | {"augmented": augmented})
            context.on_progress(len(rows) / (2 * len(sizes)))
    return {"rows": rows}


def _row(context: ExperimentContext, name: str, stage: Stage) -> Values:
    state = context.state(stage)
    runs = context.test(name, stage)
    for index, run in enumerate(runs):
        run["validation_top1"] = state.selected("top1", index)
    return {
        "dataset": name,
        "H": stage.network.hidden,
        "N": stage.network.hidden + len(context.data(name).class_names),
        "epochs": stage.epochs,
        **summary(runs, (*METRICS, "validation_top1")),
    }


def fine(setting: Setting, name: str) -> Stage:
    """Networks of the main size on the full grid throughout, so that couplings may grow, with
    refined settings. At 138 oscillators they were no better than the usual ones."""
    usual = shared_stages.direct_stage(setting, name)
    longer = shared_stages.direct_stage(
        setting, name, epochs=max(1, int(_TIMES_LONGER[name] * usual.epochs))
    )
    assert isinstance(longer.rule, Direct)
    rule = replace(longer.rule, coarse_steps=longer.network.dynamics.steps)
    return replace(longer, rule=shared_stages.refined(rule, name))


_TIMES_LONGER = {MNIST: 2.0, FASHION: 2.0 / 3.0}  # than usual


def measure_fine(context: ExperimentContext) -> Values:
    """Validation and test accuracy of the networks on the fine grid."""
    rows: list[Values] = []
    for name in BOTH:
        rows.append(_row(context, name, fine(context.setting, name)) | {"augmented": True})
        context.on_progress(len(rows) / len(BOTH))
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """Ours against the paper's network of the same size, and 26 against its 42 oscillators."""
    paper = {(r["dataset"], r["H"]): r for r in paper_numbers()["width_scaling"]["rows"]}
    claims = []
    for name in BOTH:
        small, larger = 16, paper[name, 32]["two_stage_end_top1_mean"]
        for row in values["rows"]:
            if (row["dataset"], row["H"], row["augmented"]) == (name, small, True):
                mean = row["mean"]["top1"]
                text = f"{name}: 26 oscillators are more accurate than the paper's 42"
                claims.append(Claim(text, mean > larger, f"{mean:.2f} against {larger:.2f} %"))
    for row in values["rows"]:
        printed = paper.get((row["dataset"], row["H"]))
        mean, sd = row["mean"]["top1"], row["sd"]["top1"]
        augmentation = "augmented" if row["augmented"] else "no augmentation"
        name = f"{row['dataset']}, {row['N']} oscillators, {augmentation}"
        text = f"{name}: more accurate than the paper"
        spread = "" if sd is None else f" ± {sd:.2f}"
        accuracy = f"{mean:.2f}{spread} %"
        if printed is not None:
            best = printed["two_stage_end_top1_mean"]
            claims.append(Claim(text, mean > best, f"{accuracy} against {best:.2f} %"))
    return Comparison((), (), (), tuple(claims))


EXPERIMENT = Experiment(
    "records", "Most accurate networks of each size", "", stages, measure, compare
)
FINE = Experiment(
    "fine-records",
    "Most accurate networks trained on the full time grid",
    "",
    lambda setting: [fine(setting, name) for name in BOTH],
    measure_fine,
)
