"""Tables over several training orders, of the paper's single runs and architectures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from entrain.evaluation import summarise
from entrain.rules import PAPER_PROTOCOLS
from entrain_paper.experiments.setting import AUXILIARY_RATE, MNIST
from entrain_paper.experiments.single_runs import EXACT
from entrain_paper.report.markdown import Column, Row, mean_sd, metric_sd, percent, plain, table


def singles(values: Row) -> str:
    """Top-1 and RMSE of each branch over training orders, and the paper's single run."""

    def share(row: Row) -> str:
        return "" if row["below"] is None else f"{100 * row['below']:.0f} %"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("branch", plain("what")),
        ("rate", _rate),
        ("training orders", lambda row: str(len(row["runs"]))),
        ("top-1 %", metric_sd("top1")),
        ("range", _range),
        ("paper, one run", lambda row: percent(row["paper"])),
        ("orders below the paper", share),
        ("agreement %", metric_sd("agreement")),
        ("endpoint RMSE", lambda row: f"{row['mean']['endpoint_rmse']:.4f}"),
    ]
    rows = values["rows"]
    parts = [table(rows, columns), _from_zero(rows), _control(rows), _weights(rows)]
    return "\n\n".join(filter(None, [*parts, _trajectories(values.get("trajectories", []))]))


def _from_zero(rows: Sequence[Row]) -> str:
    """The need for path supervision from exact zero, in sentences."""
    ranges = [f"{row['dataset']} {_range(row)} %" for row in rows if row["what"] == "ZERO-END-ONLY"]
    return (
        "From exact zero, rounding decides the result of a run, so that single runs show little. "
        "In all training orders the endpoint loss alone stays far below both losses "
        f"({'; '.join(ranges)}): training from exact zero needs path supervision. The network does "
        "not: from a small random start, labels alone suffice (teacher-needed)."
    )


def _control(rows: Sequence[Row]) -> str:
    """PATH-CONT compared with the exact control, in sentences."""
    tops = {(row["dataset"], row["what"]): row["mean"]["top1"] for row in rows}
    listed = "; ".join(
        f"{name}: PATH-CONT {tops[name, 'PATH-CONT']:.2f} %, PATH at its minimum "
        f"{tops[name, EXACT['PATH']]:.2f} %, TWO-STAGE-END from there "
        f"{tops[name, EXACT['TWO-STAGE-END']]:.2f} %"
        for name in dict.fromkeys(row["dataset"] for row in rows)
        if (name, "PATH-CONT") in tops and (name, EXACT["PATH"]) in tops
    )
    if not listed:
        return ""
    return (
        "PATH by SGD is selected at its last epochs and has not converged, so that PATH-CONT, "
        "which continues it, is a weak control. PATH solved exactly is a strong one: at the "
        f"minimum of the path loss, more training on that loss has no effect. {listed}."
    )


def _weights(rows: Sequence[Row]) -> str:
    """Accuracy by the weight of the endpoint loss, in a sentence."""
    tops = {row["what"]: row for row in rows if row["what"].startswith("weight")}
    one = [r for r in rows if (r["dataset"], r["what"]) == (MNIST, "TWO-STAGE-END")]
    if not one or not tops:
        return ""
    listed = [
        f"{metric_sd('top1')(row)} % with {weight}"
        for weight, row in (("weight 1", one[0]), *tops.items())
    ]
    return f"On MNIST, by the weight of the endpoint loss: {', '.join(listed)}."


def _trajectories(rows: Sequence[Row]) -> str:
    """RMSE of the trajectories of every training order, and its change by Stage II."""
    if not rows:
        return ""

    def change(row: Row) -> str:
        pairs = zip(row["path"], row["two_stage_end"], strict=True)
        changes = [100.0 * (end / path - 1.0) for path, end in pairs]
        return f"{min(changes):+.1f} to {max(changes):+.1f} %"

    def times(row: Row) -> str:
        counts, total = row["times_path_is_larger"], row["times_after_start"]
        if row["nodes"] != "output":
            counts = [total - count for count in counts]
        least, most = min(counts), max(counts)
        return f"{least} of {total}" if least == most else f"{least} to {most} of {total}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("nodes", plain("nodes")),
        ("training orders", lambda row: str(len(row["path"]))),
        ("PATH RMSE", lambda row: _mean_and_sd(row["path"])),
        ("TWO-STAGE-END RMSE", lambda row: _mean_and_sd(row["two_stage_end"])),
        ("change", change),
        ("times ordered as in the paper", times),
    ]
    text = (
        "Trajectories over the same training orders. In the paper's single run, Stage II brings "
        "output trajectories closer to the teacher's path at every time, and moves hidden ones "
        "away from it."
    )
    return text + "\n\n" + table(rows, columns)


def _mean_and_sd(values: Sequence[float]) -> str:
    summary = summarise(list(values))
    return f"{summary.mean:.4f}" + ("" if summary.sd is None else f" ± {summary.sd:.4f}")


def _rate(row: Row) -> str:
    """Learning rate of a branch; the exact control is solved and continued at the main rate."""
    if row["what"] == EXACT["PATH"]:
        return "solved"
    main = PAPER_PROTOCOLS["TWO-STAGE-END"].learning_rate
    return f"{main if row['what'] == EXACT['TWO-STAGE-END'] else AUXILIARY_RATE:g}"


def _range(row: Row) -> str:
    tops = [run["top1"] for run in row["runs"]]
    return f"{min(tops):.2f} to {max(tops):.2f}"


def architecture_orders(values: Row) -> str:
    """Top-1 of each architecture over training orders of one teacher, and the gain of Stage II."""
    columns: list[Column] = [
        ("teacher", plain("identifier")),
        ("training orders", lambda row: str(len(row["path"]["runs"]))),
        ("PATH top-1 %", metric_sd("top1", "path")),
        ("paper", lambda row: percent(row["paper_path"])),
        ("TWO-STAGE-END top-1 %", metric_sd("top1", "two_stage_end")),
        ("paper", lambda row: percent(row["paper_two_stage_end"])),
        ("gain, points", mean_sd("gain")),
        ("paper", lambda row: percent(row["paper_gain"])),
    ]
    rows = values["rows"]
    improved = sum(row["gain"]["least"] > 0 for row in rows)
    return table(rows, columns) + (
        f"\n\nStage II improves {improved} of {len(rows)} architectures in every order; the gains "
        f"are {min(row['gain']['least'] for row in rows):.2f} to "
        f"{max(row['gain']['most'] for row in rows):.2f} points."
    )


ORDER_TABLES: dict[str, Callable[[Row], str]] = {
    "single-runs": singles,
    "architecture-orders": architecture_orders,
}
