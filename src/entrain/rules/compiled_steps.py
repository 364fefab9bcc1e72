"""The steps of DIRECT in one compiled call for each epoch, where they can be.

The steps are those of `DirectTraining` in PyTorch operations, to rounding: the cross-entropy or the
squared error of a network that has fields and couplings alone, on inputs in memory, by the CPU
kernels. Chips, distortions, distillation, terms, frozen tensors and the losses of other tasks take
the PyTorch operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from entrain import kernels
from entrain.physics.couplings import SMALLEST

if TYPE_CHECKING:
    from entrain.kernels.training_pass import TrainingPass
    from entrain.rules.direct_training import DirectTraining


def compiled_steps(
    training: DirectTraining, targets: Tensor, weights: Tensor | None
) -> TrainingPass | None:
    """Compiled passes over examples with `targets` (M, O) and `weights` (M,); None if only PyTorch
    operations compute the steps of this training."""
    module = kernels.training_module(training.device)
    if module is None or not _is_plain(training):
        return None
    protocol = training.protocol
    names = ("input_rate", "coupling_rate", "weight_decay", "gain", "smoothing")
    settings = (training.by_run(name) for name in names)
    is_squared = training.task.compiled_loss == "squared error"
    loss = module.Loss(*settings, protocol.clip, protocol.averaging, is_squared)
    inputs = training.train.all_inputs()
    compiled: TrainingPass = module.TrainingPass(inputs, targets, weights, training.graph, loss)
    return compiled


def _is_plain(training: DirectTraining) -> bool:
    """True if nothing but fields, couplings and labels takes part in a training."""
    protocol, inputs = training.protocol, training.train.inputs
    if inputs is None:
        is_fixed = protocol.augmentation.is_identity
    else:
        is_fixed = inputs.dim() == 2 and inputs.dtype == torch.float32
    return (
        is_fixed
        and training.task.compiled_loss is not None
        and training.network.is_plain
        and len(training.graph) <= SMALLEST
        and (protocol.chips is None or protocol.chips.hardware.is_identity)
        and (not protocol.distillation or bool(protocol.temperature))  # else other targets
        and protocol.input_distortions.is_identity
        and not protocol.frozen
    )
