"""`entrain bakeoff`: the systems that the paper compares with, measured on one protocol."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import number, out, print_json, table
from entrain.cli.options import Address, DataDir, Device, EngineName, Json, require
from entrain_paper.cli.working import (
    OutFolder,
    Size,
    engine_named,
    work_done,
    work_through,
)

if TYPE_CHECKING:
    from entrain_paper.experiments import Setting
    from entrain_paper.reproduction import ResultsFolder

MINUTES = 5.0  # of a search


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Systems, or all.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the systems.")] = False,
    dataset: Annotated[
        str | None, typer.Option(help="MNIST or Fashion-MNIST.", show_default="both")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            help="A small version on bundled images, in minutes on two cores; its accuracies are "
            "lower than those of the full data."
        ),
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(help="Machines of each system, one per seed.", show_default="5; quick: 2"),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Search the settings of NAME on validation images instead (needs "
            "entrain[search]); of all: where the cited accuracy was not reached.",
        ),
    ] = False,
    trials: Annotated[int, typer.Option(help="Settings that --search tries at most.")] = 20,
    minutes: Annotated[
        float, typer.Option(help="Minutes after which --search begins no trial.")
    ] = MINUTES,
    epochs: Annotated[int, typer.Option(help="Epochs of a trial of --search, at most.")] = 10,
    out_folder: OutFolder = None,
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
    size: Size = None,
) -> None:
    """Measure the systems that the paper compares with, and our own, on one protocol.

    All systems have the same images, split and seeds; epochs are selected on validation, and the
    test images are used once. After a kill, the same command continues. `all` writes bake-off.json
    and the report, a single system bake-off-NAME.json.
    """
    from entrain.utils.errors import positive_float, positive_int
    from entrain_paper.experiments.bake_off import datasets_named, experiments_named, systems_named
    from entrain_paper.reproduction import ResultsFolder

    require(positive_int, runs=runs, trials=trials, epochs=epochs)
    require(positive_float, minutes=minutes)
    setting = _setting(size or ("quick" if quick else "paper"), runs)
    datasets = datasets_named(dataset)
    if list_ or not (names or search):
        _list(setting, json)
        return
    systems_named(names or [])
    default = Path("results") if setting.name == "paper" else Path("results") / setting.name
    folder = ResultsFolder(out_folder or default)
    if search:
        from entrain_paper.cli.bakeoff_search import Budget, search_systems

        budget = Budget(trials, minutes, epochs)
        search_systems(names or [], datasets, setting, folder, budget, data_dir, device, json)
        return
    wanted = experiments_named(names or [], datasets)
    worker = engine_named(engine, address, data_dir, device)
    began = time.monotonic()
    count, total = work_through(folder, wanted, setting, worker)
    written = _report(folder, [each.name for each in wanted])
    rows = measured_rows(folder, [each.name for each in wanted])
    if json:
        print_json({"folder": str(folder.path), "setting": setting.name, "rows": rows})
        return
    show_rows(rows)
    if written is not None:
        out.print(f"report   {written}", soft_wrap=True)
    out.print(work_done(count, total, time.monotonic() - began))


def measured_rows(folder: ResultsFolder, names: list[str]) -> list[dict[str, Any]]:
    """What these experiments measured, a row for each system and dataset."""
    found = [folder.result(name) for name in names]
    return [row for result in found if result is not None for row in result["values"]["rows"]]


def show_rows(rows: list[dict[str, Any]]) -> None:
    """A table for each dataset."""
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        shown = table(
            f"{dataset}: test top-1 %, mean over seeds",
            "system",
            "cited",
            "measured",
            "differ-\nence",
            "para-\nmeters",
            "vari-\nables",
            "seconds",
        )
        for row in rows:
            if row["dataset"] == dataset:
                shown.add_row(*_cells(row))
        out.print(shown)


def _cells(row: dict[str, Any]) -> list[str]:
    cited, mean = row["cited"], row["measured_mean"]
    known = cited is not None and mean is not None
    return [
        row["system"],
        number(cited),
        number(mean),
        number(mean - cited if known else None, "+.2f"),
        number(row["parameters"], ","),
        number(row["variables"], ","),
        number(row["seconds"], ".1f"),
    ]


def _setting(name: str, runs: int | None) -> Setting:
    from dataclasses import replace

    from entrain.utils.errors import unknown_name
    from entrain_paper.experiments import SETTINGS

    if name not in SETTINGS:
        raise unknown_name("setting", name, SETTINGS)
    found = SETTINGS[name]
    if runs is None:
        return found
    return replace(found, few_runs=runs, runs=max(found.runs, runs))


def _list(setting: Setting, json: bool) -> None:
    from entrain_paper.experiments.bake_off import entries

    found = entries(setting)
    if json:
        print_json(
            {
                "systems": {
                    each.name: {
                        "title": each.title,
                        "cited": each.cited,
                        "variables": each.variables,
                    }
                    for each in found
                }
            }
        )
        return
    shown = table(
        "systems (entrain bakeoff NAME... or all)", "name", "title", "cited %", "variables"
    )
    shown.columns[1].justify = "left"
    for each in found:
        cited = " / ".join(number(each.cited.get(name)) for name in ("MNIST", "Fashion-MNIST"))
        shown.add_row(each.name, each.title, cited if each.cited else "-", f"{each.variables:,}")
    out.print(shown)
    out.print("cited: published test accuracy, MNIST / Fashion-MNIST")


def _report(folder: ResultsFolder, names: list[str]) -> Path | None:
    """The report of the folder, where what was measured is a part of it."""
    from entrain_paper.cli.report import write
    from entrain_paper.experiments import EXPERIMENTS

    return write(folder, stale_only=True) if set(names) & set(EXPERIMENTS) else None
