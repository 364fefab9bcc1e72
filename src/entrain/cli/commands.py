"""Parsing of all commands: usage lines, plain help, usage errors as text or JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from entrain.cli.console import BAD_INPUT, INTERRUPTED, err, print_error, print_json

_ONCE = ("--hardware",)  # Click would silently take the last of two


class Command(TyperCommand):
    """A command with a conventional usage line: MODEL, [DATASET], [NAME]..."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See TyperCommand; an option of `_ONCE` that is repeated is an error."""
        options = [argument.partition("=")[0] for argument in args]
        for option in _ONCE:
            if (count := options.count(option)) > 1:
                raise typer.BadParameter(f"{option} is given {count} times; give one")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """[OPTIONS], then the arguments; Typer's own brackets differ between versions."""
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_usage, arguments)]


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("[].").upper()
    name = name if argument.required else f"[{name}]"
    return name if argument.nargs == 1 else f"{name}..."


class Commands(TyperGroup):
    """All commands; a usage error is printed as text and, under --json, as one object."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **options: Any) -> NoReturn:
        """Parse, run and exit."""
        arguments = list(sys.argv[1:] if args is None else args)
        options |= {"prog_name": "entrain", "standalone_mode": False}
        try:
            code = super().main(arguments, **options)
        except typer.Abort:
            code = INTERRUPTED
        except Exception as error:
            # Click's errors have this method, and so have those of Typer's own copy of Click.
            if not hasattr(error, "format_message"):
                raise
            _print_usage_error(error, json="--json" in arguments)
            code = BAD_INPUT
        sys.exit(code if isinstance(code, int) else 0)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The first sentences of all commands, uncut."""
        commands = [self.commands[name] for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(item.name, item.get_short_help_str(1000)) for item in commands])


def _print_usage_error(error: Any, json: bool) -> None:
    message = _new_place(error) or error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
        err.print(message, soft_wrap=True)
        return
    print_error(message)
    if (context := getattr(error, "ctx", None)) is not None:
        err.print(f"see {context.command_path} --help")
    if json:
        print_json({"error": message, "code": BAD_INPUT})


def _new_place(error: Any) -> str:
    """The new place of an option that `entrain train` had in version 0.2, or an empty text."""
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", None)
    if option is None or context is None or context.info_name != "train":
        return ""
    from entrain.training.settings import OLD_KEYWORDS, OLD_SETTINGS

    name = option.lstrip("-").replace("-", "_")
    if name in OLD_SETTINGS:
        return f"{option} is now --set {OLD_SETTINGS[name]}=VALUE"
    return f"{option} is now --{OLD_KEYWORDS[name]}" if name in OLD_KEYWORDS else ""
