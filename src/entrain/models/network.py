"""A Kuramoto network: its parameters, the constraints they obey, and what it computes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from entrain import kernels
from entrain.kernels.autograd import differentiable_rollout
from entrain.models.network_arrays import (
    check_couplings,
    checked_arrays,
    checked_graph,
    checked_term,
)
from entrain.physics import (
    TERMS,
    Dynamics,
    Noise,
    Parameters,
    PhaseModel,
    drift,
    energy,
    interpolate_path,
    readout,
    small_random,
    trainable_terms,
)
from entrain.utils.errors import InputError, one_of, positive_float, positive_int, seed_number

Init = Literal["random", "zero"]


class KuramotoNetwork(nn.Module):
    r"""Coupled oscillators that classify in finite time, read out as cos(theta) of the outputs.

    H hidden and O output oscillators, N = H + O, hidden first, under the input u:

        d theta_i / dt = w_i - mu [ b_i(u) sin(theta_i) + sum_j J_ij g(theta_i - theta_j)
                                    + 2 s_i sin(2 theta_i) ],
        g(phi) = sin(phi + a) + c2 sin(2 phi) + d2 cos(2 phi),
        b(u) = [ W u + c_hidden ; c_output ].

    Without a and d2 this is the gradient flow -mu grad E of `energy`. The parameters are
    `input_weights` W (H, D), `biases` c (N,) and `coupler_strengths` (E,), the J_ij of the E
    couplers i < j of the graph, row by row; J is symmetric. With `runs` = R independent networks,
    every tensor and every result has a leading axis of runs.

    Args:
        inputs: Inputs D.
        hidden: Hidden oscillators H.
        outputs: Output oscillators O, one for each class.
        graph: Couplers, a symmetric (N, N) boolean array; by default all pairs of oscillators but
            those of two outputs.
        frequencies: w (N,).
        start_phases: theta(0) (N,); pi/2 by default.
        lag: a.
        injection: s (N,).
        harmonic: (c2, d2).
        trainable: Names of those of the five terms above that are parameters too.
        init: "random" (small, different for each run) or "zero", which is a saddle: without
            couplings no gradient reaches W.
        seed: Seed of the random initial parameters.
        runs: Independent networks, side by side.
        mobility: mu, which sets the time scale.
        observation_time: t_f.
        steps: Explicit Euler steps until t_f.
        dtype: Type of the parameters.
    """

    frequencies: Tensor | None
    start_phases: Tensor | None
    injection: Tensor | None
    lag: Tensor | None
    harmonic: Tensor | None
    graph: Tensor
    _first: Tensor  # i < j of every coupler
    _second: Tensor

    def __init__(
        self,
        inputs: int,
        hidden: int,
        outputs: int,
        *,
        graph: ArrayLike | Tensor | None = None,
        frequencies: ArrayLike | Tensor | None = None,
        start_phases: ArrayLike | Tensor | None = None,
        lag: float | Tensor = 0.0,
        injection: ArrayLike | Tensor | None = None,
        harmonic: ArrayLike | Tensor | None = None,
        trainable: Collection[str] = (),
        init: Init = "random",
        seed: int = 0,
        runs: int | None = None,
        mobility: float = 1.0,
        observation_time: float = 0.2,
        steps: int = 200,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.inputs = positive_int("inputs", inputs)
        self.hidden = positive_int("hidden", hidden)
        self.outputs = positive_int("outputs", outputs)
        self.runs = None if runs is None else positive_int("runs", runs)
        self.dynamics = Dynamics(mobility, observation_time, steps)
        axes = () if runs is None else (runs,)
        self.register_buffer("graph", checked_graph(graph, hidden, outputs))
        first, second = self.graph.triu(1).nonzero().T
        self.register_buffer("_first", first, persistent=False)
        self.register_buffer("_second", second, persistent=False)
        self.input_weights = nn.Parameter(torch.zeros(*axes, hidden, inputs, dtype=dtype))
        self.biases = nn.Parameter(torch.zeros(*axes, self.oscillators, dtype=dtype))
        self.coupler_strengths = nn.Parameter(torch.zeros(*axes, len(first), dtype=dtype))
        self._add_terms(axes, (frequencies, start_phases, injection, lag, harmonic), trainable)
        self._initialise(init, seed_number("seed", seed))

    @torch.no_grad()
    def _initialise(self, init: Init, seed: int) -> None:
        """Set W and J to small random numbers, run by run, or leave them at zero."""
        one_of("init", init, Init)
        if init == "zero":
            return
        initial = [
            small_random(self.inputs, self.hidden, self.graph, seed=seed, run=run)
            for run in range(self.runs or 1)
        ]
        strengths = [run["couplings"][self._first, self._second] for run in initial]
        weights = torch.stack([run["input_weights"] for run in initial])
        self.input_weights.copy_(weights.reshape(self.input_weights.shape))
        self.coupler_strengths.copy_(torch.stack(strengths).reshape(self.coupler_strengths.shape))

    def _add_terms(
        self, axes: tuple[int, ...], values: Sequence[Any], trainable: Collection[str]
    ) -> None:
        """Register each term of `TERMS` as a parameter, a buffer or None."""
        names = trainable_terms(trainable)
        shared: dict[str, tuple[int, ...]] = {"lag": (), "harmonic": (2,)}  # by all couplings
        for name, value in zip(TERMS, values, strict=True):
            shape = (*axes, *shared.get(name, (self.oscillators,)))
            tensor = None if value is None else checked_term(name, value, shape, self.biases.dtype)
            if name in shared and name not in names and tensor is not None and not tensor.any():
                tensor = None
            if name in names:
                if tensor is None:
                    raise InputError(f"{name} must have initial values to be trained, got none")
                self.register_parameter(name, nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)

    @classmethod
    def from_arrays(
        cls,
        input_weights: ArrayLike | Tensor,
        biases: ArrayLike | Tensor,
        couplings: ArrayLike | Tensor,
        **options: Any,
    ) -> Self:
        """A network of these arrays, or several with a leading axis of runs on all three.

        Refuses arrays that are wrongly shaped, non-finite, asymmetric, self-coupled or coupled
        where the graph has no coupler.

        Args:
            input_weights: W (H, D).
            biases: c (N,).
            couplings: J (N, N).
            **options: Arguments of the constructor from `graph` to `trainable`, and `mobility`,
                `observation_time` and `steps`.
        """
        weights, bias, matrix = checked_arrays(input_weights, biases, couplings)
        axes, (hidden, inputs), n = weights.shape[:-2], weights.shape[-2:], bias.shape[-1]
        network = cls(
            inputs,
            hidden,
            n - hidden,
            init="zero",
            runs=axes[0] if axes else None,
            dtype=weights.dtype,
            **options,
        )
        for run in matrix.reshape(-1, n, n):
            check_couplings(run, network.graph, hidden)
        with torch.no_grad():
            network.input_weights.copy_(weights)
            network.biases.copy_(bias)
            network.coupler_strengths.copy_(matrix[..., network._first, network._second])
        return network

    @classmethod
    def from_parameters(
        cls, parameters: Parameters, dynamics: Dynamics, trainable: Collection[str] = ()
    ) -> Self:
        """A network with a copy of these parameters.

        Args:
            parameters: The parameters, with or without an axis of runs.
            dynamics: Mobility, observation time and steps.
            trainable: As for the constructor.
        """
        return cls.from_arrays(
            parameters.input_weights,
            parameters.biases,
            parameters.couplings,
            graph=parameters.graph.cpu(),
            trainable=trainable,
            **{name: getattr(parameters, name) for name in TERMS} | asdict(dynamics),
        )

    @property
    def oscillators(self) -> int:
        """N = H + O."""
        return self.hidden + self.outputs

    @property
    def couplers(self) -> int:
        """E, the number of couplings of one network."""
        return len(self._first)

    @property
    def parameter_count(self) -> int:
        """Number of parameters of one network: H D + N + E, and those of trainable terms."""
        return sum(parameter.numel() for parameter in self.parameters()) // (self.runs or 1)

    @property
    def couplings(self) -> Tensor:
        """The symmetric matrix J, (N, N), zero where there is no coupler."""
        n, strengths = self.oscillators, self.coupler_strengths
        flat = strengths.new_zeros(*strengths.shape[:-1], n * n)
        flat = flat.index_copy(-1, self._first * n + self._second, strengths)
        flat = flat.index_copy(-1, self._second * n + self._first, strengths)
        return flat.reshape(*strengths.shape[:-1], n, n)

    def as_parameters(self) -> Parameters:
        """The parameters and terms as one value, differentiable."""
        return Parameters(
            self.input_weights,
            self.biases,
            self.couplings,
            self.graph,
            **{name: getattr(self, name) for name in TERMS},
        )

    def phase_model(self, inputs: Tensor) -> PhaseModel:
        """The torque on the phases under inputs.

        Args:
            inputs: Inputs (B, D); with runs also (R, B, D).
        """
        return self.as_parameters().phase_model(self._checked(inputs))

    def fields(self, inputs: Tensor) -> Tensor:
        """Local fields b(u) (B, N).

        Args:
            inputs: As for `phase_model`.
        """
        return self.phase_model(inputs).fields

    def energy(self, phases: Tensor, inputs: Tensor) -> Tensor:
        """E(theta; u) (..., B); with runs (R, ..., B).

        Args:
            phases: theta (..., B, N); with runs (R, ..., B, N).
            inputs: As for `phase_model`.
        """
        return energy(phases, self._model_at(phases, inputs), self.dynamics.mobility)

    def drift(self, phases: Tensor, inputs: Tensor) -> Tensor:
        """d theta / dt (..., B, N); with runs (R, ..., B, N).

        Args:
            phases: theta, as for `energy`.
            inputs: As for `phase_model`.
        """
        return drift(phases, self._model_at(phases, inputs), self.dynamics.mobility)

    def readout(self, phases: Tensor) -> Tensor:
        """cos(theta) of the output oscillators (..., O).

        Args:
            phases: theta (..., N).
        """
        return readout(phases, self.outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """Output activations cos(theta_out(t_f)) (..., O); with runs (R, B, O).

        The backward pass is the exact discrete adjoint of the Euler rollout.

        Args:
            inputs: Inputs (..., D); with runs (B, D), shared, or (R, B, D).
        """
        if self.runs is not None:
            return self.readout(differentiable_rollout(self._with_runs(inputs), self.dynamics))
        flat = self._checked(inputs).reshape(-1, self.inputs)
        phases = differentiable_rollout(self._with_runs(flat), self.dynamics)[0]
        return self.readout(phases).reshape(*inputs.shape[:-1], self.outputs)

    def trajectory(
        self,
        inputs: Tensor,
        times: Sequence[float] | Tensor | None = None,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        first_sample: int = 0,
    ) -> Tensor:
        """Phases at several times (T, B, N), differentiable; with runs (R, T, B, N).

        Args:
            inputs: As for `phase_model`.
            times: Times from 0 to t_f, between grid times by linear interpolation; by default
                every grid time 0, dt, ..., t_f.
            temperature: kT of the noise of `simulate` (replicate 0), which is held fixed.
            seed: Seed of the noise.
            first_sample: Number of the first row, for the noise.
        """
        model = self._with_runs(self._checked(inputs))
        noise = self._noise(inputs, temperature, seed, 1, first_sample)
        path = differentiable_rollout(model, self.dynamics, noise=noise, record=True)
        if noise is not None:
            path = path[:, :, 0]  # drop the axis of replicates
        if times is not None:
            path = interpolate_path(path, times, self.dynamics, wrapped=noise is not None)
        path = path.movedim(1, 0)
        return path if self.runs is not None else path[0]

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
        """Phases at t_f (B, N); with `record` at every grid time (steps + 1, B, N).

        With `replicates` = M a leading axis (M, ...), with runs another in front of all. Without
        noise the phases are unwrapped and all replicates coincide. At kT > 0 each Euler-Maruyama
        step is wrapped to (-pi, pi], and the noise depends only on seed, temperature, replicate,
        sample (row + `first_sample`), step and oscillator.

        Args:
            inputs: As for `phase_model`.
            steps: Euler steps, if others than the network's.
            record: True for the phases at every grid time.
            temperature: kT of thermal noise.
            seed: Seed of the noise.
            replicates: Noisy copies of each sample.
            first_sample: Number of the first row, for the noise.
        """
        dynamics = self.dynamics if steps is None else replace(self.dynamics, steps=steps)
        count = positive_int("replicates", 1 if replicates is None else replicates)
        model = self._with_runs(inputs)
        noise = self._noise(inputs, temperature, seed, count, first_sample)
        path = kernels.rollout(model, dynamics, noise=noise, record=record)
        if noise is None:
            path = path.unsqueeze(-3).expand(*path.shape[:-2], count, *path.shape[-2:])
        path = path.movedim((-4, -3), (0, 1))  # runs and replicates first
        if replicates is None:
            path = path[:, 0]
        return path if self.runs is not None else path[0]

    def extra_repr(self) -> str:
        d = self.dynamics
        terms = [name for name in TERMS if getattr(self, name) is not None]
        return (
            f"{self.inputs} inputs, {self.hidden} hidden, {self.outputs} outputs, "
            f"{self.couplers} couplers, "
            + "".join(f"{name}, " for name in terms)
            + ("" if self.runs is None else f"{self.runs} runs, ")
            + f"mobility={d.mobility:g}, observation_time={d.observation_time:g}, steps={d.steps}"
        )

    def _model_at(self, phases: Tensor, inputs: Tensor) -> PhaseModel:
        """`phase_model` with the axes that phases have between runs and samples."""
        model = self.phase_model(inputs)
        if self.runs is None:
            return model
        between = (1,) * (phases.dim() - 3)
        return model.map(lambda t: t.reshape(t.shape[0], *between, *t.shape[1:]))

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *args: Any) -> None:
        """Load the state of a network with the same graph; another graph is refused."""
        graph = state.get(f"{prefix}graph")
        if graph is not None and not torch.equal(graph.cpu().bool(), self.graph.cpu()):
            raise InputError("the state belongs to a network with another graph")
        super()._load_from_state_dict(state, prefix, *args)

    def _with_runs(self, inputs: Tensor) -> PhaseModel:
        """`phase_model` of a batch, always with an axis of runs."""
        axes = (2, 3) if self.runs is not None else (2,)
        if inputs.dim() not in axes:
            expected = "B x D" if self.runs is None else "B x D, or runs x B x D"
            raise InputError(f"inputs must be {expected}; got shape {tuple(inputs.shape)}")
        model = self.phase_model(inputs)
        return model if self.runs is not None else model.map(lambda tensor: tensor[None])

    def _noise(
        self, inputs: Tensor, temperature: float, seed: int, replicates: int, first_sample: int
    ) -> Noise | None:
        if positive_float("temperature", temperature, zero=True) == 0:
            return None
        samples = torch.arange(inputs.shape[-2], device=inputs.device)
        return Noise(
            seed=seed,
            temperature=temperature,
            replicates=torch.arange(replicates, device=inputs.device),
            samples=samples + seed_number("first_sample", first_sample),
        )

    def _checked(self, inputs: Tensor) -> Tensor:
        """Inputs (..., D), refused if they do not fit this network."""
        width, runs, dtype = self.inputs, self.runs, self.biases.dtype
        if not isinstance(inputs, Tensor):
            raise InputError(f"inputs must be a PyTorch tensor, got {type(inputs).__name__}")
        shape = tuple(inputs.shape)
        if inputs.dtype != dtype:
            raise InputError(f"inputs are {inputs.dtype} and the network is {dtype}: convert one")
        if shape[-1:] != (width,):
            raise InputError(
                f"inputs must have {width} components in their last axis, as this network expects; "
                f"got shape {shape}"
            )
        if runs is not None and len(shape) == 3 and shape[0] != runs:
            raise InputError(
                f"inputs of shape {shape} are {shape[0]} batches, the network has {runs} runs"
            )
        return inputs
