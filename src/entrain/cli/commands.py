"""How all commands parse, help and refuse: usage lines, plain help, errors as text or JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from entrain.cli.console import BAD_INPUT, INTERRUPTED, err, print_error, print_json

_ONCE = ("--hardware",)  # of two, Click would take the last without a word


class Command(TyperCommand):
    """A command whose usage line is as people know it: MODEL, [DATASET], [NAME]..."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuses a kind of chip beside another."""
        given = [each.partition("=")[0] for each in args]
        for option in _ONCE:
            if given.count(option) > 1:
                raise typer.BadParameter(f"{option} is given {given.count(option)} times; give one")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """[OPTIONS], then the arguments; Typer's own brackets have changed between versions."""
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_usage, arguments)]


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("[].").upper()
    name = name if argument.required else f"[{name}]"
    return name if argument.nargs == 1 else f"{name}..."


class Commands(TyperGroup):
    """All commands; a line that cannot be parsed is one error: text, under --json one object."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **options: Any) -> NoReturn:
        """Parse and run, then exit."""
        given = list(sys.argv[1:] if args is None else args)
        options |= {"prog_name": "entrain", "standalone_mode": False}
        try:
            code = super().main(given, **options)
        except typer.Abort:
            code = INTERRUPTED
        except Exception as error:
            # Click's errors have this method, and so have those of the copy of it within Typer.
            if not hasattr(error, "format_message"):
                raise
            code = _refuse(error, json="--json" in given)
        sys.exit(code if isinstance(code, int) else 0)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The first sentences of all commands, none cut short."""
        commands = [self.commands[name] for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(each.name, each.get_short_help_str(1000)) for each in commands])


def _refuse(error: Any, json: bool) -> int:
    """Tell of a usage error; its exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
        err.print(error.format_message(), soft_wrap=True)
        return BAD_INPUT
    message = error.format_message()
    print_error(message)
    if (context := getattr(error, "ctx", None)) is not None:
        err.print(f"see {context.command_path} --help")
    if json:
        print_json({"error": message, "code": BAD_INPUT})
    return BAD_INPUT
