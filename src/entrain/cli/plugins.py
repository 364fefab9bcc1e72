"""Commands of other packages, from their entry points in the group entrain.commands."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

import typer

from entrain.cli.commands import Command
from entrain.cli.console import BAD_INPUT, exit_with, print_error, with_exit_codes

GROUP = "entrain.commands"
PAPER_COMMANDS = ("reproduce", "report", "bakeoff", "bench")

_MISSING_PAPER = "needs the package entrain-paper: pip install ./paper in a clone of Entrain"


def add_plugins(app: typer.Typer) -> None:
    """Add the commands of all installed plugins to `app`.

    A plugin cannot replace a command of `app`. One that fails at import becomes a command that
    reports the failure, and so do the commands of entrain-paper where it is not installed.
    """
    names = {command.name for command in app.registered_commands}
    for entry in entry_points(group=GROUP):
        if entry.name in names:
            continue
        names.add(entry.name)
        try:
            command = entry.load()
        except Exception as error:  # a broken plugin must not break the other commands
            reason = f"{entry.value} cannot be imported: {type(error).__name__}: {error}"
            _add_unavailable(app, entry.name, reason)
        else:
            add_command(app, entry.name, command)
    for name in PAPER_COMMANDS:
        if name not in names:
            _add_unavailable(app, name, _MISSING_PAPER)


def add_command(app: typer.Typer, name: str, command: Callable[..., None]) -> None:
    """Add a command with the usage lines and exit codes of all commands."""
    app.command(name, cls=Command)(with_exit_codes(command))


def _add_unavailable(app: typer.Typer, name: str, reason: str) -> None:
    """Add a command that fails with `reason`, whatever its arguments."""

    def command(context: typer.Context) -> None:
        message = f"entrain {name}: {reason}"
        print_error(message)
        exit_with(message, BAD_INPUT, "--json" in context.args)

    any_arguments = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(
        name, cls=Command, help=f"Not available: {reason}.", context_settings=any_arguments
    )(command)
