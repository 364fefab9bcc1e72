"""One chip, or several of a kind side by side: where imperfections enter a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from entrain.hardware.draws import ChipDraws
from entrain.hardware.effect import Draws, Realised
from entrain.physics import Parameters

if TYPE_CHECKING:
    from entrain.hardware.hardware import Hardware


@dataclass(frozen=True)
class Chip:
    """One device of a kind: what differs from chip to chip is a function of `seed`."""

    hardware: Hardware
    seed: int


def realise(
    parameters: Parameters, hardware: Hardware | Chip, draws: Draws | None = None
) -> Realised:
    """What chips make of networks (L, ...): every effect that is on, in its order.

    The one place where imperfections enter; differentiable with respect to the parameters. A
    `Chip` has draws of its own, the same for all networks; a kind of hardware takes `draws`.
    """
    if isinstance(hardware, Chip):
        draws = ChipDraws([hardware.seed], parameters.biases, len(parameters.biases))
        hardware = hardware.hardware
    assert draws is not None, "a kind of hardware needs draws"
    hardware.check(parameters.hidden, parameters.outputs)
    network = Realised(parameters)
    for _, effect in hardware.effects:
        network = effect.change(network, draws)
    return network


def on_chips(parameters: Parameters, hardware: Hardware, seeds: Sequence[int]) -> Realised:
    """Networks (R, ...) on each of C chips: lane r C + c is network r on the chip of seed c."""
    runs = len(parameters.biases)
    lanes = parameters.map(lambda tensor: tensor.repeat_interleave(len(seeds), dim=0))
    return realise(lanes, hardware, ChipDraws(seeds, parameters.biases, runs))
