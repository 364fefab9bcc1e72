"""The accuracy of a trained model over many chips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from entrain.cluster import Engine, LocalEngine
from entrain.data import Split
from entrain.evaluation.chips import blocks, check_chips, correct_on_chips
from entrain.evaluation.intervals import (
    PERCENTILES,
    Bootstrap,
    Interval,
    accuracy,
    bootstrap,
    pack,
    wilson,
)
from entrain.evaluation.yield_file import YieldFile, open_yield_file
from entrain.hardware import Hardware, find
from entrain.models.model import Model
from entrain.physics import Dynamics, Parameters
from entrain.tasks import Task
from entrain.utils.errors import InputError, seed_number
from entrain.utils.summary import Summary


@dataclass(frozen=True, repr=False)
class Yield(Summary):
    """Accuracies in percent of chips of one hardware.

    Args:
        accuracies: One for each chip, in the order of their seeds.
        first_seed: Seed of the first chip; the others follow.
        examples: Number of test examples.
        correct: For each chip the examples that it predicts correctly, eight to a byte, see
            `entrain.evaluation.intervals`.
    """

    accuracies: tuple[float, ...]
    first_seed: int = 0
    examples: int = 0
    correct: tuple[bytes, ...] = field(default=(), repr=False)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return {
            "chips": str(len(self.accuracies)),
            "mean": f"{self.mean:.2f} %",
            "SD": f"{self.sd:.2f}",
            "5th percentile": f"{self.percentile(5):.2f} %",
            "worst": f"{self.worst:.2f} %",
            "test examples": f"{self.examples:,}",
        }

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
        percentiles = {f"p{share}": self.percentile(share) for share in PERCENTILES}
        return {"mean": self.mean, "sd": self.sd, **percentiles, "worst": self.worst}

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, over chips, their noise and the test examples."""
        return self._bootstrap.standard_error

    def intervals(self, threshold: float | None = None) -> dict[str, Interval]:
        """95 % intervals by the names of `summary`.

        Those of the mean and the percentiles are by bootstrap over chips, their noise and the test
        examples; a percentile needs five chips below it, the 5th 100 chips. That of the worst chip
        is Wilson's for its accuracy on so many examples, that of `above_threshold` Wilson's for a
        share of so many chips.

        Args:
            threshold: Accuracy in percent, for the interval of `above`.
        """
        percentiles = self._bootstrap.percentiles
        intervals = {
            "mean": self._bootstrap.mean,
            **{f"p{share}": interval for share, interval in percentiles.items()},
            "worst": wilson_of(self.worst, self.examples),
        }
        if threshold is not None:
            chips = len(self.accuracies)
            intervals["above_threshold"] = wilson_of(self.above(threshold), chips)
        return intervals

    @cached_property
    def _bootstrap(self) -> Bootstrap:
        if not self.correct:
            raise InputError("intervals need the correct examples of each chip, as from yield_of")
        return bootstrap(self.correct, self.examples)


def wilson_of(percentage: float, trials: int) -> Interval:
    """Wilson's interval of a percentage of `trials`.

    Args:
        percentage: 100 times a count divided by `trials`.
        trials: Examples of one chip, or chips.
    """
    return wilson(round(percentage * trials / 100.0), trials)


class YieldInterrupted(KeyboardInterrupt):
    """Ctrl-C during a measurement; `yields` has the chips that were measured, by hardware."""

    def __init__(self, yields: dict[Hardware, Yield]) -> None:
        super().__init__()
        self.yields = yields


@dataclass(frozen=True)
class ChipTest:
    """A network (1, ...) and the examples to measure it with: inputs (M, D), labels (M,)."""

    parameters: Parameters
    dynamics: Dynamics
    inputs: Tensor
    labels: Tensor
    noise_seed: int = 0
    task: Task | None = None

    def to(self, device: torch.device) -> ChipTest:
        """This test on another device."""
        parameters = self.parameters.map(lambda tensor: tensor.to(device))
        parameters = replace(parameters, graph=parameters.graph.to(device))
        inputs, labels = self.inputs.to(device), self.labels.to(device)
        return replace(self, parameters=parameters, inputs=inputs, labels=labels)

    def correct(self, block: Block) -> list[bytes]:
        """The examples that each chip of a block predicts correctly, eight to a byte."""
        correct = correct_on_chips(
            self.parameters,
            block.hardware,
            block.seeds,
            self.inputs,
            self.labels,
            self.dynamics,
            task=self.task,
            noise_seed=self.noise_seed,
        )
        return pack(correct[0].cpu().numpy())


@dataclass(frozen=True)
class Block:
    """Chips of one hardware that are measured together."""

    hardware: Hardware
    seeds: tuple[int, ...]

    def __str__(self) -> str:
        return f"chips {self.seeds[0]} to {self.seeds[-1]}"


def measure_block(test: ChipTest, block: Block, device: torch.device) -> list[bytes]:
    """`ChipTest.correct` of a block, computed on a device."""
    return test.to(device).correct(block)


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
        noise_seed: Seed of the noise, of which every chip has its own draw.
        unseen: False for training and validation images, see `Model.inputs`.
        out: File for the accuracies. An interrupted call, or one for more chips, continues from it.
        on_done: Called with the accuracies of each block of chips.

    Examples:
        >>> model = entrain.load("mnist-74-robust")
        >>> test = entrain.load_test_split("mnist").rows(slice(500))
        >>> chips = entrain.yield_of(model, "typical", test, chips=5)
        >>> chips.summary()["mean"] > 95
        True
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
    the engine nor on interruptions: each chip is measured independently of the others. Ctrl-C
    raises `YieldInterrupted` once a chip is measured.
    """
    seeds = check_chips(chips, first_seed)
    unique = list(dict.fromkeys(variants))
    for hardware in unique:
        hardware.check(model.network.hidden, model.network.outputs)
    if not model.task.has_classes:
        raise InputError(
            "a yield counts correct classes; this model predicts numbers: evaluate it on one chip "
            "after the other, model.on(hardware.sample(seed)).evaluate(test)"
        )
    inputs, labels = model.examples(data, unseen=unseen)
    seed, task = seed_number("noise_seed", noise_seed), model.task
    test = ChipTest(model.batched_parameters(), model.network.dynamics, inputs, labels, seed, task)
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
            try:
                for block, correct in engine.map(measure_block, test, pending):
                    accuracies = [accuracy(bits, len(inputs)) for bits in correct]
                    file.add(block.hardware, block.seeds, accuracies, correct)
                    if on_done is not None:
                        on_done(accuracies)
            except KeyboardInterrupt as error:
                partial = {hardware: _yield(file, hardware, seeds) for hardware in unique}
                if partial[unique[0]].accuracies:
                    raise YieldInterrupted(partial) from error
                raise
        return {hardware: _yield(file, hardware, seeds) for hardware in unique}


def _yield(file: YieldFile, hardware: Hardware, seeds: Sequence[int]) -> Yield:
    """The yield of the chips among these seeds that were measured."""
    accuracies, correct = file.of(hardware), file.correct_of(hardware)
    measured = [seed for seed in seeds if seed in accuracies]
    return Yield(
        tuple(accuracies[seed] for seed in measured),
        seeds[0],
        file.examples,
        tuple(correct[seed] for seed in measured if seed in correct),
    )
