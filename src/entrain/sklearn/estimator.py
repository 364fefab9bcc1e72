"""A Kuramoto network as a scikit-learn classifier."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from entrain import kernels
from entrain.data import FeatureScaling, Split
from entrain.evaluation import RejectOption
from entrain.evaluation.chip_yield import Yield, yield_of
from entrain.evaluation.chips import scores_on_target
from entrain.evaluation.measure import check_finite, chunks
from entrain.hardware import Chip, Hardware, find
from entrain.models.model import Model
from entrain.models.network import KuramotoNetwork
from entrain.models.on_chip import ModelOnChip, chip_for
from entrain.physics import Dynamics, NetworkSpec, readout
from entrain.rules.direct_task import DirectTask
from entrain.rules.training_data import Examples
from entrain.sklearn.reporting import EpochLogger, warn_not_converged
from entrain.sklearn.settings import Settings, class_weights
from entrain.training import train_task
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError, seed_number

_LEAST_TO_SPLIT = 20  # examples; with fewer, the training data validate


class KuramotoClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Coupled oscillators that classify in finite time, trained from labels.

    Features are standardised and multiplied by one factor, u = factor (x - mean) / scale, so that
    training rows have the mean length of MNIST's inputs, 48.9. They set
    local fields on H hidden oscillators, one output oscillator stands for each class, and all
    phases start at pi/2 and descend the energy

        E(theta; u) = - sum_i b_i(u) cos(theta_i) - sum_{i<j} J_ij cos(theta_i - theta_j),
        b(u) = [ W u + c_hidden ; c_output ],   d theta / dt = - grad E,

    with symmetric couplings J (none between outputs) until the observation time t_f. The class is
    the output with the largest cos(theta_o(t_f)). W, c and J minimise the cross-entropy of
    softmax(gain cos(theta_out(t_f))) by AdamW, through the exact adjoint of the Euler steps.

    Parameters
    ----------
    hidden : int, default=64
        Hidden oscillators H.
    observation_time : float, default=0.2
        t_f, in the network's unit of time.
    steps : int, default=200
        Explicit Euler steps from 0 to t_f; all but the last twentieth of the training takes 50.
    epochs : int or None, default=None
        Passes over the training data. None: about 3,000 steps of AdamW, 20 to 200 epochs.
    batch_size : int or None, default=None
        Examples a step. None: a twentieth of the data, 16 to 256.
    input_rate, coupling_rate : float, default=0.01, 0.03
        Learning rates of W, and of J and c; they rise over 3 % of the training, then fall to zero.
    gain : float, default=6.0
        Of the softmax over cos(theta_out), in the loss and in `predict_proba`.
    weight_decay : float, default=10.0
        Of W, decoupled: a step multiplies W by 1 - rate * weight_decay.
    validation_fraction : float, default=0.1
        Part of the data, stratified, by whose accuracy the epoch is chosen that is kept. The
        training data serve for that if it is 0, if there are fewer than 20 examples, or if a class
        has but one.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss, and in the choice of the epoch: by class, 1 where it is
        not named, or n_samples / (n_classes * examples of the class).
    random_state : int, RandomState instance or None, default=None
        Decides split, first weights and order of the examples.
    hardware : Hardware, str, Path or None, default=None
        The chips to train for: a `Hardware`, the name of a preset such as "typical", or a TOML
        file. Their imperfections are present in training, and the validation data are dealt to
        twenty chips. None: the ideal network. See `on` and `yield_of` for what chips answer; all
        other methods answer as the ideal network, whatever it was trained for.
    device : str, default="cpu"
        "cpu", "cuda", "cuda:INDEX", or "auto": a CUDA device where there is one.
    verbose : int, default=0
        1: a line a second at most on the standard error, and the first and the last epoch; 2: a
        line for each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    network_ : KuramotoNetwork
        The trained oscillators, which take u of shape (n, n_features).
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation (1 for a constant feature) of the data.
    factor_ : float
        What the standardised features are multiplied with.
    gain_ : float
        The gain that the network was trained with.
    hardware_ : Hardware or None
        The kind of chip it was trained for.
    chip_ : Chip or None
        The chip that it answers as, see `on`; None for the ideal network.
    n_iter_ : int
        Epochs trained.
    best_epoch_ : int
        The epoch that was kept, from 1; 0 if the first already diverged.
    validation_score_ : float
        Accuracy on the validation data at that epoch.
    loss_curve_ : list of float
        Mean training loss of each epoch.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If the features of X have names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from entrain.sklearn.estimator import KuramotoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = KuramotoClassifier(hidden=16, epochs=40, random_state=0).fit(X, y)
    >>> classifier.score(X, y) > 0.9
    True
    >>> classifier.predict_proba(X[:2]).shape
    (2, 3)
    >>> classifier.network_.oscillators
    19
    """

    def __init__(
        self,
        hidden: int = 64,
        *,
        observation_time: float = 0.2,
        steps: int = 200,
        epochs: int | None = None,
        batch_size: int | None = None,
        input_rate: float = 1e-2,
        coupling_rate: float = 3e-2,
        gain: float = 6.0,
        weight_decay: float = 10.0,
        validation_fraction: float = 0.1,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        hardware: Hardware | str | Path | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.observation_time = observation_time
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.input_rate = input_rate
        self.coupling_rate = coupling_rate
        self.gain = gain
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state
        self.hardware = hardware
        self.device = device
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on X (n, n_features) with the labels y (n,), numbers or strings."""
        settings = Settings.of(self)
        data, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        random = check_random_state(self.random_state)
        self.classes_, labels = np.unique(y, return_inverse=True)
        scaling = _scaling(data)
        self.mean_, self.scale_ = np.array(scaling.mean), np.array(scaling.sd)
        self.factor_, self.gain_ = scaling.factor, settings.gain
        self.hardware_ = settings.hardware
        self.chip_: Chip | None = None

        weights = class_weights(self.class_weight, self.classes_, np.asarray(y))
        learned, held_out = _split(labels, settings.validation_fraction, random)
        inputs = scaling(data).to(settings.device)
        targets = torch.from_numpy(labels.astype(np.int64)).to(settings.device)
        network = NetworkSpec(
            settings.hidden, Dynamics(1.0, settings.observation_time, settings.steps)
        )
        protocol = settings.protocol(len(learned), len(self.classes_))
        task = DirectTask(
            replace(protocol, class_weights=weights),
            Examples(targets[learned], inputs[learned]),
            Examples(targets[held_out], inputs[held_out]),
            network,
            len(self.classes_),
            seed=int(random.randint(2**31 - 1)),
        )
        state = train_task(task, on_epoch=EpochLogger(protocol.epochs, settings.verbose))
        warn_not_converged(state, network.dynamics)
        parameters = network.on(state.best["biases"], 1, len(self.classes_)).parameters(state.best)
        self.network_ = KuramotoNetwork.from_parameters(parameters.run(0), network.dynamics)
        self.n_iter_ = state.epoch
        self.best_epoch_ = int(state.best_epoch[0])
        self.validation_score_ = state.selected("top1", 0) / 100.0
        self.loss_curve_ = [losses[0] for losses in state.history["loss"]]
        self._reject = self._reject_option(inputs.cpu(), targets.cpu(), learned, held_out)
        return self

    def _reject_option(
        self,
        inputs: Tensor,
        targets: Tensor,
        learned: NDArray[np.int64],
        held_out: NDArray[np.int64],
    ) -> RejectOption | None:
        """When its model is unsure; a single class, and scores that are not finite, leave none."""
        scores = scores_on_target(self.network_, self.hardware_, inputs[held_out])
        if scores.shape[1] < 2 or not bool(scores.isfinite().all()):
            return None
        rows = inputs / self.factor_
        return RejectOption.fit(rows[learned], rows[held_out], scores, targets[held_out])

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """cos(theta_out(t_f)): (n, n_classes); for two classes the second less the first: (n,)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of the output with the largest cosine: (n,)."""
        best = self._scores(X).argmax(1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """softmax(gain cos(theta_out(t_f))): (n, n_classes)."""
        scores = torch.from_numpy(self._scores(X))
        likely: NDArray[np.float64] = torch.softmax(self.gain_ * scores, dim=1).numpy()
        return likely

    def on(self, chip: Chip | int, *, noise_seed: int = 0) -> Self:
        """This fitted classifier as a chip runs it: it answers and scores as the chip does.

        Args:
            chip: A chip, `Hardware.sample(seed)`, or the seed of one of `hardware_`.
            noise_seed: Seed of the noise, which also depends on the row's position in X.
        """
        check_is_fitted(self)
        on_chip = copy.copy(self)
        on_chip.chip_ = chip_for(chip, self.network_, self.hardware_)
        on_chip._noise_seed = seed_number("noise_seed", noise_seed)
        return on_chip

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
        """The accuracies in percent, on X (n, n_features) with labels y (n,), of `chips` chips of
        one kind, that of `hardware_` unless another is named; see `entrain.yield_of`."""
        check_is_fitted(self)
        kind = self.hardware_ if hardware is None else find(hardware)
        if kind is None:
            raise InputError(
                "the classifier was not trained for a kind of chip; name one, such as "
                "yield_of(X, y, hardware='typical')"
            )
        data, y = validate_data(self, X, y, reset=False, dtype=np.float64)
        places = {name: place for place, name in enumerate(self.classes_.tolist())}
        named = np.asarray(y).tolist()
        if foreign := [name for name in named if name not in places]:
            raise InputError(f"y has the class {foreign[0]!r}, which the classifier does not know")
        return yield_of(
            self._model(),
            kind,
            Split(data, np.array([places[name] for name in named])),
            chips=chips,
            first_seed=first_seed,
            noise_seed=noise_seed,
        )

    def to_model(self, dataset: str = "data") -> Model:
        """The trained network as an `entrain.Model` that takes the rows of X: to save, to simulate,
        to evaluate, to play. `dataset` is what the data are called in it."""
        check_is_fitted(self)
        if not isinstance(dataset, str) or not dataset:
            raise TypeError(f"dataset must be a name for the data, got {dataset!r}")
        return Model(
            network=self.network_,
            preprocessing=self._scaling(),
            class_names=tuple(str(name) for name in self.classes_.tolist()),
            dataset=dataset,
            protocol="DIRECT",
            details={
                "run": 0,
                "epoch": self.best_epoch_,
                "validation": {"top1": 100.0 * self.validation_score_},
                **self._names(),
            },
            gain=self.gain_,
            reject=self._reject,
            hardware=self.hardware_,
        )

    def _model(self) -> Model:
        """The network as a model, on the device."""
        return self.to_model().to(choose_device(self.device))

    def _names(self) -> dict[str, list[str]]:
        """The features' names, where X had some."""
        names = getattr(self, "feature_names_in_", None)
        return {} if names is None else {"feature_names": [str(name) for name in names]}

    def _scaling(self) -> FeatureScaling:
        return FeatureScaling(
            tuple(self.mean_.tolist()), tuple(self.scale_.tolist()), float(self.factor_)
        )

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        """Cosines of the outputs, (n, n_classes).

        Fields are summed in float64, so that a row does not depend on the rows beside it.
        """
        check_is_fitted(self)
        data = validate_data(self, X, reset=False, dtype=np.float64)
        if self.chip_ is not None and not self.chip_.hardware.is_identity:
            read = ModelOnChip(self._model(), self.chip_, self._noise_seed).scores(data)
            return np.asarray(read.cpu(), dtype=np.float64)
        device, network = choose_device(self.device), self.network_
        parameters = network.as_parameters().map(lambda tensor: tensor.detach().to(device).double())
        scores = []
        scaled = self._scaling()(data).to(device)
        for _, inputs in chunks(scaled):
            fields = parameters.phase_model(inputs.double())
            phases = kernels.rollout(fields.map(lambda t: t.float()[None]), network.dynamics)[0]
            scores.append(readout(phases.double(), network.outputs))
        together = torch.cat(scores)
        check_finite(together, scaled)
        found: NDArray[np.float64] = together.cpu().numpy()
        return found


def _scaling(data: NDArray[np.float64]) -> FeatureScaling:
    """How features become inputs; where all are constant they carry nothing, and stay small."""
    if bool((data == data[0]).all()):
        return FeatureScaling(tuple(data[0].tolist()), (1.0,) * data.shape[1], 1.0)
    return FeatureScaling.fit(data)


def _split(
    labels: NDArray[np.int64], fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to learn from and rows to validate on: the same rows where there are too few."""
    rows, sizes = np.arange(len(labels)), np.bincount(labels)
    held_out = max(math.ceil(fraction * len(labels)), len(sizes))
    too_few = len(labels) < _LEAST_TO_SPLIT or sizes.min() < 2
    if fraction == 0.0 or too_few or len(labels) - held_out < len(sizes):
        return rows, rows
    learned, validated = train_test_split(
        rows, test_size=held_out, stratify=labels, random_state=random
    )
    return learned, validated
