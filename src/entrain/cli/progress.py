"""A bar on standard error for what is not a training."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.progress import Progress

from entrain.cli.console import err


@contextlib.contextmanager
def fraction_bar(description: str) -> Iterator[Callable[[float], None]]:
    """A bar on standard error; what is yielded is told the fraction done."""
    with Progress(console=err, transient=True, disable=not err.is_terminal) as bars:
        bar = bars.add_task(description, total=1.0)
        yield lambda fraction: bars.update(bar, completed=fraction)
