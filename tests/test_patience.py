"""The end of a training that has converged, and epochs without validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from direct_trainings import check_interruption, equal_states, run_of, same, training
from entrain import InputError, kernels
from entrain.rules import Direct, Tensors
from entrain.rules.direct import small_set
from entrain.rules.equilibrium import EquilibriumPropagation
from entrain.rules.spsa import SimultaneousPerturbation
from entrain.training import TrainingState, run_training

pytestmark = pytest.mark.usefixtures("one_thread")


@dataclass
class Scripted:
    """A training of one run whose validation losses are given, epoch by epoch."""

    losses: list[float]
    patience: int = 0
    validation_interval: int = 0
    training_losses: list[float] = field(default_factory=list)
    validated: list[int] = field(default_factory=list)
    epochs: int = 0
    _epoch: int = 0

    def __post_init__(self) -> None:
        self.epochs = len(self.losses)

    def initial(self) -> Tensors:
        return {"x": torch.zeros(1, 1)}

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        self._epoch = epoch + 1
        tensors["x"] += 1
        loss = self.training_losses[epoch] if self.training_losses else 1.0
        return {"loss": torch.tensor([loss])}

    def validate(self, tensors: Tensors) -> Tensors:
        self.validated.append(self._epoch)
        return {"entropy": torch.tensor([self.losses[self._epoch - 1]], dtype=torch.float64)}

    def merit(self, metrics: Tensors) -> torch.Tensor:
        return -metrics["entropy"][:, None]


FALLING = [1.0, 0.8, 0.6, 0.5, 0.55, 0.52, 0.499, 0.53, 0.4, 0.3]


@pytest.mark.parametrize(("patience", "epochs"), [(0, 10), (3, 7), (4, 8), (5, 10), (9, 10)])
def test_training_ends_when_the_validation_loss_stops_falling(patience: int, epochs: int) -> None:
    # 0.499 is a new minimum, but by less than counts
    state = run_training(Scripted(FALLING, patience))
    assert state.epoch == epochs
    assert state.is_finished
    assert int(state.best_epoch[0]) == 1 + FALLING.index(min(FALLING[:epochs]))


@pytest.mark.parametrize(
    ("interval", "epochs"), [(0, [*range(1, 11)]), (3, [1, 3, 6, 9, 10]), (20, [1, 10])]
)
def test_epochs_between_validations_keep_the_last_metrics(interval: int, epochs: list[int]) -> None:
    script = Scripted(FALLING, validation_interval=interval)
    state = run_training(script)
    assert script.validated == epochs
    measured = [max(e for e in epochs if e <= epoch) for epoch in range(1, 11)]
    assert state.history["entropy"] == [[FALLING[epoch - 1]] for epoch in measured]
    assert len(state.history["loss"]) == 10
    assert float(state.best["x"]) == int(state.best_epoch[0])


def test_a_run_that_diverges_between_validations_is_noticed() -> None:
    losses = [1.0, 1.0, 1.0, float("nan"), 1.0, 1.0]
    state = run_training(Scripted(FALLING[:6], 0, 6, losses))
    assert int(state.diverged[0]) == 4
    assert state.is_finished
    assert state.epoch == 4


def test_a_converged_training_ends_again_where_it_ended() -> None:
    def make() -> Any:
        return training(epochs=60, coupling_rate=0.05, input_rate=0.05, patience=4, averaging=0.9)

    epochs: list[int] = []
    states: list[TrainingState] = []
    first = run_training(make(), on_epoch=lambda state: epochs.append(state.epoch))
    assert 5 <= first.epoch < 60
    again = run_training(make(), first, on_epoch=lambda state: states.append(state))
    assert states == []
    assert equal_states(again, run_training(make()))


@pytest.mark.parametrize(("choice", "atol"), [("auto", 0.0), ("reference", 1e-4)])
def test_runs_side_by_side_end_where_each_ends_alone(choice: str, atol: float) -> None:
    runs, rates = (0, 0, 3, 3), (0.02, 0.05, 0.2, 0.002)

    def make(runs: tuple[int, ...], rates: tuple[float, ...]) -> Any:
        ending = {"epochs": 60, "patience": 6, "validation_interval": 2, "averaging": 0.9}
        return training(runs, coupling_rate=rates, input_rate=rates, **ending)

    with kernels.use(choice):
        together = run_training(make(runs, rates))
        alone = [run_training(make((r,), (v,))) for r, v in zip(runs, rates, strict=True)]
    assert len({state.epoch for state in alone}) > 2
    assert together.epoch == max(state.epoch for state in alone)
    for run, state in enumerate(alone):
        assert same(run_of(together.current, run), state.current, atol=atol, rtol=atol)
        assert same(run_of(together.best, run), state.best, atol=atol, rtol=atol)
        assert int(together.best_epoch[run]) == int(state.best_epoch[0])
        for name, rows in state.history.items():
            column = torch.tensor([row[run] for row in together.history[name]])
            values = torch.tensor(rows)[:, 0]
            assert torch.allclose(column[: state.epoch], values, rtol=atol, atol=atol)
            assert bool((column[state.epoch :] == column[state.epoch - 1]).all())


def test_a_training_with_converged_runs_continues_with_the_same_bits() -> None:
    rates = (0.05, 0.2, 0.002)

    def make(*runs: int) -> Any:
        own = tuple(rates[run] for run in runs)
        ending = {"epochs": 40, "patience": 6, "validation_interval": 2, "averaging": 0.9}
        return training(runs, coupling_rate=own, input_rate=own, **ending)

    epochs = [run_training(make(run)).epoch for run in range(3)]
    assert min(epochs) + 1 < max(epochs)
    check_interruption(lambda: make(0, 1, 2), after=min(epochs) + 1)


@pytest.mark.parametrize("name", ["patience", "validation_interval", "second_order_steps"])
@pytest.mark.parametrize("value", [-1, 0.5, True])
def test_counts_are_checked(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name} must be a non-negative whole number"):
        Direct(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [EquilibriumPropagation, SimultaneousPerturbation])
@pytest.mark.parametrize("field", ["distillation", "second_order_steps"])
def test_rules_without_an_adjoint_have_no_such_field(rule: Any, field: str) -> None:
    with pytest.raises(TypeError, match=field):
        rule(**{field: 1})
    earlier = rule().settings() | {field: 0}  # as in files of version 0.2
    assert rule.from_settings(earlier) == rule()
    with pytest.raises(TypeError, match=field):
        rule.from_settings(rule().settings() | {field: 1})


@pytest.mark.parametrize("examples", [1, 9, 100, 1500, 90_000])
def test_own_data_take_a_bounded_number_of_steps(examples: int) -> None:
    fields = small_set(examples)
    rule = Direct(**fields)
    steps = rule.epochs * -(-examples // rule.batch_size)
    assert rule.epochs <= 200
    assert steps <= 1000 or rule.epochs == small_set(10**6)["epochs"]
    assert 1 <= rule.validation_interval <= rule.patience
