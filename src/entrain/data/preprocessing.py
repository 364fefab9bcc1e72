"""From pixels to network inputs: scalar standardisation, then a fixed norm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.utils.errors import InputError, finite_float, positive_float, positive_int

_CHUNK = 4096  # images at a time in float64
_ROWS = 64  # images at a time that stay in a processor's cache
_PARALLEL = 16  # pieces of so many rows, from which threads gain
_LARGE = 1e9  # constants of real pictures are smaller, and larger than the inverse
_MOST_PIXELS = 2**16  # a side


@dataclass(frozen=True)
class Preprocessing:
    r"""Conversion of raw pixels to inputs u.

        p = pixels / pixel_max,   z = (p - mean) / sd,   u = norm z / |z|

    Args:
        image_shape: Rows and columns.
        pixel_max: The largest pixel value possible.
        mean: Mean of p over all pixels of the training images.
        sd: Their standard deviation (population).
        norm: The largest |z| of the training images.
        test_norm: Replaces `norm` for unseen images: the same number, except for Fashion-MNIST,
            where the paper derives it from the test images.

    Examples:
        >>> digits = entrain.load_dataset("digits")
        >>> u = digits.preprocessing(digits.test.features[:5])
        >>> u.shape, u.dtype
        (torch.Size([5, 64]), torch.float32)
    """

    image_shape: tuple[int, int]
    pixel_max: float
    mean: float
    sd: float
    norm: float
    test_norm: float

    def __post_init__(self) -> None:
        if len(self.image_shape) != 2:
            raise InputError(f"image_shape must be (rows, columns), got {self.image_shape!r}")
        for side in self.image_shape:
            positive_int("image_shape", side, most=_MOST_PIXELS)
        for name in ("pixel_max", "sd", "norm", "test_norm"):
            positive_float(name, getattr(self, name), least=1 / _LARGE, most=_LARGE)
        finite_float("mean", self.mean, least=-_LARGE, most=_LARGE)

    @property
    def inputs(self) -> int:
        """D, the number of pixels."""
        return self.image_shape[0] * self.image_shape[1]

    @classmethod
    def fit(
        cls,
        train: np.ndarray,
        image_shape: tuple[int, int],
        pixel_max: float,
        test: np.ndarray | None = None,
    ) -> Preprocessing:
        """The preprocessing of training images.

        Args:
            train: Training pixels (n, D).
            image_shape: Rows and columns.
            pixel_max: The largest pixel value possible.
            test: Test pixels (m, D), if unseen images have their norm.
        """
        train = grey_levels(train, pixel_max)
        test = None if test is None else grey_levels(test, pixel_max)
        total = math.fsum(float(chunk.sum(dtype=np.float64)) for chunk in _chunks(train))
        mean = total / train.size / pixel_max
        squares = math.fsum(
            float(np.square(chunk / pixel_max - mean).sum()) for chunk in _chunks(train)
        )
        sd = math.sqrt(squares / train.size)
        unscaled = cls(image_shape, pixel_max, mean, sd, 1.0, 1.0)
        norm, test_norm = (
            max(float(np.linalg.norm(z, axis=1).max()) for z in unscaled._standardise(pixels))
            for pixels in (train, train if test is None else test)
        )
        return cls(image_shape, pixel_max, mean, sd, norm, test_norm)

    def __call__(self, pixels: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Inputs (n, D), float32, of raw pixels (n, D), (n, rows, columns) or one image.

        Pixels are integers from 0 to `pixel_max`, or fractions of it: floats from 0 to 1, or truth
        values. Each image has its own scale, see `grey_levels`.
        """
        flat = self._checked(as_array(pixels))
        norm = self.test_norm if unseen else self.norm
        inputs = np.empty(flat.shape, dtype=np.float32)

        def write(start: int) -> None:
            z = self._z(flat[start : start + _ROWS])
            length = np.linalg.norm(z, axis=1, keepdims=True)
            z *= norm
            np.divide(z, length, out=inputs[start : start + _ROWS], casting="same_kind")

        starts = range(0, len(flat), _ROWS)
        if len(starts) < _PARALLEL or torch.get_num_threads() == 1:
            for start in starts:
                write(start)
        else:
            with ThreadPoolExecutor(torch.get_num_threads()) as pool:
                list(pool.map(write, starts))
        return torch.from_numpy(inputs)

    def contrast(self, pixels: np.ndarray) -> Tensor:
        """SD (n,) of the p of each image, float64; inputs have lost it.

        Args:
            pixels: As for a call.
        """
        flat = self._checked(as_array(pixels))
        deviations = [chunk.std(axis=1, dtype=np.float64) for chunk in _chunks(flat)]
        return torch.from_numpy(np.concatenate(deviations) / self.pixel_max)

    def inputs_of_levels(self, images: Tensor) -> Tensor:
        """Inputs (n, D) of images on any device, for augmentation in training.

        Args:
            images: Grey levels from 0 to 1 (n, rows, columns).
        """
        z = (images.flatten(1) - self.mean) / self.sd
        length: Tensor = torch.linalg.vector_norm(z, dim=1, keepdim=True)
        return z * (self.norm / length)

    def _standardise(self, pixels: np.ndarray) -> Iterator[np.ndarray]:
        """z of images (n, D), in chunks."""
        for chunk in _chunks(pixels):
            yield self._z(chunk)

    def _z(self, pixels: np.ndarray) -> np.ndarray:
        """z = (p - mean) / sd, float64."""
        z = pixels.astype(np.float64)
        z /= self.pixel_max
        z -= self.mean
        z /= self.sd
        return z

    def _checked(self, pixels: np.ndarray) -> np.ndarray:
        _require_numbers(pixels)
        shape = pixels.shape
        rows, columns = self.image_shape
        if shape[-2:] != (rows, columns) and shape[-1:] != (self.inputs,):
            raise InputError(
                f"images must be {rows} x {columns} pixels (or rows of {self.inputs}), "
                f"got shape {shape}"
            )
        pixels = pixels.reshape(-1, self.inputs)
        if len(pixels) == 0:
            raise InputError("there must be at least one image, got none")
        if pixels.dtype.kind == "f" and len(
            bad := np.flatnonzero(~np.isfinite(pixels).all(axis=1))
        ):
            raise InputError(
                f"image {bad[0]} holds NaN or infinite pixels; expected finite numbers"
            )
        if len(bad := np.flatnonzero(pixels.max(axis=1) == pixels.min(axis=1))):
            raise InputError(
                f"image {bad[0]} is constant (every pixel {pixels[bad[0], 0]}): "
                "it has no content to classify"
            )
        return grey_levels(pixels, self.pixel_max)


def as_array(values: Any) -> np.ndarray:
    """Values as an array, also those of tensors with gradients, on devices or in half precision."""
    if isinstance(values, Tensor):
        plain = values.detach().cpu()
        return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()
    if hasattr(values, "toarray"):  # sparse
        return np.asarray(values.toarray())
    if np.ma.is_masked(values):
        raise InputError("some values are masked; fill them in or leave their rows out")
    return np.asarray(values)


def grey_levels(pixels: np.ndarray, pixel_max: float) -> np.ndarray:
    """Pixels (n, D) as grey levels from 0 to `pixel_max`; each image has its own scale.

    Truth values, and floats up to 1, are fractions of `pixel_max`. Integers, and floats that are
    whole numbers, are levels. Integers 0 and 1 alone may be either, unless `pixel_max` is 1, and
    are refused, as is everything else.
    """
    _require_numbers(pixels)
    if pixels.dtype.kind == "b":
        return pixels * float(pixel_max)
    low, high = pixels.min(axis=1), pixels.max(axis=1)
    small = high <= 1
    if pixels.dtype.kind in "ui":
        valid, fractions = high <= pixel_max, np.zeros_like(small)
        if pixel_max > 1 and (binary := small & (low >= 0)).any():
            raise InputError(
                f"image {np.argmax(binary)} holds the integers 0 and 1 alone, which may "
                f"be black and white or two of {pixel_max + 1:g} levels; give truth values or "
                "floats for black and white, such as images.astype(bool)"
            )
    else:
        valid, fractions = small.copy(), small
        for i in np.flatnonzero(~small & (high <= pixel_max)):
            valid[i] = bool((pixels[i] == np.rint(pixels[i])).all())
    if not (valid & (low >= 0)).all():
        bad = int(np.argmin(valid & (low >= 0)))
        raise InputError(
            f"pixels must be whole numbers from 0 to {pixel_max:g} or fractions from 0 to 1, got "
            f"{'whole numbers' if pixels.dtype.kind in 'ui' else 'numbers'} from "
            f"{float(low[bad]):g} to {float(high[bad]):g} in image {bad}"
        )
    if not fractions.any():
        return pixels
    levels = pixels.astype(np.float64)
    levels[fractions] *= pixel_max
    return levels


def _require_numbers(pixels: np.ndarray) -> None:
    if pixels.dtype.kind not in "buif":
        raise InputError(f"pixels must be numbers, got an array of {pixels.dtype}")


def _chunks(pixels: np.ndarray) -> list[np.ndarray]:
    return [pixels[i : i + _CHUNK] for i in range(0, len(pixels), _CHUNK)]
