"""Models that ship with the package, and finding a model by file, run folder or name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entrain.utils.errors import InputError, unknown_name

if TYPE_CHECKING:
    from entrain.models.model import (
        Model,  # and with it PyTorch, where a model is more than its file
    )

_FOLDER = Path(__file__).parent


def shipped() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.safetensors"))


def card(name: str) -> str:
    """The model card (Markdown) of a shipped model."""
    if name not in shipped():
        raise unknown_name("shipped model", name, shipped())
    return (_FOLDER / f"{name}.md").read_text()


def find(model: Path | str) -> Path:
    """The file of a model given as a file, a run folder (its final model) or a shipped name."""
    path = Path(model)
    if path.is_dir():
        from entrain.training.run_folder import ResumableError, RunFolder

        found = RunFolder.open(path).main_model_path
        if not found.exists():
            raise ResumableError(f"{path}: this run is not finished; continue it", path)
        return found
    if path.is_file():
        return path
    if str(model) in shipped():
        return _FOLDER / f"{model}.safetensors"
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"{path}: no such model file or run folder")
    raise InputError(
        f"{unknown_name('model', str(model), shipped())}; or give a model file or a run folder"
    )


def load(model: Path | str) -> Model:
    """A trained model: `load("mnist-74")`, `load("runs/digits-1")`, `load("some.safetensors")`."""
    from entrain.models.model import read_model

    return read_model(find(model))
