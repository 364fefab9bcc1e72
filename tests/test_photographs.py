"""Drawn and photograph-like digits: read, or marked as unsure."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from PIL import Image

import entrain
from entrain.data.content import find_content
from entrain.data.pictures import framed
from photographs import KINDS, PER_KIND, Photograph, photographs

SEED = 3  # not one of those that the preparation was made with
EVEN = ("even", "light on dark", "tilted", "noisy", "jpeg")


@pytest.fixture(scope="module")
def pictures() -> list[Photograph]:
    return list(photographs(SEED))


def small(levels: np.ndarray) -> np.ndarray:
    """As large as the package reads it."""
    return np.asarray(Image.fromarray(levels).reduce(-(-max(levels.shape) // 512)))


@pytest.mark.usefixtures("one_thread")
def test_photographs_are_read_or_marked_as_unsure(pictures: list[Photograph]) -> None:
    model = entrain.load("mnist-74")
    assert len(pictures) >= 300
    pixels = np.stack([framed(small(each.levels), (28, 28)) for each in pictures])
    right = model.predict(pixels) == [each.digit for each in pictures]
    unsure = model.rejected(pixels)
    shares = {"right or unsure": right | unsure, "right and sure": right & ~unsure}
    of_kind = {
        kind: {
            name: 100 * one[[p.kind == kind for p in pictures]].mean()
            for name, one in shares.items()
        }
        for kind in KINDS
    }
    assert shares["right or unsure"].mean() >= 0.95, of_kind
    assert shares["right and sure"].mean() >= 0.75, of_kind
    for kind, found in of_kind.items():
        assert found["right or unsure"] >= 90, (kind, of_kind)
    assert np.mean([of_kind[kind]["right and sure"] for kind in EVEN]) >= 85, of_kind


def test_the_set_holds_every_kind_and_digit_and_is_the_same_again(
    pictures: list[Photograph],
) -> None:
    assert Counter(each.kind for each in pictures) == dict.fromkeys(KINDS, PER_KIND)
    assert set(Counter(each.digit for each in pictures).values()) == {3 * len(KINDS)}
    for one, other in zip(pictures[:3], photographs(SEED), strict=False):
        np.testing.assert_array_equal(one.levels, other.levels)


SHEET = np.full((90, 120), 220.0)
BAR = np.zeros(SHEET.shape, dtype=bool)  # a thick upright stroke
BAR[20:70, 50:60] = True
EVENLY, SLOPE = np.ones(120), np.linspace(1, 0.4, 120)
PLAIN, RULED = np.ones((90, 1)), np.where(np.arange(90)[:, None] % 15 == 7, 0.4, 1.0)


@pytest.mark.parametrize("light", [EVENLY, SLOPE], ids=["even", "sloping"])
@pytest.mark.parametrize("paper", [PLAIN, RULED], ids=["plain", "ruled"])
@pytest.mark.parametrize("ink", [0.15, 0.5])
def test_content_is_the_stroke_under_any_light_and_paper(
    light: np.ndarray, paper: np.ndarray, ink: float
) -> None:
    found = find_content(np.rint(SHEET * np.where(BAR, ink, paper) * light)) > 0.5
    assert (found & BAR).sum() > 0.95 * BAR.sum()
    assert (found & ~BAR).sum() < 0.1 * BAR.sum()


@pytest.mark.parametrize("light", [True, False])
def test_either_polarity_gives_the_same_content(light: bool) -> None:
    levels = np.where(BAR, 30.0, 220.0)
    np.testing.assert_array_equal(find_content(255 - levels), find_content(levels))
    forced = find_content(levels if not light else 255 - levels, light)
    np.testing.assert_array_equal(forced, find_content(levels))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (3, 40), (9, 7)])
def test_pictures_of_any_size_have_content_from_0_to_1(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        found = find_content(rng.integers(0, 256, shape))
        assert found.shape == shape
        assert np.isfinite(found).all()
        assert found.min() >= 0
        assert found.max() <= 1


def test_enlarged_digits_are_read_as_the_digits_are() -> None:
    test = entrain.load_test_split("mnist")
    model = entrain.load("mnist-74")
    digits = test.features[:40].reshape(-1, 28, 28)
    large = [np.asarray(Image.fromarray(each).resize((280, 280))) for each in digits]
    for turn in (lambda x: x, lambda x: 255 - x):
        pixels = np.stack([framed(turn(each), (28, 28)) for each in large])
        assert (model.predict(pixels) == model.predict(digits)).mean() >= 0.95
