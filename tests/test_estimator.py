"""The scikit-learn classifier: its contract, and that it learns."""

from __future__ import annotations

import doctest
import itertools
import math
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from entrain import InputError, Split, load
from entrain.models.network import KuramotoNetwork
from entrain.sklearn import estimator, reporting
from entrain.sklearn.estimator import KuramotoClassifier

IRIS = load_iris(return_X_y=True)


def small(**changes: Any) -> KuramotoClassifier:
    """A classifier that trains in a fraction of a second."""
    settings: dict[str, Any] = {"hidden": 8, "steps": 10, "epochs": 20, "random_state": 0}
    return KuramotoClassifier(**settings | changes)


STOCHASTIC = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches depend on the number of rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks([small(epochs=10)], expected_failed_checks=lambda _: STOCHASTIC)
def test_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_pipeline_and_grid_search() -> None:
    pipeline = make_pipeline(PolynomialFeatures(2), small())
    grid = {"kuramotoclassifier__hidden": np.array([4, 8]), "kuramotoclassifier__gain": [4.0, 8.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(*IRIS)
    assert search.best_score_ > 0.9
    best = search.best_estimator_[-1]
    assert best.network_.hidden == search.best_params_["kuramotoclassifier__hidden"]


def test_clone_and_pickle_give_the_same_predictions() -> None:
    X, y = IRIS
    fitted = small().fit(X, y)
    likely = fitted.predict_proba(X)
    copied = clone(fitted)
    with pytest.raises(NotFittedError):
        copied.predict(X)
    np.testing.assert_array_equal(copied.fit(X, y).predict_proba(X), likely)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), likely)


def test_random_state_decides() -> None:
    X, y = IRIS

    def weights(state: Any) -> Any:
        return small(random_state=state, epochs=2).fit(X, y).network_.couplings.detach().numpy()

    np.testing.assert_array_equal(weights(1), weights(1))
    np.testing.assert_array_equal(
        weights(np.random.RandomState(1)), weights(np.random.RandomState(1))
    )
    assert not np.array_equal(weights(1), weights(2))


def test_global_random_states_stay() -> None:
    np.random.seed(3)
    expected = np.random.RandomState(3).rand()
    small(epochs=1).fit(*IRIS)
    assert np.random.rand() == expected


def test_what_is_kept_after_fit() -> None:
    X, y = IRIS
    X = np.column_stack([X, np.full(len(X), 7.0)])
    fitted = small().fit(X, y)
    assert isinstance(fitted.network_, KuramotoNetwork)
    assert (fitted.network_.inputs, fitted.network_.hidden, fitted.network_.outputs) == (5, 8, 3)
    assert fitted.network_.dynamics.steps == 10
    np.testing.assert_allclose(fitted.mean_, X.mean(0))
    np.testing.assert_allclose(fitted.scale_, [*X[:, :4].std(0), 1.0])
    lengths = np.linalg.norm((X - fitted.mean_) / fitted.scale_, axis=1)
    assert fitted.factor_ * lengths.mean() == pytest.approx(48.9)
    assert fitted.n_iter_ == len(fitted.loss_curve_) == 20
    assert 1 <= fitted.best_epoch_ <= 20
    assert 0.8 < fitted.validation_score_ <= 1.0
    assert fitted.loss_curve_[-1] < fitted.loss_curve_[0]


def test_scores_are_cosines_and_probabilities_their_softmax() -> None:
    X, y = IRIS
    fitted = small(gain=3.0).fit(X, y)
    scores = fitted.decision_function(X)
    assert scores.shape == (150, 3)
    assert np.abs(scores).max() <= 1.0
    powers = np.exp(3.0 * scores)
    likely = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(fitted.set_params(gain=9.0).predict_proba(X), likely, rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), scores.argmax(1))


def test_two_classes_with_names() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    fitted = small().fit(X, names)
    assert fitted.classes_.tolist() == ["benign", "malignant"]
    decision = fitted.decision_function(X)
    assert decision.shape == (569,)
    np.testing.assert_array_equal(fitted.predict(X) == "malignant", decision > 0)
    np.testing.assert_array_equal(fitted.predict_proba(X)[:, 1] > 0.5, decision > 0)
    assert fitted.score(X, names) > 0.95


def test_more_than_ten_classes() -> None:
    X, y = make_blobs(600, 8, centers=12, random_state=0)
    fitted = small(hidden=16).fit(X, y + 100)
    assert fitted.network_.outputs == 12
    assert fitted.score(X, y + 100) > 0.95


def test_one_class_and_few_examples() -> None:
    X, _ = IRIS
    assert set(small().fit(X, ["only"] * 150).predict(X)) == {"only"}
    assert small().fit(X[:1], [5]).predict(X).tolist() == [5] * 150
    few = small().fit(X[[0, 1, 60, 120]], [0, 0, 1, 2])  # all of them validate
    assert few.validation_score_ == few.score(X[[0, 1, 60, 120]], [0, 0, 1, 2])


@pytest.mark.parametrize("fraction", [0.0, 0.01, 0.5, 0.99])
def test_any_validation_fraction(fraction: float) -> None:
    X, y = IRIS
    fitted = small(validation_fraction=fraction, epochs=2).fit(X, y)
    if fraction in (0.0, 0.99):  # 0.99 would leave too few to learn from
        assert fitted.validation_score_ == pytest.approx(fitted.score(X, y))


def test_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert isinstance(X, pandas.DataFrame)
    fitted = small().fit(X, y)
    assert fitted.feature_names_in_.tolist() == X.columns.tolist()
    np.testing.assert_array_equal(fitted.predict(X), small().fit(*IRIS).predict(IRIS[0]))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X.rename(columns=str.upper))


def test_what_cannot_be_used_is_refused() -> None:
    X, y = IRIS
    with pytest.raises(ValueError, match="NaN"):
        small().fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="Unknown label type"):
        small().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="3 features, but KuramotoClassifier is expecting 4"):
        small(epochs=1).fit(X, y).predict(X[:, :3])


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("hidden", 0, ValueError),
        ("hidden", 8.0, TypeError),
        ("hidden", True, TypeError),
        ("steps", -1, ValueError),
        ("epochs", "many", TypeError),
        ("epochs", 0, ValueError),
        ("batch_size", 0, ValueError),
        ("observation_time", 0.0, ValueError),
        ("input_rate", float("nan"), ValueError),
        ("coupling_rate", float("inf"), ValueError),
        ("gain", "x", TypeError),
        ("weight_decay", -1e-3, ValueError),
        ("validation_fraction", 1.0, ValueError),
        ("verbose", -1, ValueError),
        ("device", "tpu", ValueError),
        ("device", 0, TypeError),
        ("random_state", "seed", ValueError),
    ],
)
def test_bad_parameters_are_named(name: str, value: object, kind: type[Exception]) -> None:
    unfitted = small(**{name: value})  # the constructor only stores
    word = "seed" if name == "random_state" else name
    with pytest.raises(kind, match=word) as caught:
        unfitted.fit(*IRIS)
    assert repr(value) in str(caught.value)


def test_divergence_is_said() -> None:
    with pytest.warns(ConvergenceWarning, match="lower its input_rate"):
        small(input_rate=1e30, weight_decay=1e30, epochs=3).fit(*IRIS)
    with pytest.warns(ConvergenceWarning, match="a shorter observation time or more steps"):
        small(observation_time=1e9, epochs=3).fit(*IRIS)


def test_silent_unless_asked(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small(epochs=2).fit(*IRIS)
    assert capfd.readouterr() == ("", "")
    for verbose, told in ((1, [1, 4, 7, 8]), (2, range(1, 9))):
        clock = itertools.count(0.0, 0.4)  # seconds, an epoch after the other
        told_by = SimpleNamespace(monotonic=lambda c=clock: next(c))
        monkeypatch.setattr(reporting, "time", told_by)
        small(epochs=8, verbose=verbose).fit(*IRIS)
        out, err = capfd.readouterr()
        assert out == ""
        assert [line.split(":")[0] for line in err.splitlines()] == [f"epoch {n}" for n in told]


def test_as_a_model_it_is_saved_and_gives_the_same_classes(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    fitted = small().fit(X, names)
    fitted.to_model("tumours").save(tmp_path / "tumours.safetensors")
    model = load(tmp_path / "tumours.safetensors")
    assert (model.dataset, model.protocol) == ("tumours", "DIRECT")
    assert model.class_names == ("benign", "malignant")
    assert model.predict(X).tolist() == fitted.predict(X).tolist()
    assert model.score(X, names) == fitted.score(X, names)
    with pytest.raises(InputError, match="y holds the label '0'; expected the classes of the mo"):
        model.score(X, y)
    likely = fitted.predict_proba(X)
    np.testing.assert_allclose(model.probabilities(X), likely, atol=1e-5)
    top1 = model.evaluate(Split(X, (names == "malignant").astype(int)))["top1"]
    assert top1 == pytest.approx(100 * fitted.score(X, names))
    with pytest.raises(NotFittedError):
        small().to_model()
    with pytest.raises(TypeError, match="dataset must be a name"):
        fitted.to_model(3)


def test_class_weights_favour_the_rare_class() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["common", "rare"], [570, 30])
    X = rng.normal(size=(600, 2)) + 1.5 * (y == "rare")[:, None]

    def found(weight: Any) -> float:
        fitted = small(class_weight=weight).fit(X, y)
        return float((fitted.predict(X) == "rare")[y == "rare"].mean())

    assert found("balanced") > found(None) + 0.2
    assert found("balanced") == found({"common": 600 / 1140, "rare": 10.0})
    assert found({"rare": 0.0}) == 0.0
    plain, equal = (
        small(class_weight=weight).fit(X, y) for weight in (None, {"common": 5.0, "rare": 5.0})
    )
    np.testing.assert_array_equal(plain.predict_proba(X), equal.predict_proba(X))


@pytest.mark.parametrize("weight", ["even", 3, {"common": -1.0}, {0: math.nan}, {9: 1.0}, {0: "x"}])
def test_class_weights_that_cannot_be_used(weight: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"class"):
        small(class_weight=weight).fit(*IRIS)


def test_accuracy() -> None:
    assert cross_val_score(small(hidden=32, epochs=40), *IRIS, cv=5).mean() > 0.92
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    fitted = KuramotoClassifier(steps=20, epochs=25, random_state=0).fit(X, y)
    assert fitted.score(X_test, y_test) > 0.95


def test_the_example_of_the_docstring() -> None:
    failed, tried = doctest.testmod(estimator)
    assert tried >= 6
    assert failed == 0


@pytest.mark.parametrize("classes", [(1, 2, 3), ("a", "b", "c"), ("1", "02", "3")])
def test_models_predict_the_labels_of_training(classes: tuple[int | str, ...]) -> None:
    X, y = load_iris(return_X_y=True)
    labels = np.array(classes)[y]
    model = small(epochs=3).fit(X, labels).to_model()
    names = np.array(sorted(classes))
    predicted = model.predict(X)
    assert predicted.dtype.kind == names.dtype.kind
    np.testing.assert_array_equal(predicted, names[model.predict_indices(X)])
    assert model.score(X, labels) == (predicted == labels).mean()
    assert model.evaluate(Split(X, np.searchsorted(names, labels)))["top1"] == pytest.approx(
        100 * model.score(X, labels)
    )
    with pytest.raises(InputError, match="expected 150 labels"):
        model.score(X, labels[:3])


def test_rows_of_weight_zero_teach_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    weights = (y != 1).astype(float)
    classifier = small(epochs=30).fit(X, y, sample_weight=weights)
    predicted = classifier.predict(X)
    assert (predicted[y != 1] == y[y != 1]).mean() > 0.9
    assert (predicted[y == 1] == 1).mean() < 0.5
    plain = small(epochs=3).fit(X, y)
    ones = small(epochs=3).fit(X, y, sample_weight=np.ones(len(y)))
    assert np.allclose(plain.predict_proba(X), ones.predict_proba(X), atol=1e-5)
    with pytest.raises(ValueError, match="Negative values in data"):
        small(epochs=1).fit(X, y, sample_weight=-np.ones(len(y)))


def test_wide_rows_that_repeat_have_a_reject_option() -> None:
    rows = np.random.default_rng(0).normal(size=(10, 40))
    X, y = np.repeat(rows, 3, axis=0), np.arange(30) % 2
    assert small(epochs=1).fit(X, y).to_model().reject is not None


def test_sparse_rows_are_the_dense_ones() -> None:
    X, y = IRIS
    dense = np.where(X > 2, X, 0.0)
    classifiers = [
        small(epochs=2).fit(rows, y)
        for rows in (dense, sparse.csr_array(dense), sparse.coo_matrix(dense))
    ]
    wanted = classifiers[0].predict_proba(dense)
    for classifier in classifiers:
        assert np.array_equal(classifier.predict_proba(sparse.csc_array(dense)), wanted)
