"""Counts of parts and bits for one inference of a trained network."""

from __future__ import annotations

import math
from dataclasses import dataclass

from entrain.hardware import Hardware, Levels, on_chips
from entrain.models.model import Model
from entrain.utils.errors import seed_number

BITS = 8  # of weights, couplings and fields of a network without hardware
PIXEL_BITS = 8


@dataclass(frozen=True)
class Workload:
    """Counts of one network on a chip.

    `couplers` are not zero on the chip, after pruning, rounding and faults. Bits are those of the
    hardware that the network was trained for, otherwise 8.
    """

    inputs: int  # D
    hidden: int  # H
    outputs: int  # O
    couplers: int  # E
    parameters: int
    steps: int  # K Euler steps, of the digital core
    weight_bits: float = BITS
    coupling_bits: float = BITS
    field_bits: float = BITS
    digital: bool = True  # True if the digital core computes this network

    @property
    def oscillators(self) -> int:
        """N = H + O."""
        return self.hidden + self.outputs

    @property
    def weights(self) -> int:
        """H D, the number of input weights."""
        return self.hidden * self.inputs


def workload_of(model: Model, seed: int = 0) -> Workload:
    """The workload of a model on the chip `seed` of the hardware that it was trained for, or of the
    ideal network."""
    hardware = model.hardware or Hardware()
    parameters = on_chips(
        model.batched_parameters(), hardware, [seed_number("seed", seed)]
    ).parameters
    acting = parameters.couplings[0] != 0
    network = model.network
    terms = (network.injection, network.lag, network.harmonic)
    return Workload(
        inputs=network.inputs,
        hidden=network.hidden,
        outputs=network.outputs,
        couplers=int((acting | acting.mT).triu(1).sum()),
        parameters=network.parameter_count,
        steps=network.dynamics.steps,
        weight_bits=bits_of(hardware.weight_levels),
        coupling_bits=bits_of(hardware.coupling_levels),
        field_bits=bits_of(hardware.field_levels),
        digital=all(term is None for term in terms),
    )


def bits_of(levels: Levels | None) -> float:
    """Bits of the levels: log2 of their number if they are listed."""
    if levels is None:
        return BITS
    return levels.bits if levels.bits is not None else math.log2(len(levels.levels or (0, 1)))
