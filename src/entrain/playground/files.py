"""What the page consists of: the built page, and the models it runs."""

from __future__ import annotations

import json
from pathlib import Path

from entrain.models.pretrained import find
from entrain.playground import limits
from entrain.utils.errors import InputError
from entrain.utils.files import write_atomically

Content = Path | bytes
"""What a name of the page stands for: a file, or bytes of its own."""

PAGE = Path(__file__).parent / "page"
MODELS = (
    *(
        f"{dataset}-74{ending}"
        for dataset in ("mnist", "fashion-mnist")
        for ending in ("", "-path", "-direct", "-robust")
    ),
    "mnist-48-chip",
)


def page_files(model: Path | str | None = None) -> dict[str, Content]:
    """Every file of the page by its name relative to the page, "/" between folders.

    With `model`, a file, a run folder or a shipped name, the page opens it first.
    """
    if not (PAGE / "index.html").is_file():
        raise InputError(f"{PAGE}: the page is not built; in a clone: make page")
    files: dict[str, Content] = {
        p.relative_to(PAGE).as_posix(): p for p in sorted(PAGE.rglob("*")) if p.is_file()
    }
    files |= {f"models/{name}.safetensors": find(name) for name in MODELS}
    return files if model is None else files | _given(model)


def _given(model: Path | str) -> dict[str, Content]:
    """models.json, which tells the page of `model`, and the model unless the page has it."""
    path = find(model)
    for shipped in MODELS:
        if path.samefile(find(shipped)):
            return {"models.json": _listed(shipped, f"{shipped}.safetensors")}
    from entrain.models.model import read_model  # a shipped model is played without PyTorch

    network = read_model(path).network
    try:
        limits.check(network)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    name = Path(model).resolve().name if Path(model).is_dir() else path.stem
    return {
        "models.json": _listed(name, "given.safetensors"),
        # Bytes: what is served stays what was checked, whatever becomes of the file.
        "models/given.safetensors": path.read_bytes(),
    }


def _listed(name: str, file: str) -> bytes:
    shown = "".join(letter if letter.isprintable() else "_" for letter in name)
    return json.dumps([{"name": shown or "model", "file": file}]).encode()


def content_of(content: Content) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def export(folder: Path, model: Path | str | None = None) -> list[Path]:
    """Write the page into `folder`, new or empty, for any static host; the files written."""
    files = page_files(model)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder for the page")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder}: is not empty, and nothing is overwritten; choose another folder"
        )
    written = []
    for name, content in files.items():
        target = folder / name
        write_atomically(target, content_of(content))
        written.append(target)
    return written
