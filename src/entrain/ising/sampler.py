"""A sampler of dimod, and conversions of its binary quadratic models (extra `ising`)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from entrain.hardware import Chip, Hardware
from entrain.ising.annealing import Annealing
from entrain.ising.graph import WeightedGraph
from entrain.ising.problems import Ising, MaxCut, Problem, Qubo
from entrain.ising.reading import Reading
from entrain.ising.solver import solve
from entrain.utils.errors import InputError, missing_extra

try:
    import dimod
except ImportError:  # the extra is not installed
    dimod = None

_PARAMETERS = ("num_reads", "steps", "annealing", "reading", "descent", "seed", "chip", "chip_seed")


class OscillatorSampler(dimod.Sampler if dimod is not None else object):  # type: ignore[misc]
    """A `dimod.Sampler` that samples by oscillators, as `entrain.solve`.

    `sample_ising` and `sample_qubo` take the same parameters as `sample`.

    Args:
        device: auto, cpu, cuda or cuda:INDEX.
    """

    def __init__(self, device: str = "auto") -> None:
        if dimod is None:
            raise missing_extra("dimod", "ising")
        self._device = device

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The parameters of `sample`, by name."""
        return {name: [] for name in _PARAMETERS}

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the sampler: the device."""
        return {"device": self._device}

    def sample(
        self,
        bqm: Any,
        *,
        num_reads: int = 100,
        steps: int | None = None,
        annealing: Annealing | None = None,
        reading: Reading = "threshold",
        descent: bool = False,
        seed: int | None = None,
        chip: Chip | Hardware | str | Path | None = None,
        chip_seed: int = 0,
        **unknown: Any,
    ) -> Any:
        """The states of all runs at their end, as a `dimod.SampleSet`.

        Args:
            bqm: A `dimod.BinaryQuadraticModel`.
            num_reads: Runs.
            steps: See `entrain.solve`.
            annealing: See `entrain.solve`.
            reading: See `entrain.solve`.
            descent: See `entrain.solve`.
            seed: Seed of starts and noise; None is a random one.
            chip: See `entrain.solve`.
            chip_seed: See `entrain.solve`.
            unknown: Parameters of other samplers, which are ignored with a warning.
        """
        for name in unknown:
            warnings.warn(f"ignoring unknown parameter {name!r}", stacklevel=2)
        number = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        if bqm.num_variables == 0:
            return dimod.SampleSet.from_samples_bqm((np.empty((num_reads, 0)), []), bqm)
        problem = from_bqm(bqm)
        solution = solve(
            problem,
            restarts=num_reads,
            steps=steps,
            annealing=annealing,
            reading=reading,
            descent=descent,
            seed=number,
            chip=chip,
            chip_seed=chip_seed,
            device=self._device,
            keep_states=True,
        )
        assert solution.all_states is not None
        samples = (solution.all_states, list(problem.names))
        info = {"seed": number, "seconds": solution.seconds}
        return dimod.SampleSet.from_samples_bqm(samples, bqm, info=info)


def from_bqm(bqm: Any) -> Ising | Qubo:
    """The problem of a binary quadratic model: Ising of spins, QUBO of binary variables.

    Args:
        bqm: A `dimod.BinaryQuadraticModel` with variables.
    """
    if bqm.num_variables == 0:
        raise InputError("the binary quadratic model has no variables")
    vectors = bqm.to_numpy_vectors(variable_order=list(bqm.variables))
    rows, columns, weights = vectors.quadratic
    graph = WeightedGraph.from_entries(
        bqm.num_variables, rows, columns, weights, names=tuple(bqm.variables)
    )
    kind = Ising if bqm.vartype.name == "SPIN" else Qubo
    return kind(graph, vectors.linear_biases, float(vectors.offset))


def to_bqm(problem: Problem) -> Any:
    """The binary quadratic model whose least energy is the goal of a problem of two states.

    Args:
        problem: An `Ising`, `Qubo` or `MaxCut`, whose cut is minus the energy.
    """
    if dimod is None:
        raise missing_extra("dimod", "ising")
    names, graph = list(problem.names), problem.graph
    if isinstance(problem, Qubo | Ising):
        vartype = "SPIN" if isinstance(problem, Ising) else "BINARY"
        linear, offset, weights = problem.linear, problem.offset, graph.weights
    elif isinstance(problem, MaxCut):
        vartype, linear = "SPIN", np.zeros(problem.variables)
        offset, weights = -graph.total() / 2, graph.weights / 2
    else:
        raise InputError(f"a {type(problem).__name__} has no binary quadratic model")
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        linear, (graph.first, graph.second, weights), offset, vartype, variable_order=names
    )
