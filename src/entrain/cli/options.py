"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, a run folder or a shipped model.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:INDEX.")]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with the idx files (else ENTRAIN_DATA, the cache, a download)."),
]
