"""Doing one job: a stage to its packed state, a measurement to its result."""

from __future__ import annotations

import datetime
import functools
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy
import torch

import entrain
from entrain.data import ImageDataset
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, TrainingState, pack_state, train_stage, unpack_state
from entrain_paper.experiments import ExperimentContext, Measurement, Values, with_prerequisites

OnEpoch = Callable[[TrainingState], None]


class Worker:
    """Does jobs on a device; keeps the last dataset there."""

    def __init__(self, dataset: Callable[[str], ImageDataset], device: torch.device) -> None:
        self.device = device
        self._dataset = functools.cache(dataset)
        self._data: TrainingData | None = None

    def train(
        self,
        stage: Stage,
        needs: Mapping[str, TrainingState],
        saved: TrainingState | None = None,
        seconds: float = 0.0,
        on_epoch: OnEpoch | None = None,
    ) -> bytes:
        """The packed state of `stage`; `saved` and its `seconds` are where it was interrupted."""
        if self._data is None or self._data.data.name != stage.dataset:
            self._data = None  # one dataset at a time on the device
            self._data = TrainingData(self._dataset(stage.dataset), self.device)
        began = time.monotonic()
        state = train_stage(stage, self._data, needs, saved=saved, on_epoch=on_epoch)
        # The selected epoch is what others use, without what only an optimiser needs.
        state.current = {}
        state.best = {name: tensor for name, tensor in state.best.items() if "." not in name}
        took = seconds + time.monotonic() - began
        return pack_state(state, {"finished": True, "seconds": took} | provenance(self.device))

    def measure(
        self,
        job: Measurement,
        needs: Mapping[str, TrainingState],
        headers: Mapping[str, Values],
        on_progress: Callable[[float], None] | None = None,
    ) -> Values:
        """The result of a measurement; `headers` are those of the states of all it rests on."""
        began = time.monotonic()
        here = provenance(self.device)
        context = ExperimentContext(
            job.setting, needs, self._dataset, self.device, on_progress, headers
        )
        values = job.experiment.measure(context)
        return {
            "experiment": job.experiment.name,
            "title": job.experiment.title,
            "source": job.experiment.source,
            "key": job.key,
            "setting": asdict(job.setting),
            "values": values,
            "stages": [
                {"title": stage.title, "seed": stage.seed, "key": stage.key}
                | {"seconds": float(headers[stage.key]["seconds"])}
                | trained_on(headers[stage.key], here)
                | {"spec": stage.identity()}
                for stage in with_prerequisites(job.needs)
            ],
            "seconds": time.monotonic() - began,
            "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            **here,
        }


def trained_on(origin: Mapping[str, Any], measured: Mapping[str, Any]) -> Values:
    """The device of a training for its entry in a result, and its versions where those of the
    measurement are others."""
    same = origin["versions"] == measured["versions"]
    return {"device": origin["device"]} | ({} if same else {"versions": origin["versions"]})


def unpacked(contents: Mapping[str, bytes]) -> dict[str, TrainingState]:
    """Packed states by key."""
    return {key: unpack_state(content, key)[0] for key, content in contents.items()}


def provenance(device: torch.device) -> Values:
    """The device and the versions that computed something."""
    cuda = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device)
        if cuda
        else f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {
            "entrain": entrain.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": numpy.__version__,
        },
    }
