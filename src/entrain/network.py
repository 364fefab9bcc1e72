"""A Kuramoto network: its parameters, the constraints they obey, and what it computes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from entrain import kernels
from entrain.errors import InputError, positive_float, positive_int
from entrain.physics import Dynamics, Noise, coupling_mask, drift, energy, local_fields


class KuramotoNetwork(nn.Module):
    r"""Coupled oscillators that classify in finite time, read out as cos(theta) of the outputs.

    Energy of H hidden and O output oscillators, N = H + O, hidden first, under the input u:

        E(theta; u) = - sum_i b_i(u) cos(theta_i) - sum_{i<j} J_ij cos(theta_i - theta_j),
        b(u) = [ W u + c_hidden ; c_output ],   d theta / dt = -mu grad E,   theta(0) = pi/2.

    Trainable, and nothing else can be expressed: `input_weights` W (H, D), `hidden_biases` (H,),
    `output_biases` (O,), `hidden_couplings` (H (H - 1) / 2,), the pairs i<j row by row, and
    `output_couplings` (H, O). All start at exact zero. The network runs for `observation_time`
    in `steps` explicit Euler steps; `mobility` mu sets the time scale.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        outputs: int,
        *,
        mobility: float = 1.0,
        observation_time: float = 0.2,
        steps: int = 200,
    ) -> None:
        super().__init__()
        self.inputs = positive_int("inputs", inputs)
        self.hidden = positive_int("hidden", hidden)
        self.outputs = positive_int("outputs", outputs)
        self.dynamics = Dynamics(mobility, observation_time, steps)
        self.input_weights = nn.Parameter(torch.zeros(hidden, inputs))
        self.hidden_biases = nn.Parameter(torch.zeros(hidden))
        self.output_biases = nn.Parameter(torch.zeros(outputs))
        self.hidden_couplings = nn.Parameter(torch.zeros(hidden * (hidden - 1) // 2))
        self.output_couplings = nn.Parameter(torch.zeros(hidden, outputs))

    @classmethod
    def from_arrays(
        cls,
        input_weights: ArrayLike | Tensor,
        biases: ArrayLike | Tensor,
        couplings: ArrayLike | Tensor,
        *,
        mobility: float = 1.0,
        observation_time: float = 0.2,
        steps: int = 200,
    ) -> Self:
        """A network from input weights (H, D), biases (N,) and couplings (N, N).

        Refuses arrays that are wrongly shaped, non-finite, asymmetric, self-coupled or
        output-output-coupled, naming the constraint that is broken.
        """
        weights = _finite("input weights", input_weights, 2)
        bias = _finite("biases", biases, 1)
        matrix = _finite("couplings", couplings, 2)
        hidden, inputs = weights.shape
        n = len(bias)
        if n <= hidden:
            raise InputError(
                f"biases must have one entry for each of the {hidden} hidden oscillators (rows of "
                f"the input weights) and for each output, so at least {hidden + 1}; got {n}"
            )
        if matrix.shape != (n, n):
            raise InputError(
                f"couplings must be {n} x {n}, as there are {n} biases; got "
                f"{' x '.join(map(str, matrix.shape))}"
            )
        _check_couplings(matrix, hidden)
        network = cls(
            inputs,
            hidden,
            n - hidden,
            mobility=mobility,
            observation_time=observation_time,
            steps=steps,
        ).to(weights.dtype)
        upper = torch.triu_indices(hidden, hidden, offset=1)
        with torch.no_grad():
            network.input_weights.copy_(weights)
            network.hidden_biases.copy_(bias[:hidden])
            network.output_biases.copy_(bias[hidden:])
            network.hidden_couplings.copy_(matrix[upper[0], upper[1]])
            network.output_couplings.copy_(matrix[:hidden, hidden:])
        return network

    @property
    def oscillators(self) -> int:
        """N = H + O."""
        return self.hidden + self.outputs

    @property
    def couplers(self) -> int:
        """Independent couplings: H (H - 1) / 2 + H O."""
        return self.hidden_couplings.numel() + self.output_couplings.numel()

    @property
    def parameter_count(self) -> int:
        """Trainable numbers: H D + N + couplers."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def biases(self) -> Tensor:
        """c = [c_hidden ; c_output], (N,)."""
        return torch.cat([self.hidden_biases, self.output_biases])

    @property
    def couplings(self) -> Tensor:
        """The symmetric matrix J, (N, N), with zero diagonal and zero output-output block."""
        h = self.hidden
        upper = torch.triu_indices(h, h, offset=1, device=self.hidden_couplings.device)
        block = self.output_couplings.new_zeros(h, h)
        block = block.index_put((upper[0], upper[1]), self.hidden_couplings)
        top = torch.cat([block + block.T, self.output_couplings], dim=1)
        corner = self.output_couplings.new_zeros(self.outputs, self.outputs)
        return torch.cat([top, torch.cat([self.output_couplings.T, corner], dim=1)])

    def fields(self, inputs: Tensor) -> Tensor:
        """Local fields b(u): inputs (B, D) -> (B, N)."""
        return local_fields(self.input_weights, self.biases, self._checked(inputs))

    def energy(self, phases: Tensor, inputs: Tensor) -> Tensor:
        """E(theta; u): phases (..., B, N), inputs (B, D) -> (..., B)."""
        return energy(phases, self.fields(inputs), self.couplings)

    def drift(self, phases: Tensor, inputs: Tensor) -> Tensor:
        """d theta / dt = -mu grad E: phases (..., B, N), inputs (B, D) -> (..., B, N)."""
        return drift(phases, self.fields(inputs), self.couplings, self.dynamics.mobility)

    def forward(self, inputs: Tensor) -> Tensor:
        """Output activations cos(theta_out(t_f)): inputs (..., D) -> (..., O).

        Differentiable; the backward pass is the exact discrete adjoint of the Euler rollout.
        """
        flat = self._checked(inputs).reshape(-1, self.inputs)
        phases: Tensor = _Rollout.apply(self.fields(flat), self.couplings, self.dynamics)  # type: ignore[no-untyped-call]
        return phases[:, self.hidden :].cos().reshape(*inputs.shape[:-1], self.outputs)

    @torch.no_grad()
    def simulate(
        self,
        inputs: Tensor,
        *,
        steps: int | None = None,
        record: bool = False,
        temperature: float = 0.0,
        seed: int = 0,
        replicates: int | None = None,
        first_sample: int = 0,
    ) -> Tensor:
        """Phases of the autonomous rollout for inputs (B, D).

        At t_f: (B, N); at every grid time with `record`: (steps + 1, B, N); with `replicates`
        = M noisy copies a leading axis (M, ...). At temperature kT > 0 Euler-Maruyama steps are
        wrapped to (-pi, pi], and the noise depends only on seed, temperature, replicate, sample
        (row index + `first_sample`), step and oscillator. At temperature 0 the phases are
        unwrapped and all replicates coincide.
        """
        positive_float("temperature", temperature, zero=True)
        dynamics = self.dynamics
        if steps is not None:
            dynamics = Dynamics(dynamics.mobility, dynamics.observation_time, steps)
        count = positive_int("replicates", 1 if replicates is None else replicates)
        fields, couplings = self.fields(inputs)[None], self.couplings[None]
        if temperature == 0:
            path = kernels.rollout(fields, couplings, dynamics, record=record)
            path = path.unsqueeze(-3).expand(*path.shape[:-2], count, *path.shape[-2:])
        else:
            noise = Noise(
                seed=seed,
                temperature=temperature,
                replicates=torch.arange(count, device=inputs.device),
                samples=torch.arange(len(inputs), device=inputs.device) + first_sample,
            )
            path = kernels.noisy_rollout(fields, couplings, dynamics, noise, record=record)
        path = path.squeeze(-4).movedim(-3, 0)  # drop the run axis, replicates first
        return path[0] if replicates is None else path

    def extra_repr(self) -> str:
        d = self.dynamics
        return (
            f"{self.inputs} inputs, {self.hidden} hidden, {self.outputs} outputs, "
            f"mobility={d.mobility:g}, observation_time={d.observation_time:g}, steps={d.steps}"
        )

    def _checked(self, inputs: Tensor) -> Tensor:
        if inputs.shape[-1:] != (self.inputs,):
            raise InputError(
                f"inputs must have {self.inputs} components in their last axis, as this network "
                f"has; got shape {tuple(inputs.shape)}"
            )
        return inputs


class _Rollout(torch.autograd.Function):
    """Phases at t_f (B, N) of fields (B, N) and couplings (N, N), with the discrete adjoint."""

    @staticmethod
    def forward(ctx: Any, fields: Tensor, couplings: Tensor, dynamics: Dynamics) -> Tensor:
        if not any(ctx.needs_input_grad):
            return kernels.rollout(fields[None], couplings[None], dynamics)[0]
        found = kernels.rollout_with_pullback(fields[None], couplings[None], dynamics)
        phases, ctx.pullback = found
        return phases[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        fields, couplings = ctx.pullback(gradients[0][None])
        return fields[0], couplings[0], None


def _finite(name: str, array: ArrayLike | Tensor, dimensions: int) -> Tensor:
    tensor = array.detach().cpu() if isinstance(array, Tensor) else torch.tensor(np.asarray(array))
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float32)
    if tensor.dim() != dimensions or 0 in tensor.shape:
        raise InputError(
            f"{name} must be a non-empty {dimensions}-dimensional array, "
            f"got shape {tuple(tensor.shape)}"
        )
    if not tensor.isfinite().all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return tensor


def _check_couplings(matrix: Tensor, hidden: int) -> None:
    if not torch.equal(matrix, matrix.T):
        i, j = (int(k) for k in (matrix != matrix.T).nonzero()[0])
        raise InputError(
            f"couplings must be symmetric: J[{i}, {j}] = {matrix[i, j]:g} "
            f"but J[{j}, {i}] = {matrix[j, i]:g}"
        )
    if matrix.diagonal().any():
        i = int(matrix.diagonal().nonzero()[0])
        raise InputError(f"self-coupling is not allowed: J[{i}, {i}] = {matrix[i, i]:g}, not 0")
    forbidden = matrix.where(~coupling_mask(hidden, len(matrix) - hidden), 0.0)
    if forbidden.any():
        i, j = (int(k) for k in forbidden.nonzero()[0])
        raise InputError(
            f"output-output coupling is not allowed: oscillators {i} and {j} are both outputs "
            f"(from {hidden} on) but J[{i}, {j}] = {matrix[i, j]:g}, not 0"
        )
