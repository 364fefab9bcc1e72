"""Coupled oscillators on any graph: parameters, and simulations of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from entrain.kernels import reference
from entrain.models.graphs import CouplingGraph, coupling_graph
from entrain.models.oscillator_values import OscillatorValues, Values
from entrain.models.run_simulation import Drive, Request, run_simulation
from entrain.models.simulation import Simulation
from entrain.physics import (
    Couplings,
    Dynamics,
    PhaseModel,
    SparseCouplings,
    SparseGraph,
    drift,
    energy,
)
from entrain.physics.phase_model import Term
from entrain.physics.terms import LOCAL, TERMS
from entrain.utils.errors import InputError, positive_float, positive_int, seed_number

Starts = Literal["random"] | ArrayLike | Tensor | Simulation


class Oscillators(OscillatorValues):
    r"""N coupled phase oscillators.

        d theta_i / dt = w_i - mu [ b_i sin(theta_i) + sum_j J_ij g(theta_i - theta_j)
                                    + sum_k k s_i sin(k theta_i) ],
        g(phi) = sin(phi + a) + c sin(2 phi) + d cos(2 phi),

    with couplings J, local fields b, frequencies w, injection s (of order k = 2, or 3 to 8), lag a
    and harmonic (c, d). A positive J_ij aligns two oscillators. Without w, a and d, and with
    symmetric J, this is the gradient flow -mu grad E of `energy`.

    Inputs u drive some of the oscillators, b_i(u) = b_i + sum_d W_id u_d, and some are read as
    cos(theta). With neither this is a plain Kuramoto model, an Ising machine or a memory.

    Arrays become PyTorch's default float type; tensors keep theirs, and gradients flow to tensors
    that require them. Parameters are those in `trainable`: by default all that has no given value,
    which starts from small random numbers.

    Args:
        couplings: J as a matrix (N, N), a scipy.sparse matrix, a networkx graph (of weights 1, or
            "weight"), edges (i, j) or (i, j, J) with `oscillators`, or N for all pairs. A zero is
            no coupler. An asymmetric matrix couples in one direction.
        coupling: Factor of all couplings.
        oscillators: N of a list of edges.
        fields: b (N,), or one number for all.
        start_phases: theta(0) (N,), pi/2 by default.
        inputs: Number D of inputs.
        input_nodes: Indices of the oscillators that receive inputs; all by default.
        input_weights: W (number of input nodes, D); small random numbers by default.
        read: Indices of the oscillators that are read; all by default.
        delay: tau: couplings act on theta_j(t - tau), which is theta(0) for t < 0. At least half a
            step; computed by PyTorch operations.
        other_terms: Custom torques in the bracket, functions of the phases (..., N); computed by
            PyTorch operations. Modules among them are submodules, with their parameters.
        trainable: Names of what is a parameter: "couplings", "fields", "input_weights",
            "start_phases", or terms.
        seed: Seed of random numbers to start from.
        runs: Number of independent systems side by side, which adds an axis in front.
        mobility: mu, which sets the unit of time.
        observation_time: Default time of `simulate`.
        steps: Default Euler steps until then.
        dtype: Floating type.
        **terms: Values of terms by name: frequencies, injection, injection_3 to injection_8 (N,) or
            a number; lag, a number; harmonic (2,); edge_lag (N, N).

    Examples:
        >>> ring = [(i, (i + 1) % 6) for i in range(6)]
        >>> machine = entrain.Oscillators(ring, oscillators=6, coupling=-1, injection=1)
        >>> run = machine.simulate(time=20, steps=400, starts="random", restarts=8, seed=1)
        >>> run.spins.shape
        torch.Size([8, 6])
    """

    input_weights: Tensor
    biases: Tensor
    coupler_strengths: Tensor
    start_phases: Tensor | None
    input_nodes: Tensor
    read: Tensor

    def __init__(
        self,
        couplings: Any,
        *,
        coupling: float | None = None,
        oscillators: int | None = None,
        fields: Values | None = None,
        start_phases: Values | None = None,
        inputs: int = 0,
        input_nodes: Sequence[int] | range | None = None,
        input_weights: Values | None = None,
        read: Sequence[int] | range | None = None,
        delay: float = 0.0,
        other_terms: Sequence[Term] = (),
        trainable: Collection[str] | None = None,
        seed: int = 0,
        runs: int | None = None,
        mobility: float = 1.0,
        observation_time: float = 0.2,
        steps: int = 200,
        dtype: torch.dtype | None = None,
        **terms: Values | None,
    ) -> None:
        super().__init__()
        graph = coupling_graph(couplings, coupling=coupling, oscillators=oscillators, dtype=dtype)
        created = {
            "couplings": isinstance(couplings, int | np.integer) and coupling is None,
            "input_weights": inputs > 0 and input_weights is None,
            "fields": inputs > 0 and fields is None,
        }
        names = [name for name, new in created.items() if new] if trainable is None else trainable
        if isinstance(names, str):
            raise InputError(f"trainable must be a list of names, got {names!r}")
        self.runs = None if runs is None else positive_int("runs", runs)
        self.dynamics = Dynamics(mobility, observation_time, steps)
        self.inputs = positive_int("inputs", inputs) if inputs else 0
        self.delay = positive_float("delay", delay, zero=True)
        self.other_terms = tuple(other_terms)
        if modules := [term for term in other_terms if isinstance(term, nn.Module)]:
            self._modules_of_terms = nn.ModuleList(modules)
        for name, value in (("input_nodes", input_nodes), ("input_weights", input_weights)):
            if not self.inputs and (value is not None or name in names):
                raise InputError(f"{name} are of inputs, but there are no inputs: give inputs=D")
        self._set_graph(graph)
        self._set_roles(input_nodes, read)
        generator = torch.Generator().manual_seed(seed_number("seed", seed))
        strengths = graph.strengths
        if created["couplings"]:
            axes = self._axes(strengths.shape[-1])
            strengths = 0.3 * torch.randn(axes, generator=generator).to(strengths.dtype)
        elif strengths.dim() > 1 and strengths.shape[:-1] != self._axes():
            given = " x ".join(map(str, strengths.shape[:-1]))
            raise InputError(f"couplings of {given} systems need runs={given}, got {self.runs}")
        strengths = strengths.expand(self._axes(strengths.shape[-1])).clone()
        self._set_values(strengths, fields, start_phases, input_weights, generator, names, terms)
        self.to(strengths.device)

    def _set_graph(self, graph: CouplingGraph) -> None:
        edges = self._edges = graph.graph
        self.oscillators = edges.oscillators
        self.is_symmetric = graph.is_symmetric
        self.nodes = graph.nodes
        self.is_sparse = edges.is_sparse

    @property
    def couplers(self) -> int:
        """Number of couplers of one system; of directed edges if J is not symmetric."""
        return int(self.coupler_strengths.shape[-1])

    @property
    def graph_edges(self) -> SparseGraph:
        """The directed edges, with the index of the strength of each."""
        return self._edges.to(self.biases.device)

    @property
    def couplings(self) -> Tensor:
        """The matrix J (N, N), zero where there is no coupler."""
        return self._matrix(self._directed_strengths())

    def _directed_strengths(self) -> Tensor:
        """J of every directed edge (..., M)."""
        strengths = self.coupler_strengths
        if not self.is_symmetric:
            strengths = torch.cat([strengths, torch.zeros_like(strengths[..., :1])], -1)
        return strengths.index_select(-1, self.graph_edges.pairs)

    def _couplings(self) -> Couplings:
        if not self.is_sparse:
            return self.couplings
        return SparseCouplings(self._directed_strengths(), self.graph_edges)

    def fields(self, inputs: Tensor) -> Tensor:
        """Local fields b(u) (B, N).

        Args:
            inputs: Inputs (B, D); with runs also (R, B, D).
        """
        return self._driven(self._checked(inputs)) + self.biases[..., None, :]

    def _driven(self, inputs: Tensor) -> Tensor:
        """W u on the nodes that receive inputs, 0 on others."""
        driven = inputs @ self.input_weights.mT
        zeros = driven.new_zeros(*driven.shape[:-1], self.oscillators)
        return zeros.index_copy(-1, self.input_nodes, driven)

    def drive_fields(self, inputs: Tensor) -> Tensor:
        """Fields (..., T, N) that inputs in time add to the constant ones.

        Args:
            inputs: Inputs (B, T, D) or (T, D), or fields (..., T, N) of oscillators without inputs;
                with runs also (R, B, T, D).
        """
        runs, shape = self.runs, inputs.shape
        if runs is not None and len(shape) == 4 and shape[0] != runs:
            raise InputError(f"drive of shape {tuple(shape)} must be of {runs} runs")
        if self.inputs and runs is None:
            return self._driven(self._checked(inputs))
        if self.inputs and runs is not None:
            rows = inputs.reshape(*shape[:-3], math.prod(shape[-3:-1]), shape[-1])
            samples = (1, *shape[-3:-1])[-2:]  # of (B, T) or (T)
            return self._driven(self._checked(rows)).reshape(runs, *samples, self.oscillators)
        if inputs.shape[-1] != self.oscillators:
            raise InputError(
                f"drive must be fields of {self.oscillators} oscillators, as there are no inputs; "
                f"got shape {tuple(inputs.shape)}"
            )
        return inputs.to(self.biases)

    def phase_model(self, inputs: Tensor | None = None, *, samples: int = 1) -> PhaseModel:
        """The phase model that acts on the oscillators.

        Args:
            inputs: Inputs (B, D), or None; with runs also (R, B, D).
            samples: B without inputs.
        """
        if inputs is not None:
            fields = self.fields(inputs)
        else:
            bias = self.biases[..., None, :]
            fields = bias.expand(*bias.shape[:-2], samples, self.oscillators)
        values = {name: getattr(self, name) for name in TERMS}
        for name in LOCAL:
            values[name] = None if values[name] is None else values[name][..., None, :]
        couplings = self._couplings()
        if (lags := values.get("edge_lag")) is not None and not self.is_sparse:
            values["edge_lag"] = self._matrix(lags)
        start = None if self.start_phases is None else self.start_phases[..., None, :]
        return PhaseModel(
            fields,
            couplings,
            terms={name: value for name, value in values.items() if value is not None},
            start=start,
            other_terms=self.other_terms,
            delay=self.delay,
        )

    def _matrix(self, values: Tensor) -> Tensor:
        """Values of the directed edges (..., M) as a matrix (..., N, N)."""
        return SparseCouplings(values, self.graph_edges).dense()

    def energy(self, phases: Tensor, inputs: Tensor | None = None) -> Tensor:
        """E(theta; u) (..., B); with runs (R, ..., B).

        The energy of an asymmetric J is that of its symmetric part; E may then rise.

        Args:
            phases: theta (..., B, N); with runs (R, ..., B, N).
            inputs: As for `phase_model`.
        """
        return energy(phases, self._model_at(phases, inputs), self.dynamics.mobility)

    def drift(self, phases: Tensor, inputs: Tensor | None = None) -> Tensor:
        """d theta / dt (..., B, N); with runs (R, ..., B, N).

        Args:
            phases: theta, as for `energy`.
            inputs: As for `phase_model`.
        """
        return drift(phases, self._model_at(phases, inputs), self.dynamics.mobility)

    def simulate(
        self,
        inputs: Tensor | None = None,
        *,
        time: float | None = None,
        steps: int | None = None,
        starts: Starts | None = None,
        restarts: int | None = None,
        drive: Tensor | None = None,
        hold: float | None = None,
        steps_per_input: int | None = None,
        schedule: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        record: int = 0,
        times: Sequence[float] | Tensor | None = None,
        method: str = "euler",
        first_sample: int = 0,
    ) -> Simulation:
        """Phases after a time, differentiable by the exact discrete adjoint of the steps.

        At kT > 0 every step adds sqrt(2 mu kT dt) eta and wraps the phases to (-pi, pi]. The noise
        depends on seed, temperature, restart, sample, step and oscillator alone. It is the same for
        all runs.

        Args:
            inputs: Constant inputs u (B, D) or (D,); with runs also (R, B, D).
            time: Observation time; that of the constructor by default.
            steps: Steps until then; by default those that keep the constructor's time step.
            starts: theta(0) (N,) or (B, N), one for each sample, or with the axes of runs and
                restarts; "random", uniform on the circle; or a `Simulation` to continue, noise
                included at the same seed and temperature. By default `start_phases`.
            restarts: M copies of every sample with random starts and noise of their own.
            drive: Inputs in time (B, T, D) or (T, D), or fields (B, T, N) of oscillators without
                inputs; with runs also (R, B, T, D).
            hold: Time for which each of these inputs is held.
            steps_per_input: Steps in that time.
            schedule: Factors, in time, of "fields", "couplings" or a term of oscillators, or the
                "temperature" itself: `entrain.ramp(start, end)`, or values of equal segments.
            temperature: kT of thermal noise.
            seed: Seed of the noise and of random starts.
            record: n to return the phases at the start and after every n-th step; 0 for those at
                the end, or after each of the inputs in time.
            times: Times to return instead, between steps by linear interpolation.
            method: "euler", "heun" or "rk4".
            first_sample: Number of the first sample, for random numbers.
        """
        return run_simulation(
            self,
            inputs,
            Drive.of(drive, hold, steps_per_input, self.dynamics),
            Request(
                time, steps, starts, restarts, schedule, temperature, seed, record, times, method,
                first_sample,
            ),
        )  # fmt: skip

    def forward(self, inputs: Tensor) -> Tensor:
        """cos(theta) of the oscillators that are read, at the observation time (..., O).

        Args:
            inputs: Inputs (..., D); with runs (B, D), shared, or (R, B, D).
        """
        if self.runs is not None:
            return self.simulate(inputs).readout
        flat = self._checked(inputs).reshape(-1, self.inputs)
        if getattr(torch.compiler, "is_exporting", lambda: False)():  # which records no kernels
            model = self.phase_model(flat).map(lambda tensor: tensor[None])
            outputs = self.readout(reference.rollout(model, self.dynamics)[0])
            return outputs.reshape(*inputs.shape[:-1], len(self.read))
        return self.simulate(flat).readout.reshape(*inputs.shape[:-1], len(self.read))

    def readout(self, phases: Tensor) -> Tensor:
        """cos(theta) of the oscillators that are read (..., O).

        Args:
            phases: theta (..., N).
        """
        return phases[..., self.read].cos()

    def extra_repr(self) -> str:
        d, roles = self.dynamics, ""
        if self.inputs:
            roles = f"{self.inputs} inputs to {len(self.input_nodes)}, {len(self.read)} read, "
        terms = [name for name in ("start_phases", *TERMS) if getattr(self, name) is not None]
        return (
            f"{self.oscillators} oscillators, {self.couplers} couplers, {roles}"
            + "".join(f"{name}, " for name in terms)
            + ("" if self.runs is None else f"{self.runs} runs, ")
            + f"mobility={d.mobility:g}, observation_time={d.observation_time:g}, steps={d.steps}"
        )

    def _model_at(self, phases: Tensor, inputs: Tensor | None) -> PhaseModel:
        """`phase_model` with the axes that phases have between runs and samples."""
        model = self.phase_model(inputs)
        if self.runs is None:
            return model
        between = (1,) * (phases.dim() - 3)
        return model.map(lambda t: t.reshape(t.shape[0], *between, *t.shape[1:]))

    def _checked(self, inputs: Tensor) -> Tensor:
        """Inputs (..., D), refused if they do not fit."""
        width, runs, dtype = self.inputs, self.runs, self.biases.dtype
        if not isinstance(inputs, Tensor):
            raise InputError(f"inputs must be a PyTorch tensor, got {type(inputs).__name__}")
        shape = tuple(inputs.shape)
        if not width:
            raise InputError(f"these oscillators take no inputs (inputs=0), got shape {shape}")
        if dtype not in (torch.float32, torch.float64):
            raise InputError(
                f"the network is {dtype}; expected float32 or float64: network.float()"
            )
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
