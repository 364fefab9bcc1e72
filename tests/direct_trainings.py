"""Small trainings of protocol DIRECT, for its tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from entrain.models.network import KuramotoNetwork
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct, Tensors, Training
from entrain.rules.direct_training import DirectTraining
from entrain.rules.training_data import Examples
from entrain.tasks import Classification
from entrain.training import TrainingState, pack_state, run_training, unpack_state
from networks import random_tensor

INPUTS, H, OUTPUTS, COUNT = 6, 5, 3, 48
CLASSES = Classification(tuple(map(str, range(OUTPUTS))))
DYNAMICS = Dynamics(1.2, 0.5, 10)
SPEC = NetworkSpec(H, DYNAMICS)
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
    """Inputs with the class of a fixed random layer."""
    inputs = random_tensor(count, INPUTS, seed=seed)
    return Examples(signed_outputs(inputs).argmax(-1), inputs.float())


def signed_outputs(inputs: Tensor) -> Tensor:
    """Those of the fixed random layer: (M, O)."""
    logits = 2 * inputs.double() @ random_tensor(INPUTS, OUTPUTS, seed=100)
    return 2 * torch.softmax(logits, -1) - 1


def training(
    runs: tuple[int, ...] = (0,), *, begin: Tensors | None = None, **changes: Any
) -> DirectTraining:
    """A small training; every epoch is fine and the weights are not averaged unless asked."""
    plain: dict[str, Any] = {"epochs": 4, "batch_size": 16, "fine_epochs": 99, "averaging": 0.0}
    train = examples()
    assert train.inputs is not None
    return DirectTraining(
        Direct(**(plain | changes)),
        train,
        examples(40, 2),
        SPEC,
        CLASSES,
        seed=SEED,
        runs=runs,
        start=begin,
        teacher_outputs=signed_outputs(train.inputs).float(),
    )


def network_of(tensors: Tensors, run: int, spec: NetworkSpec = SPEC) -> KuramotoNetwork:
    """The (averaged) network of one run."""
    outputs = tensors["biases"].shape[1] - spec.hidden
    found = spec.on(tensors["biases"], len(tensors["biases"]), outputs).parameters(tensors)
    return KuramotoNetwork.from_parameters(found.run(run), spec.dynamics)


def raw(parameters: Tensors, run: int) -> Tensors:
    return {name: parameters[f"raw.{name}"][run] for name in NAMES}


def same(ours: Tensors, theirs: Tensors, atol: float = 1e-6, rtol: float = 1e-5) -> bool:
    assert ours.keys() == theirs.keys()
    return all(torch.allclose(ours[k], theirs[k], rtol=rtol, atol=atol) for k in ours)


def run_of(parameters: Tensors, run: int) -> Tensors:
    return {name: tensor[run : run + 1] for name, tensor in parameters.items()}


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


def check_runs_side_by_side(
    begin: Callable[[tuple[int, ...]], Training], *, atol: float, epochs: bool = False
) -> None:
    """Runs trained together have the numbers of runs alone and, with `epochs`, select alike."""
    runs = (0, 1, 5)
    together = run_training(begin(runs))
    for index, run in enumerate(runs):
        alone = run_training(begin((run,)))
        assert same(run_of(together.current, index), alone.current, atol=atol)
        assert not epochs or together.best_epoch[index] == alone.best_epoch[0]


def check_interruption(begin: Callable[[], Training], after: int = 1) -> None:
    """Saved after an epoch and begun again, a training ends with the same bits."""
    packed: list[bytes] = []

    def keep(state: TrainingState) -> None:
        if state.epoch == after:
            packed.append(pack_state(state, {}))

    whole = run_training(begin(), on_epoch=keep)
    saved, _ = unpack_state(packed[0], "memory")
    assert equal_states(run_training(begin(), saved), whole)
