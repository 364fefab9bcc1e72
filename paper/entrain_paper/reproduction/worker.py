"""Computation of one job: the packed state of a stage, or the result of a measurement."""

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
from entrain.training import Stage, TrainingState, pack_state, train_stage
from entrain_paper.experiments import ExperimentContext, Measurement, Values, with_prerequisites

OnEpoch = Callable[[TrainingState], None]


class Worker:
    """Computes jobs on a device, which caches the last dataset."""

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
        # Only the selected epoch is used later, without the tensors of the optimiser.
        state.current = {}
        state.best = {name: tensor for name, tensor in state.best.items() if "." not in name}
        seconds += time.monotonic() - began
        return pack_state(state, {"finished": True, "seconds": seconds} | provenance(self.device))

    def measure(
        self,
        job: Measurement,
        needs: Mapping[str, TrainingState],
        headers: Mapping[str, Values],
        on_progress: Callable[[float], None] | None = None,
    ) -> Values:
        """The result of a measurement; `headers` are of its stages and their prerequisites."""
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
                | training_provenance(headers[stage.key], here)
                | {"spec": stage.identity()}
                for stage in with_prerequisites(job.needs)
            ],
            "seconds": time.monotonic() - began,
            "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            **here,
        }


def training_provenance(origin: Mapping[str, Any], measured: Mapping[str, Any]) -> Values:
    """The device of a training, and its versions if they differ from those of the measurement."""
    versions = origin["versions"]
    different = {} if versions == measured["versions"] else {"versions": versions}
    return {"device": origin["device"]} | different


def provenance(device: torch.device) -> Values:
    """Name of the device, and the versions in use."""
    cpu = f"{platform.machine()}, {os.cpu_count()} cores"
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else cpu,
        "versions": {
            "entrain": entrain.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": numpy.__version__,
        },
    }
