"""The cost of one inference of a trained network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from entrain.cost.chip import Inputs, chip
from entrain.cost.digital import core, mlp
from entrain.cost.parts import Part, System
from entrain.cost.ranges import Range
from entrain.cost.technology import Technology, find_technology
from entrain.cost.workload import Workload, workload_of
from entrain.models.model import Model
from entrain.utils.errors import one_of

NOT_MODELLED = (
    "where the image comes from, and sending it to the chip",
    "programming weights and couplings, calibration, and standby between images",
    "wires, control, clocks and supplies: a multiply-accumulate is the arithmetic alone",
    "couplers that are set to zero: a chip of fixed wiring has their area, too",
    "accuracy: more cycles, more bits and less noise cost energy here and gain nothing",
    "processes: digital numbers are those of 45 nm, oscillators those of their own",
)


@dataclass(frozen=True)
class Cost:
    """The cost of one inference on the oscillator chip and on digital designs.

    Args:
        workload: Counts of parts and bits of the network.
        technology: Costs of parts.
        inputs: Implementation of the input weights: "digital" or "crossbar".
        chip: The oscillator chip.
        mlp: An MLP with as many parameters.
        core: The exported core; None if it does not compute the network.
    """

    workload: Workload
    technology: Technology
    inputs: Inputs
    chip: System
    mlp: System
    core: System | None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the chip."""
        return self.chip.parts

    @property
    def systems(self) -> tuple[System, ...]:
        """The chip, the MLP and the core, if there is one."""
        return (self.chip, self.mlp, *([] if self.core is None else [self.core]))

    @property
    def time(self) -> Range:
        """Seconds of an inference on the chip."""
        return self.chip.time

    @property
    def energy(self) -> Range:
        """Joules of an inference on the chip."""
        return self.chip.energy

    @property
    def power(self) -> Range:
        """Watts of the chip, on average over the inference."""
        return self.chip.power

    @property
    def area(self) -> Range | None:
        """Square metres of the chip."""
        return self.chip.area

    def to_json(self) -> dict[str, Any]:
        """All numbers as JSON values."""
        return {
            "technology": self.technology.name,
            "inputs": self.inputs,
            "workload": asdict(self.workload),
            "systems": {system.name: system.to_json() for system in self.systems},
            "not_modelled": list(NOT_MODELLED),
        }


def cost_of(
    model: Model, technology: Technology | str | Path, *, inputs: Inputs = "digital", seed: int = 0
) -> Cost:
    """Time, energy, power and area of one inference, each as low, typical and high.

    Args:
        model: A trained model.
        technology: A `Technology`, the name of a preset, or a TOML file.
        inputs: Input weights in "digital" (SRAM and multiply-accumulators), or in a "crossbar".
        seed: The chip, of the hardware that the model was trained for, whose couplers are counted.

    Examples:
        >>> cost = entrain.cost_of(entrain.load("mnist-74"), "ring-65nm")
        >>> sorted(cost.to_json())
        ['inputs', 'not_modelled', 'systems', 'technology', 'workload']
    """
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model, such as entrain.load returns, got {model!r}")
    one_of("inputs", inputs, Inputs)
    return cost_of_workload(workload_of(model, seed), find_technology(technology), inputs)


def cost_of_workload(workload: Workload, technology: Technology, inputs: Inputs) -> Cost:
    """The cost of one inference with these counts of parts and bits."""
    return Cost(
        workload,
        technology,
        inputs,
        chip(workload, technology, inputs),
        mlp(workload, technology),
        core(workload, technology),
    )
