"""What a picture shows, without its paper: uneven light, noise, ruled lines and specks removed.

All works on whole grey levels (rows, columns) from 0 to 255. The background B is the simplest of
three that leaves the picture's border free of content: the border's median, a quadratic surface, or
a morphological closing, which follows the edges of shadows. The strength of the content is

    d = +-(g - B) max(B) / B

where it is lighter (+) or darker (-) than its background: light multiplies paper and ink alike, and
the quotient undoes it. The playground does the same (`core/content.ts`).
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

_TILES = 16  # a side, of the grid that the quadratic surface is fitted to
_FITS = 4  # of the surface, each without the tiles that were far from the last
_NEAR = 12.0  # levels: a tile this far from the surface is not background
_FREE = 0.05  # of the border: content may take as much, as ruled lines do
_LOW, _HIGH = 0.25, 0.5  # of the largest strength: content exceeds the one, and somewhere the other
_SPECK = 0.04  # of the largest piece of content: smaller pieces are specks
_THIN = 0.4  # of the thickest stroke: what is thinner and runs off the picture is ruling
_MOST_GAIN = 4.0
_EIGHT = np.ones((3, 3), dtype=np.int64)  # neighbours, also across corners


def find_content(grey: np.ndarray, light: bool | None = None) -> np.ndarray:
    """Content as levels from 0 to 1 (rows, columns), zero around it and where there is none.

    `light` says whether content is lighter than its background; None finds out: by the sign of
    sum (g - B)^3 for the quadratic surface, since content is rare and differs the most.
    """
    levels = _smoothed(grey.astype(np.int64))
    surface = _surface(levels)
    if light is None:
        light = float(((levels - surface) ** 3).sum()) > 0
    best, least = np.zeros(levels.shape), np.inf
    for find in (_border_median, lambda _: surface, _closing if not light else _opening):
        strength = _strength(levels, find(levels), light)
        mask = _mask(strength)
        taken = float(_border(mask).mean())
        if taken < least:
            best, least = np.where(mask, strength, 0.0), taken
        if least <= _FREE:
            break
    mask = best > 0
    if least > 0:
        mask = _without_thin(mask)
    mask = _without_specks(mask)
    if not mask.any():
        return np.zeros(levels.shape)
    usual = float(np.median(best[mask & (best > _HIGH * best.max())]))
    return np.where(mask, np.minimum(best / usual, 1.0), 0.0)


def _smoothed(levels: np.ndarray) -> np.ndarray:
    """Means over boxes of 3 or 5 pixels a side where neighbours usually differ, by noise."""
    if levels.shape[1] < 2:
        return levels
    usual = float(np.median(np.abs(np.diff(levels, axis=1))))
    radius = 0 if usual < 2 else 1 if usual < 6 else 2
    return _box_mean(levels, radius)


def _box_mean(levels: np.ndarray, radius: int) -> np.ndarray:
    """Means over the boxes within the picture, rounded."""
    if radius == 0:
        return levels
    sums, counts = levels, np.ones(levels.shape, dtype=np.int64)
    for axis in (0, 1):
        sums, counts = (_box_sum(each, radius, axis) for each in (sums, counts))
    return (2 * sums + counts) // (2 * counts)


def _box_sum(levels: np.ndarray, radius: int, axis: int) -> np.ndarray:
    padding = [(0, 0), (0, 0)]
    padding[axis] = (radius + 1, radius)
    total = np.pad(levels, padding).cumsum(axis)
    width = 2 * radius + 1
    if axis == 0:
        return total[width:] - total[:-width]
    return total[:, width:] - total[:, :-width]


def _border(levels: np.ndarray) -> np.ndarray:
    return np.concatenate([levels[0], levels[-1], levels[:, 0], levels[:, -1]])


def _border_median(levels: np.ndarray) -> np.ndarray:
    return np.full(levels.shape, np.median(_border(levels)))


def _surface(levels: np.ndarray) -> np.ndarray:
    """The quadratic surface through the tiles' medians, first of those at the border."""
    rows, columns = (min(_TILES, side) for side in levels.shape)
    edges = [[side * i // count for i in range(count + 1)] for side, count in
             zip(levels.shape, (rows, columns), strict=True)]
    tiles = np.array(
        [
            [
                np.median(levels[top:bottom, left:right])
                for left, right in zip(edges[1], edges[1][1:], strict=False)
            ]
            for top, bottom in zip(edges[0], edges[0][1:], strict=False)
        ]
    )
    down, across = (np.arange(count) + 0.5 for count in (rows, columns))
    terms = _terms((down / rows)[:, None], (across / columns)[None, :])
    used = np.zeros((rows, columns), dtype=bool)
    used[0] = used[-1] = used[:, 0] = used[:, -1] = True
    for _ in range(_FITS):
        weights = _least_squares(terms[:, used], tiles[used])
        far = np.abs(tiles - np.tensordot(weights, terms, 1))
        # At least the nearer half stays, so that a bad first fit can mend.
        used = far <= max(_NEAR, float(np.median(far)))
    y, x = ((np.arange(side) + 0.5) / side for side in levels.shape)
    return np.clip(np.tensordot(weights, _terms(y[:, None], x[None, :]), 1), 0.0, 255.0)


def _terms(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    one = np.ones(np.broadcast_shapes(y.shape, x.shape))
    return np.stack([one, y * one, x * one, y * y * one, y * x, x * x * one])


def _least_squares(terms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Weights w (6) that minimise |w terms - values|^2 + 1e-6 n |w|^2."""
    ridge = 1e-6 * len(values) * np.eye(len(terms))
    return np.asarray(np.linalg.solve(terms @ terms.T + ridge, terms @ values))


def _closing(levels: np.ndarray) -> np.ndarray:
    """The least of the largest levels around: what is darker and narrower than a quarter of the
    picture is filled with its surroundings."""
    width = 2 * (min(levels.shape) // 8) + 1
    return np.asarray(ndimage.grey_closing(levels, (width, width), mode="nearest"))


def _opening(levels: np.ndarray) -> np.ndarray:
    return 255 - _closing(255 - levels)


def _strength(levels: np.ndarray, background: np.ndarray, light: bool) -> np.ndarray:
    gain = np.minimum(background.max() / np.maximum(background, 1.0), _MOST_GAIN)
    strength = (levels - background if light else background - levels) * gain
    return np.maximum(strength, 0.0)


def _mask(strength: np.ndarray) -> np.ndarray:
    """What exceeds the low threshold in pieces that somewhere exceed the high one."""
    most = float(strength.max())
    if most == 0:
        return np.zeros(strength.shape, dtype=bool)
    pieces, count = ndimage.label(strength > _LOW * most, _EIGHT)
    strong = np.zeros(count + 1, dtype=bool)
    strong[pieces[strength > _HIGH * most]] = True
    return strong[pieces]


def _without_thin(mask: np.ndarray) -> np.ndarray:
    """Without strokes much thinner than the thickest: opened by a square."""
    depth = ndimage.distance_transform_cdt(np.pad(mask, 1), "chessboard")[1:-1, 1:-1]
    radius = int(_THIN * depth.max())
    if radius == 0:
        return mask
    kept = ndimage.maximum_filter(depth > radius, 2 * radius + 3, mode="constant")
    return np.asarray(mask & kept)


def _without_specks(mask: np.ndarray) -> np.ndarray:
    pieces, count = ndimage.label(mask, _EIGHT)
    sizes = np.bincount(pieces.ravel(), minlength=count + 1)
    sizes[0] = 0
    return np.asarray((sizes >= max(1.0, _SPECK * sizes.max()))[pieces])
