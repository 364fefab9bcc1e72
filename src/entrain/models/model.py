"""A trained model: network, preprocessing and task in one file; it takes raw pixels."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from entrain.data import FeatureScaling, Preprocessing, SequenceScaling, Split
from entrain.data.datasets import check_targets, class_names_of
from entrain.data.preprocessing import as_array
from entrain.data.sequence_scaling import pad
from entrain.evaluation import (
    ClassReport,
    RejectOption,
    check_finite,
    evaluate,
    scores_of,
    simulated,
)
from entrain.evaluation.chips import scores_on_chips, scores_on_target
from entrain.evaluation.reject import MOST_ROWS
from entrain.hardware import Chip, Hardware
from entrain.models.model_file import read_model_file, write_model
from entrain.models.network import KuramotoNetwork
from entrain.models.on_chip import chip_for
from entrain.models.teacher import Teacher
from entrain.physics import Parameters
from entrain.tasks import Classification, Task
from entrain.utils.errors import InputError, seed_number
from entrain.utils.summary import Summary

Batch = np.ndarray | Sequence[np.ndarray] | Sequence[str | Path] | str | Path
"""Raw pixels, rows or sequences; sequences of different lengths, and WAV files, as a list."""


@dataclass(frozen=True, repr=False)
class Model(Summary):
    """A trained network with its preprocessing and task.

    Args:
        network: The oscillators, a single run.
        preprocessing: Turns raw pixels, rows of features or sequences into network inputs.
        task: What its outputs are, such as `Classification(class_names)`.
        dataset: Name of the training data.
        protocol: Name of the training rule.
        teacher: Measures agreement and endpoint error, where there was one.
        details: JSON values of the training: run, seed, selected epoch, metrics.
        gain: Gain of the softmax in training; None if the outputs were trained to be a teacher's
            signed probabilities 2 p - 1.
        reject: Decides which answers are unsure.
        hardware: The chips that the model was trained for; None for the ideal network.
        chip: The chip that answers, see `on`; None for the ideal network.
        noise_seed: Seed of the noise of the chip.

    Examples:
        >>> model = entrain.load("mnist-74")
        >>> test = entrain.load_test_split("mnist").rows(slice(1000))
        >>> round(model.evaluate(test)["top1"], 1)
        96.8
        >>> model.rejected(test.features[:4])
        array([False, False, False, False])
    """

    network: KuramotoNetwork
    preprocessing: Preprocessing | FeatureScaling | SequenceScaling
    task: Task
    dataset: str
    protocol: str
    teacher: Teacher | None = None
    details: dict[str, Any] = field(default_factory=dict)
    gain: float | None = None
    reject: RejectOption | None = None
    hardware: Hardware | None = None
    chip: Chip | None = None
    noise_seed: int = 0

    def __post_init__(self) -> None:
        if self.network.runs is not None:
            raise InputError(
                f"a model holds one network, got {self.network.runs} runs; take one with "
                "KuramotoNetwork.from_parameters(network.as_parameters().run(0), network.dynamics)"
            )
        if self.preprocessing.inputs != self.network.inputs:
            raise InputError(
                f"the preprocessing makes {self.preprocessing.inputs} inputs, "
                f"the network takes {self.network.inputs}"
            )
        if not isinstance(self.task, Task):
            raise InputError(
                f"task must be a task such as Classification(class_names), got {self.task!r}"
            )
        if self.task.outputs != self.network.outputs:
            what = "class name" if self.task.has_classes else "target"
            raise InputError(
                f"there must be one {what} per output oscillator ({self.network.outputs}), "
                f"got {self.task.outputs}"
            )

    @classmethod
    def from_network(
        cls,
        network: KuramotoNetwork,
        X: Any,
        *,
        class_names: Sequence[Any] | None = None,
        task: Task | None = None,
        y: ArrayLike | None = None,
        preprocessing: Preprocessing | FeatureScaling | SequenceScaling | None = None,
        dataset: str = "data",
        gain: float | None = None,
    ) -> Model:
        """The model of a network that was trained in a loop of your own.

        Args:
            network: The trained network, a single run.
            X: The rows or images that it was trained on, which tell what is unlike them.
            class_names: A name, or a label, for each output oscillator of a classifier.
            task: The task of another network.
            y: Labels of X, as in `class_names`: answers with a small margin are unsure, too.
            preprocessing: Turned X into the network's inputs; None if X were the inputs.
            dataset: Name of the data.
            gain: Gain of the softmax in the loss, if it had one.
        """
        if preprocessing is None:
            ones = (1.0,) * network.inputs
            preprocessing = FeatureScaling((0.0,) * network.inputs, ones, 1.0)
        if (class_names is None) == (task is None):
            raise InputError("give class_names, or the task of a network without classes")
        if task is None:
            task = Classification(tuple(str(name) for name in class_names or ()))
        columns = [str(name) for name in getattr(X, "columns", ())]
        details = {"feature_names": columns} if columns else {}
        model = cls(network, preprocessing, task, dataset, "own loop", details=details, gain=gain)
        if not task.has_classes:
            return model
        rows = model._array(X)
        labels = model.predict_indices(rows) if y is None else model.label_indices(y, len(rows))
        unseen = np.arange(len(rows)) % 7 == 0  # of which 1 % will be unlike the others
        return model.with_reject_option(rows[~unseen], Split(rows[unseen], labels[unseen]))

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        network, selection = self.network, self.task.selection[-1]
        value = self.details.get("validation", {}).get(selection.name)
        return {
            "by": self.protocol,
            "on": repr(self.dataset),
            "oscillators": f"{network.oscillators} ({network.outputs} outputs)",
            "inputs": str(network.inputs),
            "predicts": self.task.description,
            f"validation {selection.title.removesuffix(' %')}": (
                "not measured" if value is None else selection.text(value)
            ),
        }

    def __repr__(self) -> str:
        network = self.network
        sizes = f"{network.hidden + network.outputs} oscillators, {network.inputs} inputs"
        chips = "" if self.hardware is None else f", for {self.hardware.name or 'chips'!r}"
        what = f"{network.outputs} {'classes' if self.task.has_classes else 'numbers'}"
        return f"Model({self.protocol!r}, {sizes}, {what}, {self.dataset!r}{chips})"

    def to(self, device: torch.device | str) -> Model:
        """A copy of this model on another device.

        Args:
            device: A torch device, such as "cuda".
        """
        return replace(self, network=copy.deepcopy(self.network).to(device))

    @property
    def class_names(self) -> tuple[str, ...]:
        """One name for each output oscillator; empty without classes."""
        return class_names_of(self.task)

    @property
    def classes(self) -> np.ndarray:
        """Labels of the classes (O,): integers if every class name is one, else the names."""
        return self.classification.classes

    @property
    def classification(self) -> Classification:
        """The task of a classifier; an `InputError` for other models."""
        if not isinstance(self.task, Classification):
            raise InputError(
                f"the model predicts {self.task.description}: it has no classes; use predict, "
                "score and evaluate"
            )
        return self.task

    @property
    def reads_once(self) -> bool:
        """True if inputs are constant, and outputs read at t_f alone."""
        return not isinstance(self.preprocessing, SequenceScaling)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the training table; empty for pictures."""
        names = self.details.get("feature_names")
        if not isinstance(names, list) or len(names) != self.network.inputs:
            return ()
        return tuple(map(str, names))

    def inputs(self, pixels: Batch, *, unseen: bool = True) -> Tensor:
        """Network inputs (n, D) on the network's device; of sequences (n, F, D).

        Args:
            pixels: Raw pixels (n, D), (n, rows, columns) or one image; rows of features; or
                sequences (n, T, D), or a list of arrays (T_i, D); of a model that was trained on
                sounds also the paths of WAV files.
            unseen: False for training and validation images. Fashion-MNIST scales unseen images
                to another norm.
        """
        return self.preprocessing(self._array(pixels), unseen=unseen).to(self.network.input_weights)

    def _array(self, values: Any) -> np.ndarray:
        """Pixels or rows as an array; columns of a data frame by name."""
        names = list(self.feature_names)
        if names and hasattr(values, "columns") and set(names) & set(map(str, values.columns)):
            values = values.rename(columns=str)
            missing = [name for name in names if name not in values.columns]
            if missing:
                raise InputError(f"no column {missing[0]!r}, which the model was trained with")
            values = values[names]
        if isinstance(self.preprocessing, SequenceScaling):
            if isinstance(values, str | os.PathLike):
                values = [values]
            if isinstance(values, list) and any(isinstance(v, str | os.PathLike) for v in values):
                return self.preprocessing.read_sounds(values)
            if isinstance(values, list | tuple):
                return pad(values)
        return as_array(values)

    def scores(self, pixels: Batch) -> Tensor:
        """Output activations (n, O); an `InputError` if a phase became infinite or NaN.

        Args:
            pixels: As for `inputs`.
        """
        inputs = self.inputs(pixels)
        scores = self._scores(inputs)
        check_finite(scores, inputs)
        return scores

    def _scores(self, inputs: Tensor) -> Tensor:
        """Activations (n, O) of the ideal network, or as the chip reads them."""
        if self.chip is None:
            return scores_of(self.network, inputs, task=self.task)
        return scores_on_chips(
            self.batched_parameters(),
            self.chip.hardware,
            [self.chip.seed],
            inputs,
            self.network.dynamics,
            task=self.task,
            noise_seed=self.noise_seed,
        )[0, 0]

    def predict(self, pixels: Batch) -> np.ndarray:
        """Predicted labels (n,), elements of `classes`; or numbers (n,), (n, O) of several.

        Args:
            pixels: As for `inputs`.
        """
        return self.task.predict(self.scores(pixels))

    def predict_indices(self, pixels: Batch) -> np.ndarray:
        """Indices (n,) of the predicted classes in `class_names`; the first of equal outputs.

        Args:
            pixels: As for `inputs`.
        """
        _ = self.classification
        return np.asarray(self.scores(pixels).argmax(-1).cpu())

    def score(self, X: Batch, y: ArrayLike) -> float:
        """Fraction of correctly predicted labels, from 0 to 1; R^2 of numbers.

        Args:
            X: Raw pixels or rows of features, as for `inputs`.
            y: True labels (n,), as in `classes`; or numbers (n,) or (n, O).
        """
        scores = self.scores(X)
        values = self.task.encode(as_array(y), len(scores))
        return self.task.score(scores, torch.from_numpy(values).to(scores.device))

    def report(self, X: Batch, y: ArrayLike) -> ClassReport:
        """Confusion matrix, and precision, recall and F1 of every class.

        Args:
            X: Raw pixels or rows of features, as for `inputs`.
            y: True labels (n,), as in `classes`.
        """
        predicted = self.predict_indices(X)
        labels = self.label_indices(y, len(predicted))
        return ClassReport.of(labels, predicted, self.class_names)

    def label_indices(self, y: ArrayLike, count: int) -> np.ndarray:
        """Indices (n,) of labels in `class_names`.

        Args:
            y: Labels (n,), as in `classes`.
            count: Number n of labels that is expected.
        """
        return self.classification.encode(as_array(y), count)

    def trajectory(self, pixels: Batch) -> Tensor:
        """Phases (K + 1, n, N) at every grid time from 0 to t_f, the outputs last.

        Args:
            pixels: As for `inputs`.
        """
        if self.chip is not None:
            raise InputError("phases over time are those of the ideal network; use it off the chip")
        inputs = self.inputs(pixels)
        path = simulated(self.network, inputs, record=1).phases.detach()
        check_finite(path[-1], inputs)
        return path

    def pictures(self, pixels: Batch) -> np.ndarray:
        """Pixels (n, rows, columns), or rows of features (n, 1, D) in standard deviations.

        Args:
            pixels: As for `inputs`.
        """
        scaling, values = self.preprocessing, self._array(pixels)
        if isinstance(scaling, FeatureScaling):
            values = scaling(values).numpy() / scaling.factor
        elif isinstance(scaling, SequenceScaling):
            values = scaling(values).numpy() / scaling.channels.factor
        return values.reshape(-1, *scaling.image_shape)

    def probabilities(self, pixels: Batch) -> Tensor:
        """Class probabilities (n, O): softmax(gain cos theta_out).

        Without a gain the outputs were trained to be signed probabilities: (1 + cos theta_out) / 2,
        divided by their sum.

        Args:
            pixels: As for `inputs`.
        """
        return self.probabilities_of(self.scores(pixels))

    def probabilities_of(self, scores: Tensor) -> Tensor:
        """Class probabilities (n, O) of output activations.

        Args:
            scores: Output activations (n, O).
        """
        _ = self.classification
        if self.gain is not None:
            return torch.softmax(self.gain * scores, dim=-1)
        positive = 1.0 + scores
        return positive / positive.sum(-1, keepdim=True)

    def rejected(self, pixels: Batch) -> np.ndarray:
        """True (n,) where an answer is unsure, see `reject_reasons`.

        Args:
            pixels: As for `inputs`.
        """
        return np.array([reason is not None for reason in self.reject_reasons(pixels)], dtype=bool)

    def reject_reasons(self, pixels: Batch, scores: Tensor | None = None) -> list[str | None]:
        """Reasons why answers are unsure, None where they are sure.

        An answer is unsure if its margin is small, its input unlike the training data or, of an
        image, fainter than these. Without
        a reject option, only activations that are not finite are unsure.

        Args:
            pixels: As for `inputs`.
            scores: Their output activations, if known.
        """
        if scores is None:
            scores = self.scores(pixels)
        finite = scores.isfinite().all(-1).tolist()
        reasons: list[str | None] = [None] * len(finite)
        if self.reject is not None:
            inputs = self.normalised_inputs(pixels)
            reasons = self.reject.reasons(inputs, scores, self._contrasts(pixels))
        return [why if ok else "not finite" for ok, why in zip(finite, reasons, strict=True)]

    def normalised_inputs(self, pixels: Batch) -> Tensor:
        """Inputs (n, D) of the reject option, float64: images of length 1, features of SD 1.

        Args:
            pixels: As for `inputs`.
        """
        inputs = self.preprocessing(self._array(pixels)).double()
        if isinstance(self.preprocessing, FeatureScaling):
            return inputs / self.preprocessing.factor
        if isinstance(self.preprocessing, SequenceScaling):
            return inputs.mean(-2) / self.preprocessing.channels.factor
        length: Tensor = torch.linalg.vector_norm(inputs, dim=-1, keepdim=True)
        return inputs / length

    def _contrasts(self, pixels: Batch) -> Tensor | None:
        """Contrasts (n,) of images; None for features."""
        if not isinstance(self.preprocessing, Preprocessing):
            return None
        return self.preprocessing.contrast(self._array(pixels))

    def with_reject_option(self, train: np.ndarray, validation: Split) -> Model:
        """This model with a reject option.

        A model trained for chips is fitted on chips, where its margins are smaller. There is none
        for a single class or for outputs that are not finite.

        Args:
            train: Training pixels or rows.
            validation: Labelled examples, which count as unseen.
        """
        if not self.task.has_classes:
            return self
        inputs = self.inputs(validation.features)
        scores = scores_on_target(self.network, self.hardware, inputs, self.task).cpu()
        if scores.shape[1] < 2 or not bool(scores.isfinite().all()):
            return self
        splits = train[:MOST_ROWS], validation.features
        contrasts = [c for pixels in splits if (c := self._contrasts(pixels)) is not None]
        option = RejectOption.fit(
            self.normalised_inputs(splits[0]),
            self.normalised_inputs(splits[1]),
            scores,
            torch.from_numpy(validation.labels),
            torch.cat(contrasts) if contrasts else None,
        )
        return replace(self, reject=option)

    def evaluate(
        self, X: Split | Batch, y: ArrayLike | None = None, *, unseen: bool = True
    ) -> dict[str, float]:
        """The metrics of the task: percentages top1 and top2, or NRMSE, RMSE, MAE and R^2; with a
        teacher also agreement and the endpoint errors.

        `evaluate(X, y)` or, of a dataset or a training, `evaluate(trained.test)`.

        Validation images with `unseen` False reproduce `details["validation"]` of a model trained
        for the ideal network.

        Args:
            X: Labelled examples; or raw pixels or rows of features, as for `inputs`.
            y: Their true labels (n,), as in `classes`, or numbers (n,) or (n, O).
            unseen: As for `inputs`.
        """
        inputs, values = self.examples(self._split(X, y), unseen=unseen)
        targets = None if self.teacher is None else self.teacher.targets(inputs)
        return evaluate(self._scores(inputs), values, targets, self.task)

    def _split(self, X: Split | Batch, y: ArrayLike | None) -> Split:
        """The labelled examples of the arguments of `evaluate`."""
        if isinstance(X, Split):
            if y is not None:
                raise InputError("y belongs to arrays, a Split has its labels; leave it out")
            return X
        if y is None:
            raise InputError("the labels are missing: give one for each example, evaluate(X, y)")
        rows = self._array(X)
        if isinstance(self.preprocessing, Preprocessing) and rows.ndim == 3:
            rows = rows.reshape(len(rows), -1)
        return Split(rows, self.task.encode(as_array(y), len(rows)))

    def examples(self, split: Split, *, unseen: bool = True) -> tuple[Tensor, Tensor]:
        """Network inputs (n, D) and targets, labels (n,) or numbers (n, O), on its device.

        Args:
            split: Examples with targets.
            unseen: As for `inputs`.
        """
        check_targets(split.targets, self.task, "the data")
        inputs = self.inputs(split.features, unseen=unseen)
        return inputs, torch.from_numpy(split.targets).to(inputs.device)

    @property
    def couplers_used(self) -> int:
        """Number of couplers whose coupling is not zero."""
        return int(self.network.coupler_strengths.count_nonzero())

    def batched_parameters(self) -> Parameters:
        """Parameters of the network with an axis of one run, without gradients."""
        return self.network.as_parameters().map(lambda tensor: tensor.detach()[None])

    def on(self, chip: Chip | int, *, noise_seed: int = 0) -> Model:
        """This model as a chip runs it; warns if it was trained for other hardware.

        Args:
            chip: A chip, `hardware.sample(seed)`, or the seed of one of the model's own hardware.
            noise_seed: Seed of the noise.
        """
        chip = chip_for(chip, self.network, self.hardware)
        return replace(self, chip=chip, noise_seed=seed_number("noise_seed", noise_seed))

    def save(self, path: Path | str) -> None:
        """Write one safetensors file, atomically.

        Args:
            path: The file.
        """
        write_model(self, Path(path))


def read_model(path: Path | str) -> Model:
    """The model of a file written by `Model.save`."""
    return read_model_file(Path(path), Model)
