"""The command line: parse, call, show."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from typing import Any

import typer

from entrain.cli import (
    bakeoff,
    bench,
    calibrate,
    cost,
    data,
    evaluate,
    export,
    hardware,
    play,
    predict,
    report,
    reproduce,
    search,
    show,
    traces,
    train,
    verify,
    yields,
)
from entrain.cli.commands import Command, Commands
from entrain.cli.console import err, guarded

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
    ("yield", yields.command),
    ("hardware", hardware.command),
    ("export", export.command),
    ("verify", verify.command),
    ("traces", traces.command),
    ("calibrate", calibrate.command),
    ("cost", cost.command),
    ("show", show.command),
    ("data", data.command),
    ("bench", bench.command),
    ("play", play.command),
    ("search", search.command),
    ("reproduce", reproduce.command),
    ("bakeoff", bakeoff.command),
    ("report", report.command),
):
    app.command(_name, cls=Command)(guarded(_command))


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
