"""The shipped networks are those of the report's main tables."""

from __future__ import annotations

import pytest

import entrain
from committed import committed
from entrain_paper.experiments.setting import BOTH, TEACHER_SEEDS
from entrain_paper.experiments.shared_stages import METHODS

NAMES = {"MNIST": "mnist-74", "Fashion-MNIST": "fashion-mnist-74"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BOTH)
def test_shipped_network_is_the_first_run_of_the_main_tables(name: str, method: str) -> None:
    rows = {(r["dataset"], r["method"]): r for r in committed("multiseed")["values"]["rows"]}
    first = rows[name, method]["runs"][0]
    model = entrain.load(NAMES[name] + ("-path" if method == "PATH" else ""))
    assert (model.details["seed"], model.details["run"]) == (dict(TEACHER_SEEDS)[name], 0)
    assert model.details["epoch"] == first["epoch"]
    for metric in ("top1", "agreement"):  # measured on a GPU, and on a CPU for the card
        assert model.details["test"][metric] == pytest.approx(first[metric], abs=0.05)
    assert model.details["test"]["endpoint_rmse"] == pytest.approx(first["endpoint_rmse"], abs=1e-4)
