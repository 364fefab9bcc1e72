"""Base of the scikit-learn estimators: parameters, training and the outputs of rows."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from entrain import kernels
from entrain.data import FeatureDataset, FeatureScaling, Split
from entrain.data.own.examples import check_size
from entrain.evaluation.measure import check_finite, chunks
from entrain.hardware import Chip, Hardware
from entrain.models.model import Model
from entrain.models.network import KuramotoNetwork
from entrain.models.on_chip import chip_for
from entrain.physics import readout
from entrain.sklearn.reporting import EpochLogger
from entrain.sklearn.settings import Settings
from entrain.tasks import Task
from entrain.training import Trained
from entrain.training.train import train
from entrain.utils.device import choose_device
from entrain.utils.errors import seed_number

_DATA = "data"  # name of rows without a file


class KuramotoEstimator(BaseEstimator):  # type: ignore[misc]
    """Rows of features, scaled to inputs of a network that `entrain.train` trains by DIRECT."""

    _checks_of_targets: ClassVar[dict[str, bool]] = {}  # of scikit-learn's `validate_data`

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
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        hardware: Hardware | str | Path | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.observation_time = observation_time
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.input_rate = input_rate
        self.coupling_rate = coupling_rate
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.hardware = hardware
        self.device = device
        self.verbose = verbose

    def _train(
        self,
        settings: Settings,
        task: Task,
        data: NDArray[np.float64],
        targets: NDArray[Any],
        split: tuple[NDArray[np.int64], NDArray[np.int64]],
        sample_weight: ArrayLike | None,
        seed: int,
        **more: Any,
    ) -> Trained:
        """Train the network by `entrain.train`, and set the attributes of a fitted estimator.

        Args:
            settings: The checked parameters.
            task: What is predicted.
            data: Rows (n, n_features).
            targets: Those of the task.
            split: Training and validation rows.
            sample_weight: Weights (n,) of the rows.
            seed: Seed of the first weights and the order of examples.
            more: Further fields of DIRECT.
        """
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, data, ensure_non_negative=True)
        learned, held_out = (Split(data, targets, weights).rows(rows) for rows in split)
        scaling, names = _scaling(data), tuple(map(str, range(data.shape[1])))
        keywords = settings.keywords()
        keywords["settings"] |= {f"DIRECT.{name}": value for name, value in more.items()}
        trained = train(
            FeatureDataset(_DATA, learned, held_out, held_out, task, names, scaling=scaling),
            **keywords,
            seed=seed,
            runs=settings.ensemble,
            progress=EpochLogger(settings.verbose),
        )
        state = trained.states["DIRECT"]
        self.mean_, self.scale_ = np.array(scaling.mean), np.array(scaling.sd)
        self.factor_, self.hardware_ = scaling.factor, settings.hardware
        self.chip_: Chip | None = None
        self.networks_ = [model.network for model in trained.models["DIRECT"]]
        self.network_: KuramotoNetwork = self.networks_[0]
        self.n_iter_ = state.epoch
        self.best_epoch_ = int(state.best_epoch[0])
        self.loss_curve_ = [losses[0] for losses in state.history["loss"]]
        return trained

    def on(self, chip: Chip | int, *, noise_seed: int = 0) -> Self:
        """This fitted estimator as a chip runs it: it answers and scores as the chip does.

        Args:
            chip: A chip, `Hardware.sample(seed)`, or the seed of one of `hardware_`.
            noise_seed: Seed of the noise, which also depends on the chip and the row's position in
                X.
        """
        check_is_fitted(self)
        on_chip = copy.copy(self)
        on_chip.chip_ = chip_for(chip, self.network_, self.hardware_)
        on_chip._noise_seed = seed_number("noise_seed", noise_seed)
        return on_chip

    def to_model(self, dataset: str = _DATA) -> Model:
        """The trained network as an `entrain.Model` for rows of X.

        Args:
            dataset: Name of the data in the model.
        """
        raise NotImplementedError

    def _to_model(self, dataset: str, task: Task, score: dict[str, float], **options: Any) -> Model:
        """The model of a task, with the `score` on the validation data."""
        check_is_fitted(self)
        if not isinstance(dataset, str) or not dataset:
            raise TypeError(f"dataset must be a name for the data, got {dataset!r}")
        details = {"run": 0, "epoch": self.best_epoch_, "validation": score}
        if hasattr(self, "feature_names_in_"):
            details["feature_names"] = [str(name) for name in self.feature_names_in_]
        return Model(
            network=self.network_,
            preprocessing=self._scaling(),
            task=task,
            dataset=dataset,
            protocol="DIRECT",
            details=details,
            hardware=self.hardware_,
            **options,
        )

    def _model(self) -> Model:
        """The model on the estimator's device."""
        return self.to_model().to(choose_device(self.device))

    def _scaling(self) -> FeatureScaling:
        return FeatureScaling(
            tuple(self.mean_.tolist()), tuple(self.scale_.tolist()), float(self.factor_)
        )

    def _validated(self, X: ArrayLike, *y: ArrayLike, reset: bool = True) -> Any:
        """Rows as float64, those of a sparse matrix too, and labels if there are any."""
        checks = self._checks_of_targets if y else {}
        result: Any = validate_data(
            self, X, *y, reset=reset, dtype=np.float64, accept_sparse="csr", **checks
        )
        data: Any = result[0] if y else result
        if hasattr(data, "toarray"):
            rows, columns = data.shape
            check_size(rows, columns, 8)  # far larger when it is dense
            data = data.toarray()
        return (data, result[1]) if y else data

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        """Cosines of the outputs, (n, outputs).

        Fields are summed in float64, so that the result of a row does not depend on other rows.
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        if self.chip_ is not None and not self.chip_.hardware.is_identity:
            on_chip = replace(self._model(), chip=self.chip_, noise_seed=self._noise_seed)
            return np.asarray(on_chip.scores(data).cpu(), dtype=np.float64)
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
        array: NDArray[np.float64] = together.cpu().numpy()
        return array


def _scaling(data: NDArray[np.float64]) -> FeatureScaling:
    """The scaling of features to inputs; constant features stay small."""
    if bool((data == data[0]).all()):
        return FeatureScaling(tuple(data[0].tolist()), (1.0,) * data.shape[1], 1.0)
    return FeatureScaling.fit(data)
