"""The work of every backend: the endpoint loss of one batch and its gradients.

With fields (B, N), couplings (N, N) and targets (B, O): roll out K Euler steps, take the mean
squared error of cos(theta) of the outputs, and differentiate it with respect to fields and
couplings. Inference is the rollout alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain import kernels
from entrain.physics import Dynamics, PhaseModel, layered_graph, readout
from entrain.rules.two_stage_training import endpoint_loss

OUTPUTS = 10
LARGEST_ERROR = 1e-3  # relative; above it a result differs and no time is reported

# () -> (loss, gradient by fields (B, N), gradient by couplings (N, N)); () -> outputs (B, O).
# The gradient by the couplings is compared after adding its transpose, on allowed pairs.
Train = Callable[[], tuple[Tensor, Tensor, Tensor]]
Infer = Callable[[], Tensor]


@dataclass(frozen=True)
class Problem:
    """A problem of B samples, N oscillators and K steps, on a device, in float32."""

    batch: int = 256
    oscillators: int = 74
    steps: int = 200
    device: str = "cpu"
    runs: int = 1

    @property
    def dynamics(self) -> Dynamics:
        """The paper's observation time in K steps."""
        return Dynamics(steps=self.steps)

    def tensors(self, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor]:
        """Fields (R, B, N), couplings (R, N, N) and targets (R, B, O), as large as trained ones."""
        generator = torch.Generator().manual_seed(0)
        outputs = min(OUTPUTS, self.oscillators - 1)
        n, hidden = self.oscillators, self.oscillators - outputs

        def normal(*shape: int) -> Tensor:
            return torch.randn(self.runs, *shape, generator=generator, dtype=torch.float64)

        fields = 10.0 * normal(self.batch, n)
        couplings = normal(n, n) * (16.0 / n**0.5)
        couplings = (couplings + couplings.transpose(1, 2)) * layered_graph(hidden, outputs)
        targets = normal(self.batch, outputs).tanh()
        return tuple(t.to(dtype).to(self.device) for t in (fields, couplings, targets))  # type: ignore[return-value]

    @functools.cache  # noqa: B019 (frozen, and few)
    def exact(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Outputs, loss and gradients of the first run by the reference, in float64."""
        fields, couplings, targets = (t[:1] for t in self.tensors(torch.float64))
        with kernels.use("reference"):
            model = PhaseModel(fields, couplings)
            loss, gradient = endpoint_loss(model, targets, self.dynamics)
            phases = kernels.rollout(model, self.dynamics)
        outputs = readout(phases[0], targets.shape[-1])
        return outputs, loss[0], gradient.fields[0], gradient.matrix[0]

    def error(self, result: tuple[Tensor, Tensor, Tensor]) -> float:
        """Largest relative error of loss and gradients, in the maximum norm."""
        _, *exact = self.exact()
        outputs = min(OUTPUTS, self.oscillators - 1)
        mask = layered_graph(self.oscillators - outputs, outputs).to(exact[0].device)

        def comparable(tensors: tuple[Tensor, ...] | list[Tensor]) -> list[Tensor]:
            loss, by_fields, by_couplings = (t.detach().to(exact[0]) for t in tensors)
            return [loss.reshape(()), by_fields, (by_couplings + by_couplings.T) * mask]

        pairs = zip(comparable(result), comparable(exact), strict=True)
        return max(float((a - b).abs().max() / b.abs().max()) for a, b in pairs)
