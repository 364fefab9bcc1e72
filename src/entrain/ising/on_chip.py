"""A problem on an imperfect chip: every effect of `entrain.hardware` on its oscillators."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from entrain.hardware import (
    Chip,
    ChipDraws,
    Hardware,
    Levels,
    Realised,
    Wiring,
    find,
    noise_seeds,
)
from entrain.ising.annealing import Annealing
from entrain.ising.batch import LARGEST
from entrain.ising.embedding import Chains, embed
from entrain.ising.machine import Program
from entrain.ising.problems import Problem
from entrain.ising.reading import Reading
from entrain.models.oscillators import Oscillators
from entrain.models.simulation import Simulation
from entrain.physics import Parameters
from entrain.physics.noise import random_phases
from entrain.utils.errors import InputError, seed_number

CHAIN = 1.4  # coupling within a chain, in units of the root mean square row of the problem
_MOST = 4096  # oscillators: effects have a matrix of them


def chip_of(chip: Chip | Hardware | str | Path, seed: int = 0) -> Chip:
    """A chip, by itself or as a sample of hardware.

    Args:
        chip: A chip, or its hardware, the name of a preset or a TOML file.
        seed: Seed of the chip of a hardware.
    """
    if isinstance(chip, Chip):
        return chip
    if not isinstance(chip, Hardware | str | Path):
        raise InputError(
            "chip must be a chip, a Hardware, the name of a preset or a TOML file, got "
            f"{type(chip).__name__}; the seed of a chip is chip_seed"
        )
    return find(chip).sample(seed_number("chip_seed", seed))


@dataclass(frozen=True, eq=False)
class ChipProgram:
    """A problem as programmed on every chip of a hardware.

    Args:
        problem: The problem, of two states.
        hardware: The hardware, with the levels of its couplers at the scale of the weights.
        logical: Couplings and fields of the variables.
        physical: Couplings and fields of the sites.
        sites: The sites that are used (S,).
        chains: Positions among the sites of every variable's chain.
        stiffness: See `Program.stiffness`, of the sites.
    """

    problem: Problem
    hardware: Hardware
    logical: Program
    physical: Program
    sites: NDArray[np.int64]
    chains: Chains
    stiffness: float

    @classmethod
    def of(cls, problem: Problem, hardware: Hardware) -> ChipProgram:
        """The program of a problem; an `InputError` says what does not fit.

        Where the graph of the chip lacks a coupler, a variable is a chain of oscillators. Weights
        are programmed at the scale at which the levels of the couplers round them least.

        Args:
            problem: The problem.
            hardware: The hardware.
        """
        if problem.choices != 2:
            raise InputError(
                f"chips lock to two phases, and the problem has {problem.choices} colours: solve "
                "it without a chip"
            )
        logical = Program.of(problem)
        sites, chains = place(problem, hardware)
        physical = embedded(logical, chains, sites, hardware)
        if hardware.coupling_levels is not None:
            levels = programmed(hardware.coupling_levels, physical.couplings.data)
            hardware = replace(hardware, coupling_levels=levels)
        position = {site: index for index, site in enumerate(sites.tolist())}
        positions = tuple(tuple(position[site] for site in chain) for chain in chains)
        stiffness = physical.stiffness()
        return cls(problem, hardware, logical, physical, sites, positions, stiffness)


class ChipMachine:
    """The oscillators of one chip, read by majority in a chain.

    Args:
        program: The program of the hardware.
        seed: Seed of the chip.
        device: Device of the simulation.
    """

    def __init__(self, program: ChipProgram, seed: int, device: torch.device) -> None:
        self.program, self.stiffness = program.logical, program.stiffness
        self._hardware, self._chip_seed = program.hardware, seed
        self._sites, self._chains = program.sites, program.chains
        self._draws = _SiteDraws(seed, program.sites)
        self.oscillators, self._still = _oscillators(_realised(program, self._draws))
        self.oscillators.to(device)

    def temperatures(self, annealing: Annealing) -> Tensor:
        """See `Machine`: those of the ramp, and that of the chip in addition.

        Args:
            annealing: The ramps.
        """
        thermal = self._hardware.phase_noise
        of_chip = 0.0 if thermal is None else thermal.temperature
        return annealing.temperatures() + of_chip

    def seed(self, seed: int) -> int:
        """See `Machine`: another one for every chip.

        Args:
            seed: Seed of the search.
        """
        return _noise_seed(seed, self._chip_seed)

    def starts(self, count: int, batch: int, seed: int) -> Any:
        """See `Machine`: random, but for oscillators that stand still.

        Args:
            count: Number of runs.
            batch: Number of the batch.
            seed: Seed of the search.
        """
        indices = torch.full((count,), batch), torch.arange(count)
        phases = random_phases(self.seed(seed), *indices, len(self._sites))
        return self._with_still(phases)[:, None]  # restarts, one sample, oscillators

    def start_at(self, phases: Tensor) -> Tensor:
        """Start phases (B, S) of the sites, those of a chain alike.

        Oscillators that stand still keep their phase.

        Args:
            phases: Phases of the variables (B, N).
        """
        sites = phases.new_zeros(len(phases), len(self._sites))
        for variable, chain in enumerate(self._chains):
            sites[:, list(chain)] = phases[:, [variable]]
        return self._with_still(sites)

    def _with_still(self, phases: Tensor) -> Tensor:
        if self._still is None:
            return phases
        return torch.where(self._still.isnan(), phases, self._still.double())

    def read(
        self, problem: Problem, run: Simulation, reading: Reading, batch: int, seed: int
    ) -> tuple[NDArray[np.int8], NDArray[Any]]:
        """See `Machine`: the signs of the readings, by majority in a chain.

        Args:
            problem: The problem.
            run: The simulation.
            reading: "threshold".
            batch: Number of the batch.
            seed: Seed of the search.
        """
        phases = run.final.reshape(1, -1, len(self._sites))
        readout = self._hardware.readout
        if readout is None or readout.is_identity:
            scores = phases.cos()
        else:
            velocity = self.oscillators.drift(phases)[0][None] if readout.timing else None
            runs = ChipDraws([self.seed(seed)], phases, 1, batch * LARGEST)
            scores = readout.scores(phases, velocity, run.end[0], self._draws.like(phases), runs)
        signs = np.where(scores[0].cpu().numpy() >= 0, 1, -1)
        votes = signs[:, [chain[0] for chain in self._chains]]
        for variable, chain in enumerate(self._chains):
            if len(chain) > 1:
                votes[:, variable] = self._vote(signs, chain)
        choices = ((1 - votes) // 2).astype(np.int8)
        return choices, problem.values(problem.states_of(choices))

    @staticmethod
    def _vote(signs: NDArray[Any], chain: Sequence[int]) -> NDArray[Any]:
        """The majority of a chain (M,); of a tie, its first oscillator."""
        votes = np.sign(signs[:, list(chain)].sum(1))
        return np.where(votes == 0, signs[:, chain[0]], votes)


def place(problem: Problem, hardware: Hardware) -> tuple[NDArray[np.int64], Chains]:
    """The sites that a problem uses, and the chain of sites of every variable.

    Args:
        problem: The problem.
        hardware: The hardware.
    """
    nodes = problem.variables
    measured = hardware.measured.size if hardware.measured is not None else None
    size = hardware.oscillators or measured or nodes
    if nodes > size:
        raise InputError(
            f"the problem has {nodes} variables, the chip {size} oscillators: choose a smaller "
            "problem or a larger chip"
        )
    wiring = hardware.wiring
    if wiring is None or wiring.is_identity:
        chains: Chains = tuple((i,) for i in range(nodes))
    else:
        if size > _MOST:
            raise InputError(f"a chip has at most {_MOST:,} oscillators here, got {size:,}")
        chains = _chains(problem, wiring, size)
    used = sorted(site for chain in chains for site in chain)
    if measured is not None:
        used = list(range(measured))
    if len(used) > _MOST:
        raise InputError(f"a chip has at most {_MOST:,} oscillators here, got {len(used):,}")
    return np.array(used, dtype=np.int64), chains


@functools.lru_cache(maxsize=8)
def _chains(problem: Problem, wiring: Wiring, size: int) -> Chains:
    """`embed`, once for all variants of a hardware."""
    return embed(problem.couplings(), wiring.graph(size).numpy())


@functools.lru_cache(maxsize=64)
def _noise_seed(seed: int, chip_seed: int) -> int:
    return noise_seeds(seed, [chip_seed])[0]


def embedded(
    program: Program, chains: Chains, sites: NDArray[np.int64], hardware: Hardware
) -> Program:
    """The program of the sites: couplings and fields of the variables, and chains.

    Args:
        program: The program of the variables.
        chains: The chain of sites of every variable.
        sites: The sites that are used (S,).
        hardware: The hardware, for its couplers.
    """
    position = {site: index for index, site in enumerate(sites.tolist())}
    size, graph = len(sites), None
    if any(len(chain) > 1 for chain in chains):
        assert hardware.wiring is not None
        graph = hardware.wiring.graph(hardware.oscillators or int(sites.max()) + 1).numpy()
    rows, columns, values = list[int](), list[int](), list[float]()
    upper = scipy.sparse.coo_array(scipy.sparse.triu(program.couplings, 1))
    for i, j, value in zip(upper.row.tolist(), upper.col.tolist(), upper.data, strict=True):
        ends = chains[i][0], chains[j][0]
        if graph is not None:
            first, second = np.nonzero(graph[np.ix_(chains[i], chains[j])])
            ends = chains[i][first[0]], chains[j][second[0]]
        rows.append(position[ends[0]])
        columns.append(position[ends[1]])
        values.append(float(value))
    fields = np.zeros(size)
    for variable, chain in enumerate(chains):
        for site in chain:
            fields[position[site]] += program.fields[variable] / len(chain)
        for index, site in enumerate(chain):
            for other in chain[index + 1 :]:
                if graph is not None and graph[site, other]:
                    rows.append(position[site])
                    columns.append(position[other])
                    values.append(CHAIN)
    both = [*values, *values], ([*rows, *columns], [*columns, *rows])
    matrix = scipy.sparse.coo_array(both, (size, size)).tocsr()
    return Program(matrix, fields, 2)


def programmed(levels: Levels, weights: NDArray[np.float64]) -> Levels:
    """Levels with the range that rounds these weights least, of ranges that reach the largest.

    An absolute range is kept.

    Args:
        levels: Levels of the couplers.
        weights: The weights that are not zero.
    """
    if levels.rule == "absolute" or not len(weights):
        return levels
    steps = levels.levels
    if steps is None:
        assert levels.bits is not None
        most = (1 << levels.bits - 1) - 1
        steps = tuple(k / most for k in range(-most, most + 1))
    largest, best = float(np.abs(weights).max()), (np.inf, levels)
    different = torch.from_numpy(np.unique(weights))
    for step in sorted({abs(level) for level in steps if level}, reverse=True):
        scaled = replace(levels, range=largest / step, rule="absolute")
        rounded = scaled.rounded(different, different.new_tensor(scaled.range))
        error = float((rounded - different).square().mean())
        if error < best[0] * (1 - 1e-9):
            best = error, scaled
        if error == 0:
            break
    return best[1]


class _SiteDraws(ChipDraws):
    """The random variates of a chip at some of its sites."""

    def __init__(self, seed: int, sites: NDArray[np.int64], like: Tensor | None = None) -> None:
        super().__init__([seed], torch.zeros(1) if like is None else like)
        self._seed, self._sites = seed, sites

    def like(self, other: Tensor) -> _SiteDraws:
        """The same variates, with the type and device of a tensor."""
        return _SiteDraws(self._seed, self._sites, other)

    def _positions(self, size: int, device: torch.device) -> Tensor:
        if size == len(self._sites):
            return torch.from_numpy(self._sites).to(device)
        return super()._positions(size, device)


def _realised(program: ChipProgram, draws: ChipDraws) -> Realised:
    """The oscillators of the sites with every effect."""
    hardware, sites, n = program.hardware, program.sites, len(program.sites)
    couplings = torch.from_numpy(program.physical.couplings.toarray()).float()
    graph = ~torch.eye(n, dtype=torch.bool)
    if hardware.wiring is not None and not hardware.wiring.is_identity:
        full = hardware.wiring.graph(hardware.oscillators or int(sites.max()) + 1)
        graph = full[sites][:, sites]
    parameters = Parameters(
        torch.zeros(1, n, 1),
        torch.from_numpy(program.physical.fields).float()[None],
        couplings[None],
        graph,
        injection=torch.ones(1, n),
    )
    network = Realised(parameters)
    for name, effect in hardware.effects:
        if name != "wiring":  # the couplers in use are on the chip
            network = effect.change(network, draws)
    return network


def _oscillators(realised: Realised) -> tuple[Oscillators, Tensor | None]:
    """The oscillators, and start phases (S,) of those that stand still, NaN for the others."""
    model = realised.phase_model(torch.zeros(1, 1, 1))
    parameters = realised.parameters
    terms: dict[str, Any] = {
        name: value[0] for name, value in parameters.terms.items() if name != "start_phases"
    }
    oscillators = Oscillators(
        parameters.couplings[0], fields=model.fields[0, 0], delay=realised.delay, **terms
    )
    still = None
    if realised.moving is not None:
        start = parameters.start_phases
        phases = torch.full_like(parameters.biases, torch.pi / 2) if start is None else start
        still = phases.masked_fill(realised.moving, torch.nan)[0]
    return oscillators, still
