"""Fields of raw inputs, for formats that run without a processor before them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import FeatureScaling, Preprocessing
from entrain.utils.errors import InputError

_PREFIX = "front."  # of the tensors in a design's file


@dataclass(frozen=True)
class InputStage:
    r"""Fields of raw pixels or features x, in float64:

        z = (x - mean) scale,   u = norm z / |z| (z itself if norm is 0),   b = W u + c

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
        """The tensors by their names in a design's file."""
        return {_PREFIX + item.name: getattr(self, item.name) for item in fields(self)}

    def check(self, images: int, n: int) -> None:
        """Raise for shapes other than those of M images and N oscillators."""
        hidden, inputs = self.input_weights.shape
        shapes: dict[str, set[tuple[int, ...]]] = {
            "raw": {(images, inputs)},
            "mean": {(1,), (inputs,)},
            "scale": {(1,), (inputs,)},
            "norm": {(1,)},
            "biases": {(n,)},
        }
        for name, allowed in shapes.items():
            tensor = getattr(self, name)
            if tuple(tensor.shape) not in allowed or not bool(tensor.isfinite().all()):
                raise InputError(f"{_PREFIX}{name} of shape {tuple(tensor.shape)}, or not finite")
        if hidden > n or not bool(self.input_weights.isfinite().all()):
            raise InputError(f"input weights for {hidden} of {n} oscillators, or not finite")


def input_stage_of(
    raw: np.ndarray,
    preprocessing: Preprocessing | FeatureScaling,
    input_weights: Tensor,
    biases: Tensor,
) -> InputStage:
    """The input stage of a model: raw pixels from 0 to the largest grey level, or features."""
    if isinstance(preprocessing, Preprocessing):
        top = preprocessing.pixel_max
        mean, scale = [top * preprocessing.mean], [1.0 / (top * preprocessing.sd)]
        norm = preprocessing.test_norm
    else:
        mean, norm = list(preprocessing.mean), 0.0
        scale = [preprocessing.factor / sd for sd in preprocessing.sd]
    rows = torch.as_tensor(np.asarray(raw, dtype=np.float64)).reshape(len(raw), -1)
    means, scales, norms = (
        torch.tensor(values, dtype=torch.float64) for values in (mean, scale, [norm])
    )
    return InputStage(rows, means, scales, norms, input_weights.double(), biases.double())


def split_input_stage(tensors: dict[str, Tensor]) -> tuple[dict[str, Any], InputStage | None]:
    """The tensors of the phase model, and the input stage if the file has one."""
    stage: dict[str, Any] = {}
    acting: dict[str, Any] = {}
    for name, tensor in tensors.items():
        part = stage if name.startswith(_PREFIX) else acting
        part[name.removeprefix(_PREFIX)] = tensor
    return acting, InputStage(**stage) if stage else None
