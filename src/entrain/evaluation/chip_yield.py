"""The yield of a trained model: its accuracy over many chips of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from entrain.cluster import Engine, LocalEngine
from entrain.data import Split
from entrain.evaluation.chips import Yield, accuracies_on_chips, blocks, check_chips
from entrain.evaluation.yield_file import open_yield_file
from entrain.hardware import Hardware, find
from entrain.models.model import Model
from entrain.physics import Dynamics, Parameters
from entrain.utils.errors import seed_number


@dataclass(frozen=True)
class ChipTest:
    """A network (1, ...) and the examples that it is asked on chips: inputs (M, D), labels (M,)."""

    parameters: Parameters
    dynamics: Dynamics
    inputs: Tensor
    labels: Tensor
    noise_seed: int = 0

    def to(self, device: torch.device) -> ChipTest:
        """The same on a device."""
        parameters = self.parameters.map(lambda tensor: tensor.to(device))
        return replace(
            self,
            parameters=replace(parameters, graph=parameters.graph.to(device)),
            inputs=self.inputs.to(device),
            labels=self.labels.to(device),
        )

    def accuracies(self, block: Block) -> list[float]:
        """Top-1 in percent on each chip of a block."""
        found = accuracies_on_chips(
            self.parameters,
            block.hardware,
            block.seeds,
            self.inputs,
            self.labels,
            self.dynamics,
            noise_seed=self.noise_seed,
        )
        numbers: list[float] = found[0].tolist()
        return numbers


@dataclass(frozen=True)
class Block:
    """Some chips of a kind, measured together."""

    hardware: Hardware
    seeds: tuple[int, ...]


def title_of(block: Block) -> str:
    """The name of a block in errors."""
    return f"chips {block.seeds[0]} to {block.seeds[-1]}"


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
    """The accuracy of a model on chips of one kind, with the seeds first_seed, first_seed + 1, ...

    `hardware` is a `Hardware`, the name of a preset or a TOML file. `on_done` is given the
    accuracies of some more chips, now and then. With the file `out` they are kept, and a call that
    was interrupted, or one for more chips, goes on from there.
    """
    kind = find(hardware)
    found = yields_of(
        model,
        [kind],
        data,
        chips=chips,
        first_seed=first_seed,
        noise_seed=noise_seed,
        unseen=unseen,
        out=out,
        on_done=on_done,
    )
    return found[kind]


def yields_of(
    model: Model,
    kinds: Iterable[Hardware],
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
    """`yield_of` for several kinds of chips, each once; a file `out` belongs to the first kind.

    `on_done` is also given what a file has already. The numbers do not depend on the engine, nor
    on where an interrupted measurement was: a chip is measured as if alone.
    """
    seeds = check_chips(chips, first_seed)
    unique = list(dict.fromkeys(kinds))
    for kind in unique:
        kind.check(model.network.hidden, model.network.outputs)
    inputs, labels = model.examples(data, unseen=unseen)
    test = ChipTest(
        model.one_run(),
        model.network.dynamics,
        inputs,
        labels,
        seed_number("noise_seed", noise_seed),
    )
    with open_yield_file(None if out is None else Path(out), test, unique[0]) as kept:
        waiting: list[Block] = []
        for kind in unique:
            known = kept.of(kind)
            if on_done is not None and (done := [known[seed] for seed in seeds if seed in known]):
                on_done(done)
            unknown = [seed for seed in seeds if seed not in known]
            for some in blocks(test.parameters, unknown, len(inputs)):
                waiting.append(Block(kind, tuple(some)))
        if waiting:
            engine = engine or LocalEngine(test.inputs.device)
            for block, accuracies in engine.map(measure_block, test, waiting, title_of):
                kept.add(block.hardware, block.seeds, accuracies)
                if on_done is not None:
                    on_done(accuracies)
        found = {kind: kept.of(kind) for kind in unique}
    return {
        kind: Yield(tuple(known[seed] for seed in seeds), first_seed)
        for kind, known in found.items()
    }
