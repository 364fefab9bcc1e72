"""The oscillators that solve a problem, without imperfections."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from entrain.ising.annealing import Annealing
from entrain.ising.descent import descend
from entrain.ising.problems import Problem
from entrain.ising.reading import Reading, best_line, nearest
from entrain.models.oscillators import Oscillators
from entrain.models.simulation import Simulation

_ITERATIONS = 60  # of the power method


@dataclass(frozen=True, eq=False)
class Program:
    """Couplings and fields of a problem in units of the root mean square row.

    Args:
        couplings: J (N, N), symmetric.
        fields: b (N,).
        choices: k.
    """

    couplings: scipy.sparse.csr_array
    fields: NDArray[np.float64]
    choices: int

    @classmethod
    def of(cls, problem: Problem) -> Program:
        """The program of a problem; one without couplings and fields stays as it is.

        Args:
            problem: The problem.
        """
        graph, fields = problem.couplings(), problem.fields()
        largest = max(np.abs(part).max(initial=0.0) for part in (graph.weights, fields)) or 1.0
        weights, fields = graph.weights / largest, fields / largest
        square = (2 * np.square(weights).sum() + np.square(fields).sum()) / graph.nodes
        unit = float(np.sqrt(square)) or 1.0
        matrix = replace(graph, weights=weights / unit).matrix
        return cls(matrix, fields / unit, problem.choices)

    def stiffness(self) -> float:
        """Largest eigenvalue of the Hessian in a local minimum, by the power method.

        For spins s it is diag(sum_j J_ij s_i s_j + b_i s_i) - J_ij s_i s_j.
        """
        n = len(self.fields)
        start = np.random.default_rng(0).integers(2, size=(1, n)).astype(np.int8)
        spins = 1.0 - 2.0 * descend(start, self.couplings, self.fields, 2)[0]
        local = spins * (self.couplings @ spins + self.fields)
        vector, value = np.random.default_rng(1).normal(size=n), 0.0
        for _ in range(_ITERATIONS):
            vector /= np.linalg.norm(vector) or 1.0
            product = local * vector - spins * (self.couplings @ (spins * vector))
            value, vector = float(np.linalg.norm(product)), product
        return value or 1.0


class Machine(Protocol):
    """Oscillators, and how they are driven and read."""

    oscillators: Oscillators
    program: Program
    stiffness: float

    def temperatures(self, annealing: Annealing) -> Tensor:
        """kT of every step (K,)."""

    def seed(self, seed: int) -> int:
        """Seed of the starts and the noise of this machine, from that of the search."""

    def starts(self, count: int, batch: int, seed: int) -> Any:
        """`starts` of a simulation of `count` runs."""

    def read(
        self, problem: Problem, run: Simulation, reading: Reading, batch: int, seed: int
    ) -> tuple[NDArray[np.int8], NDArray[Any]]:
        """Choices (M, N) and values (M,) of the runs of a batch."""


class IdealMachine:
    """Oscillators that follow the equations, read without errors.

    Args:
        problem: The problem that they are programmed with.
        device: Device of the simulation.
    """

    def __init__(self, problem: Problem, device: torch.device) -> None:
        self.program = Program.of(problem)
        self.stiffness = self.program.stiffness()
        injection = injection_name(problem.choices)
        fields = self.program.fields if self.program.fields.any() else None
        terms: dict[str, Any] = {injection: 1.0}
        self.oscillators = Oscillators(
            self.program.couplings, fields=fields, dtype=torch.float32, **terms
        ).to(device)

    def temperatures(self, annealing: Annealing) -> Tensor:
        """See `Machine`: those of the ramp."""
        return annealing.temperatures()

    def seed(self, seed: int) -> int:
        """See `Machine`: the same."""
        return seed

    def starts(self, count: int, batch: int, seed: int) -> Any:
        """See `Machine`: random."""
        return "random"

    def read(
        self, problem: Problem, run: Simulation, reading: Reading, batch: int, seed: int
    ) -> tuple[NDArray[np.int8], NDArray[Any]]:
        """See `Machine`."""
        phases = run.final.cpu().numpy()
        if reading == "line":
            return best_line(problem, phases)
        choices = nearest(phases, problem.choices)
        return choices, problem.values(problem.states_of(choices))


def injection_name(order: int) -> str:
    """The term of injection of this order.

    Args:
        order: k.
    """
    return "injection" if order == 2 else f"injection_{order}"


def time_step(machine: Machine, annealing: Annealing) -> float:
    """dt = annealing.time_step 2 / (stiffness + 4 s), s at its largest; at most a delay.

    Args:
        machine: The machine.
        annealing: The ramps; the slope of injection of order k is k^2 s_k = 4 s for all k.
    """
    longest = machine.oscillators.delay or math.inf  # a delay has whole steps
    return min(longest, annealing.time_step * 2 / (machine.stiffness + 4 * annealing.injection))


def prepare(machine: Machine, annealing: Annealing) -> None:
    """Compile the kernels that the machine needs, by one step of one run.

    Args:
        machine: The machine.
        annealing: The ramps.
    """
    simulate_part(machine, annealing, slice(0, 1), machine.starts(1, 0, 0), 1, 0, 0)


def simulate_part(
    machine: Machine,
    annealing: Annealing,
    steps: slice,
    starts: Any,
    count: int,
    batch: int,
    seed: int,
) -> Simulation:
    """A part of the runs of a batch.

    Args:
        machine: The machine.
        annealing: The ramps.
        steps: The steps of this part.
        starts: Start phases, or the simulation of the part before.
        count: Number of runs.
        batch: Number of the batch, for random numbers.
        seed: Seed of random numbers.
    """
    order = machine.program.choices
    schedule: dict[str, Any] = {
        injection_name(order): annealing.injections(order)[steps],
        "temperature": machine.temperatures(annealing)[steps],
    }
    if annealing.first_coupling != 1.0:
        schedule["couplings"] = annealing.coupling_factors()[steps]
    length = steps.stop - steps.start
    with warnings.catch_warnings():  # the step suits local minima, not every state
        warnings.filterwarnings("ignore", "the time step", RuntimeWarning)
        return machine.oscillators.simulate(
            time=length * time_step(machine, annealing),
            steps=length,
            starts=starts,
            restarts=None if isinstance(starts, Simulation) else count,
            schedule=schedule,
            seed=machine.seed(seed),
            first_sample=batch,
        )
