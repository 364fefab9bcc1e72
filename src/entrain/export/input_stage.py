"""Fields of raw inputs, for formats that run without a processor before them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import FeatureScaling, Preprocessing
from entrain.data.preprocessing import grey_levels
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
        if hidden > n:
            raise InputError(f"input weights for {hidden} of {n} oscillators")
        shapes: dict[str, list[tuple[int, ...]]] = {
            "raw": [(images, inputs)],
            "mean": [(1,), (inputs,)],
            "scale": [(1,), (inputs,)],
            "norm": [(1,)],
            "biases": [(n,)],
            "input_weights": [(hidden, inputs)],
        }
        for name, allowed in shapes.items():
            check_tensor(_PREFIX + name, getattr(self, name), *allowed)


def check_tensor(name: str, tensor: Tensor, *shapes: tuple[int, ...]) -> None:
    """Raise for a tensor of none of these shapes, or with numbers that are not finite."""
    if tuple(tensor.shape) not in shapes or not bool(tensor.isfinite().all()):
        raise InputError(f"{name} of shape {tuple(tensor.shape)}, or not finite")


def input_stage_of(
    raw: np.ndarray,
    preprocessing: Preprocessing | FeatureScaling,
    input_weights: Tensor,
    biases: Tensor,
) -> InputStage:
    """The input stage of a model: grey levels of raw pixels, or features."""
    if isinstance(preprocessing, Preprocessing):
        top = preprocessing.pixel_max
        raw = grey_levels(raw, top)
        mean, scale = [top * preprocessing.mean], [1.0 / (top * preprocessing.sd)]
        norm = preprocessing.test_norm
    else:
        mean, norm = list(preprocessing.mean), 0.0
        scale = [preprocessing.factor / sd for sd in preprocessing.sd]
    stage = (
        np.asarray(raw, dtype=np.float64).reshape(len(raw), -1),
        mean,
        scale,
        [norm],
        input_weights,
        biases,
    )
    return InputStage(*(torch.as_tensor(values, dtype=torch.float64) for values in stage))


def split_input_stage(tensors: dict[str, Tensor]) -> tuple[dict[str, Any], InputStage | None]:
    """The tensors of the phase model, and the input stage if the file has one."""
    names = [name for name in tensors if name.startswith(_PREFIX)]
    acting = {name: tensor for name, tensor in tensors.items() if name not in names}
    stage = {name.removeprefix(_PREFIX): tensors[name] for name in names}
    return acting, InputStage(**stage) if stage else None
