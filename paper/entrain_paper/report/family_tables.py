"""Tables of families with several teachers each, and of the third checkpoint rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from entrain.evaluation import summarise
from entrain_paper.experiments.comparison import printed
from entrain_paper.experiments.experiment import METRIC_NAMES
from entrain_paper.experiments.setting import MNIST
from entrain_paper.experiments.shared_stages import METHODS
from entrain_paper.experiments.teacher_spread import width_name
from entrain_paper.figures.panels import paper_row
from entrain_paper.report.markdown import Column, Row, metric_sd, percent, plain, table


def pairs(values: Row) -> str:
    """Top-1 of teachers, PATH and TWO-STAGE-END of every member of a family."""
    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("network", plain("network")),
        ("teachers", lambda row: str(len(row["teachers"]))),
        ("teacher top-1 %", lambda row: _spread([t["test_top1"] for t in row["teachers"]])),
        ("PATH top-1 %", metric_sd("top1", "path")),
        ("paper", lambda row: _paper(row, "path_top1")),
        ("TWO-STAGE-END top-1 %", metric_sd("top1", "two_stage_end")),
        ("paper", lambda row: _paper(row, "two_stage_end_top1")),
    ]
    return table(values["rows"], columns)


def _paper(row: Row, name: str) -> str:
    """The paper's number, of one teacher, for a member of a family."""
    hidden = row["network"].removeprefix(width_name(""))
    size = int(hidden) if hidden.isdigit() else 0
    width = paper_row("width_scaling", dataset=row["dataset"], H=size)
    other = paper_row("architecture_sweep", identifier=row["network"])
    number = width.get(f"{name}_mean", other.get(name))
    return "" if number is None else percent(number)


def branches(values: Row) -> str:
    """Top-1 of every branch over teachers."""
    rows = [row for row in values["rows"] if "top2" in row["runs"][0] and "epoch" in row["runs"][0]]
    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("branch", plain("method")),
        ("rate", lambda row: row["network"].removeprefix("rate ") or "main"),
        ("teachers", lambda row: str(len(row["runs"]))),
        ("top-1 %", lambda row: _spread([run["top1"] for run in row["runs"]])),
        ("agreement %", lambda row: _spread([run["agreement"] for run in row["runs"]])),
        ("endpoint RMSE", lambda row: _spread([r["endpoint_rmse"] for r in row["runs"]], ".4f")),
    ]
    return table(rows, columns)


def checkpoint_rules(values: Row) -> str:
    """Teachers and students of the third rule, with the paper's numbers."""
    rows = values["rows"]
    teachers = [row["teacher"] for row in rows]
    text = (
        f"{len(rows)} teachers, selected at epochs {min(t['epoch'] for t in teachers)} to "
        f"{max(t['epoch'] for t in teachers)}: validation top-1 "
        f"{_range([t['validation_top1'] for t in teachers])}, test top-1 "
        f"{_range([t['test_top1'] for t in teachers])}."
    )
    lines = []
    for method in METHODS:
        paper = paper_row("multiseed", dataset=MNIST, method=method)
        for metric, key, form in (
            ("top1", "top1", ".2f"),
            ("agreement", "agreement", ".2f"),
            ("endpoint_rmse", "rmse", ".4f"),
        ):
            numbers = [row[method][metric] for row in rows]
            lines.append(
                {
                    "method": method,
                    "metric": METRIC_NAMES[metric],
                    "ours": _spread(numbers, form),
                    "range": f"{printed(min(numbers), form)} to {printed(max(numbers), form)}",
                    "paper": printed(paper[f"{key}_mean"], form),
                }
            )
    return text + "\n\n" + table(lines, [(name, plain(name)) for name in lines[0]])


def _spread(values: Sequence[float], form: str = ".2f") -> str:
    over = summarise(list(values))
    return printed(over.mean, form) + ("" if over.sd is None else f" ± {printed(over.sd, form)}")


def _range(values: Sequence[float]) -> str:
    return f"{percent(min(values))} to {percent(max(values))} %"


FAMILY_TABLES: dict[str, Callable[[Row], str]] = {
    "teachers-of-widths": pairs,
    "teachers-of-architectures": pairs,
    "teachers-of-branches": branches,
    "checkpoint-rules": checkpoint_rules,
}
