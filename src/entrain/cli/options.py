"""Options that several commands take."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, a run folder or a shipped model.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, errors too.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:INDEX.")]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with the idx files (else ENTRAIN_DATA, the cache, a download)."),
]

EngineName = Annotated[
    str, typer.Option(help="process (this one) or ray (needs entrain[cluster]).")
]
Address = Annotated[
    str | None, typer.Option(help="Address of a Ray cluster.", show_default="a local one")
]


def require(check: Callable[[str, object], object], **options: object) -> None:
    """Check the options that were given; an error names them as they are typed."""
    for name, value in options.items():
        if value is not None:
            check("--" + name.replace("_", "-"), value)


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an argument was given on the command line, rather than left at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@contextlib.contextmanager
def with_option_names(*names: str) -> Iterator[None]:
    """Errors within that name these arguments name them as they are typed: --batch-size."""
    from entrain.utils.errors import InputError

    long = [name for name in names if "_" in name] or ["$^"]
    named = re.compile(rf"^({'|'.join(names)})\b|\b({'|'.join(long)})\b")
    try:
        yield
    except InputError as error:
        spelled = named.sub(lambda found: "--" + found[0].replace("_", "-"), str(error))
        raise InputError(spelled) from error
