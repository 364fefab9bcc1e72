"""Doing one piece of work: a stage to its packed state, a measurement to its result."""

from __future__ import annotations

import datetime
import functools
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy
import torch

import entrain
from entrain.data import Dataset
from entrain.experiments import Lab, Measurement, Values
from entrain.learning import (
    Classroom,
    DirectStage,
    Stage,
    StudentStage,
    TeacherStage,
    TrainingState,
    pack_state,
    perform,
    unpack_state,
)

OnEpoch = Callable[[TrainingState], None]


class Bench:
    """Datasets and a device, on which work is done; keeps the last dataset at hand."""

    def __init__(self, dataset: Callable[[str], Dataset], device: torch.device) -> None:
        self.device = device
        self._dataset = functools.cache(dataset)
        self._room: Classroom | None = None

    def train(
        self,
        stage: Stage,
        needs: Mapping[str, TrainingState],
        saved: TrainingState | None = None,
        seconds: float = 0.0,
        on_epoch: OnEpoch | None = None,
    ) -> bytes:
        """The packed state of `stage`; `saved` and its `seconds` are where it was interrupted."""
        if self._room is None or self._room.data.name != stage.dataset:
            self._room = None  # one dataset at a time on the device
            self._room = Classroom(self._dataset(stage.dataset), self.device)
        began = time.monotonic()
        state = perform(stage, self._room, needs, saved=saved, on_epoch=on_epoch)
        # The selected epoch is what others use, without what only an optimiser needs.
        state.current = {}
        state.best = {name: tensor for name, tensor in state.best.items() if "." not in name}
        took = seconds + time.monotonic() - began
        return pack_state(state, {"finished": True, "seconds": took} | provenance(self.device))

    def measure(
        self,
        work: Measurement,
        needs: Mapping[str, TrainingState],
        seconds: Mapping[str, float],
        on_progress: Callable[[float], None] | None = None,
    ) -> Values:
        """The result of a measurement; `seconds` is what each stage it uses took."""
        began = time.monotonic()
        lab = Lab(work.setting, needs, self._dataset, self.device, on_progress)
        values = work.experiment.measure(lab)
        return {
            "experiment": work.experiment.name,
            "title": work.experiment.title,
            "source": work.experiment.source,
            "key": work.key,
            "setting": asdict(work.setting),
            "values": values,
            "stages": [
                {"title": stage.title, "seed": stage.seed, "key": stage.key}
                | {"seconds": seconds.get(stage.key), "spec": spec_of(stage)}
                for stage in with_needs(work.needs)
            ],
            "seconds": time.monotonic() - began,
            "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            **provenance(self.device),
        }


def spec_of(stage: Stage) -> Values:
    """What decides a stage; the stages it starts from by their keys."""
    found = {field.name: getattr(stage, field.name) for field in fields(stage)}
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: object) -> Any:
    if isinstance(value, TeacherStage | StudentStage | DirectStage):
        return value.key
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def with_needs(stages: tuple[Stage, ...]) -> list[Stage]:
    """These stages and all they start from, each once, what is needed first."""
    ordered: dict[str, Stage] = {}
    for stage in stages:
        for need in with_needs(stage.needs):
            ordered.setdefault(need.key, need)
        ordered.setdefault(stage.key, stage)
    return list(ordered.values())


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
