"""Tables of training orders: the paper's single runs, and its architectures, over several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from entrain.evaluation import summarise
from entrain.rules import PAPER_PROTOCOLS
from entrain_paper.experiments.setting import AUXILIARY_RATE, MNIST
from entrain_paper.experiments.single_runs import EXACT
from entrain_paper.report.markdown import Column, percent, plain, table


def singles(values: Mapping[str, Any]) -> str:
    """Top-1 and RMSE of each branch over its orders, beside the paper's one run."""

    def share(row: Mapping[str, Any]) -> str:
        return "" if row["below"] is None else f"{100 * row['below']:.0f} %"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("branch", plain("what")),
        ("rate", _rate),
        ("training orders", lambda row: str(len(row["runs"]))),
        ("top-1 %", lambda row: percent(row["mean"]["top1"], row["sd"]["top1"])),
        ("range", _range),
        ("paper, one run", lambda row: percent(row["paper"])),
        ("ours below the paper", share),
        ("agreement %", lambda row: percent(row["mean"]["agreement"], row["sd"]["agreement"])),
        ("endpoint RMSE", lambda row: f"{row['mean']['endpoint_rmse']:.4f}"),
    ]
    rows = values["rows"]
    parts = [table(rows, columns), _from_zero(rows), _control(rows), _weights(rows)]
    return "\n\n".join(part for part in [*parts, _paths(values.get("trajectories", []))] if part)


def _from_zero(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the orders from exact zero say about path supervision."""
    found = [f"{row['dataset']} {_range(row)} %" for row in rows if row["what"] == "ZERO-END-ONLY"]
    return (
        "From exact zero rounding decides a run, and single runs say little. In all orders the "
        f"endpoint loss alone stays far below both losses ({'; '.join(found)}): from there, path "
        "supervision is needed. It is the start that needs it, not the network: from a small "
        "random start, labels alone suffice (teacher-needed)."
    )


def _control(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the exact control says about PATH-CONT."""
    tops = {(row["dataset"], row["what"]): row["mean"]["top1"] for row in rows}
    found = "; ".join(
        f"{name}: PATH-CONT {tops[name, 'PATH-CONT']:.2f} %, PATH at its minimum "
        f"{tops[name, EXACT['PATH']]:.2f} %, TWO-STAGE-END from there "
        f"{tops[name, EXACT['TWO-STAGE-END']]:.2f} %"
        for name in dict.fromkeys(row["dataset"] for row in rows)
        if (name, "PATH-CONT") in tops and (name, EXACT["PATH"]) in tops
    )
    if not found:
        return ""
    return (
        "PATH by SGD is selected at its last epochs and has not converged, so that PATH-CONT, "
        "which goes on with it, is a weak control. PATH solved exactly is a strong one: at the "
        f"minimum of the path loss nothing more is to be gained from that loss. {found}."
    )


def _weights(rows: Sequence[Mapping[str, Any]]) -> str:
    """How the weights of the endpoint loss differ over orders."""
    tops = {row["what"]: row for row in rows if row["what"].startswith("weight")}
    one = [r for r in rows if (r["dataset"], r["what"]) == (MNIST, "TWO-STAGE-END")]
    if not one or not tops:
        return ""
    found = [
        f"{percent(row['mean']['top1'], row['sd']['top1'])} % with {what}"
        for what, row in (("weight 1", one[0]), *tops.items())
    ]
    return f"On MNIST, by the weight of the endpoint loss: {', '.join(found)}."


def _paths(rows: Sequence[Mapping[str, Any]]) -> str:
    """Trajectories of every order: what Stage II changes, and at how many times."""
    if not rows:
        return ""

    def change(row: Mapping[str, Any]) -> str:
        pairs = zip(row["path"], row["two_stage_end"], strict=True)
        each = [100.0 * (end / path - 1.0) for path, end in pairs]
        return f"{min(each):+.1f} to {max(each):+.1f} %"

    def times(row: Mapping[str, Any]) -> str:
        found, last = row["times_path_is_larger"], row["times_after_start"]
        closer = found if row["nodes"] == "output" else [last - each for each in found]
        least, most = min(closer), max(closer)
        return f"{least} of {last}" if least == most else f"{least} to {most} of {last}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("nodes", plain("nodes")),
        ("training orders", lambda row: str(len(row["path"]))),
        ("PATH RMSE", lambda row: _mean_and_sd(row["path"])),
        ("TWO-STAGE-END RMSE", lambda row: _mean_and_sd(row["two_stage_end"])),
        ("change", change),
        ("times with the paper's order", times),
    ]
    text = (
        "Trajectories over the same orders. The paper has one run, in which Stage II brings output "
        "trajectories closer to the teacher's path at every time, and moves hidden ones away from "
        "it."
    )
    return text + "\n\n" + table(rows, columns)


def _mean_and_sd(values: Sequence[float]) -> str:
    found = summarise(list(values))
    return f"{found.mean:.4f}" if found.sd is None else f"{found.mean:.4f} ± {found.sd:.4f}"


def _rate(row: Mapping[str, Any]) -> str:
    """The auxiliary one, but for the exact control: solved, and continued at the main rate."""
    if row["what"] == EXACT["PATH"]:
        return "solved"
    main = PAPER_PROTOCOLS["TWO-STAGE-END"].learning_rate
    return f"{main if row['what'] == EXACT['TWO-STAGE-END'] else AUXILIARY_RATE:g}"


def _range(row: Mapping[str, Any]) -> str:
    tops = [run["top1"] for run in row["runs"]]
    return f"{min(tops):.2f} to {max(tops):.2f}"


def architecture_orders(values: Mapping[str, Any]) -> str:
    """Each architecture's one teacher over training orders, and the gain of Stage II."""

    def top1(method: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: percent(row[method]["mean"]["top1"], row[method]["sd"]["top1"])

    columns: list[Column] = [
        ("teacher", plain("identifier")),
        ("training orders", lambda row: str(len(row["path"]["runs"]))),
        ("PATH top-1 %", top1("path")),
        ("paper", lambda row: percent(row["paper_path"])),
        ("TWO-STAGE-END top-1 %", top1("two_stage_end")),
        ("paper", lambda row: percent(row["paper_two_stage_end"])),
        ("gain, points", lambda row: percent(row["gain"]["mean"], row["gain"]["sd"])),
        ("paper", lambda row: percent(row["paper_gain"])),
    ]
    rows = values["rows"]
    every = sum(row["gain"]["least"] > 0 for row in rows)
    return table(rows, columns) + (
        f"\n\nStage II improves {every} of {len(rows)} architectures in every order; the gains "
        f"are {min(row['gain']['least'] for row in rows):.2f} to "
        f"{max(row['gain']['most'] for row in rows):.2f} points."
    )


ORDER_TABLES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "single-runs": singles,
    "architecture-orders": architecture_orders,
}
