"""A bar on standard error for what is not a training."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from entrain.cli.console import err


@contextlib.contextmanager
def fraction_bar(description: str) -> Iterator[Callable[[float], None]]:
    """A bar on standard error; what is yielded is told the fraction done."""
    with _bars() as bars:
        bar = bars.add_task(description, total=1.0)
        yield lambda fraction: bars.update(bar, completed=fraction)


@contextlib.contextmanager
def stage_bar() -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error for one stage after the other; what is yielded is told the stage and
    the fraction done of it."""
    with _bars() as bars:
        bar = bars.add_task("", total=1.0)
        current = ""

        def tell(stage: str, fraction: float) -> None:
            nonlocal current
            if stage != current:
                bars.reset(bar, description=stage, total=1.0)
                current = stage
            bars.update(bar, completed=fraction)

        yield tell


def _bars() -> Progress:
    columns = (
        TextColumn("{task.description}", markup=False),  # it may hold the name of a file
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
