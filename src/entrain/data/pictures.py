"""A picture from disk, of any size and polarity, as the pixels a model expects.

A picture that already has the model's size is taken as it is (grey levels rescaled to the model's
range). Any other is prepared as the MNIST digits were: the background made dark, the content cut
out, scaled to fit 20/28 of the frame with its aspect kept, and placed with its centre of mass in
the middle. Content is all that differs from the border's median by an eighth of the grey range.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from entrain.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

POLARITIES = ("auto", "light-on-dark", "dark-on-light")
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")

_FRAME = 20 / 28  # the share of the frame MNIST's digits fill
_MOST_PIXELS = 50_000_000


def read_picture(
    path: Path, shape: tuple[int, int], pixel_max: float, polarity: str = "auto"
) -> np.ndarray:
    """Pixels (rows, columns) from 0 to `pixel_max` of the picture at `path`."""
    grey = _grey(path)
    if polarity == "dark-on-light" or (polarity == "auto" and np.median(_border(grey)) > 0.5):
        grey = 1.0 - grey
    if float(grey.max() - grey.min()) == 0.0:
        raise InputError(f"{path}: the picture is constant: it has no content to classify")
    if grey.shape != shape:
        grey = _fitted(grey, shape)
    return np.asarray(grey * pixel_max)


def _grey(path: Path) -> np.ndarray:
    """Luminance from 0 to 1, upright, transparency laid over white."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if not path.is_file():
        raise InputError(f"{path}: no such picture")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its size and of stray metadata
            with Image.open(path, formats=FORMATS) as picture:
                if picture.width * picture.height > _MOST_PIXELS:
                    raise InputError(
                        f"{path}: {picture.width} x {picture.height} pixels are too many; "
                        f"at most {_MOST_PIXELS:,}"
                    )
                upright = ImageOps.exif_transpose(picture)
                if upright.mode.startswith(("I", "F")):
                    return _deep(upright)
                rgba = upright.convert("RGBA")
                paper = Image.new("RGBA", rgba.size, "white")
                flat = Image.alpha_composite(paper, rgba).convert("L")
                return np.asarray(flat, dtype=np.float64) / 255.0
    except InputError:
        raise
    except UnidentifiedImageError as error:
        raise InputError(
            f"{path}: not a picture that can be read; expected one of {', '.join(FORMATS)}"
        ) from error
    except Image.DecompressionBombError as error:
        raise InputError(f"{path}: too many pixels; at most {_MOST_PIXELS:,}") from error
    except MemoryError:
        raise
    except Exception as error:  # decoders raise many kinds on broken files
        raise InputError(f"{path}: the picture is truncated or corrupt ({error})") from error


def _deep(picture: Image.Image) -> np.ndarray:
    """Grey levels of 16 bits, or of any finite numbers, from 0 to 1."""
    levels = np.asarray(picture, dtype=np.float64)
    if not np.isfinite(levels).all():
        raise ValueError("it holds NaN or infinite pixels")
    low, high = min(0.0, float(levels.min())), float(levels.max())
    if picture.mode.startswith("I"):
        high = max(high, 65535.0)
    return (levels - low) / max(high - low, 1e-300)


def _border(grey: np.ndarray) -> np.ndarray:
    return np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])


def _fitted(grey: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The content of `grey` in a dark frame of `shape`, centred by mass."""
    from PIL import Image
    from scipy.ndimage import center_of_mass, shift

    light = np.clip(grey - np.median(_border(grey)), 0.0, None)
    content = light > (grey.max() - grey.min()) / 8
    rows, columns = np.flatnonzero(content.any(1)), np.flatnonzero(content.any(0))
    if not len(rows):  # content darker than a dark border: nothing stands out
        light, rows, columns = grey, np.arange(grey.shape[0]), np.arange(grey.shape[1])
    cut = light[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = min(side * _FRAME / length for side, length in zip(shape, cut.shape, strict=True))
    size = [max(1, round(length * scale)) for length in cut.shape]
    picture = Image.fromarray((cut / cut.max()).astype(np.float32), mode="F")
    small = np.asarray(picture.resize((size[1], size[0]), Image.Resampling.BOX), dtype=np.float64)
    frame = np.zeros(shape)
    top, left = ((side - length) // 2 for side, length in zip(shape, size, strict=True))
    frame[top : top + size[0], left : left + size[1]] = small
    middle = [(side - 1) / 2 for side in shape]
    offset = [round(m - c) for m, c in zip(middle, center_of_mass(frame), strict=True)]
    return np.clip(shift(frame, offset, order=0), 0.0, 1.0)
