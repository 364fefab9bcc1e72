"""What every command shares: consoles, JSON, errors and their exit codes."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

out = Console(highlight=False)  # results
err = Console(stderr=True, highlight=False)  # progress and errors, so that --json stays clean

BAD_INPUT, INTERRUPTED = 2, 130


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with bad input and a failing disk as exit code 2, and Ctrl-C as 130."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        from entrain.errors import InputError

        try:
            command(*args, **kwargs)
        except InputError as error:
            fail(str(error))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            fail(f"{where}{error.strerror or error}")
        except KeyboardInterrupt:
            err.print("[yellow]interrupted[/]")
            raise typer.Exit(INTERRUPTED) from None

    return run


def fail(message: str) -> None:
    """Print an error and leave with exit code 2."""
    err.print("[bold red]error:[/]", end=" ")
    err.print(message, markup=False, soft_wrap=True)
    raise typer.Exit(BAD_INPUT)


def print_json(values: dict[str, Any]) -> None:
    """One JSON object on standard output; what is not a finite number becomes null."""
    sys.stdout.write(json.dumps(_plain(values)) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table(title: str, *columns: str) -> Table:
    """An empty table: the first column text, the others numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index == 0 else "right")
    return made


def number(value: float | None, form: str = ".2f") -> str:
    """A number for a table, a dash where there is none."""
    return "-" if value is None or not math.isfinite(value) else format(value, form)
