"""Stage I in one epoch: PATH by the exact solver, as a task of the one trainer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.measure import chunks
from entrain.learning.exact_path import solve_path
from entrain.learning.student_task import PARAMETER_NAMES, StudentTask
from entrain.learning.trainer import Parameters
from entrain.physics import local_fields


class ExactPathTask(StudentTask):
    """PATH with the exact minimiser of the path loss in the place of SGD: one epoch, all runs."""

    on_progress: Callable[[float], None] | None = None

    def run_epoch(self, parameters: Parameters, epoch: int) -> dict[str, Tensor]:
        solution = solve_path(
            self.train,
            self.dynamics,
            nodes=self.protocol.path_nodes,
            ridge=self.protocol.ridge,
            on_progress=self.on_progress,
        )
        for name, tensor in parameters.items():
            tensor.copy_(solution[name].expand_as(tensor))
        loss = parameters["biases"].new_full((len(self.runs),), self._path_loss(parameters))
        return {"loss": loss, "path_loss": loss, "endpoint_loss": torch.zeros_like(loss)}

    def _path_loss(self, parameters: Parameters) -> float:
        """L_path of the first run over all training examples."""
        weights, biases, couplings = (parameters[name][:1] for name in PARAMETER_NAMES)
        total = 0.0
        for rows, inputs in chunks(self.train.inputs):
            loss, _, _ = kernels.path_loss(
                local_fields(weights, biases, inputs[None]),
                couplings,
                self.train.coefficients[rows][None],
                self.dynamics,
                nodes=self.protocol.path_nodes,
            )
            total += float(loss) * len(inputs)
        return total / len(self.train.labels)
