"""The chips that a model runs on."""

from __future__ import annotations

import warnings
from numbers import Integral

from entrain.hardware import Chip, Hardware
from entrain.models.network import KuramotoNetwork
from entrain.utils.errors import InputError


def chip_for(chip: Chip | int, network: KuramotoNetwork, trained_for: Hardware | None) -> Chip:
    """`chip`, or the chip of this seed of the hardware that the network was trained for.

    Refuses a chip that the network does not fit on, and warns if it is of other hardware.
    """
    if not isinstance(chip, Chip):
        if isinstance(chip, bool) or not isinstance(chip, Integral):
            raise TypeError(
                f"expected a chip, hardware.sample(seed), or the seed of one, got {chip!r}"
            )
        if trained_for is None:
            raise InputError(
                "the model was not trained for chips, so a seed does not define one; give a chip, "
                f"such as entrain.hardware.preset('typical').sample({chip})"
            )
        chip = trained_for.sample(int(chip))
    chip.hardware.check(network.hidden, network.outputs)
    if trained_for is not None and (
        message := hardware_mismatch_message(trained_for, chip.hardware)
    ):
        warnings.warn(message, stacklevel=3)
    return chip


def hardware_mismatch_message(trained_for: Hardware | None, hardware: Hardware) -> str | None:
    """A warning that a model runs on other hardware than it was trained for, or None.

    Ideal hardware never warns: it computes the network's equations.
    """
    if hardware.is_identity or (
        trained_for is not None and list(trained_for.effects) == list(hardware.effects)
    ):
        return None
    if trained_for is None or trained_for.is_identity:
        return "the model was trained for the ideal network, not for chips"
    other = hardware.name if hardware.name != trained_for.name else ""
    return (
        f"the model was trained for {trained_for.name or 'other chips'}, "
        f"not for {other or 'these chips'}"
    )
