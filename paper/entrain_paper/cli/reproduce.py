"""`entrain reproduce`: the paper's experiments, trained, measured and compared."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import out, print_json, table
from entrain.cli.options import Address, DataDir, Device, EngineName, Json, require
from entrain_paper.cli.working import (
    OutFolder,
    Size,
    engine_named,
    work_done,
    work_through,
)

if TYPE_CHECKING:
    from entrain_paper.experiments import Experiment, Setting
    from entrain_paper.reproduction import ResultsFolder


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Experiments, or all.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    quick: Annotated[
        bool,
        typer.Option(
            help="A small version on bundled images, in minutes on two cores; not the paper's "
            "protocol."
        ),
    ] = False,
    runs: Annotated[
        int | None, typer.Option(help="Number of training orders.", show_default="10; quick: 3")
    ] = None,
    out_folder: OutFolder = None,
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
    size: Size = None,
) -> None:
    """Reproduce experiments of the paper: train what they need, measure, compare, draw.

    Stages that experiments share are trained once. After a kill, the same command continues and
    repeats nothing that was finished. Several processes may work on one folder at the same time.
    """
    from entrain.utils.errors import positive_int, unknown_name
    from entrain_paper.experiments import PAPER, SETTINGS
    from entrain_paper.reproduction import ResultsFolder

    require(positive_int, runs=runs)
    size = size or ("quick" if quick else PAPER.name)
    if size not in SETTINGS:
        raise unknown_name("setting", size, SETTINGS)
    setting = SETTINGS[size] if runs is None else SETTINGS[size].with_runs(runs)
    if list_ or not names:
        _list(setting, json)
        return
    chosen = _chosen(names)
    default = Path("results") if setting.is_paper else Path("results") / setting.name
    folder = ResultsFolder(out_folder or default)
    worker = engine_named(engine, address, data_dir, device)
    began = time.monotonic()
    count, total = work_through(folder, chosen, setting, worker)
    _report(folder, {experiment.name for experiment in chosen}, json)
    if not json:
        out.print(work_done(count, total, time.monotonic() - began))


def _list(setting: Setting, json: bool) -> None:
    from entrain_paper.experiments import EXPERIMENTS, with_prerequisites

    rows = {
        name: {
            "title": experiment.title,
            "source": experiment.source,
            "stages": len(with_prerequisites(tuple(experiment.stages(setting)))),
        }
        for name, experiment in EXPERIMENTS.items()
    }
    if json:
        print_json({"setting": setting.name, "experiments": rows})
        return
    shown = table("experiments (entrain reproduce NAME... or all)", "name", "title", "stages")
    shown.columns[1].justify = "left"
    for name, row in rows.items():
        shown.add_row(name, str(row["title"]), str(row["stages"]))
    out.print(shown)
    out.print("stages: trainings an experiment needs; those it shares with others are done once")


def _chosen(names: list[str]) -> list[Experiment]:
    from entrain.utils.errors import unknown_name
    from entrain_paper.experiments import EXPERIMENTS

    if "all" in names:
        return list(EXPERIMENTS.values())
    for name in names:
        if name not in EXPERIMENTS:
            raise unknown_name("experiment", name, ("all", *EXPERIMENTS))
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]


def _report(folder: ResultsFolder, names: set[str], json: bool) -> None:
    from entrain_paper.cli.report import show, write

    written = write(folder, stale_only=True)
    if json:
        results = folder.results()
        print_json({"folder": str(folder.path), "results": {n: results[n] for n in sorted(names)}})
        return
    show(folder, names)
    out.print(f"report   {written}", soft_wrap=True)
