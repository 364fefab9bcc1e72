"""A task says what the outputs of a network are for; rules, files and predictions ask it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

import entrain
from command_line import in_process
from entrain import tasks
from entrain.data import FeatureDataset, Split
from entrain.tasks import Classification, Metric, Regression, Task
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Signs(Task):
    """Signs of O numbers, by the signs of the cosines: a task of one file, for these tests."""

    kind: ClassVar[str] = "signs"
    metrics: ClassVar[tuple[Metric, ...]] = (Metric("signs", "signs %", ".1f", " %"),)
    selection: ClassVar[tuple[Metric, ...]] = metrics

    names: tuple[str, ...]

    @property
    def outputs(self) -> int:
        return len(self.names)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def description(self) -> str:
        return f"signs of {', '.join(self.names)}"

    def targets(self, values: Tensor) -> Tensor:
        return values.sign().float()

    def loss(self, activations: Tensor, targets: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
        left = 1.0 - targets * activations
        return left.square(), -2.0 * targets * left

    def validate(
        self, activations: Tensor, values: Tensor, gain: Tensor, weights: Tensor | None
    ) -> dict[str, Tensor]:
        return {"signs": 100.0 * (activations.sign() == values.sign()).double().mean((-2, -1))}

    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        return metrics["signs"][:, None]

    def evaluate(self, activations: Tensor, values: Tensor) -> dict[str, float]:
        return {"signs": 100.0 * self.score(activations, values)}

    def predict(self, activations: Tensor) -> np.ndarray:
        return np.asarray(activations.sign().cpu())

    def encode(self, y: Any, count: int) -> np.ndarray:
        return np.asarray(y, dtype=np.float64).reshape(count, self.outputs)

    def score(self, activations: Tensor, values: Tensor) -> float:
        return float((activations.sign() == values.sign()).double().mean())


def rows_and_numbers(count: int = 120) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(count, 4))
    return X, np.stack([X[:, 0] * X[:, 1], X[:, 2] - X[:, 3]], axis=1)


def table(task: Task, y: np.ndarray) -> FeatureDataset:
    X, _ = rows_and_numbers(len(y))
    parts = (Split(X[i], y[i]) for i in (slice(80), slice(80, 100), slice(100, None)))
    return FeatureDataset("numbers", *parts, task, ("a", "b", "c", "d"))


def test_a_new_task_is_one_class_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tasks.TASKS, Signs.kind, Signs)
    X, y = rows_and_numbers()
    data = table(Signs(("product", "difference")), y)
    trained = entrain.train(data, epochs=25, network=12, folder=tmp_path / "run")
    assert trained.results["results"]["DIRECT"]["signs"] > 70
    assert "signs %" not in repr(trained)
    assert "signs" in repr(trained)
    trained.model.save(tmp_path / "signs.safetensors")
    model = entrain.load(tmp_path / "signs.safetensors")
    assert model.task == data.task
    assert model.score(X, y) == trained.model.score(X, y)
    assert set(np.unique(model.predict(X))) <= {-1.0, 1.0}
    with pytest.raises(InputError, match="no classes"):
        model.probabilities(X)


@pytest.mark.parametrize("protocol", ["DIRECT", "SPSA"])
def test_rules_of_finite_time_learn_numbers(protocol: str) -> None:
    X, y = rows_and_numbers()
    settings = {"steps": 40} | ({} if protocol == "DIRECT" else {"SPSA.directions": 8})
    trained = entrain.train(
        X, y[:, 1] + 0.25, protocol=protocol, network=10, epochs=30, settings=settings
    )
    history = trained.states[protocol].history
    assert history["nrmse"][-1][0] < 0.8
    assert history["nrmse"][-1][0] < history["nrmse"][0][0]


def test_numbers_have_their_own_scale(tmp_path: Path) -> None:
    """Targets times 1000 plus 5 give predictions times 1000 plus 5."""
    X, y = rows_and_numbers()
    options: dict[str, Any] = {"network": 8, "epochs": 5, "task": "regression"}
    usual = entrain.train(X, y, **options).model
    scaled = entrain.train(X, 1000 * y + 5, **options).model
    np.testing.assert_allclose(scaled.predict(X), 1000 * usual.predict(X) + 5, rtol=1e-3, atol=1)
    assert usual.predict(X).shape == (120, 2)
    assert entrain.train(X, y[:, 0], **options).model.predict(X).shape == (120,)


def test_the_error_of_the_mean_is_one() -> None:
    _, y = rows_and_numbers()
    task = Regression.fit(y, ("a", "b"))
    mean = torch.from_numpy(y.mean(0)).expand(len(y), -1)
    activations = (mean - torch.tensor(task.centre)) / torch.tensor(task.scale)
    metrics = task.evaluate(activations, torch.from_numpy(y))
    assert math.isclose(metrics["nrmse"], 1.0, rel_tol=1e-6)
    assert abs(metrics["r2"]) < 1e-6


@pytest.mark.parametrize(
    "task", [Classification(("a", "b", "c")), Regression(("x", "y"), (0, 1), (2, 3), (1, 1))]
)
def test_the_gradient_of_a_loss_is_its_derivative(task: Task) -> None:
    activations = torch.linspace(-0.9, 0.9, 5 * task.outputs).reshape(1, 5, -1).requires_grad_()
    values = torch.arange(5) % 3 if task.has_classes else torch.randn(5, 2, dtype=torch.float64)
    losses, gradient = task.loss(
        activations, task.targets(values)[None], torch.full((1, 1, 1), 6.0)
    )
    (exact,) = torch.autograd.grad(losses.sum(), activations)
    torch.testing.assert_close(gradient, exact)


def test_a_task_survives_its_json() -> None:
    for task in (
        Classification(("1", "2"), window=0.25),
        Regression(("x",), (0.5,), (2.0,), (1.0,)),
    ):
        assert tasks.from_json(task.to_json()) == task
    with pytest.raises(InputError, match="task 'nothing'"):
        tasks.from_json({"task": "nothing"})
    with pytest.raises(InputError, match="not a complete regression"):
        tasks.from_json({"task": "regression", "colour": 1})


def test_a_teacher_needs_classes() -> None:
    X, y = rows_and_numbers()
    with pytest.raises(InputError, match="use DIRECT"):
        entrain.train(X, y, protocol="TWO-STAGE-END")
    with pytest.raises(InputError, match="class_weight is of classes"):
        entrain.train(X, y, settings={"class_weight": "balanced"})


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(40, 0.5), "is 0.5 in all"),
        (np.where(np.arange(40) == 7, np.nan, 0.5 * np.arange(40)), "nan in row 7"),
        (np.where(np.arange(40) == 7, np.inf, 0.5 * np.arange(40)), "inf in row 7"),
        (np.ones((40, 2, 2)) * 0.5, r"expected \(n,\), .*, or \(n, O\)"),
        (0.5 * np.arange(39), "39"),
    ],
)
def test_bad_numbers_are_refused(y: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        entrain.train(np.random.default_rng(0).normal(size=(40, 3)), y, task="regression")


def test_integers_are_classes_unless_they_are_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 3
    assert entrain.load_own(X, y).task == Classification(("0", "1", "2"))
    assert isinstance(entrain.load_own(X, y, task="regression").task, Regression)
    assert isinstance(entrain.load_own(X, y + 0.5).task, Regression)
    with pytest.raises(InputError, match="task 'regressoin'"):
        entrain.load_own(X, y, task="regressoin")


def test_commands_of_classes_answer_for_numbers(tmp_path: Path) -> None:
    X, y = rows_and_numbers()
    file, folder = tmp_path / "numbers.csv", tmp_path / "run"
    rows = (",".join(map(repr, [*x, float(v)])) for x, v in zip(X.tolist(), y[:, 1], strict=True))
    file.write_text("a,b,c,d,y\n" + "\n".join(rows) + "\n")
    options = ("--network", 8, "--epochs", 5, "--out", folder)
    assert "NRMSE" in in_process("train", file, *options).stdout
    assert "NRMSE" in in_process("evaluate", folder).stdout
    answers = in_process("predict", folder, file, "--csv").stdout.splitlines()
    assert answers[0] == "source,row,y,error"
    assert len(answers) == 1 + len(X)
    assert in_process("export", folder, "--to", "plain", "--out", tmp_path / "x").exit_code == 0
    for command, message in (
        (("yield", folder, "--hardware", "typical"), "predicts numbers"),
        (("play", folder, "--export", tmp_path / "page"), "Use entrain predict"),
        (("search", file, "--trials", 1), "compares accuracies"),
    ):
        result = in_process(*command)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())
