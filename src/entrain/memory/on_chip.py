"""A memory on an imperfect chip: its couplings are the problem that the chip is programmed with."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from entrain.hardware import Hardware
from entrain.ising.on_chip import ChipMachine, ChipProgram
from entrain.ising.problems import Ising
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.memory.memory import Memory


class ChipMemory:
    """A memory as programmed on the chips of a hardware, with every effect of them.

    Couplings are programmed in units of the root mean square row, as those of Ising problems; a
    recall takes the time in that unit. The graph of the chip needs the couplers of the memory.

    Args:
        memory: A memory of spins.
        hardware: The hardware.
    """

    def __init__(self, memory: Memory, hardware: Hardware) -> None:
        if memory.phases:
            raise InputError(
                "chips lock to two phases, and the memory is of phases: recall it without a chip"
            )
        couplings = memory.couplings.double().numpy()
        _check_graph(couplings, hardware)
        self.problem = Ising(-couplings)
        self.program = ChipProgram.of(self.problem, hardware)
        largest = float(np.abs(self.program.logical.couplings.data).max(initial=0.0))
        self._unit = float(np.abs(couplings).max()) / (largest or 1.0) or 1.0
        self._injection = memory.injection / self._unit

    def recall(
        self,
        starts: Tensor,
        time: float,
        steps: int,
        chip_seed: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Tensor:
        """Spins (B, N) as a chip reads them.

        Args:
            starts: Start phases (B, N).
            time: Observation time, in the unit of the memory.
            steps: Euler steps until then.
            chip_seed: Seed of the chip.
            temperature: kT of noise beside that of the chip, in the unit of the memory.
            seed: Seed of the noise.
        """
        machine = ChipMachine(self.program, chip_seed, torch.device("cpu"))
        thermal = self.program.hardware.phase_noise
        of_chip = 0.0 if thermal is None else thermal.temperature
        with warnings.catch_warnings():  # the step suits stored patterns, not every state
            warnings.filterwarnings("ignore", "the time step", RuntimeWarning)
            run = machine.oscillators.simulate(
                starts=machine.start_at(starts),
                time=time * self._unit,
                steps=steps,
                schedule={"injection": self._injection},
                temperature=of_chip + temperature / self._unit,
                seed=machine.seed(seed),
            )
        choices, _ = machine.read(self.problem, run, "threshold", 0, seed)
        return torch.from_numpy(self.problem.states_of(choices))


def _check_graph(couplings: NDArray[np.float64], hardware: Hardware) -> None:
    """Refuse a chip without the couplers: chains would use up its oscillators."""
    wiring, n = hardware.wiring, len(couplings)
    if wiring is None or wiring.is_identity:
        return
    size = max(n, hardware.oscillators or n)
    lacking = couplings.astype(bool) & ~wiring.graph(size)[:n, :n].numpy()
    if lacking.any():
        raise InputError(
            f"the memory couples {np.count_nonzero(couplings) // 2} pairs of oscillators, and the "
            f"chip lacks {np.count_nonzero(lacking) // 2} of these couplers: choose a chip whose "
            "oscillators are all coupled"
        )
