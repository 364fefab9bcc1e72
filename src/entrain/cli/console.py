"""What every command shares: consoles, JSON, errors and their exit codes."""

from __future__ import annotations

import functools
import math
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

BUG, BAD_INPUT, INTERRUPTED = 1, 2, 130

_NO_MEMORY = re.compile("out of memory|not enough memory|allocate memory|Storage size calculation")


def visible(text: str) -> str:
    r"""`text` with what is not printable escaped: ESC as \x1b, a bidirectional control as \u202e.

    Line ends and tabs stay, as in our own messages.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in "\n\t\N{NO-BREAK SPACE}" else _escaped(each)
        for each in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


class SafeConsole(Console):
    """A console on which no text of a file moves the cursor, recolours or turns around a line.

    Names are shown as they are: no markup, no emoji codes. Only Rich itself sends control codes.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """See Console; escaped before the layout, so that columns have their right widths."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """See Console; the one gate that all output passes, whatever it was made of."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control is None and not text.isprintable():
                segment = Segment(visible(text), segment.style)
            yield segment


out = SafeConsole()  # results
err = SafeConsole(stderr=True)  # progress and errors


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with bad input, a failing disk and too little memory as exit code 2, and
    Ctrl-C as 130; under --json a bug too is told in JSON, with exit code 1."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        json = bool(kwargs.get("json"))
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise  # whoever read the output has left: no error to tell
        except KeyboardInterrupt:
            err.print("interrupted", style="yellow")
            exit_with("interrupted", INTERRUPTED, json)
        except Exception as error:
            message = explanation(error)
            if message is not None:
                print_error(message)
                exit_with(message, BAD_INPUT, json)
            if not json:
                raise
            err.print(traceback.format_exc(), soft_wrap=True)
            exit_with(f"a bug: {type(error).__name__}: {error}", BUG, json)

    return run


def explanation(error: Exception) -> str | None:
    """What to tell of an error the user can mend; None for a bug."""
    from entrain.utils.errors import InputError

    if isinstance(error, InputError):
        folder = getattr(error, "folder", None)  # of a run that can be gone on with
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
    """What to type to go on with the run in `folder`."""
    return f"entrain train --resume {shlex.quote(str(folder))}"


def print_error(message: str) -> None:
    """Print an error."""
    err.print("error:", style="bold red", end=" ")
    err.print(message, soft_wrap=True)


def exit_with(message: str, code: int, json: bool) -> NoReturn:
    """End the command; under --json its one object says why."""
    if json:
        print_json({"error": message, "code": code})
    raise typer.Exit(code)


def print_json(values: dict[str, Any]) -> None:
    """One JSON object on standard output; what is not a finite number becomes null."""
    from entrain.utils.files import strict_json

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
