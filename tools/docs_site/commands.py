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

_TYPES = {int: "INT", float: "FLOAT", str: "TEXT", Path: "PATH"}


def markdown() -> str:
    """A section for each command: usage, description, arguments, options."""
    group = typer.main.get_command(app)
    return "\n\n".join(_section(name, command) for name, command in group.commands.items())


def _section(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=f"entrain {name}")
    usage = " ".join(["entrain", name, *command.collect_usage_pieces(context)])
    visible = [parameter for parameter in command.params if not parameter.hidden]
    arguments = [p for p in visible if p.param_type_name == "argument"]
    options = [p for p in visible if p.param_type_name == "option"]
    parts = [f"## entrain {name}", _prose(command.help), f"```\n{usage}\n```"]
    if arguments:
        parts.append(_table("argument", [(_argument(p), p) for p in arguments]))
    types = _types(command)
    parts.append(_table("option", [(_option(p, types), p) for p in options]))
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """The description, with options as code."""
    return re.sub(r"(?<![\w`-])(--[a-z-]+)", r"`\1`", inspect.cleandoc(text))


def _table(title: str, rows: list[tuple[str, Any]]) -> str:
    lines = [f"| {title} | what it is | default |", "|---|---|---|"]
    for name, parameter in rows:
        help_text = _prose(" ".join((parameter.help or "").split())).replace("|", "\\|")
        lines.append(f"| {name} | {help_text} | {_default(parameter)} |")
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    return f"`{(parameter.metavar or parameter.name).upper()}`"


def _option(parameter: Any, types: dict[str, str]) -> str:
    if parameter.is_flag:
        return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return f"`{', '.join(parameter.opts)} {parameter.metavar or types[parameter.name]}`"


def _types(command: Any) -> dict[str, str]:
    """Names of the types of all parameters, from the annotations of the command's function.

    Typer has them as well, at places that differ between its versions.
    """
    signature = inspect.signature(inspect.unwrap(command.callback), eval_str=True)
    return {name: _type(p.annotation) for name, p in signature.parameters.items()}


def _type(annotation: Any) -> str:
    """Name of the first known type in an annotation such as `Annotated[list[str] | None, ...]`."""
    if annotation in _TYPES:
        return _TYPES[annotation]
    return next((name for part in get_args(annotation) if (name := _type(part))), "")


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
