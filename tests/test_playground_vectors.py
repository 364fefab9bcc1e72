"""The playground's gallery and test vectors are what the package computes now."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import entrain
from entrain.data import Split, load_test_split
from entrain.hardware import Hardware, preset, presets
from entrain.hardware.hardware import EFFECT_TYPES
from entrain.playground.files import MODELS
from entrain.utils.tensor_file import read_tensors

ROOT = Path(__file__).parents[1]
MOST_BYTES, MOST_BYTES_OF_TERMS, MOST_BYTES_OF_PHOTOGRAPHS = 300_000, 10_000, 300_000
MOST_BYTES_OF_CHIPS, MOST_BYTES_OF_TEST_IMAGES = 200_000, 400_000
MOST_BYTES_OF_TRAINING = 10_000
REFUSED_BY_THE_PAGE = {"delay", "measured"}  # effects that it names and does not show


@pytest.fixture(scope="module")
def data() -> ModuleType:
    return tool("playground_data")


@pytest.fixture(scope="module")
def chips() -> ModuleType:
    return tool("playground_chips")


@pytest.fixture(scope="module")
def yields() -> ModuleType:
    return tool("playground_yields")


def tool(name: str) -> ModuleType:
    path = ROOT / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_same(found: Any, kept: Any, where: str) -> None:
    """The same structure, words and whole numbers; floats to within 1e-9."""
    if isinstance(kept, dict):
        assert list(found) == list(kept), where
        for key in kept:
            assert_same(found[key], kept[key], f"{where}.{key}")
    elif isinstance(kept, list):
        assert len(found) == len(kept), where
        for place, entry in enumerate(kept):
            assert_same(found[place], entry, f"{where}[{place}]")
    elif isinstance(kept, float):
        assert found == pytest.approx(kept, rel=1e-9, abs=1e-9), where
    else:
        assert found == kept, where


@pytest.mark.usefixtures("one_thread")
def test_the_vectors_are_what_the_package_computes(data: ModuleType) -> None:
    text = data.VECTORS.read_text()
    assert len(text) < MOST_BYTES
    assert_same(data.vectors(), json.loads(text), "vectors")


@pytest.mark.usefixtures("one_thread")
def test_the_vectors_of_the_terms_are_what_the_package_computes(data: ModuleType) -> None:
    text = data.TERMS.read_text()
    assert len(text) < MOST_BYTES_OF_TERMS
    assert_same(data.terms(), json.loads(text), "terms")


@pytest.mark.usefixtures("one_thread")
def test_the_vectors_of_photographs_are_what_the_package_computes(data: ModuleType) -> None:
    text = data.PHOTOGRAPHS.read_text()
    assert len(text) < MOST_BYTES_OF_PHOTOGRAPHS
    kept = json.loads(text)
    doubts = {each["name"]: each["doubt"] for each in kept["photographs"]}
    assert doubts["even"] is None
    assert doubts["noise alone"] is not None
    found = data.photographs()
    for one, other in zip(found["photographs"], kept["photographs"], strict=True):
        # Scores are float32, and sums of them depend on the machine.
        assert one.pop("margin") == pytest.approx(other.pop("margin"), abs=1e-5)
        assert one.pop("distance") == pytest.approx(other.pop("distance"), rel=1e-6)
    assert_same(found, kept, "photographs")


@pytest.mark.usefixtures("one_thread")
def test_the_vectors_of_chips_are_what_the_package_computes(chips: ModuleType) -> None:
    text = chips.VECTORS.read_text()
    assert len(text) < MOST_BYTES_OF_CHIPS
    assert_same(chips.vectors(), json.loads(text), "chips")


def test_every_effect_that_the_page_shows_is_among_the_vectors_alone(chips: ModuleType) -> None:
    alone = {name for hardware in chips.ALONE.values() for name, _ in hardware.effects}
    assert alone == set(EFFECT_TYPES) - REFUSED_BY_THE_PAGE
    assert {name for name, _ in chips.EVERYTHING.effects} == alone


def test_the_kinds_of_chips_on_the_page_are_the_presets(chips: ModuleType) -> None:
    text = chips.PRESETS.read_text()
    assert text == chips.presets_text(), "run tools/playground_chips.py, then make page"
    kept = json.loads(text)
    assert [each["name"] for each in kept] == list(presets())
    for each in kept:
        assert Hardware.from_json(each["hardware"]) == preset(each["name"])


def test_the_gallery_holds_the_first_official_test_images_of_each_class(data: ModuleType) -> None:
    kept, _ = read_tensors(data.GALLERY, "gallery")
    found = data.gallery()
    assert kept.keys() == found.keys()
    for name, tensor in kept.items():
        assert tensor.dtype == found[name].dtype, name
        assert torch.equal(tensor, found[name]), name
    for name in ("mnist", "fashion-mnist"):
        assert kept[f"{name}.images"].shape == (30, 28, 28)
        assert kept[f"{name}.labels"].tolist() == [label for label in range(10) for _ in range(3)]


def test_the_images_that_chips_are_measured_on_are_a_stratified_sample(data: ModuleType) -> None:
    assert data.TEST_IMAGES.stat().st_size < MOST_BYTES_OF_TEST_IMAGES
    kept, _ = read_tensors(data.TEST_IMAGES, "gallery")
    for name in ("mnist", "fashion-mnist"):
        test, indices = load_test_split(name), kept[f"{name}.indices"]
        assert len(indices.unique()) == 200
        pixels = torch.from_numpy(test.features)[indices].reshape(-1, 28, 28)
        assert torch.equal(kept[f"{name}.images"], pixels)
        assert torch.equal(kept[f"{name}.labels"].long(), torch.from_numpy(test.labels)[indices])
        assert torch.bincount(kept[f"{name}.labels"].long()).tolist() == [20] * 10
        model = entrain.load(f"{name}-74-robust")
        whole = model.details["on_chips"]["mean"]
        for stride, tolerance in ((1, 1.5), (2, 1.5), (4, 3.0)):  # 200, 100 and 50 images
            rows = slice(None, None, stride)
            split = Split(pixels[rows].flatten(1).numpy(), test.labels[indices[rows]])
            found = entrain.yield_of(model, "typical", split, chips=20)
            assert float(np.mean(found.accuracies)) == pytest.approx(whole, abs=tolerance)


@pytest.mark.usefixtures("one_thread")
def test_the_yields_are_what_the_package_computes(yields: ModuleType) -> None:
    kept, found = json.loads(yields.VECTORS.read_text()), json.loads(json.dumps(yields.vectors()))
    for one, other in zip(found["cases"], kept["cases"], strict=True):
        # In single precision an image at the edge may be read otherwise on another machine.
        image = 100 / other["images"]
        assert one["accuracies"] == pytest.approx(other["accuracies"], abs=image + 1e-9)
        assert (one["model"], one["hardware"]) == (other["model"], other["hardware"])
    robust, nominal = kept["cases"][1], kept["cases"][0]
    assert robust["summary"]["worst"] > nominal["summary"]["mean"] + 20


def test_the_accuracies_on_the_page_are_those_of_the_models(chips: ModuleType) -> None:
    text = chips.NETWORKS.read_text()
    assert text == chips.networks_text(), "run tools/playground_chips.py, then make page"
    assert set(json.loads(text)) == set(MODELS)


@pytest.mark.usefixtures("one_thread")
def test_the_vectors_of_training_are_what_the_package_computes() -> None:
    training = tool("playground_training")
    text = training.VECTORS.read_text()
    assert len(text) < MOST_BYTES_OF_TRAINING
    assert_same(training.vectors(), json.loads(text), "training")


def test_the_digits_of_the_page_are_those_of_the_package() -> None:
    training = tool("playground_training")
    kept, _ = read_tensors(training.DIGITS, "gallery")
    found = training.digits()
    assert kept.keys() == found.keys()
    for name, tensor in kept.items():
        assert torch.equal(tensor, found[name]), name
