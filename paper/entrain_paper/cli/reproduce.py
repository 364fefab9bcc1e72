"""`entrain reproduce`: the paper's experiments, trained, measured and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import out, print_json, print_line, table
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
    repeats no finished job. Several processes may work on one folder at the same time.
    """
    from entrain.utils.errors import positive_int

    require(positive_int, runs=runs)
    setting = setting_named(size or ("quick" if quick else "paper"))
    if runs is not None:
        setting = setting.with_runs(runs)
    if list_ or not names:
        _list(setting, json)
        return
    experiments = _experiments_named(names)
    folder = results_folder(out_folder, setting)
    executor = executor_named(engine, address, data_dir, device)
    status = run_jobs(folder, experiments, setting, executor)
    _report(folder, {experiment.name for experiment in experiments}, json)
    if not json:
        out.print(status)


def _list(setting: Setting, json: bool) -> None:
    from entrain_paper.experiments import EXPERIMENTS, with_prerequisites

    rows = {
        name: {
            "title": experiment.title,
            "source": experiment.source,
            "stages": len(with_prerequisites(experiment.stages(setting))),
        }
        for name, experiment in EXPERIMENTS.items()
    }
    if json:
        print_json({"setting": setting.name, "experiments": rows})
        return
    title = "experiments (entrain reproduce NAME... or all)"
    rendered = table(title, "name", "title", "stages", text=(0, 1))
    for name, row in rows.items():
        rendered.add_row(name, str(row["title"]), str(row["stages"]))
    out.print(rendered)
    out.print("stages: trainings of an experiment; a shared stage is trained once")


def _experiments_named(names: list[str]) -> list[Experiment]:
    from entrain.utils.errors import unknown_name
    from entrain_paper.experiments import EXPERIMENTS

    if "all" in names:
        return list(EXPERIMENTS.values())
    for name in names:
        if name not in EXPERIMENTS:
            raise unknown_name("experiment", name, ("all", *EXPERIMENTS))
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]


def _report(folder: ResultsFolder, names: set[str], json: bool) -> None:
    from entrain_paper.cli.report import print_verdicts, write_report

    report = write_report(folder, stale_only=True)
    if json:
        results = folder.results()
        print_json({"folder": str(folder.path), "results": {n: results[n] for n in sorted(names)}})
        return
    print_verdicts(folder, names)
    print_line(f"report   {report}")
