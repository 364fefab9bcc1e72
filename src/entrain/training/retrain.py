"""Recipes that continue the training of a model for the chip it was calibrated on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from entrain.data import Dataset
from entrain.models.model import Model
from entrain.models.network import KuramotoNetwork
from entrain.physics import NetworkSpec
from entrain.physics.network_spec import SPEC_TERMS
from entrain.physics.parameters import layered_graph
from entrain.rules import Direct, Pretrained
from entrain.rules.chip_training import ChipTraining
from entrain.training.recipe import Recipe
from entrain.utils.errors import InputError

NAME = "RETRAIN"
_GAIN = 6.0  # of the softmax, where the model has none
_SHORTER = 10  # fewer epochs than a training from the beginning


def retraining(
    path: Path,
    model: Model,
    data: Dataset,
    *,
    epochs: int | None = None,
    batch_size: int | None = None,
    runs: int = 1,
    seed: int = 0,
) -> Recipe:
    """The recipe that continues the training of `model`, read from `path`, for its calibrated chip.

    It learns from labels, as DIRECT, at a third of its rates, with the time steps of the chip.
    Couplers that the model does not use stay unused.
    """
    if model.hardware is None or model.hardware.measured is None:
        raise InputError(
            f"{path}: its chip was not measured; entrain calibrate makes such a file from traces"
        )
    names = model.task.output_names
    if data.preprocessing.inputs != model.network.inputs or data.task.output_names != names:
        raise InputError(
            f"{path}: was trained on {model.dataset} ({model.network.inputs} inputs, "
            f"{model.task.description}), got {data.name}"
        )
    training = ChipTraining(model.hardware, chips=1, onset=0.0, chip=0)
    usual = Direct().tuned_for(data.name, len(data.train)).for_chips(training, data.name)
    rule = replace(
        usual,
        name=NAME,
        start="GIVEN",
        epochs=max(5, usual.epochs // _SHORTER) if epochs is None else epochs,
        batch_size=usual.batch_size if batch_size is None else batch_size,
        input_rate=1e-3,
        coupling_rate=1e-2,
        gain=_GAIN if model.gain is None else model.gain,
        coarse_steps=model.network.dynamics.steps,
        fine_epochs=0,
        unaugmented_epochs=1,
    )
    return Recipe(
        data.name,
        protocols=(Pretrained.of(path, model), rule),
        network=spec_of(model.network),
        runs=runs,
        seed=seed,
    )


def spec_of(network: KuramotoNetwork) -> NetworkSpec:
    """The specification of a network: its size, terms, dynamics, and the couplers it uses."""
    parameters = network.as_parameters().map(torch.Tensor.detach)
    parameters.refuse_other_terms(SPEC_TERMS, "a training")
    used = parameters.couplings.cpu() != 0

    def numbers(tensor: torch.Tensor | None) -> tuple[float, ...] | None:
        return None if tensor is None else tuple(tensor.double().cpu().reshape(-1).tolist())

    terms: dict[str, Any] = {
        name: numbers(getattr(parameters, name))
        for name in ("frequencies", "start_phases", "injection")
    }
    spec = NetworkSpec(
        network.hidden,
        network.dynamics,
        lag=(numbers(parameters.lag) or (0.0,))[0],
        harmonic=numbers(parameters.harmonic) or (0.0, 0.0),  # type: ignore[arg-type]
        **terms,
    )
    if torch.equal(used, layered_graph(network.hidden, network.outputs)):
        return spec
    pairs = (used | used.T).triu(1).nonzero().tolist()
    return replace(spec, graph=tuple((int(i), int(j)) for i, j in pairs))
