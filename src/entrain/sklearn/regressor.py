"""A Kuramoto network as a scikit-learn regressor."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from entrain.data.own.examples import LEAST_ROWS
from entrain.hardware import Hardware
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
        observation_time: t_f, in the network's unit of time; None for 0.2. This None and all
            following ones are the defaults of `entrain.train`.
        steps: Explicit Euler steps of the network from 0 to t_f; None for 200. Training takes
            fewer: 16 steps of order 2 on a CPU, else 50 of Euler but in its last twentieth.
        epochs: Passes over the training data; None for passes until the error on the validation
            data becomes no smaller.
        batch_size: Examples per step; None for a twentieth of the data, 16 to 256.
        input_rate: Learning rate of W; None for 0.01. It rises over 3 % of the training, then
            falls to zero.
        coupling_rate: Learning rate of J and c, likewise; None for 0.03.
        weight_decay: Decoupled decay of W: a step multiplies W by 1 - rate * weight_decay; None for
            0.05, or 10 with `hardware`.
        ensemble: Networks trained side by side from different first weights, whose mean is the
            prediction.
        validation_fraction: Share of the data whose error selects the epoch. The training data do
            so if it is 0 or if there are fewer than 10 examples.
        random_state: Seed or RandomState of the split, the first weights and the order of examples.
            None is NumPy's global state, as in all of scikit-learn.
        hardware: Chips to train for: a `Hardware`, the name of a preset such as "typical", or a
            TOML file. Predictions are those of the ideal network; see `on` for those of chips.
        device: "cpu", "cuda", "cuda:INDEX", or "auto" for a CUDA device if there is one.
        verbose: 1 for at most one line per second on standard error, 2 for a line per epoch.

    Attributes:
        network_: The first trained `KuramotoNetwork`, which takes u (n, n_features).
        networks_: All of them, one for each of the ensemble.
        validation_error_: Root mean squared error (O,) of the prediction on the validation data.
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
        weight_decay: float | None = None,
        ensemble: int = 1,
        validation_fraction: float = 0.1,
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
        self.ensemble = ensemble

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
        trained = self._train(
            settings,
            self.task_,
            data,
            values,
            (learned, held_out),
            sample_weight,
            int(random.randint(2**31 - 1)),
        )
        self.validation_score_ = trained.states["DIRECT"].selected("nrmse", 0)
        error = self._members(data[held_out]).mean(axis=0) - values[held_out]
        self.validation_error_ = np.sqrt(np.square(error).mean(axis=0))
        return self

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = ...) -> NDArray[np.float64]: ...

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[True]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Predicted numbers (n,), or (n, O) of several; on request with their errors.

        The error is that of the ensemble's mean,

            sqrt( variance of the networks' predictions + validation_error_^2 ):

        the networks disagree where there were few rows, and the second term has the noise of y.
        With one network it is the validation error of every row.

        Args:
            X: Rows (n, n_features).
            return_std: True for predictions and their standard deviations, in the units of y.
        """
        members = self._members(X)
        mean = members.mean(axis=0)
        if not return_std:
            return self._as_given(mean)
        error = np.sqrt(members.var(axis=0) + np.square(self.validation_error_))
        return self._as_given(mean), self._as_given(error)

    def _members(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predictions (members, n, O) of all networks."""
        check_is_fitted(self)
        activations = []
        for network in self.networks_:
            member = copy.copy(self)
            member.network_ = network
            activations.append(member._scores(X))
        cosines = np.stack(activations)
        return np.asarray(np.array(self.task_.centre) + np.array(self.task_.scale) * cosines)

    def _as_given(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (n, O) in the shape of y."""
        result: NDArray[np.float64] = values[:, 0] if self._is_single else values
        return result

    def to_model(self, dataset: str = "data") -> Model:
        """The first network as an `entrain.Model` for rows of X.

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
