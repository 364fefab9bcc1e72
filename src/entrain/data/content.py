"""What a picture shows, without its paper: uneven light, noise, ruled lines and specks removed.

All works on whole grey levels g (rows, columns) from 0 to 255. Where the light is even, the
background B is the border's median; else it is the better of two: a quadratic surface, or a
morphological closing, which follows the edges of shadows. The strength of content is

    d = +-(g - B) max(B) / B

where it is lighter (+) or darker (-) than its background: light multiplies paper and ink alike, and
the quotient undoes it. The playground does the same (`core/content.ts`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy  # loads what is used of it at its first use

_TILES = 16  # a side, of the grid that the quadratic surface is fitted to
_FITS = 4  # of the surface, each without the tiles that were far from the last
_NEAR = 12.0  # levels: a tile this far from the surface is not background
_EVEN = 6.0  # levels: in even light, so near to the border's median is
_EVEN_SHARE = 0.5  # of the border at least,
_ONE_SIDED = 0.9  # and what differs does so in one direction
_LOW, _HIGH = 0.25, 0.5  # of the largest strength: content exceeds the one, and somewhere the other
_USUAL = 0.75  # quantile of the strong content's strength that counts as full
_SPECK = 0.04  # of the largest piece of content: smaller pieces are specks
_LOOSE = 0.2  # of the largest piece: one this large that stands free is what the picture shows
_SHADOW = 8  # what is thicker than this part of the picture and takes a corner is a shadow
_FREED = 0.1  # of the border's pixels that were taken, when ruling is removed
_THIN = 0.6  # of the thickest stroke: thinner ones that run off the picture may be ruling
_MOST_GAIN = 4.0
_EIGHT = np.ones((3, 3), dtype=np.int64)  # neighbours, also across corners


def find_content(grey: np.ndarray, light: bool | None = None) -> np.ndarray:
    """Content as levels from 0 to 1 (rows, columns), zero around it and where there is none.

    `light` says whether content is lighter than its background; None finds out.
    """
    levels = _smoothed(grey.astype(np.int64))
    best = min(_candidates(levels, light), key=_blemishes)
    best = np.where(_without_specks(best > 0), best, 0.0)
    if not best.any():
        return best
    usual = float(np.quantile(best[best > _HIGH * best.max()], _USUAL))
    return np.minimum(best / usual, 1.0)


def _candidates(levels: np.ndarray, light: bool | None) -> Iterator[np.ndarray]:
    """The strength of content over each background that may be right, zero where it has none."""
    above = levels - np.median(_border(levels))
    flat = _one_level(above)
    if light is None:  # light that falls off lies on both sides of a local mean, strokes on one
        near = above if flat else levels - _box_mean(levels, min(levels.shape) // 4)
        light = _skewness(near) > 0
    if flat:
        yield _strength(above, levels - above, light)
        return
    for background in (_surface(levels), _closing(levels, light)):
        yield _strength(levels - background, background, light)


def _one_level(above: np.ndarray) -> bool:
    """Whether the light is even: the border is near its median, what differs does so in
    one direction, and nothing as thick as a shadow takes a corner."""
    near = (np.abs(_border(above)) <= _EVEN).mean()
    if near < _EVEN_SHARE or abs(_skewness(above)) < _ONE_SIDED:
        return False
    strength = np.abs(above)
    pieces, _ = scipy.ndimage.label(strength > _LOW * strength.max(), _EIGHT)
    corners = np.isin(pieces, pieces[[0, 0, -1, -1], [0, -1, 0, -1]]) & (pieces > 0)
    return bool(_depth(corners).max() < max(above.shape) / _SHADOW)


def _blemishes(strength: np.ndarray) -> float:
    """What the wrong background leaves: the share of the border that content takes, and the share
    of content that is pale."""
    content = int((strength > 0).sum())
    pale = content - int((strength > _HIGH * strength.max()).sum())
    return float(_border(strength > 0).mean()) + pale / max(content, 1)


def _skewness(above: np.ndarray) -> float:
    """sum x^3 / sum |x|^3, from -1 to 1: the side on which what is rare and differs most lies."""
    cubes = np.asarray(above, dtype=np.float64) ** 3
    return float(cubes.sum() / max(np.abs(cubes).sum(), 1.0))


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
    ends, starts = (total, total) if axis == 0 else (total.T, total.T)
    found = ends[width:] - starts[:-width]
    return np.asarray(found if axis == 0 else found.T)


def _border(levels: np.ndarray) -> np.ndarray:
    return np.concatenate([levels[0], levels[-1], levels[:, 0], levels[:, -1]])


def _surface(levels: np.ndarray) -> np.ndarray:
    """The quadratic surface through the tiles' medians, first of those at the border."""
    rows, columns = (min(_TILES, side) for side in levels.shape)
    edges = [
        [side * i // count for i in range(count + 1)]
        for side, count in zip(levels.shape, (rows, columns), strict=True)
    ]
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


def _closing(levels: np.ndarray, light: bool) -> np.ndarray:
    """The least of the largest levels around, which fills what is darker and narrower than a
    quarter of the picture; where content is light, the largest of the least."""
    width = 2 * (min(levels.shape) // 8) + 1
    fill = scipy.ndimage.grey_opening if light else scipy.ndimage.grey_closing
    return np.asarray(fill(levels, (width, width), mode="nearest"), dtype=np.float64)


def _strength(above: np.ndarray, background: np.ndarray, light: bool) -> np.ndarray:
    """d of levels `above` their background: of pieces that exceed the low threshold, and somewhere
    the high one; without ruling."""
    gain = np.minimum(background.max() / np.maximum(background, 1.0), _MOST_GAIN)
    strength = np.maximum((above if light else -above) * gain, 0.0)
    most = float(strength.max())
    pieces, count = scipy.ndimage.label(strength > _LOW * most, _EIGHT)
    strong = np.zeros(count + 1, dtype=bool)
    strong[pieces[strength > _HIGH * most]] = True
    mask = strong[pieces]
    return np.where(_without_ruling(mask), strength, 0.0)


def _without_ruling(mask: np.ndarray) -> np.ndarray:
    """Opened by the smallest square that frees the border, if that is thinner than strokes are."""
    depth = _depth(mask)
    taken = float(_border(mask).mean())
    for radius in range(1, int(_THIN * depth.max()) + 1 if taken > 0 else 0):
        wide = scipy.ndimage.maximum_filter(depth > radius, 2 * radius + 3, mode="constant")
        opened = np.asarray(mask & wide)
        if _border(opened).mean() <= _FREED * taken:
            return opened
    return mask


def _depth(mask: np.ndarray) -> np.ndarray:
    """How many pixels, straight or diagonal, each is from the nearest outside the mask."""
    found = scipy.ndimage.distance_transform_cdt(np.pad(mask, 1), "chessboard")
    return np.asarray(found[1:-1, 1:-1])


def _without_specks(mask: np.ndarray) -> np.ndarray:
    """Without small pieces, and without those that run off the picture beside a free one."""
    pieces, count = scipy.ndimage.label(mask, _EIGHT)
    sizes = np.bincount(pieces.ravel(), minlength=count + 1)
    sizes[0] = 0
    free = sizes.copy()
    free[_border(pieces)] = 0
    if free.max() >= _LOOSE * sizes.max():
        sizes = free
    return np.asarray((sizes >= max(1.0, _SPECK * sizes.max()))[pieces])
