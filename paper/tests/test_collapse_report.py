"""A reproduction reports the stages whose training collapsed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import entrain
from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.training import Stage
from entrain_paper.cli.progress import ReproductionProgress
from entrain_paper.experiments import TINY
from entrain_paper.reproduction import Queue, ResultsFolder
from entrain_paper.reproduction.executors import LocalExecutor
from test_collapse import RISING


def test_a_reproduction_names_the_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {name.removeprefix("DIRECT."): value for name, value in RISING.items()}
    rule = Direct(epochs=20, batch_size=32, gain=6.0, **fields)
    stage = Stage(rule, "digits", NetworkSpec(hidden=16), runs=(4,))
    queue = Queue(ResultsFolder(tmp_path), [], TINY)
    queue.all[stage.key] = stage
    with ReproductionProgress(queue) as progress:
        LocalExecutor(entrain.load_dataset, torch.device("cpu")).run(queue, progress)
    said = " ".join(capsys.readouterr().err.split())
    assert f"{stage.title}: run 4 collapsed and ends far below its best" in said
