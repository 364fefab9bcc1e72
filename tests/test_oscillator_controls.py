"""Controls: a model trained again without parts, beside models without dynamics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import ttest_rel

import entrain
from command_line import Invoke
from entrain.evaluation.controls import CONTROLS, ControlResult, Controls, catalogue
from entrain.evaluation.controls.job import Job
from entrain.evaluation.controls.recipe import rule_and_network
from entrain.evaluation.controls.static import hidden_units, parameter_count
from entrain.evaluation.intervals import paired_difference
from entrain.physics import Dynamics, NetworkSpec
from entrain.training import Trained
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

TINY: dict[str, Any] = {"network": NetworkSpec(5, Dynamics(steps=20)), "epochs": 4}


def rows(count: int = 120, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Four features and the class of a random linear map."""
    random = np.random.default_rng(5)
    X = random.normal(size=(count, 4))
    return X, (X @ random.normal(size=(4, classes))).argmax(1)


@pytest.fixture(scope="module")
def trained() -> Trained:
    return entrain.train(*rows(), **TINY)


@pytest.fixture(scope="module")
def result(trained: Trained) -> Controls:
    return entrain.controls(trained.model, trained.data, runs=2)


def couplings(trained: Trained) -> torch.Tensor:
    return trained.model.network.couplings.detach()


def test_frozen_hidden_couplings_keep_their_start_and_the_others_do_not() -> None:
    def after(epochs: int, frozen: list[str]) -> torch.Tensor:
        return couplings(
            entrain.train(*rows(), **TINY | {"epochs": epochs}, settings={"DIRECT.frozen": frozen})
        )

    short, long = after(1, ["hidden_couplings"]), after(3, ["hidden_couplings"])
    assert torch.equal(short[:5, :5], long[:5, :5])
    assert bool((short[:5, 5:] != long[:5, 5:]).all())
    assert torch.equal(long, long.mT)
    assert torch.equal(after(1, ["couplings"])[:5, :5], short[:5, :5])
    assert not torch.equal(after(1, [])[:5, :5], short[:5, :5])


def test_an_unknown_frozen_tensor_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="hidden_couplings"):
        entrain.Direct(frozen=("hidden_coupling",))


def test_all_controls_are_measured_in_order(result: Controls) -> None:
    assert tuple(row.name for row in result.rows) == CONTROLS
    for row in result.rows[1:]:
        assert len(row.values["top1"]) == 2
        assert result.difference(row.name) is not None or row.name == catalogue.TRAINED


def test_the_first_run_is_the_model_itself(trained: Trained, result: Controls) -> None:
    own = trained.model.evaluate(trained.test)
    for metric, value in own.items():
        assert result[catalogue.SAVED].values[metric] == (value,)
        assert result[catalogue.TRAINED].values[metric][0] == value


def test_without_couplings_or_after_one_step_every_answer_is_the_same(
    trained: Trained, result: Controls
) -> None:
    shares = 100 * np.bincount(trained.test.labels) / len(trained.test)
    for name in (catalogue.NONE, catalogue.ONE_STEP, catalogue.ZEROED):
        for accuracy in result[name].values["top1"]:
            assert np.isclose(shares, accuracy).any()


def test_parameters_are_those_that_are_trained(trained: Trained, result: Controls) -> None:
    count = trained.model.network.parameter_count  # 5 x 4 + 8 + 10 + 15
    assert count == 53
    counts = {row.name: row.parameters for row in result.rows}
    assert counts[catalogue.TRAINED] == count
    assert counts[catalogue.RANDOM] == 28
    assert counts[catalogue.NO_HIDDEN] == 43
    assert counts[catalogue.RANDOM_INPUTS] == 33
    assert counts[catalogue.READOUT] == 23
    assert counts[catalogue.LINEAR] == 15
    units = hidden_units(count, 4, 3)
    assert counts[catalogue.PERCEPTRON] == parameter_count(units, 4, 3)
    assert abs(parameter_count(units, 4, 3) - count) <= 4


def test_shuffled_couplings_are_the_same_numbers_elsewhere(trained: Trained) -> None:
    parameters = trained.model.batched_parameters()
    job = Job.__new__(Job)
    job.seed = 0
    shuffled = job._changed_at_test(catalogue.SHUFFLED, parameters).couplings
    assert torch.equal(shuffled, shuffled.mT)
    assert torch.equal(shuffled.flatten().sort()[0], parameters.couplings.flatten().sort()[0])
    assert not torch.equal(shuffled, parameters.couplings)
    assert bool((shuffled[0][~parameters.graph] == 0).all())


def test_the_sentences_report_gains_losses_and_neither() -> None:
    def controls(better: float) -> Controls:
        def row(name: str, values: tuple[float, ...]) -> ControlResult:
            return ControlResult(name, {"top1": values}, (values[0], values[0]))

        metric = entrain.Classification(("a", "b")).selection[-1]
        perceptron = row(catalogue.PERCEPTRON, (90 - better, 91 - better - 0.1, 92 - better + 0.1))
        facts = {"network": {"steps": 200}}
        return Controls(facts, metric, (row(catalogue.TRAINED, (90.0, 91.0, 92.0)), perceptron))

    assert "network gains 2.00 ± 0.25 points over a perceptron" in controls(2.0).sentence
    assert "network loses 2.00 ± 0.25 points against a perceptron" in controls(-2.0).sentence
    assert "gains nothing measurable over a perceptron" in controls(0.2).sentence
    assert "(+0.20 ± 0.25 points)" in controls(0.2).sentence


def test_paired_differences_have_students_interval_without_spread_of_examples() -> None:
    first, second = [97.1, 96.0, 98.2, 97.7], [96.9, 96.2, 97.0, 96.9]
    interval = ttest_rel(first, second).confidence_interval(0.95)
    difference = paired_difference(first, second, [1.0, 2.0], [0.5, 1.5])
    assert difference.mean == pytest.approx((interval.low + interval.high) / 2)
    assert difference.half_width == pytest.approx((interval.high - interval.low) / 2)
    wider = paired_difference(first, second, [1.0, 2.0], [0.5, 1.0])
    assert wider.half_width > difference.half_width


def test_an_interrupted_call_continues_with_the_controls_that_are_missing(
    trained: Trained, result: Controls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "controls.json"

    def stop(name: str, share: float) -> None:
        if name == catalogue.NO_HIDDEN:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        entrain.controls(trained.model, trained.data, runs=2, out=file, on_progress=stop)
    kept = [row["name"] for row in json.loads(file.read_text())["measured"]["rows"]]
    assert {catalogue.TRAINED, *catalogue.AT_TEST, catalogue.RANDOM} <= set(kept)
    assert catalogue.NO_HIDDEN not in kept
    again = entrain.controls(trained.model, trained.data, runs=2, out=file)
    assert [row.values for row in again.rows] == [row.values for row in result.rows]
    assert again.sentence == result.sentence == json.loads(file.read_text())["sentence"]
    monkeypatch.delattr(Job, "measure")  # nothing is trained again
    entrain.controls(trained.model, trained.data, runs=2, out=file)
    with pytest.raises(InputError, match="nothing is overwritten"):
        entrain.controls(trained.model, trained.data, runs=3, out=file)


def test_a_linear_model_learns_a_linear_function() -> None:
    X, _ = rows(200)
    y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0
    numbers = entrain.train(X, y, **TINY | {"epochs": 40})
    result = entrain.controls(numbers.model, numbers.data, runs=2, only=[catalogue.LINEAR])
    errors = {row.name: np.mean(row.values["nrmse"]) for row in result.rows}
    assert errors[catalogue.LINEAR] < 0.02
    difference = result.difference(catalogue.LINEAR)
    assert difference is not None
    assert difference.mean < 0  # a smaller error
    assert "NRMSE on test" in result.sentence


def test_sequences_take_one_step_a_frame() -> None:
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 3)) for length in random.integers(5, 9, size=60)]
    y = [int(x[:, 0].mean() > 0) for x in X]
    small = NetworkSpec(4, Dynamics(steps=32))  # one for each frame
    sequences = entrain.train(X, y, task="sequence", network=small, epochs=3)
    some = (catalogue.ONE_STEP, catalogue.PERCEPTRON, catalogue.READOUT)
    result = entrain.controls(sequences.model, sequences.data, runs=2, only=some)
    assert len(result.rows) == 4
    assert result[catalogue.READOUT].settings["initial_couplings"] > 0


def test_models_for_chips_are_measured_on_chips() -> None:
    robust = entrain.train(*rows(), **TINY, hardware="typical")
    some = (catalogue.RANDOM, catalogue.NO_HIDDEN)
    result = entrain.controls(robust.model, robust.data, runs=2, only=some)
    assert len(result.rows) == 3
    assert json.dumps(result.to_json())


def test_models_of_another_rule_are_trained_by_direct_and_the_result_says_so() -> None:
    data = entrain.load_dataset("mnist-small")
    rule, network, notes = rule_and_network(entrain.load("mnist-74"), data)
    assert (rule.name, network.hidden) == ("DIRECT", 64)
    assert "no recipe: networks are trained by DIRECT with the defaults for mnist-small" in notes[0]
    short, _, notes = rule_and_network(entrain.load("mnist-74"), data, epochs=15)
    assert (short.epochs, short.unaugmented_epochs, rule.unaugmented_epochs) == (15, 1, 7)
    assert "15 epochs" in notes[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 1}, "at least 2"),
        ({"only": ["random coupling"]}, "random couplings"),
        ({"data": "digits"}, "has the classes"),
        ({"epochs": 0}, "epochs"),
        ({"examples": 0}, "examples"),
        ({"out": "controls.txt"}, "ends in .json"),
    ],
)
def test_bad_arguments_are_named(trained: Trained, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        entrain.controls(trained.model, options.pop("data", trained.data), **options)


def test_a_model_of_an_own_loop_is_measured_with_its_own_preprocessing() -> None:
    X, y = rows()
    network = entrain.KuramotoNetwork(4, 5, 3)
    model = entrain.Model.from_network(network, 9 * X, class_names=[0, 1, 2], y=y)
    result = entrain.controls(model, 9 * X, y, runs=2, epochs=2, only=[catalogue.SAVED])
    test = entrain.train(9 * X, y, **TINY).test
    assert result[catalogue.SAVED].values["top1"] == (model.evaluate(test)["top1"],)
    assert "no recipe" in result.notes[0]


def test_fewer_examples_are_used_and_named(trained: Trained) -> None:
    result = entrain.controls(
        trained.model, trained.data, runs=2, examples=30, only=[catalogue.LINEAR]
    )
    assert result.details["training_examples"] == 30
    assert "30 examples" in result.notes[-1]


def test_the_command_prints_a_table_and_the_result(
    invoke: Invoke, trained: Trained, tmp_path: Path
) -> None:
    X, y = rows()
    table = tmp_path / "rows.csv"
    lines = [",".join([*map(str, row), f"class{label}"]) for row, label in zip(X, y, strict=True)]
    table.write_text("\n".join(["a,b,c,d,label", *lines]))
    model = tmp_path / "model.safetensors"
    entrain.train(str(table), **TINY).model.save(model)
    options = ("controls", str(model), str(table), "--runs", "2", "--only", catalogue.LINEAR)
    shown = invoke(*options)
    assert shown.exit_code == 0, shown.output
    assert "linear model" in shown.stdout
    assert "against a linear model" in shown.stdout or "over a linear model" in shown.stdout
    values = json.loads(invoke(*options, "--json").stdout)
    assert [row["name"] for row in values["controls"]] == [catalogue.TRAINED, catalogue.LINEAR]
    refused = invoke("controls", str(model), "--runs", "2")
    assert refused.exit_code == 2
    assert "data of your own" in refused.stderr
    assert invoke("controls", str(model), str(table), "--runs", "1").exit_code == 2
