"""An answer depends on its own input alone: predicting one by one equals predicting together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from command_line import in_process
from entrain.data import FeatureScaling, Preprocessing
from entrain.models.model import Model
from entrain.tasks import Classification
from entrain.utils.errors import InputError
from networks import random_network

PIXELS, COLUMNS = 12, 3
NAMES = ("0", "1", "2")


def model_of(preprocessing: Preprocessing | FeatureScaling) -> Model:
    network = random_network(preprocessing.inputs, 5, 3, dtype=torch.float32)
    return Model(network, preprocessing, Classification(NAMES), "x", "DIRECT", gain=6.0)


IMAGES = model_of(Preprocessing((3, 4), 255.0, 0.3, 0.4, 5.0, 5.0))
FEATURES = model_of(FeatureScaling((1.0,) * COLUMNS, (2.0,) * COLUMNS, 3.0))

levels = st.lists(st.integers(0, 255), min_size=PIXELS, max_size=PIXELS)
binary = st.lists(st.integers(0, 1), min_size=PIXELS, max_size=PIXELS)
fractions = st.lists(st.floats(0, 1, width=32), min_size=PIXELS, max_size=PIXELS)
numbers = st.lists(st.floats(-10, 10), min_size=COLUMNS, max_size=COLUMNS)

FORMS: dict[str, Callable[[Any], Any]] = {
    **{f"{t.__name__}": t for t in (np.uint8, np.int64, np.float32, np.float64, np.bool_)},
    "pictures": lambda x: np.asarray(x, np.float32).reshape(-1, 3, 4),
    "tensor": lambda x: torch.tensor(x, dtype=torch.float32),
    "half": lambda x: torch.tensor(x, dtype=torch.bfloat16),
    "list": list,
    "frame": pandas.DataFrame,
}


def answer(model: Model, inputs: Any) -> np.ndarray | None:
    """Output activations, or None if the inputs are refused."""
    try:
        return model.scores(inputs).numpy()
    except InputError:
        return None


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(images=st.lists(levels | binary | fractions, min_size=1, max_size=5))
def test_images_have_the_same_answers_alone_and_together(form: str, images: list[Any]) -> None:
    rows = FORMS[form](images)
    one_by_one = [answer(IMAGES, rows[i : i + 1]) for i in range(len(images))]
    together = answer(IMAGES, rows)
    if form != "list":  # whose type NumPy takes from all images: integers may become floats
        assert (together is None) == any(alone is None for alone in one_by_one)
    for i, alone in enumerate(one_by_one if together is not None else ()):
        assert alone is None or np.allclose(together[i], alone[0], atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(numbers, min_size=1, max_size=5))
def test_rows_have_the_same_answers_alone_and_together(rows: list[list[float]]) -> None:
    one_by_one = [answer(FEATURES, row) for row in rows]
    assert np.allclose(answer(FEATURES, rows), np.concatenate(one_by_one), atol=1e-5)


def scores_of(file: Path, *sources: Path) -> list[list[float] | None]:
    output = in_process("predict", file, *sources, "--json").stdout
    return [result.get("scores") for result in json.loads(output).get("predictions", [{}])]


def together_and_alone(model: Model, sources: list[Path]) -> None:
    file = sources[0].parent / "model.safetensors"
    model.save(file)
    alone = [scores_of(file, source)[0] for source in sources]
    together = scores_of(file, *sources)
    assert [scores is None for scores in together] == [scores is None for scores in alone]
    for left, right in zip(together, alone, strict=True):
        assert left is None or np.allclose(left, right, atol=1e-5)


def test_files_of_all_kinds_have_the_same_answers_alone_and_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (1, PIXELS))
    arrays = {
        "levels": image.astype(np.uint8),
        "binary": (image > 99).astype(np.uint8),
        "truth": image > 99,
        "fractions": image / 255.0,
        "whole": image.astype(float),
    }
    for name, array in arrays.items():
        np.savez(tmp_path / f"{name}.npz", X=array)
        np.savetxt(tmp_path / f"{name}.csv", array, fmt="%g", delimiter=",")
    for i, size in enumerate([(3, 4), (30, 40), (7, 5)]):
        Image.fromarray(rng.integers(0, 256, size).astype(np.uint8)).save(tmp_path / f"{i}.png")
    Image.fromarray(rng.integers(0, 65536, (9, 9)).astype(np.uint16)).save(tmp_path / "deep.png")
    together_and_alone(IMAGES, sorted(tmp_path.iterdir()))


def rows_of(file: Path, lines: list[str], header: str) -> list[Any]:
    """Scores of the lines together; None where a line, or the table, is refused."""
    table = file.with_suffix(".csv")
    table.write_text("\n".join([*([header] if header else []), *lines]) + "\n")
    scores = scores_of(file, table)
    return scores if len(scores) == len(lines) else [None] * len(lines)


@pytest.mark.parametrize("header", ["", "a,b,c,kind", "kind,a,b,c"])
def test_lines_of_a_table_have_the_same_answers_alone_and_together(
    tmp_path: Path, header: str
) -> None:
    file = tmp_path / "model.safetensors"
    FEATURES.save(file)
    lines = ["0,5.5,2,1", "1,2,1.5,2", "2,1,1,0", "1,-3,2,1", "nan,nan,,1", "1,2,3,x"]
    together = rows_of(file, lines, header)
    for line, expected in zip(lines, together, strict=True):
        scores = rows_of(file, [line], header)[0]
        assert scores is None or (expected is not None and np.allclose(scores, expected, atol=1e-5))
