"""Teacher and network scaled together: H hidden activations for H hidden oscillators."""

from __future__ import annotations

from entrain.evaluation import summarise
from entrain.experiments.comparison import Cell, Claim, Comparison, Row, accuracy, error, points
from entrain.experiments.published import published
from entrain.experiments.setting import BOTH, Setting, matched_widths
from entrain.experiments.spec import Experiment, ExperimentContext, Values, summary
from entrain.learning import Stage


def pair(setting: Setting, name: str, hidden: int) -> tuple[Stage, Stage]:
    """PATH and TWO-STAGE-END at one width; at the main width, the main ones."""
    if hidden == setting.hidden:
        path = setting.main_path(name)
    else:
        teacher = setting.teacher(name, matched_widths(hidden))
        path = setting.path(teacher, runs=tuple(range(setting.few_runs)))
    return path, setting.go_on(path)


def stages(setting: Setting) -> list[Stage]:
    """Both stages at every width on both datasets."""
    return [
        stage for name in BOTH for hidden in setting.widths for stage in pair(setting, name, hidden)
    ]


def measure(context: ExperimentContext) -> Values:
    """Teacher, PATH, TWO-STAGE-END and their paired difference at every width."""
    rows: list[Values] = []
    setting = context.setting
    for name in BOTH:
        for hidden in setting.widths:
            path, end = pair(setting, name, hidden)
            before = context.test(name, path)[: setting.few_runs]
            after = context.test(name, end)[: setting.few_runs]
            gains = [b["top1"] - a["top1"] for a, b in zip(before, after, strict=True)]
            gain = summarise(gains)
            rows.append(
                {
                    "dataset": name,
                    "H": hidden,
                    "N": hidden + len(context.data(name).class_names),
                    "teacher": context.teacher_test(name, path.teachers[0]),
                    "path": summary(before),
                    "two_stage_end": summary(after),
                    "paired_top1": {"mean": gain.mean, "sd": gain.sd, "runs": gains},
                }
            )
            context.on_progress(len(rows) / (2 * len(setting.widths)))
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """Every width, and how accuracy goes with it."""
    papers = {(row["dataset"], row["H"]): row for row in published()["width_scaling"]["rows"]}
    family = {row["H"]: row for row in published()["width_family"]["rows"]}
    rows, claims = [], [_family(family)]
    for ours in values["rows"]:
        name = ours["dataset"]
        paper = papers.get((name, ours["H"]), {})
        gain = ours["paired_top1"]
        cells = [
            Cell(family.get(ours["H"], {}).get("N"), ours["N"], form=".0f"),
            accuracy(name, paper.get("teacher_top1"), ours["teacher"]["test_top1"], form=".2f"),
        ]
        for method in ("path", "two_stage_end"):
            mean, sd = ours[method]["mean"]["top1"], ours[method]["sd"]["top1"]
            number, spread = (paper.get(f"{method}_top1_{each}") for each in ("mean", "sd"))
            cells.append(accuracy(name, number, mean, spread, sd))
        cells.append(
            Cell(
                paper.get("paired_top1_mean"),
                gain["mean"],
                points(name),
                paper.get("paired_top1_sd"),
                gain["sd"],
            )
        )
        for method in ("path", "two_stage_end"):
            mean, sd = ours[method]["mean"]["endpoint_rmse"], ours[method]["sd"]["endpoint_rmse"]
            number, spread = (paper.get(f"{method}_rmse_{each}") for each in ("mean", "sd"))
            cells.append(error(number, mean, spread, sd))
        rows.append(Row((name, str(ours["H"])), tuple(cells), group=name))
    for name in BOTH:
        mine = [row for row in values["rows"] if row["dataset"] == name]
        claims += [_wins(name, mine), *_trends(name, mine)]
    return Comparison(
        ("dataset", "H"),
        (
            "oscillators N",
            "teacher top-1 %",
            "PATH top-1 %",
            "TWO-STAGE-END top-1 %",
            "paired gain, points",
            "PATH RMSE",
            "TWO-STAGE-END RMSE",
        ),
        tuple(rows),
        tuple(claims),
        reason="a teacher of its own at every width: which width is PATH's best, and the last "
        "tenths between H = 64 and 128, are smaller than what another teacher changes",
    )


def _family(papers: dict[int, Values]) -> Claim:
    """The teachers' hidden layers at each width, which a table of the paper lists."""
    layers = {hidden: list(matched_widths(hidden)) for hidden in papers}
    text = "the teachers' hidden layers are the paper's, in the ratio 2 : 1 : 1"
    alike = all(row["teacher_layers"][1:-1] == layers[hidden] for hidden, row in papers.items())
    return Claim(text, alike, "; ".join("-".join(map(str, each)) for each in layers.values()))


def _wins(name: str, rows: list[Values]) -> Claim:
    gains = [gain for row in rows for gain in row["paired_top1"]["runs"]]
    wins = sum(gain > 0 for gain in gains)
    text = f"{name}: TWO-STAGE-END beats PATH at every width, in every run"
    return Claim(text, wins == len(gains), f"{wins} of {len(gains)}")


def _trends(name: str, rows: list[Values]) -> list[Claim]:
    hidden = [row["H"] for row in rows]
    teacher = [row["teacher"]["test_top1"] for row in rows]
    path, end = ([row[m]["mean"]["top1"] for row in rows] for m in ("path", "two_stage_end"))
    shown = ", ".join(f"{value:.2f}" for value in end)
    best = hidden[path.index(max(path))]
    return [
        Claim(
            f"{name}: the teacher improves with every width",
            teacher == sorted(teacher),
            ", ".join(f"{value:.2f}" for value in teacher),
        ),
        Claim(f"{name}: TWO-STAGE-END improves with every width", end == sorted(end), shown),
        Claim(f"{name}: PATH is best at H = 32", best == 32, f"best at H = {best}"),
    ]


EXPERIMENT = Experiment(
    "widths",
    "Hidden-width scaling",
    "tab:appendix_F2_hidden_width_scaling",
    stages,
    measure,
    compare,
)
