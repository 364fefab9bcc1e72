"""A model answers rightly or says that it cannot: scales of pixels, runaway phases, types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import entrain
from entrain.data import FeatureScaling, Split
from entrain.data.preprocessing import grey_levels
from entrain.models.model import Model, read_model
from entrain.tasks import Classification
from entrain.utils.errors import InputError
from networks import random_network


@pytest.fixture(scope="module")
def digits() -> tuple[Model, Split]:
    split = entrain.load_test_split("mnist")
    return entrain.load("mnist-74"), Split(split.features[:300], split.labels[:300])


def test_levels_and_fractions_are_the_same_picture(digits: tuple[Model, Split]) -> None:
    model, split = digits
    levels = split.features
    expected = model.predict(levels)
    assert (expected == split.labels).mean() > 0.95
    for same in (
        levels.astype(np.int64),
        levels.astype(np.float32),
        levels.astype(np.float64),
        levels / 255.0,
        (levels / 255.0).astype(np.float32),  # what ToTensor gives
    ):
        assert np.array_equal(model.predict(same), expected), same.dtype
        assert torch.allclose(model.scores(same), model.scores(levels), atol=1e-4)


@pytest.mark.parametrize(
    "wrong", [lambda x: x / 100.0, lambda x: x / 127.5 - 1.0, lambda x: x * 2.0, lambda x: -x / 255]
)
def test_pixels_on_any_other_scale_are_refused(digits: tuple[Model, Split], wrong: object) -> None:
    model, split = digits
    with pytest.raises(InputError, match="whole numbers from 0 to 255 or fractions from 0 to 1"):
        model.predict(wrong(split.features.astype(np.float64)))  # type: ignore[operator]


@pytest.mark.parametrize("dtype", [bool, np.float32])
def test_truth_values_and_fractions_are_black_and_white(
    digits: tuple[Model, Split], dtype: type
) -> None:
    assert np.array_equal(grey_levels(np.array([[1, 0]], dtype=dtype), 255.0), [[255.0, 0.0]])
    model, split = digits
    found = model.predict((split.features > 127).astype(dtype))
    assert (found == split.labels).mean() > 0.95


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_integers_0_and_1_alone_are_refused_beside_any_image(
    digits: tuple[Model, Split], dtype: type
) -> None:
    model, split = digits
    binary = (split.features[:60] > 127).astype(dtype)
    mixed = np.concatenate([split.features[60:61].astype(dtype), binary])
    for first, images in enumerate((binary, mixed)):
        message = rf"image {first} holds the integers 0 and 1 alone.*images.astype\(bool\)"
        with pytest.raises(InputError, match=message):
            model.predict(images)
    assert (model.predict(binary.astype(bool)) == split.labels[:60]).mean() > 0.95


def test_a_network_reads_the_truth_values_it_was_trained_on() -> None:
    digits = entrain.load_dataset("digits")
    images, labels = digits.train.features.reshape(-1, 8, 8) > 8, digits.train.labels
    model = entrain.train(images, labels, network=16, epochs=6).model
    as_numbers = [model.predict(images.astype(kind)) for kind in (np.uint8, np.float64)]
    assert all(np.array_equal(model.predict(images), each) for each in as_numbers)
    assert (model.predict(images) == labels).mean() > 0.85


def test_any_tensor_is_read() -> None:
    model = entrain.load("mnist-74")
    pixels = entrain.load_test_split("mnist").features[:5] / 255.0
    expected = model.predict(pixels)
    for tensor in (torch.tensor(pixels, requires_grad=True), torch.tensor(pixels).bfloat16()):
        assert np.array_equal(model.predict(tensor), expected)


def test_columns_are_found_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    rows, labels = load_iris(return_X_y=True)
    frame = pandas.DataFrame(rows, columns=list("abcd"))
    model = entrain.train(frame, labels, network=8, epochs=5).model
    assert model.feature_names == ("a", "b", "c", "d")
    assert np.array_equal(model.predict(frame[list("dcba")]), model.predict(frame))
    with pytest.raises(InputError, match="no column 'c', which the model was trained with"):
        model.predict(frame.drop(columns="c"))


def test_a_training_that_diverges_says_so() -> None:
    rows, labels = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"diverged in run 0.*shorter observation time"):
        entrain.train(rows, labels, network=8, epochs=2, settings={"observation_time": 1e9})


def test_a_classifier_and_its_model_know_what_is_unlike_the_data() -> None:
    rows, labels = load_iris(return_X_y=True)
    model = entrain.KuramotoClassifier(8, epochs=10, random_state=0).fit(rows, labels).to_model()
    assert model.rejected(np.full((1, 4), 1e4)).tolist() == [True]
    assert model.rejected(rows).mean() < 0.5


@pytest.mark.parametrize("size", [1e20, 1e30, 1e40])
def test_a_phase_that_runs_away_is_no_answer(size: float) -> None:
    network = random_network(4, 5, 3, dtype=torch.float32)
    with torch.no_grad():
        network.input_weights *= 1e20
    scaling = FeatureScaling((0.0,) * 4, (1.0,) * 4, 1.0)
    model = Model(network, scaling, Classification(("a", "b", "c")), "x", "DIRECT", gain=6.0)
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [size, 0.0, 0.0, 0.0]])
    for ask in (model.predict, model.probabilities, model.scores):
        with pytest.raises(InputError, match=r"example 1 \(from 0\)|row 1, column 0"):
            ask(rows)


def test_an_estimator_gives_no_answer_from_a_runaway_phase() -> None:
    rows, labels = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    classifier = entrain.KuramotoClassifier(hidden=4, epochs=2, random_state=0).fit(rows, labels)
    with torch.no_grad():
        classifier.network_.input_weights *= 1e20
    with pytest.raises(ValueError, match=r"example 1 \(from 0\) has no answer"):
        classifier.predict(np.array([[0.0, 0.0, 0.0], [1e25, 0.0, 0.0]]))


def test_float64_weights_work_throughout(digits: tuple[Model, Split], tmp_path: Path) -> None:
    model, split = digits
    double = read_model(Path(entrain.models.pretrained.find("mnist-74")))
    double.network.double()
    some = Split(split.features[:20], split.labels[:20])
    assert np.array_equal(double.predict(some.features), model.predict(some.features))
    scores = double.scores(some.features)
    assert scores.dtype == torch.float64
    assert torch.allclose(scores.float(), model.scores(some.features), atol=1e-4)
    assert double.evaluate(some).keys() == model.evaluate(some).keys()
    assert double.evaluate(some)["top1"] == model.evaluate(some)["top1"]
    assert double.probabilities(some.features).shape == (20, 10)
    inputs = double.inputs(some.features)
    assert double.network.simulate(inputs, temperature=0.1, restarts=2).final.dtype == torch.float64
    assert double.network.simulate(inputs[:2], record=1).phases.dtype == torch.float64
    double.network(inputs[:2]).square().sum().backward()
    double.save(tmp_path / "double.safetensors")
    again = entrain.load(tmp_path / "double.safetensors")
    assert again.network.biases.dtype == torch.float64
    assert torch.equal(again.scores(some.features), scores)


def test_a_fresh_network_learns_in_a_loop_of_ones_own() -> None:
    """Three classes by the largest of three inputs."""
    generator = torch.Generator().manual_seed(1)
    inputs = 5 * torch.randn(200, 5, generator=generator)
    labels = inputs[:, :3].argmax(1)
    network = entrain.KuramotoNetwork(5, 16, 3, observation_time=1.0, steps=20)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
    for step in range(60):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(4 * network(inputs), labels).backward()
        assert step > 0 or bool(network.input_weights.grad.any())  # none from zero
        optimiser.step()
    assert float((network(inputs).argmax(1) == labels).float().mean()) > 0.9


def test_from_exact_zero_no_gradient_reaches_the_input_weights() -> None:
    inputs = torch.randn(20, 5, generator=torch.Generator().manual_seed(1))
    for init, reached in (("zero", False), ("random", True)):
        network = entrain.KuramotoNetwork(5, 16, 3, init=init)
        network(inputs)[:, 0].sum().backward()
        assert bool(network.input_weights.grad.any()) == reached


def test_the_first_numbers_depend_on_the_seed_and_the_run_alone() -> None:
    one, same = entrain.KuramotoNetwork(5, 16, 3), entrain.KuramotoNetwork(5, 16, 3)
    other, runs = (
        entrain.KuramotoNetwork(5, 16, 3, seed=1),
        entrain.KuramotoNetwork(5, 16, 3, runs=2),
    )
    assert torch.equal(one.coupler_strengths, same.coupler_strengths)
    assert torch.equal(one.input_weights, runs.input_weights[0])
    assert not torch.equal(one.input_weights, other.input_weights)
    assert not torch.equal(runs.coupler_strengths[0], runs.coupler_strengths[1])
    assert not bool(one.biases.any())
    with pytest.raises(InputError, match="unknown init 'normal'; choose from random, zero"):
        entrain.KuramotoNetwork(5, 16, 3, init="normal")
