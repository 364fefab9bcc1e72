"""Output of all commands: consoles, tables, JSON, errors and their exit codes."""

from __future__ import annotations

import functools
import math
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from entrain.utils import escape
from entrain.utils.errors import InputError
from entrain.utils.new_files import ExistsError

BUG, BAD_INPUT, INTERRUPTED = 1, 2, 130

_NO_MEMORY = re.compile("out of memory|not enough memory|allocate memory|Storage size calculation")


class SafeConsole(Console):
    """A console on which no text of a file can move the cursor, recolour or reverse a line.

    Names are printed as they are: no markup, no emoji codes. Only Rich itself sends control codes.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """See Console; escaped before the layout, so that columns have the right widths."""
        return super().render_str(escape.terminal(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """See Console; all output passes here, whatever it was made of."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control is None and not text.isprintable():
                segment = Segment(escape.terminal(text), segment.style)
            yield segment


out = SafeConsole()  # results
err = SafeConsole(stderr=True)  # progress and errors


def with_exit_codes(command: Callable[..., None]) -> Callable[..., None]:
    """`command`, exiting with 2 after an error that the user can correct and 130 after Ctrl-C.

    Under --json every error, a bug too (exit code 1), is one JSON object.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        json = bool(kwargs.get("json"))
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise  # BrokenPipeError: the reader of the output has closed it
        except KeyboardInterrupt:
            err.print("interrupted", style="yellow")
            exit_with("interrupted", INTERRUPTED, json)
        except Exception as error:
            message = message_for_user(error)
            if message is not None:
                print_error(message)
                exit_with(message, BAD_INPUT, json)
            if not json:
                raise
            err.print(traceback.format_exc(), soft_wrap=True)
            exit_with(f"a bug: {type(error).__name__}: {error}", BUG, json)

    return run


def message_for_user(error: Exception) -> str | None:
    """Message for an error that the user can correct; None for a bug."""
    if isinstance(error, ExistsError):
        return f"{error}, or --overwrite"
    if isinstance(error, InputError):
        folder = getattr(error, "folder", None)  # of a run that can be continued
        return str(error) if folder is None else f"{error}: {resume_command(folder)}"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}"
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error))
    ):
        why = f" ({error})" if str(error) else ""
        return f"there is not enough memory for this{why}; choose smaller sizes or steps"
    return None


def resume_command(folder: Path) -> str:
    """The command that continues the run in `folder`."""
    return f"entrain train --resume {shlex.quote(str(folder))}"


def print_error(message: str) -> None:
    """Print an error."""
    err.print("error:", style="bold red", end=" ")
    err.print(message, soft_wrap=True)


def print_warning(message: str) -> None:
    """Print a warning."""
    err.print("warning:", style="yellow", end=" ")
    err.print(message, soft_wrap=True)


def exit_with(message: str, code: int, json: bool) -> NoReturn:
    """Exit; under --json print the error as one object."""
    if json:
        print_json({"error": message, "code": code})
    raise typer.Exit(code)


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object on standard output; a non-finite number becomes null."""
    from entrain.utils.files import strict_json

    sys.stdout.write(strict_json(values) + "\n")
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Print a line of results, wrapped by the terminal alone, so that it can be copied."""
    out.print(text, soft_wrap=True)


def table(title: str, *columns: str, text: tuple[int, ...] = (0,)) -> Table:
    """An empty table; the columns of these indices are `text`, the others numbers."""
    result = Table(title=title, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if index in text else "right"
        result.add_column(column, justify=justify, overflow="fold")
    return result


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], text: tuple[int, ...] = (0,)
) -> None:
    """Print a `table` with these rows."""
    cells = table(title, *columns, text=text)
    for row in rows:
        cells.add_row(*row)
    out.print(cells)


def print_presets(title: str, key: str, presets: Iterable[Any], json: bool) -> None:
    """Print the names of presets with their titles."""
    titles = {preset.name: preset.title for preset in presets}
    if json:
        print_json({key: titles})
        return
    print_table(title, ("name", "description"), titles.items(), text=(0, 1))


def number(value: object, form: str = ".2f") -> str:
    """A number for a table; a dash for None and for a non-finite number."""
    return format(value, form) if isinstance(value, int | float) and math.isfinite(value) else "-"
