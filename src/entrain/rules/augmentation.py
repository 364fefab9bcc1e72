"""Random distortions of images, computed on the device that trains on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from entrain.utils.errors import InputError, check_ranges

_CONTROL = 5  # control points a side of an elastic distortion


@dataclass(frozen=True)
class Augmentation:
    """Bounds of random distortions: uniform within them, elastic ones normal.

    Args:
        shift: Pixels.
        rotation: Degrees.
        scale: Relative change of size.
        shear: Degrees.
        elastic: Standard deviation in pixels of a smooth displacement.
        flip: Mirror every second image left to right.

    Examples:
        >>> gentle = entrain.Augmentation(shift=1.0, rotation=5.0)
        >>> rule = entrain.Direct(augmentation=gentle)
    """

    shift: float = 0.0
    rotation: float = 0.0
    scale: float = 0.0
    shear: float = 0.0
    elastic: float = 0.0
    flip: bool = False

    def __post_init__(self) -> None:
        names = ("shift", "rotation", "scale", "shear", "elastic")
        check_ranges(self, non_negative=names, prefix="augmentation ")
        for name, most in (("scale", 1.0), ("shear", 90.0)):
            if getattr(self, name) >= most:
                raise InputError(
                    f"augmentation {name} must be below {most:g}, got {getattr(self, name)!r}"
                )

    @property
    def is_identity(self) -> bool:
        """True if images stay as they are."""
        return self == Augmentation()

    def draw_epoch(
        self, images: int, seed: int, runs: tuple[int, ...], epoch: int, device: torch.device
    ) -> Tensor:
        """Random numbers (R, images, ...) of an epoch, a function of seed, runs and epoch.

        Args:
            images: Number of images.
            seed: Seed of the training.
            runs: Training runs.
            epoch: Counted from 0.
            device: Where the images are.
        """
        seeds = [(seed * 1009 + run) * 100_003 + epoch for run in runs]
        generators = [torch.Generator(device).manual_seed(number) for number in seeds]
        return torch.stack([self.draw((images,), generator) for generator in generators])

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Random numbers (..., 7), with an elastic distortion (..., 57).

        Args:
            shape: The leading axes, one element for each image.
            generator: On the device of the images.
        """
        uniform = torch.rand((*shape, 7), generator=generator, device=generator.device)
        if not self.elastic:
            return uniform
        extra = (*shape, 2 * _CONTROL * _CONTROL)
        normal = torch.randn(extra, generator=generator, device=generator.device)
        return torch.cat([uniform, normal], dim=-1)

    def __call__(self, images: Tensor, draws: Tensor, strength: Tensor | float = 1.0) -> Tensor:
        """Images (n, rows, columns) distorted by `draws` (n, ...) within `strength` times the
        bounds; mirroring does not depend on the strength."""
        rows, columns = images.shape[-2:]
        aspect = rows / columns  # the grid's coordinates are from -1 to 1 along both sides
        centred = 2.0 * draws[:, :7] - 1.0
        angle = centred[:, 0] * math.radians(self.rotation) * strength
        growth = 1.0 + centred[:, 1] * self.scale * strength
        slant = torch.tan(centred[:, 2] * math.radians(self.shear) * strength)
        mirror = torch.ones_like(angle)
        if self.flip:
            mirror = torch.where(draws[:, 6] < 0.5, -mirror, mirror)
        cos, sin = angle.cos() / growth, angle.sin() / growth
        move = centred[:, 3:5] * self.shift * strength
        across = [cos * mirror, (slant * cos - sin) * aspect, 2.0 * move[:, 0] / columns]
        down = [sin * mirror / aspect, cos + slant * sin, 2.0 * move[:, 1] / rows]
        matrix = torch.stack([torch.stack(across, dim=1), torch.stack(down, dim=1)], dim=1)
        grid = functional.affine_grid(matrix, [len(images), 1, rows, columns], align_corners=False)
        if self.elastic:
            control = draws[:, 7:].reshape(-1, 2, _CONTROL, _CONTROL)
            smooth = _basis(rows, images) @ control @ _basis(columns, images).T
            # Filled on the device: a copy from the host cannot be part of a captured step.
            pixel = torch.stack([images.new_full((), 2.0 / side) for side in (columns, rows)])
            grid = grid + smooth.movedim(1, -1) * (self.elastic * strength * pixel)
        moved = functional.grid_sample(images[:, None], grid, align_corners=False)
        return moved[:, 0]


def _basis(length: int, like: Tensor) -> Tensor:
    """Gaussian weights (length, control points) of unit norm, which preserve the deviation."""
    at = torch.linspace(0.0, _CONTROL - 1.0, length, dtype=like.dtype, device=like.device)
    points = torch.arange(_CONTROL, dtype=like.dtype, device=like.device)
    weights = torch.exp(-0.5 * ((at[:, None] - points) / 0.7) ** 2)
    return weights / weights.square().sum(1, keepdim=True).sqrt()
