"""Pictures of any size and polarity as the pixels that a model expects.

A picture of the model's size is used unchanged (grey levels rescaled to the model's range). Any
other is prepared as the MNIST digits were: its content is found (`data/content.py`), cut out,
scaled to fit 20/28 of the frame with its aspect preserved, and centred by mass in a dark frame.
"""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from entrain.data.content import border, find_content
from entrain.utils.errors import InputError
from entrain.utils.files import read_bytes

if TYPE_CHECKING:
    from PIL import Image

POLARITIES = ("auto", "light-on-dark", "dark-on-light")
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")

_FRAME = 20 / 28  # of the frame is filled by MNIST's digits
MOST_PIXELS = 50_000_000
LONGEST_SIDE = 10_000
_MOST_BYTES = 100_000_000
WORKING_SIDE = 512  # larger pictures are scaled down to this first
_STRIP = 500_000  # pixels converted at a time
# Decoders that keep several copies: a picture takes 12 to 16 bytes a pixel instead of 1 to 4.
_MOST_PROGRESSIVE, _MOST_OF_FORMAT = 25_000_000, {"WEBP": 12_000_000}
_ORIENTATION = 0x0112  # the tag of EXIF


def read_picture(
    path: Path, shape: tuple[int, int], pixel_max: float, polarity: str = "auto"
) -> np.ndarray:
    """Pixels (rows, columns) from 0 to `pixel_max` of the picture at `path`."""
    content = read_bytes(path, "picture", _MOST_BYTES)
    # From memory: a decoder may trust a length in the header that the file does not have.
    return decode_picture(io.BytesIO(content), str(path), shape, pixel_max, polarity)


def decode_picture(
    file: IO[bytes], name: str, shape: tuple[int, int], pixel_max: float, polarity: str = "auto"
) -> np.ndarray:
    """Pixels (rows, columns) from 0 to `pixel_max` of a picture; `name` is for errors."""
    grey = _grey(file, name, shape)
    if float(grey.max() - grey.min()) == 0.0:
        raise InputError(f"{name}: the picture is constant: it has no content to classify")
    if grey.shape == shape:
        if polarity == "dark-on-light" or (polarity == "auto" and np.median(border(grey)) > 0.5):
            grey = 1.0 - grey
        return np.asarray(grey * pixel_max)
    light = None if polarity == "auto" else polarity == "light-on-dark"
    return framed(np.rint(255 * grey), shape, light) * pixel_max


def framed(grey: np.ndarray, shape: tuple[int, int], light: bool | None = None) -> np.ndarray:
    """Content from 0 to 1 in a dark frame of `shape`, of integer grey levels from 0 to 255."""
    content = find_content(grey, light)
    if not content.any():  # nothing stands out: use the entire picture
        content = grey - grey.min()
    return _fit(content, shape)


def _grey(file: IO[bytes], name: str, shape: tuple[int, int]) -> np.ndarray:
    """Luminance from 0 to 1, upright, transparency over white; pictures that do not have `shape`
    are scaled down to `WORKING_SIDE`."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its size and stray metadata
            with Image.open(file, formats=FORMATS) as picture:
                most = _MOST_OF_FORMAT.get(picture.format or "", MOST_PIXELS)
                if picture.info.get("progressive"):
                    most = _MOST_PROGRESSIVE
                if picture.width * picture.height > most or max(picture.size) > LONGEST_SIDE:
                    raise InputError(
                        f"{name}: {picture.width} x {picture.height} pixels are too many; at most "
                        f"{most:,}, and {LONGEST_SIDE:,} a side: make the picture smaller"
                    )
                factor = 1
                if shape not in (picture.size, picture.size[::-1]):
                    picture.draft(None, (2 * WORKING_SIDE, 2 * WORKING_SIDE))
                    factor = math.ceil(max(picture.size) / WORKING_SIDE)
                picture.load()
                return _upright(_luminance(picture, factor), picture.getexif().get(_ORIENTATION, 1))
    except (InputError, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise InputError(
            f"{name}: not a picture that can be read; expected one of {', '.join(FORMATS)}"
        ) from error
    except Image.DecompressionBombError as error:
        raise InputError(f"{name}: too many pixels; at most {MOST_PIXELS:,}") from error
    except Exception as error:  # decoders raise many kinds on broken files
        raise InputError(f"{name}: the picture is truncated or corrupt ({error})") from error


def _luminance(picture: Image.Image, factor: int) -> np.ndarray:
    """Luminance from 0 to 1, averaged over squares of `factor` pixels a side.

    The levels of a 16-bit or float picture that is scaled down are stretched: 16-bit files often
    use 12 bits.
    """
    from PIL import Image

    deep = picture.mode.startswith(("I", "F"))
    low, high = 0.0, 65535.0 if picture.mode.startswith("I") and factor == 1 else 0.0
    means = []
    rows = factor * max(1, _STRIP // (picture.width * factor))
    for top in range(0, picture.height, rows):
        strip = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        if deep:
            levels = np.asarray(strip, dtype=np.float64)
            if not np.isfinite(levels).all():
                raise ValueError("it holds NaN or infinite pixels")
            low, high = min(low, float(levels.min())), max(high, float(levels.max()))
            means.append(_means(levels, factor))
        else:
            rgba = strip.convert("RGBA")
            flat = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("L")
            means.append(np.asarray(flat.reduce(factor), dtype=np.float64))
    grey = np.concatenate(means)
    return (grey - low) / max(high - low, 1e-300) if deep else grey / 255.0


def _means(levels: np.ndarray, factor: int) -> np.ndarray:
    """Means over squares of `factor` pixels a side, smaller at the ends."""
    if factor == 1:
        return levels
    for axis in (0, 1):
        starts = np.arange(0, levels.shape[axis], factor)
        counts = np.diff([*starts, levels.shape[axis]])
        shape = (-1, 1) if axis == 0 else (1, -1)
        levels = np.add.reduceat(levels, starts, axis) / counts.reshape(shape)
    return levels


def _upright(levels: np.ndarray, orientation: int) -> np.ndarray:
    """Levels rotated and mirrored by an EXIF orientation, 1 to 8."""
    if orientation in (5, 6, 7, 8):
        levels = levels.T
    if orientation in (3, 4, 7, 8):
        levels = levels[::-1]
    if orientation in (2, 3, 6, 7):
        levels = levels[:, ::-1]
    return levels


def _fit(content: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Content cut out, scaled and centred by mass in a frame of `shape`."""
    from PIL import Image
    from scipy.ndimage import center_of_mass, shift

    rows, columns = np.flatnonzero(content.any(1)), np.flatnonzero(content.any(0))
    cut = content[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
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
