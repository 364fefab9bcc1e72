"""Progress bars on standard error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from entrain.cli.console import err


@contextlib.contextmanager
def fraction_bar(description: str) -> Iterator[Callable[[float], None]]:
    """A callback for the fraction done, which moves a bar."""
    with stage_bar() as update:
        update(description, 0.0)
        yield lambda fraction: update(description, fraction)


@contextlib.contextmanager
def stage_bar() -> Iterator[Callable[[str, float], None]]:
    """A callback for the stage and its fraction done, which moves a bar; each stage starts anew."""
    columns = (
        TextColumn("{task.description}", markup=False),  # may contain the name of a file
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    disable = not err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=disable) as bars:
        bar = bars.add_task("", total=1.0)
        current = ""

        def update(stage: str, fraction: float) -> None:
            nonlocal current
            if stage != current:
                bars.reset(bar, description=stage, total=1.0)
                current = stage
            bars.update(bar, completed=fraction)

        yield update
