"""What makes the fields of a network out of raw inputs: for formats that run without a processor
in front of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import FeatureScaling, Preprocessing
from entrain.utils.errors import InputError

_PREFIX = "front."


@dataclass(frozen=True)
class InputStage:
    r"""Fields of raw pixels or features x, in float64:

        z = (x - mean) scale,   u = norm z / |z| (z itself where norm is 0),   b = W u + c

    `raw` (M, D) are those of the design's images, `mean` and `scale` (D,) or (1,), `norm` (1,),
    `input_weights` W (H, D) of the first H oscillators, `biases` c (N,).
    """

    raw: Tensor
    mean: Tensor
    scale: Tensor
    norm: Tensor
    input_weights: Tensor
    biases: Tensor

    def tensors(self) -> dict[str, Tensor]:
        """By the names that a design's file has."""
        return {_PREFIX + each.name: getattr(self, each.name) for each in fields(self)}

    def check(self, images: int, n: int) -> None:
        """Refuse shapes that do not belong to M images and N oscillators."""
        hidden, inputs = self.input_weights.shape
        wanted: dict[str, tuple[tuple[int, ...], ...]] = {
            "raw": ((images, inputs),),
            "mean": ((1,), (inputs,)),
            "scale": ((1,), (inputs,)),
            "norm": ((1,),),
            "biases": ((n,),),
            "input_weights": ((hidden, inputs),),
        }
        for name, shapes in wanted.items():
            tensor = getattr(self, name)
            if tuple(tensor.shape) not in shapes or not bool(tensor.isfinite().all()):
                raise InputError(f"front.{name} of shape {tuple(tensor.shape)}, or not finite")
        if hidden > n:
            raise InputError(f"input weights of {hidden} oscillators, of {n} that there are")


def input_stage_of(
    raw: np.ndarray,
    preprocessing: Preprocessing | FeatureScaling,
    input_weights: Tensor,
    biases: Tensor,
) -> InputStage:
    """The front of a model: raw pixels from 0 to the largest grey level, or rows of features."""
    if isinstance(preprocessing, Preprocessing):
        top = preprocessing.pixel_max
        mean, scale = [top * preprocessing.mean], [1.0 / (top * preprocessing.sd)]
        norm = preprocessing.test_norm
    else:
        mean, norm = list(preprocessing.mean), 0.0
        scale = [preprocessing.factor / sd for sd in preprocessing.sd]
    rows = torch.as_tensor(np.asarray(raw, dtype=np.float64)).reshape(len(raw), -1)
    return InputStage(
        rows,
        torch.tensor(mean, dtype=torch.float64),
        torch.tensor(scale, dtype=torch.float64),
        torch.tensor([norm], dtype=torch.float64),
        input_weights.double(),
        biases.double(),
    )


def split_input_stage(tensors: dict[str, Tensor]) -> tuple[dict[str, Any], InputStage | None]:
    """The other tensors of a design's file, and its front, where there is one."""
    own: dict[str, Any] = {
        name.removeprefix(_PREFIX): tensor
        for name, tensor in tensors.items()
        if name.startswith(_PREFIX)
    }
    others = {name: tensor for name, tensor in tensors.items() if not name.startswith(_PREFIX)}
    return others, InputStage(**own) if own else None
