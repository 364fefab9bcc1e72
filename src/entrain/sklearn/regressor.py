"""A Kuramoto network as a scikit-learn regressor."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from entrain.data.own.examples import LEAST_ROWS
from entrain.models.model import Model
from entrain.sklearn.base import KuramotoEstimator
from entrain.sklearn.settings import Settings
from entrain.tasks import Regression
from entrain.tasks.regression import checked_numbers


class KuramotoRegressor(RegressorMixin, KuramotoEstimator):  # type: ignore[misc]
    r"""Coupled oscillators that predict numbers in finite time.

    The network is that of `KuramotoClassifier`, with an output oscillator for each column of y:

        y_o = centre_o + scale_o cos(theta_o(t_f)).

    The extremes of the training targets lie at cosines of -0.8 and 0.8, so that predictions stay
    within 1.25 times their range. AdamW minimises the mean squared error of the cosines.

    Args:
        hidden: Hidden oscillators H.
        observation_time: t_f, in the network's unit of time.
        steps: Explicit Euler steps of the network from 0 to t_f. Training takes fewer: 16 steps of
            order 2 on a CPU, else 50 of Euler but in its last twentieth.
        epochs: Passes over the training data; None for passes until the error on the validation
            data becomes no smaller.
        batch_size: Examples per step; None for a twentieth of the data, 16 to 256.
        input_rate: Learning rate of W. It rises over 3 % of the training, then falls to zero.
        coupling_rate: Learning rate of J and c, likewise.
        weight_decay: Decoupled decay of W: a step multiplies W by 1 - rate * weight_decay. None for
            0.05.
        validation_fraction: Share of the data whose error selects the epoch. The training data do
            so if it is 0 or if there are fewer than 10 examples.
        random_state: Seed or RandomState of the split, the first weights and the order of examples.
            None is NumPy's global state, as in all of scikit-learn.
        hardware: Chips to train for: a `Hardware`, the name of a preset such as "typical", or a
            TOML file. Predictions are those of the ideal network; see `on` for those of chips.
        device: "cpu", "cuda", "cuda:INDEX", or "auto" for a CUDA device if there is one.
        verbose: 1 for at most one line per second on standard error, 2 for a line per epoch.

    Attributes:
        network_: The trained `KuramotoNetwork`, which takes u (n, n_features).
        task_: Centre and scale of each target, an `entrain.tasks.Regression`.
        mean_: Mean of each feature (n_features,).
        scale_: Standard deviation of each feature (n_features,), 1 for a constant one.
        factor_: Factor of the standardised features.
        hardware_: Hardware that it was trained for, or None.
        chip_: Chip that answers, see `on`; None for the ideal network.
        n_iter_: Epochs trained.
        best_epoch_: The selected epoch, from 1; 0 if the first one diverged.
        validation_score_: NRMSE on the validation data at that epoch: 1 for the mean of y.
        loss_curve_: Mean training loss of each epoch.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features (n_features,), if X has names.

    Examples:
        >>> from entrain.sklearn import KuramotoRegressor
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> regressor = KuramotoRegressor(hidden=16, random_state=0).fit(X[:300], y[:300])
        >>> regressor.score(X[300:], y[300:]) > 0.3
        True
    """

    _checks_of_targets: ClassVar[dict[str, bool]] = {"multi_output": True, "y_numeric": True}

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train this regressor.

        Args:
            X: Rows (n, n_features), or a sparse matrix, which becomes a dense one.
            y: Numbers (n,), or (n, O) for several.
            sample_weight: Weights (n,) of the rows in the loss and in the selection of the epoch.
        """
        settings = Settings.of(self)
        data, y = self._validated(X, y)
        values = checked_numbers(y, "y", len(data))
        self._is_single = np.ndim(y) == 1
        random = check_random_state(self.random_state)
        learned, held_out = _split(len(data), settings.validation_fraction, random)
        names = tuple(f"y{i}" for i in range(values.shape[1])) if values.shape[1] > 1 else ("y",)
        self.task_ = Regression.fit(values[learned], names, constant=True)
        state = self._train(
            settings,
            settings.protocol(len(learned), 0),
            self.task_,
            data,
            values,
            (learned, held_out),
            sample_weight,
            int(random.randint(2**31 - 1)),
        )
        self.validation_score_ = state.selected("nrmse", 0)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predicted numbers (n,), or (n, O) of several.

        Args:
            X: Rows (n, n_features).
        """
        activations = self._scores(X)  # first, as an unfitted regressor has no scale
        values = np.array(self.task_.centre) + np.array(self.task_.scale) * activations
        result: NDArray[np.float64] = values[:, 0] if self._is_single else values
        return result

    def to_model(self, dataset: str = "data") -> Model:
        """The trained network as an `entrain.Model` for rows of X.

        Args:
            dataset: Name of the data in the model.
        """
        check_is_fitted(self)
        return self._to_model(dataset, self.task_, {"nrmse": self.validation_score_})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _split(
    count: int, fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and validation rows; the same rows if there are too few."""
    rows = np.arange(count)
    if fraction == 0.0 or count < LEAST_ROWS:
        return rows, rows
    learned, held_out = train_test_split(rows, test_size=fraction, random_state=random)
    return learned, held_out
