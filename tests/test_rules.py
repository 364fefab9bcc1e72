"""A new training rule is one file: a toy rule goes everywhere that the package's own rules go."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from torch import Tensor

import entrain
from command_line import Invoke
from entrain import InputError, NetworkSpec, Recipe, rules
from entrain.data import fingerprint
from entrain.rules.interface import Assignment, Rule, Task, Tensors, shuffled
from entrain.rules.validation import validation_scores
from entrain.tasks import metrics
from entrain.training import Stage, run_pipeline, teacher_stage
from entrain.training.run_folder import RunFolder

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Hebbian(Rule):
    """W_hi += rate <u_i y_h> with random hidden codes of the classes, J from the same codes."""

    kind: ClassVar[str] = "hebbian"

    name: str = "HEBBIAN"
    start: str = "random"
    epochs: int = 3
    rate: float = 0.05
    batch_size: int = 64

    def task(self, assignment: Assignment) -> Task:
        return HebbianTask(self, assignment)


class HebbianTask:
    def __init__(self, rule: Hebbian, given: Assignment) -> None:
        self.rule, self.epochs, self.given = rule, rule.epochs, given
        self.inputs, self.labels = given.data.train.all_inputs(), given.data.train.targets
        self.spec = given.network.on(self.inputs, len(given.runs), given.data.outputs)

    def initial(self) -> Tensors:
        hidden, runs, outputs = (
            self.given.network.hidden,
            len(self.given.runs),
            self.given.data.outputs,
        )
        n = hidden + outputs
        codes = torch.randn(hidden, outputs, generator=torch.Generator().manual_seed(0))
        couplings = torch.zeros(n, n)
        couplings[:hidden, hidden:] = codes - codes.mean(1, keepdim=True)
        zero = {
            "input_weights": torch.zeros(runs, hidden, self.inputs.shape[1]),
            "biases": torch.zeros(runs, n),
            "couplings": ((couplings + couplings.T) * self.spec.graph).repeat(runs, 1, 1),
        }
        return self.spec.initial_tensors(zero, self.given.start)

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        hidden, count = self.given.network.hidden, len(self.labels)
        order = shuffled("hebbian", self.given.seed, self.given.runs, epoch, count)
        for run, codes in enumerate(tensors["couplings"][:, :hidden, hidden:]):
            for rows in torch.split(order[run], self.rule.batch_size):
                change = codes[:, self.labels[rows]] @ self.inputs[rows]
                tensors["input_weights"][run] += self.rule.rate / count * change
        return {"loss": tensors["input_weights"].square().mean((1, 2))}

    def validate(self, tensors: Tensors) -> Tensors:
        data = self.given.data.validation
        parameters, dynamics = self.spec.parameters(tensors), self.given.network.dynamics
        scores = validation_scores(parameters, data.all_inputs(), dynamics)
        return {"top1": metrics.top_k(scores, data.targets)}

    def merit(self, metrics: Tensors) -> Tensor:
        return metrics["top1"][:, None]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in rules/__init__.py."""
    monkeypatch.setitem(rules.RULES, "hebbian", Hebbian)
    monkeypatch.setitem(rules.PROTOCOLS, "HEBBIAN", Hebbian())


@pytest.mark.usefixtures("registered")
def test_it_trains_from_the_command_line_with_any_of_its_fields(
    invoke: Invoke, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    options = ["--protocol", "HEBBIAN", "--set", "HEBBIAN.rate=0.1", "--set=batch_size=32"]
    result = invoke("train", "digits", *options, "--out", folder, "--json")
    assert result.exit_code == 0, result.stderr
    (trained,) = RunFolder.open(folder).recipe.protocols
    assert trained == Hebbian(rate=0.1, batch_size=32)
    model = entrain.load(folder / "hebbian-0.safetensors")
    assert model.protocol == "HEBBIAN"
    assert model.details["validation"]["top1"] > 50


@pytest.mark.usefixtures("registered")
def test_it_goes_on_in_a_run_folder_with_the_same_bits(tmp_path: Path) -> None:
    data = entrain.load_dataset("digits")
    recipe = Recipe("digits", protocols=(Hebbian(),), runs=2)
    whole = entrain.train_recipe(recipe, data)
    half = replace(recipe, protocols=(Hebbian(epochs=1),))
    begun = run_pipeline(half, data, device=CPU).states["HEBBIAN"]
    settings = {"device": "cpu", "data_dir": None, "examples": fingerprint(data)}
    kept = RunFolder.create(tmp_path / "run", recipe, settings)
    kept.save("HEBBIAN", begun, finished=False)
    again = entrain.train_recipe(recipe, data, folder=tmp_path / "run")
    for name, tensor in whole.states["HEBBIAN"].current.items():
        assert torch.equal(tensor, again.states["HEBBIAN"].current[name])
    assert Recipe.from_json(recipe.to_json()) == recipe


@pytest.mark.usefixtures("registered")
def test_its_stages_have_keys_and_others_start_from_it() -> None:
    first = Stage(Hebbian(), "digits", NetworkSpec(8))
    assert first.key.startswith("digits-hebbian-")
    assert first.key != Stage(Hebbian(rate=0.1), "digits", NetworkSpec(8)).key
    assert first.key != Stage(Hebbian(), "digits", NetworkSpec(8, lag=0.1)).key
    later = replace(Hebbian(), name="LATER", start="HEBBIAN")
    recipe = Recipe("digits", protocols=(later, Hebbian()))
    assert [rule.name for rule in recipe.protocols] == ["HEBBIAN", "LATER"]
    states = run_pipeline(recipe, entrain.load_dataset("digits"), device=CPU).states
    assert float(states["LATER"].best["input_weights"].norm()) > float(
        states["HEBBIAN"].best["input_weights"].norm()
    )


def test_the_help_names_every_protocol(invoke: Invoke) -> None:
    text = re.sub(r"-\s+", "-", invoke("train", "--help").stdout)  # lines break after hyphens
    for name in entrain.PROTOCOLS:
        assert name in text


def test_a_teacher_is_no_protocol_and_nothing_starts_from_itself() -> None:
    with pytest.raises(InputError, match="protocols must be rules such as Direct"):
        Recipe("digits", protocols=(entrain.TeacherSpec(),))
    ring = (replace(Hebbian(), name="A", start="B"), replace(Hebbian(), name="B", start="A"))
    with pytest.raises(InputError, match="starts from itself"):
        Recipe("digits", protocols=ring)


def test_a_start_must_be_kept_whole_and_be_told_apart() -> None:
    teachers = tuple(teacher_stage("digits", seed=seed) for seed in (0, 1))
    path, end = entrain.PROTOCOLS["PATH"], entrain.PROTOCOLS["TWO-STAGE-END"]
    twice = Stage(path, "digits", teachers=teachers, runs=(0, 0))
    with pytest.raises(InputError, match="one of them twice"):
        Stage(end, "digits", teachers=teachers[1:], runs=(0,), start=twice)
    spec = NetworkSpec(frequencies=(0.1,) * 74, trainable=("frequencies",))
    trained = Stage(path, "digits", spec, teachers=teachers[:1])
    with pytest.raises(InputError, match="would drop"):
        Stage(end, "digits", replace(spec, trainable=()), teachers[:1], start=trained)
