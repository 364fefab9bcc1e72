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
def text_bar() -> Iterator[Callable[[str, float], None]]:
    """A callback for a text and the fraction done, which moves one bar."""
    with _bars() as bars:
        bar = bars.add_task("", total=1.0)
        yield lambda text, fraction: bars.update(bar, description=text, completed=fraction)


@contextlib.contextmanager
def stage_bar() -> Iterator[Callable[[str, float], None]]:
    """A callback for the stage and its fraction done, which moves a bar; each stage starts anew."""
    with _bars() as bars:
        bar = bars.add_task("", total=1.0)
        current = ""

        def update(stage: str, fraction: float) -> None:
            nonlocal current
            if stage != current:
                bars.reset(bar, description=stage, total=1.0)
                current = stage
            bars.update(bar, completed=fraction)

        yield update


def _bars() -> Progress:
    columns = (
        TextColumn("{task.description}", markup=False),  # may contain the name of a file
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
