"""Options of several commands."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

IMAGE_SIZE = 28

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model file, run folder or name of a shipped model.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for an error too.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:INDEX.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the idx files.", show_default="ENTRAIN_DATA, the cache or a download"
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        help="Label column of your table.", show_default="label, class, target, y, or the last"
    ),
]
ImageSize = Annotated[int, typer.Option(help="Side of your own pictures in pixels.")]
Figure = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png, .pdf or .svg.")
]
EngineName = Annotated[
    str, typer.Option(help="process (this one) or ray (needs entrain[cluster]).")
]
Address = Annotated[
    str | None, typer.Option(help="HOST:PORT of a Ray cluster.", show_default="start one here")
]


def option_name(name: str) -> str:
    """The option of an argument: --batch-size of batch_size."""
    return "--" + name.replace("_", "-")


def require(check: Callable[[str, object], object], **options: object) -> None:
    """Check the options that are not None; errors name them as options."""
    for name, value in options.items():
        if value is not None:
            check(option_name(name), value)


def is_given(context: typer.Context, name: str) -> bool:
    """True if an argument was given on the command line, False for its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@contextlib.contextmanager
def with_option_names(*names: str) -> Iterator[None]:
    """Replace these arguments by their options in the message of an error: --batch-size."""
    from entrain.utils.errors import InputError

    long = [name for name in names if "_" in name] or ["$^"]
    pattern = re.compile(rf"^({'|'.join(names)})\b|\b({'|'.join(long)})\b")
    try:
        yield
    except InputError as error:
        message = pattern.sub(lambda match: option_name(match[0]), str(error))
        raise InputError(message) from error


def require_new(*paths: Path) -> None:
    """Refuse output files that exist."""
    from entrain.utils.errors import InputError

    for path in paths:
        if path.exists():
            raise InputError(f"{path}: exists already; give another --out")
