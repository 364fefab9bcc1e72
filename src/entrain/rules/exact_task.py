"""Stage I in one epoch: PATH by the exact solver."""

from __future__ import annotations

import torch

from entrain import kernels
from entrain.evaluation.measure import chunks
from entrain.physics import Parameters
from entrain.rules.exact_path import solve_path
from entrain.rules.interface import Tensors
from entrain.rules.two_stage_task import TwoStageTask


class ExactPathTask(TwoStageTask):
    """PATH with the exact minimiser of the path loss in the place of SGD: one epoch, all runs."""

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        solution = solve_path(
            self.train,
            self.dynamics,
            graph=self._spec.graph,
            nodes=self.protocol.path_nodes,
            ridge=self.protocol.ridge,
            on_progress=self.on_progress,
        )
        for name, tensor in tensors.items():
            tensor.copy_(solution[name].expand_as(tensor))
        first = self._spec.parameters({name: tensor[:1] for name, tensor in tensors.items()})
        loss = tensors["biases"].new_full((len(self.runs),), self._path_loss(first))
        return {"loss": loss, "path_loss": loss, "endpoint_loss": torch.zeros_like(loss)}

    def _path_loss(self, parameters: Parameters) -> float:
        """L_path of one run over all training examples."""
        total = 0.0
        for rows, inputs in chunks(self.train.inputs):
            loss, _ = kernels.path_loss(
                parameters.phase_model(inputs[None]),
                self.train.coefficients[rows][None],
                self.dynamics,
                nodes=self.protocol.path_nodes,
            )
            total += float(loss) * len(inputs)
        return total / len(self.train.labels)
