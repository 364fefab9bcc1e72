"""What every command shares: consoles, JSON, errors and their exit codes."""

from __future__ import annotations

import functools
import math
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NoReturn

import typer
from rich.console import Console
from rich.table import Table

# Names of files and datasets are shown as they are: no markup, no emoji codes.
out = Console(highlight=False, markup=False, emoji=False)  # results
err = Console(stderr=True, highlight=False, markup=False, emoji=False)  # progress and errors

BAD_INPUT, INTERRUPTED = 2, 130

_NO_MEMORY = re.compile("out of memory|not enough memory|allocate memory|Storage size calculation")


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with bad input, a failing disk and too little memory as exit code 2, and
    Ctrl-C as 130."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        from entrain.errors import InputError

        try:
            command(*args, **kwargs)
        except InputError as error:
            folder = getattr(error, "folder", None)  # of a run that can be gone on with
            fail(str(error) if folder is None else f"{error}: {resume_command(folder)}")
        except BrokenPipeError:
            raise  # whoever read the output has left: no error to tell
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            fail(f"{where}{error.strerror or error}")
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not _NO_MEMORY.search(str(error)):
                raise
            why = f" ({error})" if str(error) else ""
            fail(f"there is not enough memory for this{why}; choose smaller sizes or steps")
        except KeyboardInterrupt:
            err.print("interrupted", style="yellow")
            raise typer.Exit(INTERRUPTED) from None

    return run


def resume_command(folder: Path) -> str:
    """What to type to go on with the run in `folder`."""
    return f"entrain train --resume {shlex.quote(str(folder))}"


def complain(message: str) -> None:
    """Print an error."""
    err.print("error:", style="bold red", end=" ")
    err.print(message, soft_wrap=True)


def fail(message: str) -> NoReturn:
    """Print an error and leave with exit code 2."""
    complain(message)
    raise typer.Exit(BAD_INPUT)


def print_json(values: dict[str, Any]) -> None:
    """One JSON object on standard output; what is not a finite number becomes null."""
    from entrain.files import strict_json

    sys.stdout.write(strict_json(values) + "\n")
    sys.stdout.flush()


def table(title: str, *columns: str) -> Table:
    """An empty table: the first column text, the others numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if index == 0 else "right"
        made.add_column(column, justify=justify, overflow="fold")
    return made


def number(value: object, form: str = ".2f") -> str:
    """A number for a table, a dash where there is none."""
    return format(value, form) if isinstance(value, int | float) and math.isfinite(value) else "-"
