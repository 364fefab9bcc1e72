"""The trainings and measurements of controls, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from entrain.data import Dataset, fingerprint
from entrain.evaluation.controls import catalogue, static
from entrain.evaluation.controls.catalogue import RETRAINED, Variant
from entrain.evaluation.controls.measurement import ControlResult, HeldOutExamples
from entrain.models.model import Model
from entrain.physics import Parameters
from entrain.rules.interface import generators
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, TrainingState, best_run, run_training, train_stage
from entrain.utils.hashing import sha256, sha256_of_json, tensor_bytes

OnProgress = Callable[[str, float], None]


class Job:
    """The data, the recipe and the test examples of all controls of a model."""

    def __init__(
        self,
        model: Model,
        data: Dataset,
        training: Variant,
        runs: int,
        seed: int,
        device: torch.device,
        on_progress: OnProgress | None,
    ) -> None:
        self.model, self.data, self.training = model, data, training
        self.runs, self.seed, self._device = runs, seed, device
        self._on_progress = on_progress
        self._examples = TrainingData(data, device)
        self.test = HeldOutExamples(data, device)

    @property
    def key(self) -> str:
        """A digest of everything that decides the results."""
        tensors = self.model.batched_parameters().tensors()
        test = (self.data.test.features, self.data.test.targets)
        values = {
            "version": 1,
            "model": sha256(*(tensor_bytes(tensor) for tensor in tensors.values())),
            "data": fingerprint(self.data),
            "test": sha256(*(np.ascontiguousarray(array).data for array in test)),
            "rule": self.training.rule.to_json(),
            "network": self.training.network.to_json(),
            "runs": self.runs,
            "seed": self.seed,
        }
        return sha256_of_json(values)

    def facts(self, name: str) -> dict[str, Any]:
        """Model, data and training as JSON values."""
        network, rule = self.training.network, self.training.rule
        hidden, outputs = network.hidden, self.training.outputs
        return {
            "model": name,
            "dataset": self.data.name,
            "task": self.data.task.description,
            "split": "test",
            "examples": len(self.data.test),
            "training_examples": len(self.data.train),
            "runs": self.runs,
            "seed": self.seed,
            "network": {
                "oscillators": hidden + outputs,
                "inputs": self.data.preprocessing.inputs,
                "couplers": int(network.graph_of(outputs).sum()) // 2,
                "parameters": self.model.network.parameter_count,
                "steps": network.dynamics.steps,
            },
            "rule": rule.to_json(),
        }

    def measure(self, names: list[str]) -> list[ControlResult]:
        """The results of controls of the same networks."""
        began = time.monotonic()
        if names == [catalogue.SAVED]:
            results = [self._saved()]
        elif names[0] in catalogue.STATIC:
            results = [self._static(names[0])]
        else:
            trained = names[0] if names[0] in RETRAINED else catalogue.TRAINED
            results = self._retrained(trained, names)
        seconds = (time.monotonic() - began) / max(1, len(results))
        return [replace(result, seconds=seconds) for result in results]

    def _saved(self) -> ControlResult:
        """The model as it is."""
        model = self.model.to(self._device)
        inputs = model.inputs(self.data.test.features)
        scores = self.test.scores(
            model.batched_parameters(), model.network.dynamics, model.hardware, inputs
        )
        values, _ = self.test.measured(scores)
        count = self.model.network.parameter_count
        return ControlResult(catalogue.SAVED, values, parameters=count)

    def _retrained(self, trained: str, names: list[str]) -> list[ControlResult]:
        """Networks trained again, and their changes at test; none without such a part."""
        candidates = RETRAINED[trained](self.training)
        if not candidates:
            return []
        chosen, settings = candidates[0], {}
        if len(candidates) > 1:
            chosen = candidates[self._best(trained, candidates)]
            fields = ("initial_couplings", "initial_weights")
            changes = {name: {getattr(c.rule, name) for c in candidates} for name in fields}
            settings = {n: getattr(chosen.rule, n) for n in fields if len(changes[n]) > 1}
        stage = self._stage(chosen, tuple(range(self.runs)))
        state = self._train(trained, stage)
        parameters, results = stage.parameters(state), []
        for name in names:
            changed = self._changed_at_test(name, parameters)
            scores = self.test.scores(changed, stage.network.dynamics, stage.rule.hardware)
            values, resampled = self.test.measured(scores)
            result = ControlResult(name, values, resampled, settings=settings)
            if name == trained:
                result = self._with_training(result, state, _trained_parameters(stage, parameters))
            results.append(result)
        return results

    def _best(self, name: str, candidates: list[Variant]) -> int:
        """Index of the candidate that is best on validation, each trained once, as run 0."""
        fields = ("initial_couplings", "initial_weights")
        values = {field: tuple(getattr(c.rule, field) for c in candidates) for field in fields}
        stage = self._stage(candidates[0].with_rule(**values), (0,) * len(candidates))
        return best_run(self._train(f"{name}: strength", stage))

    def _stage(self, training: Variant, runs: tuple[int, ...]) -> Stage:
        return Stage(training.rule, self.data.name, training.network, runs=runs, seed=self.seed)

    def _train(self, name: str, stage: Stage) -> TrainingState:
        return train_stage(stage, self._examples, {}, on_epoch=self._epochs_of(name, stage.epochs))

    def _epochs_of(self, name: str, epochs: int) -> Callable[[TrainingState], None]:
        def after_epoch(state: TrainingState) -> None:
            if self._on_progress is not None:
                self._on_progress(name, state.epoch / epochs)

        return after_epoch

    def _with_training(
        self, result: ControlResult, state: TrainingState, parameters: int
    ) -> ControlResult:
        """The result with the validation, the selected epochs and the size of a training."""
        metric = self.test.metric.name
        return replace(
            result,
            validation=tuple(state.selected(metric, run) for run in range(self.runs)),
            epochs=tuple(state.best_epoch.tolist()),
            parameters=parameters,
        )

    def _changed_at_test(self, name: str, parameters: Parameters) -> Parameters:
        """Networks (R, ...) with other couplings."""
        couplings, hidden = parameters.couplings.clone(), parameters.hidden
        if name == catalogue.ZEROED:
            couplings.zero_()
        elif name == catalogue.HIDDEN_ZEROED:
            couplings[:, :hidden, :hidden] = 0.0
        elif name == catalogue.SHUFFLED:
            first, second = parameters.graph.triu(1).nonzero().T
            cpu = torch.device("cpu")
            runs = tuple(range(len(couplings)))
            for run, source in enumerate(generators("controls", self.seed, runs, 0, cpu)):
                order = torch.randperm(len(first), generator=source).to(first.device)
                couplings[run, first, second] = couplings[run, first[order], second[order]]
            couplings = couplings.triu(1) + couplings.triu(1).mT
        return parameters.with_tensors({"couplings": couplings})

    def _static(self, name: str) -> ControlResult:
        """A model without dynamics: rate and decay selected on validation, then all runs."""
        outputs, hidden = self.training.outputs, 0
        width = self.data.preprocessing.inputs * self.training.frames
        if name == catalogue.PERCEPTRON:
            size = self.model.network.parameter_count
            hidden = static.hidden_units(size, width, outputs)
        search = static.CANDIDATES
        zeros = (0,) * len(search)
        tried = self._train_static(f"{name}: rate and decay", hidden, zeros, search)[1]
        rate, decay = search[best_run(tried)]
        runs, chosen = tuple(range(self.runs)), ((rate, decay),) * self.runs
        training, state = self._train_static(name, hidden, runs, chosen)
        parameters = {n: tensor for n, tensor in state.best.items() if "." not in n}
        scores = training.scores_of(parameters, self.test.inputs)[:, None]
        values, resampled = self.test.measured(scores)
        settings = {"rate": rate, "decay": decay} | ({"hidden": hidden} if hidden else {})
        count = static.parameter_count(hidden, width, outputs)
        result = ControlResult(name, values, resampled, settings=settings)
        return self._with_training(result, state, count)

    def _train_static(
        self, name: str, hidden: int, runs: tuple[int, ...], settings: static.Settings
    ) -> tuple[static.StaticTraining, TrainingState]:
        """The training of models without dynamics, and its final state."""
        rule = self.training.rule
        training = static.StaticTraining(
            self._examples, rule, hidden, seed=self.seed, runs=runs, settings=settings
        )
        return training, run_training(training, on_epoch=self._epochs_of(name, rule.epochs))


def _trained_parameters(stage: Stage, parameters: Parameters) -> int:
    """Number of parameters of a network that its rule trains."""
    frozen = getattr(stage.rule, "frozen", ())
    graph, hidden = parameters.graph, parameters.hidden
    couplers = int(graph.sum()) // 2
    if "hidden_couplings" in frozen:
        couplers -= int(graph[:hidden, :hidden].sum()) // 2
    sizes = {name: tensor[0].numel() for name, tensor in parameters.tensors().items()}
    sizes["couplings"] = couplers
    return sum(sizes[name] for name in stage.network.names if name not in frozen)
