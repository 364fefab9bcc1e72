"""Tables of the report by experiment, and those of networks trained on labels."""

from __future__ import annotations

from entrain_paper.report.bake_off import bake_off
from entrain_paper.report.chip_tables import CHIP_TABLES
from entrain_paper.report.control_tables import CONTROL_TABLES
from entrain_paper.report.family_tables import FAMILY_TABLES
from entrain_paper.report.markdown import (
    Column,
    Format,
    Row,
    metric_sd,
    percent,
    plain,
    table,
)
from entrain_paper.report.order_tables import ORDER_TABLES
from entrain_paper.report.published_tables import PUBLISHED_TABLES
from entrain_paper.report.rule_tables import RULE_TABLES


def records(values: Row) -> str:
    """Accuracy by size."""

    def epochs(row: Row) -> str:
        selected = [run["epoch"] for run in row["runs"]]
        return f"{min(selected)} to {max(selected)} of {row['epochs']}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("oscillators", plain("N")),
        ("augmentation", lambda row: "yes" if row["augmented"] else "no"),
        ("validation top-1 %", metric_sd("validation_top1")),
        ("test top-1 %", metric_sd("top1")),
        ("test top-2 %", metric_sd("top2")),
        ("runs", lambda row: str(len(row["runs"]))),
        ("selected epochs", epochs),
    ]
    return table(values["rows"], columns)


def teacher_needed(values: Row) -> str:
    """Accuracy by start and objective, and the epochs to each validation accuracy."""
    first = values["rows"][0]

    def epoch(level: str) -> Format:
        def form(row: Row) -> str:
            epochs = row["reached"][level]
            listed = ", ".join("never" if epoch is None else str(epoch) for epoch in epochs)
            return listed if any(epochs) else "never"

        return form

    columns: list[Column] = [
        ("start", plain("start")),
        ("objective", plain("objective")),
        ("test top-1 %", metric_sd("top1")),
        *((f"first epoch with {level} % validation", epoch(level)) for level in first["reached"]),
    ]
    text = (
        f"Epochs: one number per run, of {first['epochs']} epochs, without those of teachers and "
        "path training. Exact zero is a saddle point without a gradient of the couplings, which "
        "AdamW leaves slowly."
    )
    return table(values["rows"], columns) + "\n\n" + text


def anytime(values: Row) -> str:
    """Accuracy of early readout, of early stopping, and of networks trained for other times."""

    def at(time: float) -> Format:
        def form(row: Row) -> str:
            index = min(range(len(row["time"])), key=lambda i: abs(row["time"][i] - time))
            return f"{row['top1'][index]:.2f}"

        return form

    def stop(margin: float) -> Format:
        def form(row: Row) -> str:
            index = row["margins"].index(margin)
            return f"{row['exit_top1'][index]:.2f} at {row['exit_time'][index]:.2f}"

        return form

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("method", plain("method")),
        *((f"t = {time:g} t_f", at(time)) for time in (0.1, 0.2, 0.5, 1.0)),
        *((f"stop at margin {margin:g}", stop(margin)) for margin in (0.1, 0.2, 0.4)),
    ]
    trained: list[Column] = [
        ("dataset", plain("dataset")),
        ("trained for t_f", lambda row: f"{row['observation_time']:g}"),
        ("test top-1 %", lambda row: percent(row["mean"], row["sd"])),
    ]
    return (
        "Test top-1 % for readout at a fraction of the observation time. In the last columns, each "
        "image stops when its largest output leads by a margin; they give the accuracy and the "
        "mean time.\n\n"
        + table(values["rows"], columns)
        + "\n\nNetworks trained for other observation times (DIRECT, a quarter of the epochs):\n\n"
        + table(values["trained"], trained)
    )


TABLES: dict[str, Format] = {
    "records": records,
    "fine-records": records,
    "teacher-needed": teacher_needed,
    "anytime": anytime,
    "bake-off": bake_off,
    **PUBLISHED_TABLES,
    **CONTROL_TABLES,
    **FAMILY_TABLES,
    **ORDER_TABLES,
    **CHIP_TABLES,
    **RULE_TABLES,
}
