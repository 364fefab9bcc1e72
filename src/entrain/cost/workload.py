"""What one inference of a trained network asks of a chip: parts and bits."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from entrain.hardware import Hardware, Levels, on_chips
from entrain.models.model import Model
from entrain.utils.errors import seed_number

BITS = 8  # of weights, couplings and fields of a network that was not made for a chip
PIXEL_BITS = 8


@dataclass(frozen=True)
class Workload:
    """Counts of one network as a chip has it.

    `couplers` are those that act: not zero on the chip, after pruning, rounding and dead parts.
    Bits are those of the chip the network was made for, otherwise 8.
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
    digital: bool = True  # whether the digital core computes this network

    @property
    def oscillators(self) -> int:
        """N = H + O."""
        return self.hidden + self.outputs

    @property
    def weights(self) -> int:
        """H D, the numbers in front of the oscillators."""
        return self.hidden * self.inputs

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def workload_of(model: Model, seed: int = 0) -> Workload:
    """The workload of a model on the chip of this seed, of the kind that it was trained for; the
    ideal network where it was trained for none."""
    kind = model.hardware or Hardware()
    parameters = on_chips(model.batched_parameters(), kind, [seed_number("seed", seed)]).parameters
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
        weight_bits=_bits(kind.weight_levels),
        coupling_bits=_bits(kind.coupling_levels),
        field_bits=_bits(kind.field_levels),
        digital=all(each is None for each in terms),
    )


def _bits(levels: Levels | None) -> float:
    """Bits that tell the levels apart: log2 of their number where they are listed."""
    if levels is None:
        return BITS
    return levels.bits if levels.bits is not None else math.log2(len(levels.levels or (0, 1)))
