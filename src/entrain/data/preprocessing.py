"""From pixels to network inputs: scalar standardisation, then a fixed norm."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from entrain.errors import InputError, positive_float, positive_int

_CHUNK = 4096  # images at a time in float64


@dataclass(frozen=True)
class Preprocessing:
    r"""The constants that turn raw pixels into inputs u.

        p = pixels / pixel_max,   z = (p - mean) / sd,   u = norm z / |z|

    `mean` and `sd` (population) are scalars over all pixels of the training images, `norm` is the
    largest |z| among them. Unseen images are scaled to `test_norm`: the same number, except where
    a dataset's protocol derives it from its test images (Fashion-MNIST).
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
            positive_int("image_shape", side)
        for name in ("pixel_max", "sd", "norm", "test_norm"):
            positive_float(name, getattr(self, name))
        if not math.isfinite(self.mean):
            raise InputError(f"mean must be finite, got {self.mean!r}")

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
        """Constants of the training pixels (n, D); with `test` (m, D), its own norm for unseen."""
        total = math.fsum(float(chunk.sum(dtype=np.float64)) for chunk in _chunks(train))
        mean = total / train.size / pixel_max
        squares = math.fsum(
            float(np.square(chunk / pixel_max - mean).sum()) for chunk in _chunks(train)
        )
        sd = math.sqrt(squares / train.size)
        unscaled = cls(image_shape, pixel_max, mean, sd, 1.0, 1.0)
        norm = unscaled._largest_norm(train)
        test_norm = norm if test is None else unscaled._largest_norm(test)
        return cls(image_shape, pixel_max, mean, sd, norm, test_norm)

    def __call__(self, pixels: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Inputs (n, D), float32, of raw pixels (n, D), (n, rows, columns) or one image."""
        flat = self._checked(np.asarray(pixels))
        norm = self.test_norm if unseen else self.norm
        rows = []
        for chunk in _chunks(flat):
            z = self._standardise(chunk)
            rows.append((norm * z / np.linalg.norm(z, axis=1, keepdims=True)).astype(np.float32))
        return torch.from_numpy(np.concatenate(rows))

    def inputs_of_levels(self, images: Tensor) -> Tensor:
        """Inputs (n, D) of grey levels from 0 to 1 (n, rows, columns), where they are: for images
        that were distorted on a device in training."""
        z = (images.flatten(1) - self.mean) / self.sd
        length: Tensor = torch.linalg.vector_norm(z, dim=1, keepdim=True)
        return z * (self.norm / length)

    def _standardise(self, pixels: np.ndarray) -> np.ndarray:
        return (pixels.astype(np.float64) / self.pixel_max - self.mean) / self.sd

    def _largest_norm(self, pixels: np.ndarray) -> float:
        return max(
            float(np.linalg.norm(self._standardise(chunk), axis=1).max())
            for chunk in _chunks(pixels)
        )

    def _checked(self, pixels: np.ndarray) -> np.ndarray:
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
        if not np.isfinite(pixels).all():
            bad = int(np.flatnonzero(~np.isfinite(pixels).all(axis=1))[0])
            raise InputError(f"image {bad} holds NaN or infinite pixels; expected finite numbers")
        constant = pixels.max(axis=1) == pixels.min(axis=1)
        if constant.any():
            bad = int(np.flatnonzero(constant)[0])
            raise InputError(
                f"image {bad} is constant (every pixel {pixels[bad, 0]}): "
                "it has no content to classify"
            )
        low, high = float(pixels.min()), float(pixels.max())
        if low < 0 or high > self.pixel_max:
            raise InputError(
                f"pixels must lie from 0 to {self.pixel_max:g}, got {low:g} to {high:g}"
            )
        return pixels


def _chunks(pixels: np.ndarray) -> list[np.ndarray]:
    return [pixels[i : i + _CHUNK] for i in range(0, len(pixels), _CHUNK)]
