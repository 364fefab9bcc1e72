"""The command-line reference: every command with its arguments and options, as --help has them.

python tools/docs_site/commands.py     # prints it
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args

import typer

from entrain.cli import app

_KINDS = {int: "INT", float: "FLOAT", str: "TEXT", Path: "PATH"}


def markdown() -> str:
    """A section for each command: usage, description, arguments, options."""
    group = typer.main.get_command(app)
    return "\n\n".join(_section(name, each) for name, each in group.commands.items())


def _section(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=f"entrain {name}")
    usage = " ".join(["entrain", name, *command.collect_usage_pieces(context)])
    shown = [each for each in command.params if not each.hidden]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option"]
    parts = [f"## entrain {name}", _prose(command.help), f"```\n{usage}\n```"]
    if arguments:
        parts.append(_table("argument", [(_argument(each), each) for each in arguments]))
    kinds = _kinds(command)
    parts.append(_table("option", [(_option(each, kinds), each) for each in options]))
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """The description; options in it as code."""
    return re.sub(r"(?<![\w`-])(--[a-z-]+)", r"`\1`", inspect.cleandoc(text))


def _table(title: str, rows: list[tuple[str, Any]]) -> str:
    lines = [f"| {title} | what it is | default |", "|---|---|---|"]
    for name, parameter in rows:
        help_text = _prose(" ".join((parameter.help or "").split())).replace("|", "\\|")
        lines.append(f"| {name} | {help_text} | {_default(parameter)} |")
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    return f"`{(parameter.metavar or parameter.name).upper()}`"


def _option(parameter: Any, kinds: dict[str, str]) -> str:
    if parameter.is_flag:
        return ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    return f"`{', '.join(parameter.opts)} {parameter.metavar or kinds[parameter.name]}`"


def _kinds(command: Any) -> dict[str, str]:
    """What the value of each parameter is, from the annotations of the command's function.

    Typer has them too, in places that have moved between its versions.
    """
    signature = inspect.signature(inspect.unwrap(command.callback), eval_str=True)
    return {name: _kind(each.annotation) for name, each in signature.parameters.items()}


def _kind(annotation: Any) -> str:
    """The first type within `Annotated[list[str] | None, ...]` and the like that has a name."""
    if annotation in _KINDS:
        return _KINDS[annotation]
    return next((found for each in get_args(annotation) if (found := _kind(each))), "")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    shown = getattr(parameter, "show_default", None)
    if isinstance(shown, str):
        return shown
    value = parameter.default
    if value is None or value is False or callable(value):
        return ""
    if value is True:
        return f"`{parameter.opts[0]}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__":
    print(markdown())  # noqa: T201
