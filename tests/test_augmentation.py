"""Distorted copies of images: moved as far as was asked, and no further."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from entrain.rules import Augmentation
from entrain.utils.errors import InputError

EVERYTHING = {"shift": 1.5, "rotation": 8.0, "scale": 0.1, "shear": 3.0, "elastic": 0.5}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def noise(count: int, rows: int = 8, columns: int = 8) -> Tensor:
    """Images without any symmetry."""
    return torch.rand(count, rows, columns, generator=generator(5))


def blobs(count: int, side: int = 28) -> Tensor:
    """A lopsided bright blob amid black, well inside the frame."""
    y, x = torch.meshgrid(*[torch.arange(side) - side / 2] * 2, indexing="ij")
    blob = torch.exp(-((x - 1) ** 2) / 30 - (y + 0.5) ** 2 / 15 - x * y / 100)
    return blob.where(blob > 0.01, 0.0).expand(count, side, side).clone()


def ramps(count: int, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Images whose grey levels are the column and the row: sampling them says from where."""
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return x.float().expand(count, -1, -1), y.float().expand(count, -1, -1)


def draws(**values: float) -> Tensor:
    """Numbers for one image: the middle of every range but for those named."""
    places = {"rotation": 0, "scale": 1, "shear": 2, "across": 3, "down": 4}
    drawn = torch.full((1, 7), 0.5)
    for name, value in values.items():
        drawn[0, places[name]] = value
    return drawn


def test_nothing_asked_is_nothing_done() -> None:
    nothing, images = Augmentation(), noise(20)
    assert nothing.is_identity
    assert not Augmentation(flip=True).is_identity
    assert not Augmentation(elastic=0.1).is_identity
    assert torch.equal(nothing(images, nothing.draw((20,), generator())), images)


def test_strength_zero_leaves_the_images() -> None:
    augmentation, images = Augmentation(**EVERYTHING), noise(50)
    drawn = augmentation.draw((50,), generator())
    assert not torch.allclose(augmentation(images, drawn), images, atol=0.1)
    for none in (0.0, torch.zeros(())):
        assert torch.allclose(augmentation(images, drawn, none), images, rtol=0, atol=1e-6)


def test_half_the_strength_is_half_the_bounds() -> None:
    images = noise(30)
    whole, half = Augmentation(shift=2.0, rotation=20.0), Augmentation(shift=1.0, rotation=10.0)
    drawn = whole.draw((30,), generator())
    assert torch.allclose(whole(images, drawn, 0.5), half(images, drawn), atol=1e-5)


@pytest.mark.parametrize("across", [-2, 0, 1])
@pytest.mark.parametrize("down", [-1, 0, 2])
def test_a_shift_by_whole_pixels_is_a_roll_inside_the_frame(across: int, down: int) -> None:
    image = torch.zeros(1, 9, 7)
    image[:, 2:-2, 2:-2] = noise(1, 5, 3)
    drawn = draws(across=0.5 + across / 8, down=0.5 + down / 8)
    moved = Augmentation(shift=4.0)(image, drawn)
    rolled = np.roll(image[0].numpy(), (-down, -across), axis=(0, 1))
    assert np.allclose(moved[0].numpy(), rolled, atol=1e-5)


def test_what_is_shifted_in_is_black() -> None:
    moved = Augmentation(shift=2.0)(torch.ones(1, 6, 6), draws(across=1.0))
    assert not moved[0, :, -2:].any()
    assert torch.allclose(moved[0, :, :-2], torch.ones(6, 4), atol=1e-5)


@pytest.mark.parametrize("drawn", [0.0, 1.0])
def test_a_quarter_turn_is_a_quarter_turn(drawn: float) -> None:
    image = noise(1, 7, 7)
    turned = Augmentation(rotation=90.0)(image, draws(rotation=drawn))[0].numpy()
    direction = 1 if drawn == 1.0 else -1
    both = [np.rot90(image[0].numpy(), k * direction) for k in (1, -1)]
    assert sum(np.allclose(turned, each, atol=1e-5) for each in both) == 1
    back = Augmentation(rotation=90.0)(torch.from_numpy(turned)[None], draws(rotation=1 - drawn))
    assert torch.allclose(back, image, atol=1e-5)


def test_a_turn_of_an_oblong_image_keeps_distances() -> None:
    """An upright bar turned by 90 degrees lies as long as it stood."""
    image = torch.zeros(1, 9, 15)
    image[0, 1:8, 7] = 1.0
    turned = Augmentation(rotation=90.0)(image, draws(rotation=1.0))
    lying = torch.zeros(9, 15)
    lying[4, 4:11] = 1.0
    assert torch.allclose(turned[0], lying, atol=1e-4)


def test_growing_enlarges_and_shrinking_makes_smaller() -> None:
    image = blobs(1)
    grown, shrunk = (Augmentation(scale=0.2)(image, draws(scale=v)).sum() for v in (1.0, 0.0))
    assert float(grown / image.sum()) == pytest.approx(1.2**2, rel=0.03)
    assert float(shrunk / image.sum()) == pytest.approx(0.8**2, rel=0.03)


def test_a_shear_moves_rows_past_each_other() -> None:
    across, down = ramps(1, 9, 9)
    shear = Augmentation(shear=45.0)
    found, level = (shear(image, draws(shear=1.0))[0] for image in (across, down))
    inner = slice(3, 6)
    assert torch.allclose(level[inner, inner], down[0, inner, inner], atol=1e-4)
    slip = found[inner, inner] - across[0, inner, inner]
    assert torch.allclose(slip, down[0, inner, inner] - 4.0, atol=1e-4)


def test_flipping_mirrors_about_every_second_image_and_touches_no_other() -> None:
    images, augmentation = noise(400), Augmentation(flip=True)
    moved = augmentation(images, augmentation.draw((400,), generator()))
    mirrored = [torch.allclose(m, i.flip(1), atol=1e-5) for m, i in zip(moved, images, strict=True)]
    kept = [torch.allclose(m, i, atol=1e-5) for m, i in zip(moved, images, strict=True)]
    assert all(a != b for a, b in zip(mirrored, kept, strict=True))
    assert 150 < sum(mirrored) < 250


@pytest.mark.parametrize("shape", [(12, 12), (9, 21)])
def test_elastic_displacements_have_the_stated_deviation_and_no_mean(
    shape: tuple[int, int],
) -> None:
    count, elastic = 2000, 0.3
    augmentation = Augmentation(elastic=elastic)
    drawn = augmentation.draw((count,), generator())
    for image in ramps(count, *shape):
        apart = (augmentation(image, drawn) - image)[:, 2:-2, 2:-2]
        assert float(apart.mean()) == pytest.approx(0.0, abs=0.03 * elastic)
        everywhere = apart.std(0) / elastic
        assert float((everywhere - 1.0).abs().max()) < 0.1


def test_elastic_displacements_are_smooth() -> None:
    augmentation = Augmentation(elastic=0.5)
    across, _ = ramps(500, 24, 24)
    apart = (augmentation(across, augmentation.draw((500,), generator())) - across)[:, 3:-3, 3:-3]
    neighbours = (apart[:, 1:] - apart[:, :-1]).std() / apart.std()
    assert float(neighbours) < 0.4


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    augmentation = Augmentation(**EVERYTHING)
    first = augmentation.draw((3, 10), generator(1))
    assert first.shape == (3, 10, 7 + 2 * 5 * 5)
    assert torch.equal(first, augmentation.draw((3, 10), generator(1)))
    assert not torch.equal(first, augmentation.draw((3, 10), generator(2)))
    assert Augmentation(shift=1.0).draw((4,), generator()).shape == (4, 7)


def test_every_image_is_moved_by_its_own_numbers() -> None:
    augmentation, images = Augmentation(**EVERYTHING, flip=True), noise(10)
    drawn = augmentation.draw((10,), generator())
    together = augmentation(images, drawn)
    alone = torch.cat(
        [augmentation(images[i : i + 1], drawn[i : i + 1]) for i in range(len(images))]
    )
    assert torch.allclose(together, alone, atol=1e-6)


def test_brightness_is_roughly_conserved_and_grey_levels_stay_in_range() -> None:
    augmentation, images = Augmentation(**EVERYTHING, flip=True), blobs(300)
    moved = augmentation(images, augmentation.draw((300,), generator()))
    light = moved.sum((1, 2)) / images.sum((1, 2))
    assert float(light.mean()) == pytest.approx(1.0, abs=0.03)
    assert 0.6 < float(light.min()) < float(light.max()) < 1.5
    assert float(moved.min()) >= 0.0
    assert float(moved.max()) <= float(images.max()) + 1e-6


def test_shifts_stay_within_their_bounds_and_fill_them() -> None:
    augmentation = Augmentation(shift=1.5)
    drawn = augmentation.draw((2000,), generator())
    for image in ramps(2000, 9, 9):
        apart = (augmentation(image, drawn) - image)[:, 4, 4]
        assert float(apart.abs().max()) <= 1.5 + 1e-4
        assert float(apart.abs().max()) > 1.45
        assert float(apart.mean()) == pytest.approx(0.0, abs=0.1)


def test_rotations_and_scales_stay_within_their_bounds() -> None:
    augmentation = Augmentation(rotation=10.0, scale=0.1)
    drawn = augmentation.draw((2000,), generator())
    across, down = (augmentation(image, drawn) for image in ramps(2000, 9, 9))
    right = across[:, 4, 6] - across[:, 4, 4], down[:, 4, 6] - down[:, 4, 4]
    angles = torch.atan2(right[1], right[0]).rad2deg().abs()
    growth = 2.0 / torch.hypot(*right)
    assert 9.9 < float(angles.max()) <= 10.0 + 1e-3
    assert 0.9 - 1e-4 <= float(growth.min()) < 0.905
    assert 1.095 < float(growth.max()) <= 1.1 + 1e-4


@pytest.mark.parametrize("name", sorted(EVERYTHING))
@pytest.mark.parametrize("value", [-0.5, float("nan"), float("inf"), "1", True])
def test_a_bound_that_is_none_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"augmentation {name} must be .*got {value!r}"):
        Augmentation(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("scale", 1.0), ("shear", 90.0)])
def test_a_bound_that_tears_an_image_apart_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"augmentation {name} must be .*got {value!r}"):
        Augmentation(**{name: value})
