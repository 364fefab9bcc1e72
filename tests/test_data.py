"""Splits and preprocessing: the constants of the paper's table."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from entrain import InputError, Preprocessing, load_dataset
from entrain.data import ImageDataset, Split, datasets, load_test_split
from entrain.data.datasets import stratified_split


@pytest.fixture(scope="module", params=["mnist", "fashion-mnist"])
def full(request) -> ImageDataset:
    """The whole dataset, from wherever it can be had."""
    try:
        return load_dataset(request.param)
    except InputError as error:
        if "ENTRAIN_DATA" not in str(error):
            raise
        pytest.skip(f"the training images of {request.param} cannot be had here: {error}")


PRINTED = {  # mean, SD, training norm, test norm: the paper's table of preprocessing
    "mnist": (0.131, 0.308, 48.902, 48.902),
    "fashion-mnist": (0.286, 0.353, 45.662, 44.585),
}


@pytest.mark.network
def test_the_preprocessing_constants_are_those_printed(full: ImageDataset) -> None:
    assert (len(full.train), len(full.validation), len(full.test)) == (50_000, 10_000, 10_000)
    found = full.preprocessing
    constants = (found.mean, found.sd, found.norm, found.test_norm)
    assert tuple(round(c, 3) for c in constants) == PRINTED[full.name]
    inputs = found(full.validation.features[:100], unseen=False)
    assert torch.allclose(inputs.norm(dim=1), torch.tensor(found.norm, dtype=torch.float32))
    p = full.validation.features[3] / 255.0
    z = (p - found.mean) / found.sd
    by_hand = found.norm * z / np.linalg.norm(z)
    assert np.allclose(inputs[3].numpy(), by_hand, atol=1e-5)
    unseen = found(full.test.features[:100])
    assert torch.allclose(unseen.norm(dim=1), torch.tensor(found.test_norm, dtype=torch.float32))


@pytest.mark.network
def test_the_split_is_stratified_and_complete(full: ImageDataset) -> None:
    whole = np.bincount(full.train.labels) + np.bincount(full.validation.labels)
    assert whole.sum() == 60_000
    assert np.abs(np.bincount(full.validation.labels) - whole / 6).max() <= 1


def test_digits_are_those_of_scikit_learn_with_its_file_and_without(monkeypatch) -> None:
    expected = load_digits()
    for found in (datasets._digits_table(), _without_the_file(monkeypatch)):
        assert np.array_equal(found[:, :-1], expected.data)
        assert np.array_equal(found[:, -1], expected.target)


def _without_the_file(monkeypatch) -> np.ndarray:
    monkeypatch.setattr(datasets, "find_spec", lambda name: None)
    return datasets._digits_table()


def test_digits_are_split_without_overlap() -> None:
    data = load_dataset("digits")
    splits = (data.train, data.validation, data.test)
    assert [len(split) for split in splits] == [1197, 300, 300]
    rows = np.concatenate([split.features for split in splits])
    assert len(np.unique(rows, axis=0)) == 1797
    for split in splits:
        assert np.abs(np.bincount(split.labels) - len(split) / 10).max() < 4
    again, _ = stratified_split(data.train, 100)
    assert np.array_equal(again.labels, stratified_split(data.train, 100)[0].labels)


def test_the_bundled_test_sets_need_nothing_else(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("ENTRAIN_DATA", raising=False)
    monkeypatch.setenv("ENTRAIN_CACHE", str(tmp_path))
    for name in ("mnist", "fashion-mnist"):
        assert load_test_split(name).features.shape == (10_000, 784)


IMAGES = np.random.default_rng(0).integers(0, 256, (30, 16)).astype(np.uint8)
CONSTANTS = Preprocessing.fit(IMAGES, (4, 4), 255.0)


def test_inputs_are_standardised_directions_of_one_norm() -> None:
    z = (IMAGES / 255.0 - (IMAGES / 255.0).mean()) / (IMAGES / 255.0).std()
    assert pytest.approx(np.linalg.norm(z, axis=1).max()) == CONSTANTS.norm
    inputs = CONSTANTS(IMAGES.reshape(30, 4, 4))
    cosine = (inputs.numpy() * z).sum(1) / (CONSTANTS.norm * np.linalg.norm(z, axis=1))
    assert np.allclose(cosine, 1.0, atol=1e-6)
    assert torch.equal(CONSTANTS(IMAGES[0].reshape(4, 4))[0], inputs[0])


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.zeros((2, 5, 5)), "4 x 4"),
        (np.zeros((0, 16)), "at least one image"),
        (np.full((1, 16), 7.0), "constant"),
        (np.array([[np.nan] + [1.0] * 15]), "NaN"),
        (np.linspace(0, 300, 16)[None], "0 to 255"),
        (np.linspace(-1, 200, 16)[None], "0 to 255"),
    ],
)
def test_images_that_cannot_be_used_are_refused(pixels: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CONSTANTS(pixels)


def test_an_unknown_dataset_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'mnist'"):
        load_dataset("minst")


@pytest.mark.parametrize("name", ["mnist-small", "fashion-mnist-small"])
def test_the_small_sets_are_stratified_parts_of_the_bundled_test_images(name: str) -> None:
    small = load_dataset(name)
    whole = load_test_split(name.removesuffix("-small"))
    assert (len(small.train), len(small.validation), len(small.test)) == (3000, 1000, 1000)
    parts = (small.train, small.validation, small.test)
    known = {
        image.tobytes(): label for image, label in zip(whole.features, whole.labels, strict=True)
    }
    seen = [image.tobytes() for part in parts for image in part.features]
    assert len(set(seen)) >= 4990  # no image twice, but for those the set itself repeats
    for part in parts:
        for image, label in zip(part.features, part.labels, strict=True):
            assert known[image.tobytes()] == label
        share = np.bincount(part.labels) / len(part)
        assert np.abs(share - np.bincount(whole.labels) / len(whole)).max() < 0.001
    assert np.array_equal(load_test_split(name).features, small.test.features)
    assert (small.preprocessing.test_norm != small.preprocessing.norm) == name.startswith("fashion")


def test_a_class_too_small_for_a_place_gives_none_away() -> None:
    labels = np.repeat([0, 1], [98, 2])
    rest, taken = stratified_split(Split(np.zeros((100, 1), np.uint8), labels), 10)
    assert np.bincount(taken.labels, minlength=2).tolist() == [10, 0]
    assert np.bincount(rest.labels).tolist() == [88, 2]
