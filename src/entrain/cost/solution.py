"""The cost of a solution: of one run of an Ising machine, and of the runs that reach a value.

A run of t units of the phase model takes t times CYCLES_OF_A_UNIT cycles: couplings may turn a
phase by about a radian in a unit, and oscillators follow the phase model if this takes several
cycles. N oscillators and a reference, the couplers that are not zero, and a DAC for every field
run for T_run = cycles / frequency; every oscillator is read at each reading of a run. With 99 %
probability at least one of R = ln(0.01) / ln(1 - p) runs reaches the target (see
`TimeToSolution`), one after the other on one chip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from entrain.cost.chip import array_parts, dacs
from entrain.cost.parts import System, system
from entrain.cost.ranges import Range
from entrain.cost.technology import Quantity, Technology, find_technology
from entrain.cost.workload import BITS, bits_of
from entrain.hardware import Hardware
from entrain.ising import Solution, TimeToSolution
from entrain.ising.on_chip import ChipProgram
from entrain.ising.problems import Problem
from entrain.utils.errors import InputError, finite_float, positive_float

CYCLES_OF_A_UNIT = Range(5.0, 10.0, 20.0)
"""Cycles of an oscillator in a unit of time of the phase model."""

_SOURCE = (
    "results/ising-circuits.json: LC oscillators with 5 (low), 10 (typical) and 20 (high) cycles "
    "in a unit of time; other oscillators assumed alike"
)
NOT_MODELLED_OF_RUNS = (
    "programming of the couplings, and random start phases",
    "sending readings away and computing their values",
    "wires, control, clocks and supplies",
    "couplers that are set to zero: a chip of fixed wiring has their area, too",
    "noise: the ramp of `entrain solve` without a chip is assumed to be free",
)


@dataclass(frozen=True)
class MachineSize:
    """Parts of an Ising machine that is programmed with a problem.

    Args:
        oscillators: Oscillators in use, those of chains too.
        couplers: Couplings that are not zero.
        coupling_bits: log2 of the levels of a coupling: those of the hardware, or 2 m + 1 for
            whole weights up to m times their greatest common divisor; 8 bits for other weights.
        fields: Fields that are not zero.
    """

    oscillators: int
    couplers: int
    coupling_bits: float
    fields: int


@dataclass(frozen=True)
class SolutionCost:
    """The cost of one run of an Ising machine, and of reaching a value with 99 % probability.

    Args:
        technology: Costs of parts, with the cycles of this run.
        size: Parts of the machine.
        runs: Success probability of a run, and the number of runs that it takes.
        run: Time, energy, power and area of one run.
    """

    technology: Technology
    size: MachineSize
    runs: TimeToSolution
    run: System

    @property
    def repetitions(self) -> Range:
        """Runs until one has reached the target with 99 %, and their 95 % interval."""
        low, high = self.runs.repetitions_interval
        return Range(low, self.runs.repetitions, high)

    @property
    def time(self) -> Range:
        """Seconds of all runs."""
        return self.run.time * self.repetitions

    @property
    def energy(self) -> Range:
        """Joules of all runs."""
        return self.run.energy * self.repetitions

    @property
    def area(self) -> Range | None:
        """Square metres of the chip."""
        return self.run.area

    def to_json(self) -> dict[str, Any]:
        """All numbers as JSON values; what is infinite is null."""
        return {
            "technology": self.technology.name,
            "oscillators": self.size.oscillators,
            "couplers": self.size.couplers,
            "coupling_bits": self.size.coupling_bits,
            "fields": self.size.fields,
            "time_of_a_run": self.runs.time_per_run,
            "cycles": self.technology["run.cycles"].to_json(),
            "run": self.run.to_json(),
            "target": self.runs.target,
            "success_probability": self.runs.probability,
            "repetitions": self.repetitions.to_json(),
            "time": self.time.to_json(),
            "energy": self.energy.to_json(),
            "not_modelled": list(NOT_MODELLED_OF_RUNS),
        }


def cost_of_solution(
    solution: Solution,
    technology: Technology | str | Path,
    *,
    target: float | None = None,
    cycles_of_unit: float | None = None,
) -> SolutionCost:
    """Time, energy and area of a run, and of as many runs as reach a value with 99 %.

    Args:
        solution: Result of `entrain.solve`, on ideal oscillators or on a chip.
        technology: A `Technology`, the name of a preset, or a TOML file.
        target: Value to be reached; the best of the runs by default.
        cycles_of_unit: Cycles in a unit of time of the phase model; 5 to 20 by default.

    Examples:
        >>> graph = entrain.ising.WeightedGraph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> solution = entrain.solve(entrain.ising.MaxCut(graph), restarts=4)
        >>> entrain.cost.cost_of_solution(solution, "ring-65nm").technology.name
        'ring-65nm'
    """
    if not isinstance(solution, Solution):
        raise TypeError(f"solution must be a Solution of entrain.solve, got {solution!r}")
    if target is not None:
        finite_float("target", target)
    if solution.problem.choices != 2:
        raise InputError(
            "a colouring has no cost here: technologies have oscillators of two phases"
        )
    cycles, source = CYCLES_OF_A_UNIT, _SOURCE
    if cycles_of_unit is not None:
        cycles = Range.exactly(positive_float("cycles_of_unit", cycles_of_unit, most=1e9))
        source = "cycles_of_unit"
    runs = solution.time_to_solution(target)
    scaled = find_technology(technology)
    quantity = Quantity(cycles * runs.time_per_run, "cycles", source)
    scaled = replace(scaled, quantities=scaled.quantities | {"run.cycles": quantity})
    hardware = None if solution.chip is None else Hardware.from_json(solution.chip["hardware"])
    size = machine_size(solution.problem, hardware)
    n, readings = size.oscillators, min(solution.annealing.readings, runs.steps)
    parts = [dacs(scaled, size.fields, BITS)] if size.fields else []
    parts += array_parts(scaled, n, size.couplers, size.coupling_bits, n, readings)
    return SolutionCost(scaled, size, runs, system("run", f"one run, {scaled.name}", parts))


def machine_size(problem: Problem, hardware: Hardware | None = None) -> MachineSize:
    """The parts that a problem takes, on ideal oscillators or with the chains of a chip.

    Args:
        problem: The problem, of two states.
        hardware: The hardware of the chip; None is ideal oscillators.
    """
    bits = _bits_of_weights(problem.graph.weights)
    if hardware is None:
        couplers, fields = _nonzero(problem.graph.weights), _nonzero(problem.fields())
        return MachineSize(problem.variables, couplers, bits, fields)
    program = ChipProgram.of(problem, hardware)
    if hardware.coupling_levels is not None:
        bits = bits_of(hardware.coupling_levels)
    couplers = _nonzero(program.physical.couplings.data) // 2
    return MachineSize(len(program.sites), couplers, bits, _nonzero(program.physical.fields))


def _nonzero(values: np.ndarray) -> int:
    return int(np.count_nonzero(values))


def _bits_of_weights(weights: np.ndarray) -> float:
    """log2(2 m + 1) of whole weights, m the largest over their greatest common divisor."""
    if not len(weights) or not np.issubdtype(weights.dtype, np.integer):
        return BITS
    sizes = np.abs(weights)
    return math.log2(2 * int(sizes.max() // (np.gcd.reduce(sizes) or 1)) + 1)
