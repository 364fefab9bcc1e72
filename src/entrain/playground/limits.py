"""The largest networks the page keeps up with; playground/src/core/model.ts holds the same numbers.

At the limits, 512 oscillators and 1,024 steps, a run took 0.8 s on two busy cores, twice that
with a second harmonic of the coupling function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.models.network import KuramotoNetwork

MOST_OSCILLATORS = 512
MOST_INPUTS = 65_536


def most_steps(oscillators: int) -> int:
    """Euler steps that so many oscillators, each a product with J (N, N), may take."""
    return int(2**28 // max(oscillators, 128) ** 2)


def check(network: KuramotoNetwork) -> None:
    """Refuse a network that the page could not keep up with."""
    count, steps = network.oscillators, network.dynamics.steps
    for found, most, what in (
        (count, MOST_OSCILLATORS, "oscillators"),
        (network.inputs, MOST_INPUTS, "inputs"),
        (steps, most_steps(count), f"Euler steps of {count} oscillators"),
    ):
        if found > most:
            raise InputError(
                f"the network has {found:,} {what}; the page keeps up with {most:,} at most. "
                "Use entrain evaluate, or entrain.load in Python"
            )
