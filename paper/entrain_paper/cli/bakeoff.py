"""`entrain bakeoff`: the systems that the paper compares with, measured on one protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import number, out, print_json, print_line, table
from entrain.cli.options import Address, DataDir, Device, EngineName, Json, require
from entrain_paper.cli.execution import (
    OutFolder,
    Size,
    executor_named,
    results_folder,
    run_jobs,
    setting_named,
)

if TYPE_CHECKING:
    from pathlib import Path

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
        typer.Option(
            help="Training runs of each system, one per seed.", show_default="5; quick: 2"
        ),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Search the settings of NAME on validation images instead (needs "
            "the extra search); with all, of systems below their cited accuracy.",
        ),
    ] = False,
    trials: Annotated[int, typer.Option(help="Largest number of settings of --search.")] = 20,
    minutes: Annotated[
        float, typer.Option(help="Minutes after which --search starts no trial.")
    ] = MINUTES,
    epochs: Annotated[
        int, typer.Option(help="Largest number of epochs of a trial of --search.")
    ] = 10,
    out_folder: OutFolder = None,
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
    size: Size = None,
) -> None:
    """Measure the systems that the paper compares with, and ours, on one protocol.

    All systems have the same images, split and seeds; epochs are selected on validation, and the
    test images are used once. After a kill, the same command continues. `all` writes bake-off.json
    and the report, a single system bake-off-NAME.json.
    """
    from entrain.utils.errors import positive_float, positive_int
    from entrain_paper.experiments.bake_off import datasets_named, experiments_named, systems_named
    from entrain_paper.reproduction.measured import reading

    require(positive_int, runs=runs, trials=trials, epochs=epochs)
    require(positive_float, minutes=minutes)
    setting = _with_runs(setting_named(size or ("quick" if quick else "paper")), runs)
    datasets = datasets_named(dataset)
    if list_ or not (names or search):
        _list(setting, json)
        return
    systems_named(names or [])
    folder = results_folder(out_folder, setting)
    if search:
        from entrain_paper.cli.bakeoff_search import Budget, search_systems

        budget = Budget(trials, minutes, epochs)
        search_systems(names or [], datasets, setting, folder, budget, data_dir, device, json)
        return
    experiments = experiments_named(names or [], datasets)
    status = run_jobs(
        folder, experiments, setting, executor_named(engine, address, data_dir, device)
    )
    measured = [experiment.name for experiment in experiments]
    report = _report(folder, measured)
    with reading(*measured):
        rows = measured_rows(folder, measured)
        if json:
            print_json({"folder": str(folder.path), "setting": setting.name, "rows": rows})
            return
        print_rows(rows)
    if report is not None:
        print_line(f"report   {report}")
    out.print(status)


def measured_rows(folder: ResultsFolder, names: list[str]) -> list[dict[str, Any]]:
    """Rows of the results of these experiments, one for each system and dataset."""
    results = [folder.result(name) for name in names]
    return [row for result in results if result is not None for row in result["values"]["rows"]]


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print a table for each dataset."""
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        rendered = table(
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
                rendered.add_row(*_cells(row))
        out.print(rendered)


def _cells(row: dict[str, Any]) -> list[str]:
    cited, mean = row["cited"], row["measured_mean"]
    return [
        row["system"],
        number(cited),
        number(mean),
        number(None if cited is None or mean is None else mean - cited, "+.2f"),
        number(row["parameters"], ","),
        number(row["variables"], ","),
        number(row["seconds"], ".1f"),
    ]


def _with_runs(setting: Setting, runs: int | None) -> Setting:
    from dataclasses import replace

    if runs is None:
        return setting
    return replace(setting, few_runs=runs, runs=max(setting.runs, runs))


def _list(setting: Setting, json: bool) -> None:
    from dataclasses import asdict

    from entrain_paper.experiments.bake_off import entries

    systems = {entry.name: asdict(entry) for entry in entries(setting)}
    if json:
        for values in systems.values():
            del values["name"]
        print_json({"systems": systems})
        return
    title = "systems (entrain bakeoff NAME... or all)"
    rendered = table(title, "name", "title", "cited %", "variables", text=(0, 1))
    for name, values in systems.items():
        top1 = values["cited"]
        cited = " / ".join(number(top1.get(dataset)) for dataset in ("MNIST", "Fashion-MNIST"))
        rendered.add_row(name, values["title"], cited if top1 else "-", f"{values['variables']:,}")
    out.print(rendered)
    out.print("cited: published test accuracy, MNIST / Fashion-MNIST")


def _report(folder: ResultsFolder, names: list[str]) -> Path | None:
    """Path of the report; None if the experiments are not part of it."""
    from entrain_paper.cli.report import write_report
    from entrain_paper.experiments import EXPERIMENTS

    return write_report(folder, stale_only=True) if set(names) & set(EXPERIMENTS) else None
