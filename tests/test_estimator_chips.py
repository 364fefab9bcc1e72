"""The scikit-learn classifier for chips: trained for them, on one of them, over many of them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from entrain import InputError, load
from entrain.hardware import Hardware, Mismatch, PhaseNoise, Sparsity, preset
from entrain.sklearn.estimator import KuramotoClassifier

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]

TYPICAL = preset("typical")
IRIS = load_iris(return_X_y=True)
Data = tuple[Any, Any, Any, Any]


def small(**changes: Any) -> KuramotoClassifier:
    """A classifier that trains in a fraction of a second."""
    settings: dict[str, Any] = {"hidden": 8, "steps": 10, "epochs": 10, "random_state": 0}
    return KuramotoClassifier(**settings | changes)


@pytest.fixture(scope="module")
def digits() -> Data:
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {label}" for label in y])
    found: Data = tuple(train_test_split(X, names, stratify=y, random_state=0))
    return found


@pytest.fixture(scope="module")
def made(digits: Data) -> KuramotoClassifier:
    """Trained for typical chips."""
    return small(hidden=24, steps=20, epochs=20, hardware="typical").fit(digits[0], digits[2])


STOCHASTIC = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches depend on the number of rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [small(hardware="typical", epochs=20)], expected_failed_checks=lambda _: STOCHASTIC
)
def test_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


# Training


def test_trained_for_chips_it_is_better_on_them(digits: Data, made: KuramotoClassifier) -> None:
    X, X_test, y, y_test = digits
    plain = small(hidden=24, steps=20, epochs=20).fit(X, y)
    ours, others = (
        each.yield_of(X_test, y_test, hardware="typical", chips=20) for each in (made, plain)
    )
    assert ours.mean > others.mean + 30
    assert ours.worst > others.mean
    assert made.score(X_test, y_test) > 0.9  # the ideal network
    used = int(made.network_.coupler_strengths.count_nonzero())
    assert used == round(0.5 * made.network_.couplers)


def test_hardware_without_an_effect_changes_no_bit() -> None:
    X, y = IRIS
    plain, ideal = (small(hardware=kind).fit(X, y) for kind in (None, Hardware()))
    np.testing.assert_array_equal(plain.decision_function(X), ideal.decision_function(X))
    assert plain.loss_curve_ == ideal.loss_curve_
    np.testing.assert_array_equal(
        ideal.decision_function(X), ideal.on(Hardware().sample(4)).decision_function(X)
    )


def test_hardware_is_a_parameter_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    file.write_text("[mismatch]\ncouplings = 0.1\n")
    ours = Hardware(mismatch=Mismatch(couplings=0.1))
    fitted = [small(hardware=each, epochs=2).fit(*IRIS) for each in (ours, str(file), file)]
    assert [each.hardware_ for each in fitted] == [ours] * 3
    assert [each.get_params()["hardware"] for each in fitted] == [ours, str(file), file]
    assert clone(fitted[0]).hardware == ours
    assert fitted[0].set_params(hardware=None).fit(*IRIS).hardware_ is None
    grid = {"kuramotoclassifier__hardware": [None, "typical", ours]}

    def on_chips(pipeline: Any, X: Any, y: Any) -> float:
        features = pipeline[:-1].transform(X)
        return pipeline[-1].yield_of(features, y, hardware=ours, chips=3).mean

    pipeline = make_pipeline(MinMaxScaler(), small(epochs=3))
    search = GridSearchCV(pipeline, grid, cv=2, scoring=on_chips).fit(*IRIS)
    assert search.best_estimator_[-1].hardware == search.best_params_[next(iter(grid))]
    assert all(0 <= score <= 100 for score in search.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("hardware", "message"),
    [
        ("typicl", "did you mean 'typical'"),
        ("none.toml", "none.toml: no such hardware file"),
        (3, "hardware must be a Hardware, a name or a file, got 3"),
        (Hardware(oscillators=10), "the network has 11 oscillators, the chip 10: room for 7"),
    ],
)
def test_hardware_that_cannot_be_is_refused_in_fit(hardware: Any, message: str) -> None:
    unfitted = small(hardware=hardware)  # the constructor only stores
    with pytest.raises((InputError, TypeError), match=message):
        unfitted.fit(*IRIS)


@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_short_trainings_and_a_single_class_end(epochs: int) -> None:
    X, y = IRIS
    for labels in (y, ["only"] * len(y)):
        fitted = small(hardware=TYPICAL, epochs=epochs).fit(X, labels)
        assert fitted.on(0).predict(X).shape == (150,)
        assert 0 <= fitted.yield_of(X, labels, chips=2).worst <= 100


# One chip


def test_on_a_chip_it_is_a_classifier_of_that_chip(digits: Data, made: KuramotoClassifier) -> None:
    _, X, _, y = digits
    chip = made.on(3)
    assert chip.chip_ == TYPICAL.sample(3)
    model = made.to_model().on(TYPICAL.sample(3))
    names = np.array(made.to_model().class_names)
    np.testing.assert_array_equal(chip.predict(X), names[model.predict_indices(X)])
    np.testing.assert_allclose(chip.predict_proba(X), model.probabilities(X), atol=1e-6)
    assert chip.decision_function(X).shape == (len(X), 10)
    assert chip.score(X, y) == accuracy_score(y, chip.predict(X)) != made.score(X, y)
    assert not np.array_equal(chip.decision_function(X), made.on(4).decision_function(X))
    noisy = made.on(3, noise_seed=1).decision_function(X)
    assert not np.array_equal(chip.decision_function(X), noisy)
    again = pickle.loads(pickle.dumps(chip))
    np.testing.assert_array_equal(again.decision_function(X), chip.decision_function(X))


def test_the_classifier_itself_stays_ideal_and_fit_leaves_the_chip() -> None:
    X, y = IRIS
    fitted = small(hardware=Hardware(mismatch=Mismatch(couplings=1.0))).fit(X, y)
    ideal = fitted.decision_function(X)
    chip = fitted.on(0)
    assert not np.allclose(chip.decision_function(X), ideal)
    np.testing.assert_array_equal(fitted.decision_function(X), ideal)
    assert (fitted.chip_, clone(chip).fit(X, y).chip_, chip.fit(X, y).chip_) == (None, None, None)
    np.testing.assert_array_equal(chip.decision_function(X), ideal)


def test_a_chip_of_other_hardware_warns(made: KuramotoClassifier) -> None:
    with pytest.warns(UserWarning, match="trained for typical, not for ark"):
        made.on(preset("ark").sample(0))
    made.on(Hardware().sample(0))
    plain = small(epochs=1).fit(*IRIS)
    plain.on(TYPICAL.sample(0))  # the usual question about an ideal network
    with pytest.raises(InputError, match="was not trained for chips"):
        plain.on(3)
    with pytest.raises(TypeError, match=r"expected a chip, hardware.sample\(seed\)"):
        plain.on("typical")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the network has 11 oscillators, the chip 5"):
        plain.on(Hardware(oscillators=5).sample(0))
    for seed in (-1, 2**32):
        with pytest.raises(InputError, match="seed must be a whole number from 0"):
            made.on(seed)
    with pytest.raises(NotFittedError):
        small().on(TYPICAL.sample(0))


# Many chips


def test_a_yield_is_the_scores_of_its_chips(digits: Data, made: KuramotoClassifier) -> None:
    _, X, _, y = digits
    found = made.yield_of(X, y, chips=4, first_seed=2)
    alone = [100 * made.on(seed).score(X, y) for seed in range(2, 6)]
    assert found.accuracies == pytest.approx(alone, abs=100 / len(y) + 1e-9)
    assert found.first_seed == 2
    none = Hardware(phase_noise=PhaseNoise(0.0))
    ideal = made.yield_of(X, y, hardware=none, chips=1).mean
    assert ideal == pytest.approx(100 * made.score(X, y), abs=100 / len(y) + 1e-9)


def test_a_yield_that_cannot_be_is_refused(made: KuramotoClassifier, digits: Data) -> None:
    _, X, _, y = digits
    with pytest.raises(InputError, match=r"yield_of\(X, y, hardware='typical'\)"):
        small(epochs=1).fit(*IRIS).yield_of(*IRIS)
    with pytest.raises(InputError, match="y has the class 'digit x', which the classifier"):
        made.yield_of(X, np.where(y == "digit 1", "digit x", y))
    with pytest.raises(InputError, match="y has the class 0, which"):
        made.yield_of(X, np.zeros(len(y), dtype=int))
    with pytest.raises(InputError, match="chips must be a whole number of at least 1"):
        made.yield_of(X, y, chips=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        made.yield_of(X, y[:-1])
    with pytest.raises(NotFittedError):
        small().yield_of(*IRIS)


# As a model


def test_the_model_has_the_hardware_of_the_classifier(
    made: KuramotoClassifier, tmp_path: Path
) -> None:
    path = tmp_path / "digits.safetensors"
    made.to_model().save(path)
    assert load(path).hardware == TYPICAL
    again = load(path).on(5)
    assert again.chip == TYPICAL.sample(5)
    pruned = small(hardware=Hardware(sparsity=Sparsity(0.5))).fit(*IRIS).to_model()
    assert pruned.couplers_used == round(0.5 * pruned.network.couplers)
