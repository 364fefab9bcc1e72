"""Networks on chips: where imperfections enter."""

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
    """A sampled instance of hardware.

    Args:
        hardware: The effects.
        seed: Determines everything that differs from chip to chip.

    Examples:
        >>> chip = entrain.hardware.preset("typical").sample(7)
        >>> entrain.load("mnist-74-robust").on(7).chip == chip
        True
    """

    hardware: Hardware
    seed: int


def realise(
    parameters: Parameters, hardware: Hardware | Chip, draws: Draws | None = None
) -> Realised:
    """Networks (L, ...) on chips: with every effect that is on, in order.

    Differentiable with respect to the parameters. A `Chip` determines its random variates, the same
    for all networks; hardware needs `draws`.
    """
    if isinstance(hardware, Chip):
        draws = ChipDraws([hardware.seed], parameters.biases, len(parameters.biases))
        hardware = hardware.hardware
    assert draws is not None, "hardware needs draws"
    hardware.check(parameters.hidden, parameters.outputs)
    network = Realised(parameters)
    for _, effect in hardware.effects:
        network = effect.change(network, draws)
    return network


def on_chips(parameters: Parameters, hardware: Hardware, seeds: Sequence[int]) -> Realised:
    """Networks (R, ...) on each of C chips: index r C + c is network r on the chip of seed c."""
    runs = len(parameters.biases)
    copies = parameters.map(lambda tensor: tensor.repeat_interleave(len(seeds), dim=0))
    return realise(copies, hardware, ChipDraws(seeds, parameters.biases, runs))
