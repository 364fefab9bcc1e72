"""The content of a picture, without uneven light, noise, ruled lines and specks.

Grey levels g (rows, columns) are integers from 0 to 255. In even light the background B is the
border's median; otherwise the better of a quadratic surface and a morphological closing, which
follows the edges of shadows. The strength of content is

    d = +-(g - B) max(B) / B

for content lighter (+) or darker (-) than its background; the quotient compensates the light, which
multiplies paper and ink alike. The playground does the same (`core/content.ts`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy  # submodules load at first use

_TILES = 16  # a side, of the grid that the quadratic surface is fitted to
_FITS = 4  # of the surface, each without the tiles that were far from the previous one
_NEAR = 12.0  # levels: tiles farther from the surface are not background
_EVEN = 6.0  # levels: light is even if at most this far from the border's median lies
_EVEN_SHARE = 0.5  # of the border, and
_ONE_SIDED = 0.9  # skewness: the rest differs in one direction
_LOW, _HIGH = 0.25, 0.5  # of the largest strength: hysteresis thresholds of content
_FULL = 0.75  # quantile of the strong content's strength that counts as full
_SPECK = 0.04  # of the largest piece of content: smaller pieces are specks
_LOOSE = 0.2  # of the largest piece: pieces of this size off the border are the content
_SHADOW = 8  # a dark corner thicker than the picture's side over this is a shadow
_FREED = 0.1  # of the content on the border may stay when ruling is removed
_THIN = 0.6  # of the thickest stroke: thinner ones that run off the picture may be ruling
_MAX_GAIN = 4.0
_EIGHT = np.ones((3, 3), dtype=np.int64)  # neighbours, diagonal ones included


def find_content(grey: np.ndarray, light: bool | None = None) -> np.ndarray:
    """Content as levels from 0 to 1 (rows, columns), zero elsewhere.

    `light` is True for content lighter than its background; None detects it.
    """
    levels = grey.astype(np.int64)
    if levels.shape[1] > 1:
        noise = float(np.median(np.abs(np.diff(levels, axis=1))))
        levels = _box_mean(levels, 0 if noise < 2 else 1 if noise < 6 else 2)
    best = min(_candidates(levels, light), key=_blemishes)
    best = np.where(_remove_specks(best > 0), best, 0.0)
    if not best.any():
        return best
    full = float(np.quantile(best[best > _HIGH * best.max()], _FULL))
    return np.minimum(best / full, 1.0)


def _candidates(levels: np.ndarray, light: bool | None) -> Iterator[np.ndarray]:
    """The strength of content over each possible background, zero elsewhere."""
    above = levels - np.median(border(levels))
    flat = _one_level(above)
    if light is None:  # uneven light lies on both sides of a local mean, strokes on one
        near = above if flat else levels - _box_mean(levels, min(levels.shape) // 4)
        light = _skewness(near) > 0
    if flat:
        yield _strength(above, levels - above, light)
        return
    # Fills content narrower than a quarter of the picture.
    fill = scipy.ndimage.grey_opening if light else scipy.ndimage.grey_closing
    width = 2 * (min(levels.shape) // 8) + 1
    filled = fill(levels, (width, width), mode="nearest").astype(np.float64)
    for background in (_surface(levels), filled):
        yield _strength(levels - background, background, light)


def _one_level(above: np.ndarray) -> bool:
    """True in even light: most of the border is near its median, the rest differs in one
    direction, and no corner is in a shadow."""
    near = (np.abs(border(above)) <= _EVEN).mean()
    if near < _EVEN_SHARE or abs(_skewness(above)) < _ONE_SIDED:
        return False
    strength = np.abs(above)
    pieces, _ = scipy.ndimage.label(strength > _LOW * strength.max(), _EIGHT)
    corners = np.isin(pieces, pieces[[0, 0, -1, -1], [0, -1, 0, -1]]) & (pieces > 0)
    return bool(_depth(corners).max() < max(above.shape) / _SHADOW)


def _blemishes(strength: np.ndarray) -> float:
    """A measure of wrong backgrounds: the share of the border that is content, plus the share of
    content that is pale."""
    content = int((strength > 0).sum())
    pale = content - int((strength > _HIGH * strength.max()).sum())
    return float(border(strength > 0).mean()) + pale / max(content, 1)


def _skewness(above: np.ndarray) -> float:
    """sum x^3 / sum |x|^3, from -1 to 1: the sign of the largest deviations."""
    cubes = np.asarray(above, dtype=np.float64) ** 3
    return float(cubes.sum() / max(np.abs(cubes).sum(), 1.0))


def _box_mean(levels: np.ndarray, radius: int) -> np.ndarray:
    """Means over the boxes within the picture, rounded."""
    width = 2 * radius + 1
    sums, counts = (
        np.rint(width**2 * scipy.ndimage.uniform_filter(values, width, mode="constant"))
        for values in (levels.astype(np.float64), np.ones(levels.shape))
    )
    return np.asarray((2 * sums + counts) // (2 * counts), dtype=np.int64)


def border(levels: np.ndarray) -> np.ndarray:
    """The levels of the four edges."""
    return np.concatenate([levels[0], levels[-1], levels[:, 0], levels[:, -1]])


def _surface(levels: np.ndarray) -> np.ndarray:
    """The quadratic surface through the medians of tiles, fitted to those at the border first, by
    weights w (6) that minimise |w terms - tiles|^2 + 1e-6 n |w|^2."""
    rows, columns = (min(_TILES, side) for side in levels.shape)
    down, across = (
        [side * i // count for i in range(1, count)]
        for side, count in zip(levels.shape, (rows, columns), strict=True)
    )
    tiles = np.array(
        [
            [np.median(tile) for tile in np.split(strip, across, 1)]
            for strip in np.split(levels, down)
        ]
    )
    terms = _terms(rows, columns)
    used = np.zeros((rows, columns), dtype=bool)
    used[0] = used[-1] = used[:, 0] = used[:, -1] = True
    for _ in range(_FITS):
        near = terms[:, used]
        ridge = 1e-6 * near.shape[1] * np.eye(len(terms))
        weights = np.linalg.solve(near @ near.T + ridge, near @ tiles[used])
        far = np.abs(tiles - np.tensordot(weights, terms, 1))
        # At least the nearer half stays, so that a bad first fit can improve.
        used = far <= max(_NEAR, float(np.median(far)))
    return np.clip(np.tensordot(weights, _terms(*levels.shape), 1), 0.0, 255.0)


def _terms(rows: int, columns: int) -> np.ndarray:
    """1, y, x, y^2, yx, x^2 (6, rows, columns) at the centres of a grid on the unit square."""
    sides = [(np.arange(count) + 0.5) / count for count in (rows, columns)]
    y, x = np.meshgrid(*sides, indexing="ij")
    return np.stack([np.ones(y.shape), y, x, y * y, y * x, x * x])


def _strength(above: np.ndarray, background: np.ndarray, light: bool) -> np.ndarray:
    """d of levels `above` their background, in pieces above the low threshold that somewhere
    exceed the high one; without ruling."""
    gain = np.minimum(background.max() / np.maximum(background, 1.0), _MAX_GAIN)
    strength = np.maximum((above if light else -above) * gain, 0.0)
    low, high = (strength > share * strength.max() for share in (_LOW, _HIGH))
    mask = scipy.ndimage.binary_propagation(high, _EIGHT, low)
    return np.where(_remove_ruling(mask), strength, 0.0)


def _remove_ruling(mask: np.ndarray) -> np.ndarray:
    """The mask opened by the smallest square that clears the border, if thinner than strokes."""
    depth = _depth(mask)
    share = float(border(mask).mean())
    for radius in range(1, int(_THIN * depth.max()) + 1 if share > 0 else 0):
        wide = scipy.ndimage.maximum_filter(depth > radius, 2 * radius + 3, mode="constant")
        opened = np.asarray(mask & wide)
        if border(opened).mean() <= _FREED * share:
            return opened
    return mask


def _depth(mask: np.ndarray) -> np.ndarray:
    """Chessboard distance of each pixel from the nearest one outside the mask."""
    distances = scipy.ndimage.distance_transform_cdt(np.pad(mask, 1), "chessboard")
    return np.asarray(distances[1:-1, 1:-1])


def _remove_specks(mask: np.ndarray) -> np.ndarray:
    """The mask without small pieces, and without those on the border beside a free one."""
    pieces, count = scipy.ndimage.label(mask, _EIGHT)
    sizes = np.bincount(pieces.ravel(), minlength=count + 1)
    sizes[0] = 0
    free = sizes.copy()
    free[border(pieces)] = 0
    if free.max() >= _LOOSE * sizes.max():
        sizes = free
    return np.asarray((sizes >= max(1.0, _SPECK * sizes.max()))[pieces])
