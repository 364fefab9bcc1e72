"""Models that ship with the package; finding a model by file, run folder or name; its test data."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.utils.errors import InputError, unknown_name

if TYPE_CHECKING:  # PyTorch is slow to import, and finding a file does without it
    from entrain.data import Dataset, Split
    from entrain.models.model import Model
    from entrain.tasks import Task
    from entrain.training.run_folder import RunFolder

_FOLDER = Path(__file__).parent


class DataNotNamedError(InputError):
    """The data of a model are the user's own and have to be named."""


def shipped() -> list[str]:
    """Names of the models that come with the package.

    Examples:
        >>> entrain.models.pretrained.shipped()[:2]
        ['fashion-mnist-74', 'fashion-mnist-74-direct']
    """
    return sorted(path.stem for path in _FOLDER.glob("*.safetensors"))


def card(name: str) -> str:
    """The model card of a shipped model, in Markdown.

    Args:
        name: Name of a shipped model.

    Examples:
        >>> print(entrain.models.pretrained.card("mnist-74").splitlines()[0])
        # mnist-74
    """
    if name not in shipped():
        raise unknown_name("shipped model", name, shipped())
    return (_FOLDER / f"{name}.md").read_text()


def find(model: Path | str) -> Path:
    """The file of a model given as a file, a run folder (its final model) or a shipped name."""
    path = Path(model)
    if path.is_dir():
        from entrain.training.run_folder import ResumableError, RunFolder

        file = RunFolder.open(path).main_model_path
        if not file.exists():
            raise ResumableError(f"{path}: this run is not finished; continue it", path)
        return file
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
    """A trained model: `load("mnist-74")`, `load("runs/digits-1")`, `load("some.safetensors")`.

    Args:
        model: A shipped name, a run folder (its final model) or a model file.

    Examples:
        >>> model = entrain.load("mnist-74")
        >>> test = entrain.load_test_split("mnist")
        >>> model.predict(test.features[:4])
        array([7, 2, 1, 0])
        >>> test.labels[:4]
        array([7, 2, 1, 0])
    """
    from entrain.models.model import read_model

    return read_model(find(model))


def load_test_examples(
    model: Path | str,
    dataset: str | os.PathLike[str] | None = None,
    *,
    label: str | None = None,
    image_size: int | None = None,
    data_dir: Path | str | None = None,
    read: Callable[..., Dataset] | None = None,
) -> tuple[str, Split]:
    """The name and the test examples of the data that a model was trained on.

    A run folder stores the path of your own data; of these, the test examples are the part that
    training set aside. Data with other classes than the model's are refused; data that it was not
    trained on are a warning.

    Args:
        model: A shipped name, a run folder or a model file.
        dataset: Other data: a dataset by name, or a file or folder of your own.
        label: Label column of your own table; as in training by default.
        image_size: Side of your own pictures in pixels; as in training by default.
        data_dir: Folder with the idx files of MNIST or Fashion-MNIST.
        read: Reads your own data in place of `entrain.data.selection.read_source`.

    Examples:
        >>> from entrain.models.pretrained import load_test_examples
        >>> dataset, test = load_test_examples("mnist-74")
        >>> dataset, len(test.labels)
        ('mnist', 10000)
    """
    from entrain.data import CLASS_NAMES, DATASETS, SequenceScaling, load_test_split
    from entrain.data.selection import IMAGE_SIZE, own_source, read_source
    from entrain.tasks import Classification

    path = find(model)
    trained = load(path)
    run = run_of(path, trained)
    name, recorded = str(dataset or trained.dataset), None if run is None else run.own
    options = {"label": label, "image_size": image_size}
    changes = {option: value for option, value in options.items() if value is not None}
    own: dict[str, Any] | None
    if dataset is None and recorded is not None:
        own = recorded | changes
        if not Path(recorded["path"]).exists():
            raise DataNotNamedError(
                f"{recorded['path']}: the run was trained on it, and it is no longer there; name "
                "the file or folder"
            )
    elif dataset is None and name not in DATASETS:
        raise DataNotNamedError(
            f"the model was trained on data of your own ({name}): name the file or folder"
        )
    else:
        in_time = isinstance(trained.preprocessing, SequenceScaling) and name not in DATASETS
        task = "sequence" if in_time else None
        own = own_source(dataset or name, label, image_size or IMAGE_SIZE, task)
        if own and recorded and own["path"] == recorded["path"]:
            own = recorded | changes
    if own is None:
        check_task(name, Classification(CLASS_NAMES[name]), trained)
        folder = data_dir or (run.settings["data_dir"] if run is not None else None)
        split = load_test_split(name, Path(folder) if folder else None)
    else:
        data = (read or read_source)(name, own)
        if run is not None and dataset is None and not changes and not run.has(data):
            raise DataNotNamedError(
                f"{own['path']}: has changed since the run was trained on it, so its test examples "
                "may have been trained on; name the file or folder to use it all the same"
            )
        check_task(name, data.task, trained)
        _check_sounds(str(own["path"]), data, trained)
        name, split = data.name, data.test
    width = split.features.shape[-1]
    if width != trained.network.inputs:
        examples = "images of {} pixels" if name in DATASETS else "examples of {} numbers"
        raise InputError(
            f"{name} has {examples.format(width)}, the model {path} takes "
            f"{trained.network.inputs} (it was trained on {trained.dataset})"
        )
    if name != trained.dataset:
        _warn_other_dataset(name, trained.dataset)
    return name, split


def _check_sounds(path: str, data: Dataset, model: Model) -> None:
    """Refuse sounds whose frames are not those of the training."""
    theirs, ours = (getattr(x, "sound", None) for x in (data.preprocessing, model.preprocessing))
    if theirs is not None and theirs != ours:
        raise InputError(
            f"{path}: its sounds were read at {theirs.rate:,} Hz, the model's at "
            f"{'none' if ours is None else format(ours.rate, ',')}; resample them, or use entrain "
            "predict, which does"
        )


def check_task(name: str, task: Task, model: Model) -> None:
    """Refuse data with other classes or numbers than the model's."""
    if task.output_names != model.task.output_names or task.has_classes != model.task.has_classes:
        what = "classes" if task.has_classes else "numbers"
        prefix = "" if task.has_classes == model.task.has_classes else f"{model.task.description}: "
        raise InputError(
            f"{name} has the {what} {', '.join(task.output_names)}; the model has "
            f"{prefix}{', '.join(model.task.output_names)}"
        )


def _warn_other_dataset(name: str, trained_on: str) -> None:
    """Warn that these are not examples of the dataset that a model was trained on."""
    from entrain.data import SMALL

    message = f"the model was trained on {trained_on}; these are examples of {name}"
    if SMALL.get(trained_on) == name:
        message += f", and {trained_on} trains on some of them"
    warnings.warn(message, stacklevel=3)


def run_of(path: Path, model: Model) -> RunFolder | None:
    """The run folder that a model file lies in, unless the model is a foreign file there."""
    from entrain.training.run_folder import RunFolder

    if not (path.parent / "run.json").is_file():
        return None
    run = RunFolder.open(path.parent)
    return run if run.recipe.dataset == model.dataset else None
