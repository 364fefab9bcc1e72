"""`entrain bench`: times of a training step by Entrain, PyTorch, torchdiffeq and diffrax."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from entrain.cli.console import err, number, out, print_json, table
from entrain.cli.options import Device, Json, require


def command(
    batch: Annotated[int, typer.Option(help="Samples B of a training step.")] = 256,
    oscillators: Annotated[int, typer.Option(help="Number N of oscillators.")] = 74,
    steps: Annotated[int, typer.Option(help="Number K of Euler steps.")] = 200,
    inferences: Annotated[int, typer.Option(help="Images of one inference.")] = 10_000,
    rounds: Annotated[int, typer.Option(help="Interleaved rounds; medians are rendered.")] = 7,
    without: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Leave out a backend; repeatable.")
    ] = None,
    growth: Annotated[
        bool, typer.Option("--growth", help="Also measure the growth of the time with B, N and K.")
    ] = False,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for bench.json (and growth.png).")
    ] = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Time a training step and an inference of Entrain, PyTorch, torchdiffeq and diffrax.

    All backends run interleaved. A backend that is not installed, or whose gradients differ from
    the float64 reference, is listed without times. Install them: pip install './paper[bench]'.
    """
    import json as text

    from entrain.cli.figures import drawing
    from entrain.plots.style import save
    from entrain.utils.device import choose_device
    from entrain.utils.errors import positive_int
    from entrain.utils.files import write_atomically
    from entrain_paper.bench import Problem, compare
    from entrain_paper.bench import growth as measure_growth
    from entrain_paper.figures import growth_figure

    sizes = {"batch": batch, "oscillators": oscillators, "steps": steps}
    require(positive_int, **sizes, inferences=inferences, rounds=rounds)
    problem = Problem(batch, oscillators, steps, choose_device(device).type)
    with err.status("preparing") as status:
        result = compare(
            problem,
            inferences=inferences,
            rounds=rounds,
            without=without or (),
            progress=status.update,
        )
        if growth:
            result["growth"] = measure_growth(problem, progress=status.update)
    if out_folder is not None:
        write_atomically(out_folder / "bench.json", text.dumps(result, indent=1).encode())
        if growth:
            title = f"cost of a training step on {result['environment']['device']}"
            figure = out_folder / "growth.png"
            with drawing(figure, result):
                save(growth_figure(result["growth"], title), figure)
    if json:
        print_json(result)
    else:
        _print(result)


def _form(value: float | None) -> str:
    """Format of a time: three digits, or all digits before the point."""
    return ",.0f" if value is not None and value >= 100 else ".3g"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _print(result: dict[str, Any]) -> None:
    problem = result["problem"]
    rendered = table(
        f"training step: B = {problem['batch']}, N = {problem['oscillators']}, "
        f"K = {problem['steps']}; "
        f"inference: {result['inferences']:,} samples; float32, {result['environment']['device']}",
        "",
        "step ms",
        "x ours",
        "of sgemm",
        "inference ms",
        "x ours",
        "of sgemm",
        "error",
        "MB",
        "first s",
    )
    rendered.columns[0].no_wrap = True
    for name, row in result["backends"].items():
        rendered.add_row(
            name if row["status"] == "ok" else f"{name} *",
            number(row.get("step_ms"), _form(row.get("step_ms"))),
            number(row.get("step_ratio"), ".1f"),
            _percent(row.get("step_share")),
            number(row.get("inference_ms"), _form(row.get("inference_ms"))),
            number(row.get("inference_ratio"), ".1f"),
            _percent(row.get("inference_share")),
            number(row.get("error"), ".0e"),
            number(row.get("memory_mb"), ".0f"),
            number(row.get("first_call_s"), ".1f"),
        )
    out.print(rendered)
    if "sgemm_gflops" in result:
        out.print(
            f"of sgemm: the rate of 12 N^2 operations of a sample and step, and 4 N^2 of an "
            f"inference, as a share of PyTorch's float32 products ({result['sgemm_gflops']:,.0f} "
            "GFLOP/s in this run)",
            soft_wrap=True,
        )
    for name, row in result["backends"].items():
        if row["status"] != "ok":
            out.print(f"* {name}: {row['status']}", markup=False, soft_wrap=True)
    for axis, measured in result.get("growth", {}).items():
        fits = ", ".join(f"{name} {p:.2f}" for name, p in measured["exponent"].items())
        out.print(f"cost ~ {axis}^p: {fits}")
