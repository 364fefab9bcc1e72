"""The accuracy of a trained model over many chips."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from entrain.cluster import Engine, LocalEngine
from entrain.data import Split
from entrain.evaluation.chips import accuracies_on_chips, blocks, check_chips
from entrain.evaluation.yield_file import open_yield_file
from entrain.hardware import Hardware, find
from entrain.models.model import Model
from entrain.physics import Dynamics, Parameters
from entrain.utils.errors import seed_number


@dataclass(frozen=True)
class Yield:
    """Accuracies in percent of chips of one hardware.

    Args:
        accuracies: One for each chip, in the order of their seeds.
        first_seed: Seed of the first chip; the others follow.
    """

    accuracies: tuple[float, ...]
    first_seed: int = 0

    @property
    def mean(self) -> float:
        """Mean over chips."""
        return float(np.mean(self.accuracies))

    @property
    def sd(self) -> float:
        """Standard deviation from chip to chip (n - 1); 0 for one chip."""
        return float(np.std(self.accuracies, ddof=1)) if len(self.accuracies) > 1 else 0.0

    @property
    def worst(self) -> float:
        """Accuracy of the worst chip."""
        return min(self.accuracies)

    def percentile(self, share: float) -> float:
        """Accuracy below which a share of the chips lies, interpolated linearly.

        Args:
            share: Percent of the chips.
        """
        return float(np.percentile(self.accuracies, share))

    def above(self, threshold: float) -> float:
        """Percentage of chips with at least this accuracy.

        Args:
            threshold: Accuracy in percent.
        """
        return 100.0 * float(np.mean(np.array(self.accuracies) >= threshold))

    def summary(self) -> dict[str, float]:
        """Mean, standard deviation, percentiles and worst chip, in percent."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "p1": self.percentile(1),
            "p5": self.percentile(5),
            "p50": self.percentile(50),
            "worst": self.worst,
        }


@dataclass(frozen=True)
class ChipTest:
    """A network (1, ...) and the examples to measure it with: inputs (M, D), labels (M,)."""

    parameters: Parameters
    dynamics: Dynamics
    inputs: Tensor
    labels: Tensor
    noise_seed: int = 0

    def to(self, device: torch.device) -> ChipTest:
        """This test on another device."""
        parameters = self.parameters.map(lambda tensor: tensor.to(device))
        parameters = replace(parameters, graph=parameters.graph.to(device))
        inputs, labels = self.inputs.to(device), self.labels.to(device)
        return replace(self, parameters=parameters, inputs=inputs, labels=labels)

    def accuracies(self, block: Block) -> list[float]:
        """Top-1 in percent on each chip of a block."""
        accuracies: list[float] = accuracies_on_chips(
            self.parameters,
            block.hardware,
            block.seeds,
            self.inputs,
            self.labels,
            self.dynamics,
            noise_seed=self.noise_seed,
        )[0].tolist()
        return accuracies


@dataclass(frozen=True)
class Block:
    """Chips of one hardware that are measured together."""

    hardware: Hardware
    seeds: tuple[int, ...]

    def __str__(self) -> str:
        return f"chips {self.seeds[0]} to {self.seeds[-1]}"


def measure_block(test: ChipTest, block: Block, device: torch.device) -> list[float]:
    """Top-1 in percent on each chip of a block, computed on a device."""
    return test.to(device).accuracies(block)


def yield_of(
    model: Model,
    hardware: Hardware | str | Path,
    data: Split,
    *,
    chips: int = 100,
    first_seed: int = 0,
    noise_seed: int = 0,
    unseen: bool = True,
    out: Path | str | None = None,
    on_done: Callable[[list[float]], None] | None = None,
) -> Yield:
    """The accuracy of a model on chips with the seeds first_seed, first_seed + 1, ...

    Args:
        model: A trained model.
        hardware: A `Hardware`, the name of a preset or a TOML file.
        data: Labelled examples.
        chips: Number of chips.
        first_seed: Seed of the first chip.
        noise_seed: Seed of the noise, which is the same for every chip.
        unseen: False for training and validation images, see `Model.inputs`.
        out: File for the accuracies. An interrupted call, or one for more chips, continues from it.
        on_done: Called with the accuracies of each block of chips.
    """
    hardware = find(hardware)
    yields = yields_of(
        model,
        [hardware],
        data,
        chips=chips,
        first_seed=first_seed,
        noise_seed=noise_seed,
        unseen=unseen,
        out=out,
        on_done=on_done,
    )
    return yields[hardware]


def yields_of(
    model: Model,
    variants: Iterable[Hardware],
    data: Split,
    *,
    chips: int = 100,
    first_seed: int = 0,
    noise_seed: int = 0,
    unseen: bool = True,
    out: Path | str | None = None,
    engine: Engine | None = None,
    on_done: Callable[[list[float]], None] | None = None,
) -> dict[Hardware, Yield]:
    """`yield_of` for several variants of a hardware; a file `out` belongs to the first.

    `on_done` also gets the accuracies that the file holds already. The result depends neither on
    the engine nor on interruptions: each chip is measured independently of the others.
    """
    seeds = check_chips(chips, first_seed)
    unique = list(dict.fromkeys(variants))
    for hardware in unique:
        hardware.check(model.network.hidden, model.network.outputs)
    inputs, labels = model.examples(data, unseen=unseen)
    seed = seed_number("noise_seed", noise_seed)
    test = ChipTest(model.batched_parameters(), model.network.dynamics, inputs, labels, seed)
    with open_yield_file(None if out is None else Path(out), test, unique[0]) as file:
        pending: list[Block] = []
        for hardware in unique:
            known = file.of(hardware)
            if on_done is not None and (done := [known[seed] for seed in seeds if seed in known]):
                on_done(done)
            missing = [seed for seed in seeds if seed not in known]
            pending += [
                Block(hardware, tuple(block))
                for block in blocks(test.parameters, missing, len(inputs))
            ]
        if pending:
            engine = engine or LocalEngine(test.inputs.device)
            for block, accuracies in engine.map(measure_block, test, pending):
                file.add(block.hardware, block.seeds, accuracies)
                if on_done is not None:
                    on_done(accuracies)
        return {
            hardware: Yield(tuple(file.of(hardware)[seed] for seed in seeds), first_seed)
            for hardware in unique
        }
