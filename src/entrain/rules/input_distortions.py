"""Random distortions of inputs in training: noise, and shifts and stretches in time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware import FreshDraws


@dataclass(frozen=True)
class InputDistortions:
    """Distortions of the inputs of a step, each example with its own.

    Args:
        noise: Standard deviation of normal noise on every input, over the root mean square of the
            inputs.
        shift: Most that a sequence is moved in time, over its length.
        stretch: Most that a sequence is slowed down or sped up, as a share, about its middle. Its
            ends are held where frames are missing.
    """

    noise: float = 0.0
    shift: float = 0.0
    stretch: float = 0.0

    @property
    def is_identity(self) -> bool:
        """True if inputs stay as they are."""
        return self == InputDistortions()

    def request(self, draws: FreshDraws, shape: tuple[int, ...]) -> None:
        """Request the random numbers of a step.

        Args:
            draws: Those of all steps on batches of this size.
            shape: Shape (B, D) or (B, T, D) of the inputs of a run.
        """
        if self.noise:
            draws.normal("input noise", *shape)
        if self.shift or self.stretch:
            draws.uniform("input time", shape[0], 2)

    def __call__(self, inputs: Tensor, draws: FreshDraws) -> Tensor:
        """Distorted inputs, of the shape of `inputs`.

        Args:
            inputs: u (R, B, D), or in time (R, B, T, D).
            draws: Random numbers, as requested.
        """
        if self.shift or self.stretch:
            signed = 2.0 * draws.uniform("input time", inputs.shape[1], 2) - 1.0
            inputs = warp(inputs, self.shift * signed[..., 0], self.stretch * signed[..., 1])
        if self.noise:
            axes = tuple(range(1, inputs.dim()))
            size = inputs.square().mean(axes, keepdim=True).sqrt()
            inputs = inputs + self.noise * size * draws.normal("input noise", *inputs.shape[1:])
        return inputs


def warp(inputs: Tensor, shift: Tensor, stretch: Tensor) -> Tensor:
    """Sequences (R, B, T, D) read at other times, between frames linearly.

        frame t of the result = frame (T - 1) (1/2 + (1 + stretch) (t / (T - 1) - 1/2) + shift)

    Args:
        inputs: Sequences (R, B, T, D).
        shift: Shift of each (R, B), over its length.
        stretch: Stretch of each (R, B).
    """
    last = inputs.shape[2] - 1
    centred = torch.linspace(-0.5, 0.5, last + 1, device=inputs.device)
    times = 0.5 + (1.0 + stretch[..., None]) * centred + shift[..., None]
    at = last * times.clamp(0.0, 1.0)
    before = at.floor().clamp(max=max(last - 1, 0))
    part = (at - before)[..., None]
    rows = before.long()[..., None].expand(-1, -1, -1, inputs.shape[3])
    return (
        inputs.gather(2, rows) * (1.0 - part) + inputs.gather(2, rows.add(1).clamp(max=last)) * part
    )
