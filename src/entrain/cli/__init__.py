"""The command line: a module for each command, which parses, calls the library and prints."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from importlib import import_module
from typing import Any

import typer

from entrain.cli.commands import Commands
from entrain.cli.console import err, print_warning
from entrain.cli.plugins import add_command, add_plugins

app = typer.Typer(
    name="entrain",
    cls=Commands,
    help="Train small networks of coupled oscillators to compute.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in a help text are brackets
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(requested: bool) -> None:
    if requested:
        from entrain import __version__

        typer.echo(f"entrain {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Train small networks of coupled oscillators to compute."""


for _name in (
    *("train", "evaluate", "predict", "controls", "yield", "hardware", "export", "verify"),
    *("traces", "calibrate", "cost", "show", "data", "play", "search", "solve"),
):
    _module = import_module(f"entrain.cli.{'chip_yield' if _name == 'yield' else _name}")
    add_command(app, _name, _module.command)
add_plugins(app)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape what the terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _print_warning
    sys.excepthook = _print_traceback
    typer.main.get_command(app)()  # app() would install Typer's own excepthook


# Python's own hooks would print text of a file unescaped.


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_warning(str(message))


def _print_traceback(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    err.print("".join(traceback.format_exception(kind, error, trace)), end="", soft_wrap=True)
