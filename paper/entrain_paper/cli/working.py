"""What `entrain reproduce` and `entrain bakeoff` share: an engine by name, and working through
experiments with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import err

if TYPE_CHECKING:
    from entrain_paper.experiments import Experiment, Setting
    from entrain_paper.reproduction import Engine, ResultsFolder

OutFolder = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for results.", show_default="results; quick: results/quick"),
]
Size = Annotated[str | None, typer.Option(hidden=True, help="A setting by name.")]


def engine_named(name: str, address: str | None, data_dir: Path | None, device: str) -> Engine:
    """The engine of that name."""
    from functools import partial

    from entrain import kernels
    from entrain.data import load_dataset
    from entrain.utils.device import choose_device
    from entrain.utils.errors import InputError, unknown_name
    from entrain_paper.reproduction import ThisProcess

    dataset = partial(load_dataset, data_dir=data_dir)
    if name == "process":
        if address is not None:
            raise InputError("--address belongs to --engine ray")
        place = choose_device(device)
        kernels.prepare(place, err.print)
        return ThisProcess(dataset, place)
    if name == "ray":
        from entrain_paper.reproduction.ray_engine import OnRay

        return OnRay(dataset, address=address, device=device)
    raise unknown_name("engine", name, ("process", "ray"))


def work_through(
    folder: ResultsFolder, experiments: Sequence[Experiment], setting: Setting, engine: Engine
) -> tuple[int, int]:
    """Do what is not finished in `folder`, with progress on standard error; how many jobs were
    left, and how many there are."""
    from entrain_paper.cli.reproduction_progress import ReproductionProgress
    from entrain_paper.reproduction import Queue

    folder.create()
    queue = Queue(folder, experiments, setting)
    count = len(queue.all) - len(queue.done)
    if not setting.is_paper:
        err.print("a small version on bundled images: NOT the paper's protocol", style="yellow")
    if count:
        with ReproductionProgress(queue) as progress:
            try:
                engine.run(queue, progress)
            except KeyboardInterrupt:
                err.print(f"stopped; what is finished is kept in {folder.path}", soft_wrap=True)
                raise
            finally:
                queue.close()
    return count, len(queue.all)


def work_done(count: int, total: int, seconds: float) -> str:
    """A line on what `work_through` did."""
    if not count:
        return "everything was finished already"
    return f"{count} of {total} jobs in {seconds:.0f} s"
