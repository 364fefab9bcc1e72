"""Training in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from entrain.data import DATASETS, Dataset, fingerprint, load_dataset
from entrain.device import choose_device
from entrain.errors import InputError
from entrain.learning import Progress, Recipe, Trained, run_pipeline
from entrain.runfolder import RunFolder


def train(
    dataset: Dataset | str = "digits",
    recipe: Recipe | None = None,
    *,
    folder: Path | str | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    **changes: Any,
) -> Trained:
    """Train oscillator networks on a dataset of the package or on your own data.

    A dataset of the package is learnt from a neural teacher: PATH, then TWO-STAGE-END. Your own
    data are learnt from labels: DIRECT. `changes` are arguments of `Recipe.for_dataset`
    (protocols, runs, seed, teacher, network, dynamics, path_solver), or give a whole `recipe`.
    With `folder` the training is kept there, and goes on where it stopped when called again with
    the same recipe after a crash.
    """
    data = load_dataset(dataset) if isinstance(dataset, str) else dataset
    if recipe is None:
        recipe = Recipe.for_dataset(data.name, **_defaults(data) | changes)
    elif changes:
        raise InputError(
            f"give a recipe or settings of one, not both; got a recipe and {', '.join(changes)}"
        )
    elif recipe.dataset != data.name:
        raise InputError(f"the recipe is for {recipe.dataset}, the data are {data.name}")
    place = choose_device(device)
    if folder is None:
        return run_pipeline(recipe, data, device=place, progress=progress)
    path = Path(folder)
    kept = RunFolder.open(path) if (path / "run.json").exists() else None
    if kept is None or kept.recipe != recipe:
        settings = {"device": device, "data_dir": None, "examples": fingerprint(data)}
        kept = RunFolder.create(path, recipe, settings)
    kept.require(data)
    with kept.locked():
        trained = run_pipeline(recipe, data, device=place, store=kept, progress=progress)
        kept.save_models(trained.models)
    return trained


def _defaults(data: Dataset) -> dict[str, Any]:
    """How data are trained on unless told otherwise."""
    protocols = ("TWO-STAGE-END",) if data.name in DATASETS else ("DIRECT",)
    return {"protocols": protocols, "examples": len(data.train)}
