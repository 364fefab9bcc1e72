"""Tables 11 and 12, Figure 4 a and d: teacher and network of the same width, H hidden activations
for H hidden oscillators."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from statistics import median

from entrain.evaluation import summarise
from entrain.training import Stage
from entrain_paper.experiments.comparison import (
    Cell,
    Claim,
    Comparison,
    Constant,
    Row,
    in_text,
    listed,
)
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH, FASHION, MNIST, PAPER, Setting, matched_widths
from entrain_paper.experiments.teacher_spread import GAIN, other_cell, source, width_name

METHODS = ("path", "two_stage_end")


def pair(setting: Setting, name: str, hidden: int) -> tuple[Stage, Stage]:
    """PATH and TWO-STAGE-END at one width; at the main width, the main stages."""
    if hidden == setting.hidden:
        path = setting.main_path(name)
    else:
        teacher = setting.teacher(name, matched_widths(hidden))
        path = setting.path(teacher, runs=tuple(range(setting.few_runs)))
    return path, setting.continue_from(path)


def stages(setting: Setting) -> list[Stage]:
    """PATH and TWO-STAGE-END at every width on both datasets."""
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
    """Every width, and how accuracy depends on it."""
    papers = {(row["dataset"], row["H"]): row for row in paper_numbers()["width_scaling"]["rows"]}
    family = {row["H"]: row for row in paper_numbers()["width_family"]["rows"]}
    rows, claims, text = [], list[Claim](), list[Row]()
    for ours in values["rows"]:
        name = ours["dataset"]
        paper = papers.get((name, ours["H"]), {})
        main = ours["H"] == PAPER.hidden  # the networks of multiseed
        cell = Cell if main else partial(other_cell, network=width_name(ours["H"]))
        cells: list[Cell] = [
            Constant(family.get(ours["H"], {}).get("N"), ours["N"], form=".0f"),
            cell(
                paper.get("teacher_top1"),
                ours["teacher"]["test_top1"],
                source(name, "teacher", "test_top1"),
                form=".2f",
                repeated=main,
            ),
        ]
        gain = ours["paired_top1"]
        numbers = [
            (
                method,
                metric,
                f"{key}_{short}",
                ours[key]["mean"][metric],
                ours[key]["sd"][metric],
                form,
            )
            for metric, short, form in (("top1", "top1", ".3f"), ("endpoint_rmse", "rmse", ".4f"))
            for key, method in zip(METHODS, ("PATH", "TWO-STAGE-END"), strict=True)
        ]
        numbers.append((GAIN, "top1", "paired_top1", gain["mean"], gain["sd"], "+.3f"))
        cells += [
            cell(
                paper.get(f"{key}_mean"),
                mean,
                source(name, method, metric),
                paper_sd=paper.get(f"{key}_sd"),
                ours_sd=sd,
                form=form,
                repeated=main or method == GAIN,
            )
            for method, metric, key, mean, sd, form in numbers
        ]
        rows.append(Row((name, str(ours["H"])), tuple(cells)))
    for name in BOTH:
        by_width = [row for row in values["rows"] if row["dataset"] == name]
        claims += [_wins(name, by_width), *_trends(name, by_width), *_gaps(name, by_width)]
        text += _text(name, by_width)
    text.append(_largest_gap(values["rows"]))
    return Comparison(
        ("dataset", "H"),
        (
            "oscillators N",
            "teacher top-1 %",
            "PATH top-1 %",
            "TWO-STAGE-END top-1 %",
            "PATH RMSE",
            "TWO-STAGE-END RMSE",
            "paired gain, points",
        ),
        tuple(rows),
        tuple(claims),
        reason="every width has its own teacher. The best width of PATH and the last tenths "
        "between H = 64 and 128 are smaller effects than a change of the teacher",
        notes=(_family(family), *_outliers(values["rows"])),
        text=tuple(text),
    )


def _family(papers: dict[int, Values]) -> str:
    """A note on Table 11: the teachers' hidden layers at each width."""
    layers = {hidden: list(matched_widths(hidden)) for hidden in papers}
    equal = all(row["teacher_layers"][1:-1] == layers[hidden] for hidden, row in papers.items())
    listed = "; ".join("-".join(map(str, units)) for units in layers.values())
    return f"The teachers' hidden layers are {'' if equal else 'not '}the paper's: {listed}."


def _outliers(rows: list[Values]) -> list[str]:
    """Notes on outlying runs, which a mean and its deviation hide."""
    notes = []
    for row in rows:
        for key, method in zip(METHODS, ("PATH", "TWO-STAGE-END"), strict=True):
            tops = [run["top1"] for run in row[key]["runs"]]
            middle = median(tops)
            deviation = median(abs(top - middle) for top in tops)
            for run, top in enumerate(tops):
                if abs(top - middle) > max(_FAR * deviation, _FAR_POINTS):
                    rest = tops[:run] + tops[run + 1 :]
                    notes.append(
                        f"{row['dataset']}, H = {row['H']}, {method}: training order {run} has "
                        f"{top:.2f} %, the others {min(rest):.2f} to {max(rest):.2f} %; the "
                        f"median is {middle:.2f} %, the mean {row[key]['mean']['top1']:.2f} %."
                    )
    return notes


_FAR, _FAR_POINTS = 5.0, 0.5  # median deviations, and points, from the median


def _wins(name: str, rows: list[Values]) -> Claim:
    gains = [gain for row in rows for gain in row["paired_top1"]["runs"]]
    wins = sum(gain > 0 for gain in gains)
    text = f"{name}: TWO-STAGE-END beats PATH at every width, in every run"
    return Claim(text, wins == len(gains), f"{wins} of {len(gains)}")


def _trends(name: str, rows: list[Values]) -> list[Claim]:
    hidden = [row["H"] for row in rows]
    teacher = [row["teacher"]["test_top1"] for row in rows]
    path, end = ([row[m]["mean"]["top1"] for row in rows] for m in METHODS)
    best = hidden[path.index(max(path))]
    errors, lower = ([row[m]["mean"]["endpoint_rmse"] for row in rows] for m in METHODS)
    return [
        Claim(
            f"{name}: the teacher improves with every width",
            teacher == sorted(teacher),
            listed(teacher),
        ),
        Claim(f"{name}: TWO-STAGE-END improves with every width", end == sorted(end), listed(end)),
        Claim(
            f"{name}: PATH is best at H = 32",
            best == 32,
            f"best at H = {best}: {listed(path)} %",
            reason="each width has one teacher, and PATH differs as much between teachers of one "
            "width as between widths",
            evidence="PATH by width" if name == FASHION else "",
        ),
        Claim(
            f"{name}: PATH does not improve with every width",
            path != sorted(path),
            listed(path),
            reason="as above",
            follows=f"{name}: PATH is best at H = 32",
        ),
        Claim(
            f"{name}: PATH's endpoint RMSE does not fall with every width",
            errors != sorted(errors, reverse=True),
            listed(errors, ".4f"),
        ),
        Claim(
            f"{name}: TWO-STAGE-END has the lower endpoint RMSE at every width",
            all(b < a for a, b in zip(errors, lower, strict=True)),
            listed(lower, ".4f"),
        ),
    ]


def _gaps(name: str, rows: list[Values]) -> list[Claim]:
    """The claims about the gain per doubling of the width, and about the gap to the teacher."""
    end = [row["two_stage_end"]["mean"]["top1"] for row in rows]
    steps = [after - before for before, after in pairwise(end)]
    path_gaps, end_gaps = ([_gap(row, method) for row in rows] for method in METHODS)
    paired = [row["paired_top1"]["mean"] for row in rows]
    return [
        Claim(
            f"{name}: TWO-STAGE-END gains more over PATH at the largest width than at the smallest",
            paired[-1] > paired[0],
            f"{listed(paired)} points",
        ),
        Claim(
            f"{name}: TWO-STAGE-END gains least from the last doubling of the width",
            steps[-1] == min(steps),
            f"{listed(steps, '+.2f')} points",
            reason="the step between two widths is a step between two teachers, too",
            evidence="last doubling" if name == FASHION else "",
        ),
        Claim(
            f"{name}: PATH falls behind its teacher as the width grows",
            path_gaps[-1] > path_gaps[0],
            f"by {path_gaps[0]:.2f} to {path_gaps[-1]:.2f} points",
        ),
        Claim(
            f"{name}: TWO-STAGE-END is nearer to its teacher than PATH at every width",
            all(abs(b) < abs(a) for a, b in zip(path_gaps, end_gaps, strict=True)),
            f"gaps of {listed(end_gaps, '+.2f')} against {listed(path_gaps, '+.2f')} points",
        ),
    ]


def _gap(row: Values, method: str) -> float:
    """Top-1 of the teacher minus that of a method, in points."""
    return float(row["teacher"]["test_top1"] - row[method]["mean"]["top1"])


def _text(name: str, rows: list[Values]) -> list[Row]:
    """Numbers of the text: the last doubling, and the gaps at the ends."""
    printed, key = paper_numbers()["width_scaling"]["text"], "mnist" if name == MNIST else "fashion"
    step = rows[-1]["two_stage_end"]["mean"]["top1"] - rows[-2]["two_stage_end"]["mean"]["top1"]
    first, last = rows[0]["H"], rows[-1]["H"]
    numbers = [
        (
            f"{name}: gain of TWO-STAGE-END from the last doubling of the width, points (of "
            f"medians {_last_step(rows):+.3f})",
            printed[f"top1_gain_64_to_128_{key}"],
            step,
        ),
        (
            f"{name}: teacher minus PATH at H = {first}, points",
            printed[f"teacher_minus_path_{key}_16"],
            _gap(rows[0], "path"),
        ),
        (
            f"{name}: teacher minus PATH at H = {last}, points",
            printed[f"teacher_minus_path_{key}_128"],
            _gap(rows[-1], "path"),
        ),
    ]
    return [
        in_text(label, Cell(paper, ours, form="+.3f", repeated=True))
        for label, paper, ours in numbers
    ]


def _last_step(rows: list[Values]) -> float:
    tops = [[run["top1"] for run in row["two_stage_end"]["runs"]] for row in rows[-2:]]
    return float(median(tops[1]) - median(tops[0]))


def _largest_gap(rows: list[Values]) -> Row:
    paper = paper_numbers()["width_scaling"]["text"]["max_abs_teacher_gap_two_stage_end"]
    gaps = {f"{r['dataset']}, H = {r['H']}": abs(_gap(r, "two_stage_end")) for r in rows}
    widest = max(gaps, key=lambda group: gaps[group])
    label = f"largest gap between TWO-STAGE-END and its teacher, points (ours: {widest})"
    return in_text(label, Cell(paper, gaps[widest], repeated=True))


EXPERIMENT = Experiment(
    "widths",
    "Hidden-Width Scaling Results",
    "tab:appendix_F2_hidden_width_scaling",
    stages,
    measure,
    compare,
)
