"""The command line: parse, call, show."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from importlib.metadata import entry_points
from typing import Any

import typer

from entrain.cli import (
    calibrate,
    chip_yield,
    cost,
    data,
    evaluate,
    export,
    hardware,
    play,
    predict,
    search,
    show,
    traces,
    train,
    verify,
)
from entrain.cli.commands import Command, Commands
from entrain.cli.console import BAD_INPUT, err, exit_with, guarded, print_error

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


def _version(asked: bool) -> None:
    if asked:
        from entrain import __version__

        typer.echo(f"entrain {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Train small networks of coupled oscillators to compute."""


for _name, _command in (
    ("train", train.command),
    ("evaluate", evaluate.command),
    ("predict", predict.command),
    ("yield", chip_yield.command),
    ("hardware", hardware.command),
    ("export", export.command),
    ("verify", verify.command),
    ("traces", traces.command),
    ("calibrate", calibrate.command),
    ("cost", cost.command),
    ("show", show.command),
    ("data", data.command),
    ("play", play.command),
    ("search", search.command),
):
    app.command(_name, cls=Command)(guarded(_command))

_OF_THE_PAPER = ("reproduce", "report", "bakeoff", "bench")


def _add_plugins() -> None:
    """Add the commands of other packages, from their entry points in the group entrain.commands."""
    for entry in entry_points(group="entrain.commands"):
        try:
            command = entry.load()
        except Exception as error:  # a broken package must not take the other commands with it
            why = f"{entry.value} cannot be imported: {type(error).__name__}: {error}"
            _add_unavailable(entry.name, why)
        else:
            app.command(entry.name, cls=Command)(guarded(command))
    names = {command.name for command in app.registered_commands}
    for name in _OF_THE_PAPER:
        if name not in names:
            how = "pip install ./paper in a clone of Entrain"
            _add_unavailable(name, f"needs the package entrain-paper: {how}")


def _add_unavailable(name: str, why: str) -> None:
    """Add a command that says in one line why it cannot run."""

    def command(context: typer.Context) -> None:
        message = f"entrain {name}: {why}"
        print_error(message)
        exit_with(message, BAD_INPUT, "--json" in context.args)

    any_arguments = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(name, cls=Command, help=f"Not available: {why}.", context_settings=any_arguments)(
        command
    )


_add_plugins()


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name the terminal cannot show is no crash
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    sys.excepthook = _show_bug
    typer.main.get_command(app)()  # app() would put Typer's own hook in place of ours


# Python would send both to the terminal as they are, with what they quote from a file.


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    err.print("warning:", style="yellow", end=" ")
    err.print(str(message), soft_wrap=True)


def _show_bug(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    err.print("".join(traceback.format_exception(kind, error, trace)), end="", soft_wrap=True)
