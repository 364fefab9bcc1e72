"""Execution of experiments by `entrain reproduce` and `entrain bakeoff`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import err

if TYPE_CHECKING:
    from entrain.data import ImageDataset
    from entrain_paper.experiments import Experiment, Setting
    from entrain_paper.reproduction import Executor, ResultsFolder

OutFolder = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for results.", show_default="results; quick: results/quick"),
]
Size = Annotated[str | None, typer.Option(hidden=True, help="A setting by name.")]


def setting_named(name: str) -> Setting:
    """The setting `name`."""
    from entrain.utils.errors import unknown_name
    from entrain_paper.experiments import SETTINGS

    if name not in SETTINGS:
        raise unknown_name("setting", name, SETTINGS)
    return SETTINGS[name]


def results_folder(path: Path | None, setting: Setting) -> ResultsFolder:
    """The folder at `path`, or the default folder of the setting."""
    from entrain_paper.experiments import PAPER
    from entrain_paper.reproduction import ResultsFolder

    default = Path("results")
    return ResultsFolder(
        path or (default if setting.name == PAPER.name else default / setting.name)
    )


def executor_named(name: str, address: str | None, data_dir: Path | None, device: str) -> Executor:
    """The executor of `--engine`."""
    from entrain import kernels
    from entrain.data import load_dataset
    from entrain.utils.device import choose_device
    from entrain.utils.errors import InputError, unknown_name
    from entrain_paper.reproduction import LocalExecutor

    def dataset(dataset_name: str) -> ImageDataset:
        return load_dataset(dataset_name, data_dir)

    if name == "process":
        if address is not None:
            raise InputError("--address belongs to --engine ray")
        torch_device = choose_device(device)
        kernels.announce(torch_device, err.print)
        return LocalExecutor(dataset, torch_device)
    if name == "ray":
        from entrain_paper.reproduction.ray_executor import RayExecutor

        return RayExecutor(dataset, address=address, device=device)
    raise unknown_name("engine", name, ("process", "ray"))


def run_jobs(
    folder: ResultsFolder, experiments: Sequence[Experiment], setting: Setting, executor: Executor
) -> str:
    """Run the unfinished jobs of experiments, with progress on standard error.

    Returns a line with the number of jobs and their time.
    """
    from entrain_paper.cli.progress import ReproductionProgress
    from entrain_paper.reproduction import Queue

    began = time.monotonic()
    folder.create()
    queue = Queue(folder, experiments, setting)
    count = len(queue.all) - len(queue.done)
    if not setting.is_paper:
        err.print("a small version on bundled images: NOT the paper's protocol", style="yellow")
    if not count:
        return "nothing to do: every result is in the folder"
    with ReproductionProgress(queue) as progress:
        try:
            executor.run(queue, progress)
        except KeyboardInterrupt:
            err.print(f"stopped; finished jobs are stored in {folder.path}", soft_wrap=True)
            raise
        finally:
            queue.close()
    return f"{count} of {len(queue.all)} jobs in {time.monotonic() - began:.0f} s"
