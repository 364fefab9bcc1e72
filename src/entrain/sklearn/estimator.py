"""A Kuramoto network as a scikit-learn classifier."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from entrain.data import Split
from entrain.data.own.examples import LEAST_ROWS
from entrain.evaluation.chip_yield import Yield, yield_of
from entrain.hardware import Hardware, find
from entrain.models.model import Model
from entrain.sklearn.base import KuramotoEstimator
from entrain.sklearn.settings import Settings, class_weights
from entrain.tasks import Classification
from entrain.utils.errors import InputError


class KuramotoClassifier(ClassifierMixin, KuramotoEstimator):  # type: ignore[misc]
    r"""Coupled oscillators that classify in finite time, trained from labels.

    Features are scaled to inputs u = factor (x - mean) / scale whose mean length over the training
    rows is 48.9, as that of MNIST's inputs. They set local fields on H hidden oscillators; each
    class has an output oscillator. All phases start at pi/2 and descend the energy

        E(theta; u) = - sum_i b_i(u) cos(theta_i) - sum_{i<j} J_ij cos(theta_i - theta_j),
        b(u) = [ W u + c_hidden ; c_output ],   d theta / dt = - grad E,

    with symmetric couplings J (none between outputs) until the observation time t_f. The class is
    the output with the largest cos(theta_o(t_f)). W, c and J minimise the cross-entropy of
    softmax(gain cos(theta_out(t_f))) by AdamW, through the exact adjoint of the Euler steps.

    Args:
        hidden: Hidden oscillators H.
        observation_time: t_f, in the network's unit of time; None for 0.2. This None and all
            following ones are the defaults of `entrain.train`.
        steps: Explicit Euler steps of the network from 0 to t_f; None for 200. Training takes
            fewer: 16 steps of order 2 on a CPU, else 50 of Euler but in its last twentieth.
        epochs: Passes over the training data; None for passes until accuracy and cross-entropy of
            the validation become no better, at most about 1,000 steps of AdamW.
        batch_size: Examples per step; None for a twentieth of the data, 16 to 256.
        input_rate: Learning rate of W; None for 0.01. It rises over 3 % of the training, then
            falls to zero.
        coupling_rate: Learning rate of J and c, likewise; None for 0.03.
        gain: Gain of the softmax over cos(theta_out), in the loss and in `predict_proba`; None for
            6.
        weight_decay: Decoupled decay of W: a step multiplies W by 1 - rate * weight_decay; None for
            2, or 10 with `hardware`.
        validation_fraction: Share of the data, stratified, whose accuracy selects the epoch. The
            training data do so if it is 0, if there are fewer than 10 examples, or if a class has
            a single one.
        class_weight: Weights of the classes in the loss and in the selection of the epoch: a dict
            by class, 1 for classes not in it; or "balanced", n_samples / (n_classes * examples of
            the class).
        random_state: Seed or RandomState of the split, the first weights and the order of examples.
            None is NumPy's global state, as in all of scikit-learn.
        hardware: Chips to train for: a `Hardware`, the name of a preset such as "typical", or a
            TOML file. Their imperfections are present in training, and twenty chips share the
            validation data. Predictions are those of the ideal network in any case; see `on` and
            `yield_of` for those of chips.
        device: "cpu", "cuda", "cuda:INDEX", or "auto" for a CUDA device if there is one.
        verbose: 1 for at most one line per second on standard error, 2 for a line per epoch.

    Attributes:
        classes_: Class labels (n_classes,).
        network_: The trained `KuramotoNetwork`, which takes u (n, n_features).
        mean_: Mean of each feature (n_features,).
        scale_: Standard deviation of each feature (n_features,), 1 for a constant one.
        factor_: Factor of the standardised features.
        gain_: Gain that the network was trained with.
        hardware_: Hardware that it was trained for, or None.
        chip_: Chip that answers, see `on`; None for the ideal network.
        n_iter_: Epochs trained.
        best_epoch_: The selected epoch, from 1; 0 if the first one diverged.
        validation_score_: Accuracy on the validation data at that epoch.
        loss_curve_: Mean training loss of each epoch.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features (n_features,), if X has names.

    Examples:
        >>> from entrain.sklearn.estimator import KuramotoClassifier
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.model_selection import train_test_split
        >>> X, X_test, y, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
        >>> classifier = KuramotoClassifier(hidden=16, epochs=40, random_state=0).fit(X, y)
        >>> classifier.score(X_test, y_test) > 0.9
        True
        >>> classifier.predict_proba(X_test[:2]).shape
        (2, 3)
        >>> classifier.network_.oscillators
        19
    """

    def __init__(
        self,
        hidden: int = 64,
        *,
        observation_time: float | None = None,
        steps: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        input_rate: float | None = None,
        coupling_rate: float | None = None,
        gain: float | None = None,
        weight_decay: float | None = 2.0,
        validation_fraction: float = 0.1,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        hardware: Hardware | str | Path | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        super().__init__(
            hidden,
            observation_time=observation_time,
            steps=steps,
            epochs=epochs,
            batch_size=batch_size,
            input_rate=input_rate,
            coupling_rate=coupling_rate,
            weight_decay=weight_decay,
            validation_fraction=validation_fraction,
            random_state=random_state,
            hardware=hardware,
            device=device,
            verbose=verbose,
        )
        self.gain = gain
        self.class_weight = class_weight

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train this classifier.

        Args:
            X: Rows (n, n_features), or a sparse matrix, which becomes a dense one.
            y: Labels (n,), numbers or strings.
            sample_weight: Weights (n,) of the rows in the loss and in the selection of the epoch.
        """
        settings = Settings.of(self)
        data, y = self._validated(X, y)
        check_classification_targets(y)
        random = check_random_state(self.random_state)
        self.classes_, labels = np.unique(y, return_inverse=True)
        weights = class_weights(self.class_weight, self.classes_, np.asarray(y))
        learned, held_out = _split(labels, settings.validation_fraction, random)
        single = len(self.classes_) == 1  # nothing to learn
        trained = self._train(
            replace(settings, epochs=1) if single else settings,
            Classification(tuple(map(str, range(len(self.classes_))))),
            data,
            labels.astype(np.int64),
            (learned, held_out),
            sample_weight,
            int(random.randint(2**31 - 1)),
            **({} if weights is None else {"class_weights": weights}),
        )
        self.gain_ = trained.model.gain or 1.0  # DIRECT has one
        self.validation_score_ = trained.states["DIRECT"].selected("top1", 0) / 100.0
        self._reject = trained.model.reject
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """cos(theta_out(t_f)) (n, n_classes); for two classes the second minus the first (n,).

        Args:
            X: Rows (n, n_features).
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class labels (n,) of the outputs with the largest cosine.

        Args:
            X: Rows (n, n_features).
        """
        indices = self._scores(X).argmax(1)  # first, as an unfitted classifier has no classes
        labels: NDArray[Any] = self.classes_[indices]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities softmax(gain cos(theta_out(t_f))) (n, n_classes).

        Args:
            X: Rows (n, n_features).
        """
        scores = torch.from_numpy(self._scores(X))
        probabilities: NDArray[np.float64] = torch.softmax(self.gain_ * scores, dim=1).numpy()
        return probabilities

    def yield_of(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        hardware: Hardware | str | Path | None = None,
        chips: int = 100,
        first_seed: int = 0,
        noise_seed: int = 0,
    ) -> Yield:
        """Accuracies in percent on many chips, see `entrain.yield_of`.

        Args:
            X: Rows (n, n_features).
            y: Labels (n,).
            hardware: A `Hardware`, the name of a preset or a TOML file; `hardware_` by default.
            chips: Number of chips.
            first_seed: Seed of the first chip.
            noise_seed: Seed of the noise, of which every chip has its own draw.
        """
        check_is_fitted(self)
        hardware = self.hardware_ if hardware is None else find(hardware)
        if hardware is None:
            raise InputError(
                "the classifier was not trained for chips; name the hardware, such as "
                "yield_of(X, y, hardware='typical')"
            )
        data, y = self._validated(X, y, reset=False)
        labels = np.asarray(y).tolist()
        index = {label: i for i, label in enumerate(self.classes_.tolist())}
        if foreign := [label for label in labels if label not in index]:
            raise InputError(f"y has the class {foreign[0]!r}, which the classifier does not have")
        return yield_of(
            self._model(),
            hardware,
            Split(data, np.array([index[label] for label in labels])),
            chips=chips,
            first_seed=first_seed,
            noise_seed=noise_seed,
        )

    def to_model(self, dataset: str = "data") -> Model:
        """The trained network as an `entrain.Model` for rows of X.

        Args:
            dataset: Name of the data in the model.
        """
        check_is_fitted(self)
        return self._to_model(
            dataset,
            Classification(tuple(str(name) for name in self.classes_.tolist())),
            {"top1": 100.0 * self.validation_score_},
            gain=self.gain_,
            reject=self._reject,
        )


def _split(
    labels: NDArray[np.int64], fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and validation rows; the same rows if there are too few."""
    rows, sizes = np.arange(len(labels)), np.bincount(labels)
    held_out = max(math.ceil(fraction * len(labels)), len(sizes))
    too_few = len(labels) < LEAST_ROWS or sizes.min() < 2
    if fraction == 0.0 or too_few or len(labels) - held_out < len(sizes):
        return rows, rows
    learned, validated = train_test_split(
        rows, test_size=held_out, stratify=labels, random_state=random
    )
    return learned, validated
