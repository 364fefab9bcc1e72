"""Files of the page: the built page and its models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from entrain.models.pretrained import find
from entrain.utils.errors import InputError
from entrain.utils.files import write_atomically
from entrain.utils.new_files import new_folder

if TYPE_CHECKING:
    from entrain.models.network import KuramotoNetwork

Content = Path | bytes
"""A file, or its bytes."""

PAGE = Path(__file__).parent / "page"
MODELS = (
    *(
        f"{dataset}-74{ending}"
        for dataset in ("mnist", "fashion-mnist")
        for ending in ("", "-path", "-direct", "-robust")
    ),
    "mnist-48-chip",
)

# The largest network that the page simulates; playground/src/core/model.ts has the same limits. At
# 512 oscillators and 1,024 steps a simulation took 0.8 s on two busy cores, twice that with a
# second harmonic of the coupling function.
MOST_OSCILLATORS = 512
MOST_INPUTS = 65_536


def page_files(model: Path | str | None = None) -> dict[str, Content]:
    """All files of the page by name, "/" between folders; the page opens `model` first."""
    if not (PAGE / "index.html").is_file():
        raise InputError(f"{PAGE}: the page is not built; in a clone: make page")
    files: dict[str, Content] = {
        p.relative_to(PAGE).as_posix(): p for p in sorted(PAGE.rglob("*")) if p.is_file()
    }
    files |= {f"models/{name}.safetensors": find(name) for name in MODELS}
    return files if model is None else files | _first_model(model)


def _first_model(model: Path | str) -> dict[str, Content]:
    """models.json, which names `model` to the page, and the model unless it is shipped."""
    path = find(model)
    for shipped in MODELS:
        if path.samefile(find(shipped)):
            return {"models.json": _entry(shipped, f"{shipped}.safetensors")}
    from entrain.models.model import read_model  # shipped models need no PyTorch

    loaded = read_model(path)
    if not (loaded.task.has_classes and loaded.reads_once):
        what = loaded.task.description if loaded.reads_once else "classes of sequences"
        raise InputError(
            f"{path}: the model predicts {what}; the page shows classes of pictures and of rows. "
            "Use entrain predict"
        )
    _check_size(path, loaded.network)
    name = Path(model).resolve().name if Path(model).is_dir() else path.stem
    return {
        "models.json": _entry(name, "given.safetensors"),
        "models/given.safetensors": path.read_bytes(),  # serve what was checked
    }


def _check_size(path: Path, network: KuramotoNetwork) -> None:
    count = network.oscillators
    most_steps = int(2**28 // max(count, 128) ** 2)  # each multiplies by J (N, N)
    for value, most, name in (
        (count, MOST_OSCILLATORS, "oscillators"),
        (network.inputs, MOST_INPUTS, "inputs"),
        (network.dynamics.steps, most_steps, f"Euler steps of {count} oscillators"),
    ):
        if value > most:
            raise InputError(
                f"{path}: the network has {value:,} {name}; the page simulates {most:,} at most. "
                "Use entrain evaluate, or entrain.load in Python"
            )


def _entry(name: str, file: str) -> bytes:
    printable = "".join(letter if letter.isprintable() else "_" for letter in name)
    return json.dumps([{"name": printable or "model", "file": file}]).encode()


def content_of(content: Content) -> bytes:
    """The bytes of a file."""
    return content if isinstance(content, bytes) else content.read_bytes()


def export(folder: Path, model: Path | str | None = None) -> list[Path]:
    """The files of the page, written to a new or empty folder, for any static host.

    Args:
        folder: A folder that is new or empty.
        model: The model that the page shows first: a name, a file or a run folder.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> files = entrain.playground.export(Path(mkdtemp()) / "page")
        >>> any(path.name == "index.html" for path in files)
        True
    """
    files = page_files(model)
    with new_folder(folder) as part:
        for name, content in files.items():
            write_atomically(part / name, content_of(content))
    return [folder / name for name in files]
