"""Options of several commands."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from entrain.utils.errors import InputError

IMAGE_SIZE, FRAMES = 28, 32


def option(help: str, default: str | None = None, name: str | None = None, **more: Any) -> Any:
    """An option with its help, its default in words, and names that differ from the argument."""
    return Option(*(name.split() if name else []), help=help, show_default=default or True, **more)


def argument(metavar: str, help: str, default: str | None = None) -> Any:
    """An argument with its help and its default in words."""
    return Argument(metavar=metavar, help=help, show_default=default or True)


ModelArgument = Annotated[str, argument("MODEL", "Model file, run folder or shipped model.")]
Json = Annotated[bool, option("Print one JSON object, for an error too.", name="--json")]
Device = Annotated[str, option("auto, cpu, cuda or cuda:INDEX.")]
DataDir = Annotated[
    Path | None, option("Folder with the idx files.", "ENTRAIN_DATA, the cache or a download")
]
Label = Annotated[
    str | None, option("Label column of your table.", "label, class, target, y, or the last")
]
ImageSize = Annotated[int, option("Side of your own pictures in pixels.")]
TaskName = Annotated[
    str | None,
    option(
        "classification, regression (numbers to predict) or sequence (inputs in time).",
        "numbers if the targets are fractions",
    ),
]
Frames = Annotated[int, option("Frames to which your sequences are interpolated.")]
TestData = Annotated[
    str | None,
    option(
        "Use the test examples of another dataset or of your own data.",
        "as in training",
        "--dataset --data",
        metavar="DATASET",
    ),
]
TestLabel = Annotated[str | None, option("Label column of your table.", "as in training")]
TestImageSize = Annotated[
    int | None, option("Side of your own pictures in pixels.", "as in training")
]
Figure = Annotated[Path | None, option("Draw a figure: .png, .pdf or .svg.", metavar="FILE")]
Overwrite = Annotated[bool, option("Replace an output file that exists.", name="--overwrite")]
EngineName = Annotated[str, option("process (this one) or ray (needs the extra cluster).")]
Address = Annotated[str | None, option("HOST:PORT of a Ray cluster.", "start one here")]


def option_name(name: str) -> str:
    """The option of an argument: --image-size of image_size."""
    return "--" + name.replace("_", "-")


def require(check: Callable[[str, object], object], **options: object) -> None:
    """Check the options that are not None; errors name them as options."""
    for name, value in options.items():
        if value is not None:
            check(option_name(name), value)


def refuse_options(what: str, **options: object) -> None:
    """Refuse options that are given, but belong to something else.

    Args:
        what: What they belong to.
        options: Values by the names of the options; None and False are not given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError(f"{name} is an option of {what}")


def is_given(context: typer.Context, name: str) -> bool:
    """True if an argument was given on the command line, False for its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@contextlib.contextmanager
def with_option_names(*names: str) -> Iterator[None]:
    """Replace these arguments by their options in the message of an error: --image-size."""
    long = [name for name in names if "_" in name] or ["$^"]
    pattern = re.compile(rf"^({'|'.join(names)})\b|\b({'|'.join(long)})\b")
    try:
        yield
    except InputError as error:
        message = pattern.sub(lambda match: option_name(match[0]), str(error))
        raise InputError(message) from error
