"""The yield of a trained model: its accuracy over many chips of a kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from entrain.data import Split
from entrain.errors import seed_number
from entrain.evaluation.chips import Yield, accuracies_on_chips, check_chips
from entrain.hardware import Hardware, find
from entrain.model import Model


def yield_of(
    model: Model,
    hardware: Hardware | str | Path,
    data: Split,
    *,
    chips: int = 100,
    first_seed: int = 0,
    noise_seed: int = 0,
    unseen: bool = True,
    on_done: Callable[[list[float]], None] | None = None,
) -> Yield:
    """The accuracy of a model on chips of one kind, with the seeds first_seed, first_seed + 1, ...

    `hardware` is a `Hardware`, the name of a preset or a TOML file. `on_done` is given the
    accuracies of some more chips, now and then.
    """
    seeds = check_chips(chips, first_seed)
    inputs, labels = model.examples(data, unseen=unseen)
    found = accuracies_on_chips(
        model.one_run(),
        find(hardware),
        seeds,
        inputs,
        labels,
        model.network.dynamics,
        noise_seed=seed_number("noise_seed", noise_seed),
        on_chips_done=None if on_done is None else lambda part: on_done(part[0]),
    )
    return Yield(tuple(found[0].tolist()), first_seed)
