"""Controls of networks on five problems: what the oscillators contribute.

    OMP_WAIT_POLICY=passive python benchmarks/controls.py [NAME ...] [--data FOLDER]

NAME is digits, japanese-vowels, spoken-digits, mnist or fashion-mnist; all by default. Each network
is trained, then measured by `entrain.controls`, five runs of every control, into
results/controls-NAME.json; finished controls are kept there, and a second call continues. The data
of japanese-vowels (JapaneseVowels_TRAIN.ts.gz and _TEST.ts.gz of the UEA archive) and of
spoken-digits (fsdd-logmel.npz: frames of 24 log-mel bands of the Free Spoken Digit Dataset) are in
subfolders of FOLDER.

On two shared CPU cores, mnist and fashion-mnist are parts: 10,000 and 5,000 training and 2,000
validation images, ten epochs without distortions; all 10,000 test images. spoken-digits has 25
epochs in place of 50. For all images, with the recipe of the shipped networks, on a GPU:

    entrain controls mnist-74-direct --out results/controls-mnist-full.json
    entrain controls fashion-mnist-74-direct --out results/controls-fashion-mnist-full.json
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import entrain
from entrain.data import Dataset, SequenceDataset, Split
from entrain.data.datasets import stratified_split
from entrain.data.sequence_scaling import pad
from entrain.physics import Dynamics
from entrain.rules.direct import tuned
from entrain.tasks import Classification
from entrain.training import Recipe

RESULTS = Path(__file__).parents[1] / "results"
NAMES = ("digits", "japanese-vowels", "mnist", "fashion-mnist", "spoken-digits")
IMAGES = {"mnist": 10_000, "fashion-mnist": 5_000}
EPOCHS, SPOKEN_EPOCHS, FRAMES = 10, 25, 32


def part_of(name: str) -> tuple[Dataset, Recipe]:
    """A part of the images of a dataset, and a short recipe without distortions."""
    data = entrain.load_dataset(name)
    _, train = stratified_split(data.train, IMAGES[name])
    _, validation = stratified_split(data.validation, 2_000)
    rule = tuned(entrain.Direct(), name, augmented=False)
    rule = replace(rule, epochs=EPOCHS, fine_epochs=0)
    part = replace(data, train=train, validation=validation)
    return part, Recipe.for_dataset(name, rule)


def sequences(
    name: str,
    train: list[np.ndarray],
    y: np.ndarray,
    test: list[np.ndarray],
    truth: np.ndarray,
    epochs: int | None = None,
) -> tuple[Dataset, Recipe]:
    """Sequences with an official test set; a sixth of the training sequences select the epoch."""
    names = tuple(map(str, sorted({*y.tolist(), *truth.tolist()})))
    codes = {label: index for index, label in enumerate(names)}

    def split(rows: list[np.ndarray], labels: np.ndarray) -> Split:
        return Split(pad(rows), np.array([codes[str(label)] for label in labels.tolist()]))

    rest, validation = stratified_split(split(train, y), round(len(train) / 6))
    channels = tuple(str(channel) for channel in range(train[0].shape[1]))
    task = Classification(names, window=0.5)
    data = SequenceDataset(
        name, rest, validation, split(test, truth), task, channels, frames=FRAMES
    )
    dynamics = Dynamics(steps=4 * FRAMES)
    recipe = Recipe.for_dataset(name, "DIRECT", examples=len(rest), dynamics=dynamics)
    return data, recipe if epochs is None else recipe.adjusted(direct={"epochs": epochs})


def japanese_vowels(folder: Path) -> tuple[Dataset, Recipe]:
    """Speakers of vowels: 270 training and 370 test sequences of 12 channels."""

    def read(part: str) -> tuple[list[np.ndarray], np.ndarray]:
        rows, labels = [], []
        path = folder / "japanese-vowels" / f"JapaneseVowels_{part}.ts.gz"
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            if line and line[0] not in "#@":
                *channels, label = line.split(":")
                rows.append(np.array([channel.split(",") for channel in channels], float).T)
                labels.append(label)
        return rows, np.array(labels)

    return sequences("japanese-vowels", *read("TRAIN"), *read("TEST"))


def spoken_digits(folder: Path) -> tuple[Dataset, Recipe]:
    """Spoken digits: recordings with an index below 5 are the official test set."""
    values = np.load(folder / "spoken-digits" / "fsdd-logmel.npz")
    ends = np.cumsum(values["lengths"].astype(int))
    rows = np.split(values["frames"].astype(np.float32), ends[:-1])
    is_test = values["index"] < 5

    def part(chosen: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        return [row for row, c in zip(rows, chosen, strict=True) if c], values["digit"][chosen]

    return sequences("spoken-digits", *part(~is_test), *part(is_test), SPOKEN_EPOCHS)


def problem(name: str, folder: Path) -> tuple[Dataset, Recipe]:
    """The data and the recipe of a name."""
    if name == "digits":
        return entrain.load_dataset(name), Recipe.for_dataset(name, "DIRECT")
    if name == "japanese-vowels":
        return japanese_vowels(folder)
    if name == "spoken-digits":
        return spoken_digits(folder)
    return part_of(name)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--data", type=Path, default=Path("data"))
    options = parser.parse_args()
    for name in options.names or NAMES:
        data, recipe = problem(name, options.data)
        model = entrain.train(data, recipe=recipe).model
        shown: list[str] = []

        def show(control: str, share: float, name: str = name, shown: list[str] = shown) -> None:
            if shown[-1:] != [control]:
                shown.append(control)
                sys.stderr.write(f"{time.strftime('%H:%M:%S')} {name}: {control}\n")

        result = entrain.controls(
            model, data, out=RESULTS / f"controls-{name}.json", on_progress=show
        )
        sys.stdout.write(f"{name}: {result.sentence}\n")


if __name__ == "__main__":
    main()
