"""What the page consists of: the built page, and the models it runs."""

from __future__ import annotations

from pathlib import Path

from entrain import models
from entrain.errors import InputError
from entrain.files import write_atomically

PAGE = Path(__file__).parent / "page"
MODELS = tuple(
    f"{dataset}-74{ending}" for dataset in ("mnist", "fashion-mnist") for ending in ("", "-path")
)


def page_files() -> dict[str, Path]:
    """Every file of the page by its name relative to the page, "/" between folders."""
    if not (PAGE / "index.html").is_file():
        raise InputError(f"{PAGE}: the page is not built; in a clone: make page")
    files = {p.relative_to(PAGE).as_posix(): p for p in sorted(PAGE.rglob("*")) if p.is_file()}
    return files | {f"models/{name}.safetensors": models.find(name) for name in MODELS}


def export(folder: Path) -> list[Path]:
    """Write the page into `folder`, new or empty, for any static host; the files written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder for the page")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder}: is not empty, and nothing is overwritten; choose another folder"
        )
    written = []
    for name, source in page_files().items():
        target = folder / name
        write_atomically(target, source.read_bytes())
        written.append(target)
    return written
