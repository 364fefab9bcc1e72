"""Training in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from entrain.data import DATASETS, OwnData, load_dataset
from entrain.device import choose_device
from entrain.learning import Progress, Recipe, Trained, carry_out, small_set
from entrain.runfolder import RunFolder


def train(
    dataset: OwnData | str = "digits",
    recipe: Recipe | None = None,
    *,
    folder: Path | str | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    **changes: Any,
) -> Trained:
    """Train a teacher and its oscillator networks: PATH, then TWO-STAGE-END, unless told otherwise.

    `changes` are fields of the dataset's default `Recipe` (runs, seed, protocols, teacher,
    dynamics). With `folder` the training is kept there, and goes on where it stopped when called
    again with the same recipe after a crash.
    """
    data = load_dataset(dataset) if isinstance(dataset, str) else dataset
    if recipe is None:
        recipe = Recipe.for_dataset(data.name, **changes)
        if data.name not in DATASETS:
            recipe = recipe.adjusted(direct=small_set(len(data.train)))
    place = choose_device(device)
    if folder is None:
        return carry_out(recipe, data, device=place, progress=progress)
    path = Path(folder)
    kept = RunFolder.open(path) if (path / "run.json").exists() else None
    if kept is None or kept.recipe != recipe:
        kept = RunFolder.create(path, recipe, {"device": device, "data_dir": None})
    with kept.locked():
        trained = carry_out(recipe, data, device=place, store=kept, progress=progress)
        kept.save_models(trained.models)
    return trained
