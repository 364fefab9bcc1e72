"""Small tasks of protocol DIRECT, for its tests."""

from __future__ import annotations

import math
from typing import Any

import torch

from entrain.learning import DirectProtocol, DirectTask, Examples, TrainingState
from entrain.learning.trainer import Parameters
from entrain.physics import Dynamics
from networks import random_tensor

INPUTS, H, OUTPUTS, COUNT = 6, 5, 3, 48
DYNAMICS = Dynamics(1.2, 0.5, 10)
SEED = 4
NAMES = ("input_weights", "biases", "couplings")
DIFFERENT: dict[str, Any] = {  # for two runs side by side
    "input_rate": (4e-3, 1e-2),
    "coupling_rate": (3e-2, 1e-2),
    "weight_decay": (0.0, 2.0),
    "gain": (8.0, 3.0),
    "smoothing": (0.0, 0.2),
    "initial_couplings": (0.3, 0.6),
    "warm_up": 0.4,
}


def examples(count: int = COUNT, seed: int = 1) -> Examples:
    """Inputs with the class and the signed outputs of a fixed random layer."""
    inputs = random_tensor(count, INPUTS, seed=seed)
    said = 2 * torch.softmax(2 * inputs @ random_tensor(INPUTS, OUTPUTS, seed=100), -1) - 1
    return Examples(said.argmax(-1), inputs.float(), said.float())


def task(
    runs: tuple[int, ...] = (0,), *, begin: Parameters | None = None, **changes: Any
) -> DirectTask:
    """A small task; every epoch is fine and the weights are not averaged unless asked."""
    plain: dict[str, Any] = {"epochs": 4, "batch_size": 16, "fine_epochs": 99, "averaging": 0.0}
    return DirectTask(
        DirectProtocol(**(plain | changes)),
        examples(),
        examples(40, 2),
        (INPUTS, H, OUTPUTS),
        DYNAMICS,
        seed=SEED,
        runs=runs,
        start=begin,
    )


def raw(parameters: Parameters, lane: int) -> Parameters:
    return {name: parameters[f"raw.{name}"][lane] for name in NAMES}


def same(ours: Parameters, theirs: Parameters, atol: float = 1e-6) -> bool:
    assert ours.keys() == theirs.keys()
    return all(torch.allclose(ours[k], theirs[k], rtol=1e-5, atol=atol) for k in ours)


def lane_of(parameters: Parameters, lane: int) -> Parameters:
    return {name: tensor[lane : lane + 1] for name, tensor in parameters.items()}


def rise_and_fall(done: float, warm_up: float) -> float:
    """A line to 1 at `warm_up`, from a little above 0; half a cosine from there to 0 at 1."""
    if done < warm_up:
        return (done + 1e-3) / (warm_up + 1e-3)
    return 0.5 + 0.5 * math.cos(math.pi * (done - warm_up) / (1 - warm_up))


def equal_states(ours: TrainingState, theirs: TrainingState) -> bool:
    pairs = [(ours.current, theirs.current), (ours.best, theirs.best)]
    return (
        ours.epoch == theirs.epoch
        and ours.history == theirs.history
        and torch.equal(ours.best_epoch, theirs.best_epoch)
        and torch.equal(ours.best_merit, theirs.best_merit)
        and all(torch.equal(a[name], b[name]) for a, b in pairs for name in a)
    )
