"""The regressor keeps scikit-learn's contract and predicts numbers in their own units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import entrain
from entrain.sklearn import KuramotoRegressor

DIABETES = load_diabetes(return_X_y=True)
STOCHASTIC = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches depend on the number of rows"
    for kind in ("dense", "sparse")
}


def small(**changes: Any) -> KuramotoRegressor:
    """A regressor that trains in a fraction of a second."""
    settings: dict[str, Any] = {"hidden": 8, "steps": 10, "epochs": 20, "random_state": 0}
    return KuramotoRegressor(**settings | changes)


@parametrize_with_checks([small(epochs=10)], expected_failed_checks=lambda _: STOCHASTIC)
def test_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_predicts_as_well_as_a_linear_model() -> None:
    ours = cross_val_score(KuramotoRegressor(random_state=0), *DIABETES, cv=3)
    assert ours.mean() > cross_val_score(RidgeCV(), *DIABETES, cv=3).mean() - 0.1


def test_its_model_predicts_the_same(tmp_path: Path) -> None:
    X, y = DIABETES
    fitted = small().fit(X, np.stack([y, -y], axis=1))
    fitted.to_model("diabetes").save(tmp_path / "diabetes.safetensors")
    model = entrain.load(tmp_path / "diabetes.safetensors")
    np.testing.assert_allclose(model.predict(X), fitted.predict(X), rtol=1e-4, atol=1e-2)
    assert model.task == fitted.task_
    assert model.evaluate(X, np.stack([y, -y], axis=1))["r2"] > 0.2


def test_a_chip_answers_for_it() -> None:
    X, y = DIABETES
    fitted = small(hardware="typical", epochs=30).fit(X, y)
    answers = fitted.on(3).predict(X)
    assert not np.array_equal(answers, fitted.predict(X))
    assert fitted.on(3).score(X, y) > 0


def test_weights_of_rows_count() -> None:
    X, y = DIABETES
    half = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    shifted = np.where(half, y, y + 500)
    fitted = small(epochs=30).fit(X, shifted, sample_weight=half)
    assert abs(np.mean(fitted.predict(X) - y)) < 60


def test_a_parameter_that_does_not_fit_is_named() -> None:
    with pytest.raises(entrain.InputError, match="weight_decay must be"):
        small(weight_decay=-1).fit(*DIABETES)


def test_errors_of_an_ensemble_cover_the_noise() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2))
    y = X[:, 0] + 0.3 * random.normal(size=500)
    regressor = small(ensemble=3, epochs=40).fit(X[:400], y[:400])
    mean, error = regressor.predict(X[400:], return_std=True)
    assert (mean.shape, error.shape, len(regressor.networks_)) == ((100,), (100,), 3)
    np.testing.assert_array_equal(mean, regressor.predict(X[400:]))
    within = np.mean(np.abs(mean - y[400:]) < 2 * error)
    assert 0.85 < within <= 1
    _, far = regressor.predict(10 * X[400:], return_std=True)
    assert far.mean() > error.mean()


def test_one_network_has_the_error_of_its_validation() -> None:
    regressor = small().fit(*DIABETES)
    _, error = regressor.predict(DIABETES[0][:3], return_std=True)
    np.testing.assert_array_equal(error, regressor.validation_error_.repeat(3))
