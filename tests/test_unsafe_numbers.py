"""Networks refuse half precision, warn of unstable steps, run after a fork and can be exported."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import entrain
from command_line import cli
from entrain.data import load_own
from entrain.models.network import KuramotoNetwork
from entrain.models.pretrained import shipped
from entrain.tasks import Classification
from entrain.utils.errors import InputError

HALF = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", HALF)
def test_half_precision_is_refused(dtype: torch.dtype) -> None:
    network, inputs = KuramotoNetwork(8, 6, 3), torch.randn(4, 8)
    with pytest.raises(InputError, match="convert one"):
        network(inputs.to(dtype))
    for call in (network.to(dtype), network.to(dtype).simulate, network.to(dtype).fields):
        with pytest.raises(InputError, match="expected float32 or float64"):
            call(inputs.to(dtype))


@pytest.mark.parametrize("name", sorted(shipped()))
def test_an_unstable_step_is_warned_of(name: str) -> None:
    model = entrain.load(name)
    inputs = model.inputs(entrain.load_test_split(model.dataset).features[:50])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stable = model.network(inputs), model.network(inputs * (1 + 1e-6))
    assert (stable[0] - stable[1]).abs().max() < 1e-3
    for function in (model.network, model.network.simulate):
        with pytest.warns(RuntimeWarning, match="surely stable"):
            function(1000 * inputs)
    with pytest.warns(RuntimeWarning, match="steps"):
        unstable = model.network(1000 * inputs), model.network(1000 * inputs * (1 + 1e-6))
    assert (unstable[0] - unstable[1]).abs().max() > 0.01


def test_a_strong_injection_is_warned_of() -> None:
    network = KuramotoNetwork(8, 6, 3, injection=torch.full((9,), 1e6))
    with pytest.warns(RuntimeWarning, match="surely stable"):
        network(torch.randn(4, 8))


def test_as_many_steps_as_the_warning_names_are_stable() -> None:
    network, inputs = KuramotoNetwork(8, 6, 3, injection=torch.full((9,), 1e4)), torch.randn(4, 8)
    with pytest.warns(RuntimeWarning) as caught:
        network(inputs)
    steps = int(str(caught[0].message).split("at least ")[1].split()[0].replace(",", ""))
    finer = KuramotoNetwork(8, 6, 3, injection=torch.full((9,), 1e4), steps=steps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finer(inputs)


FORKED = """
import os, sys, numpy as np, torch, entrain
model = entrain.load("mnist-74")
pixels = np.repeat(entrain.load_test_split("mnist").features[:8], 200, 0)
torch.set_num_threads(4)
before = model.predict(pixels)
child = os.fork()
if child == 0:
    os._exit(0 if (model.predict(pixels) == before).all() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_predicts_the_same() -> None:
    assert "fork" in multiprocessing.get_all_start_methods()
    assert cli(program=("-c", FORKED), timeout=400).returncode == 0


@pytest.mark.skipif(
    not hasattr(torch.compiler, "is_exporting"), reason="torch.export needs PyTorch 2.7"
)
@pytest.mark.parametrize("strict", [False, True])
def test_torch_export_computes_what_the_network_computes(strict: bool) -> None:
    network = KuramotoNetwork(8, 6, 3, steps=20)
    batch = {0: torch.export.Dim("batch")}
    example = (torch.randn(4, 8),)
    program = torch.export.export(network, example, dynamic_shapes=(batch,), strict=strict)
    inputs = torch.randn(9, 8)
    torch.testing.assert_close(program.module()(inputs), network(inputs), rtol=1e-5, atol=1e-5)


def test_states_of_earlier_versions_are_loaded() -> None:
    one, two = KuramotoNetwork(8, 6, 3, seed=1), KuramotoNetwork(8, 6, 3, seed=2)
    state = one.state_dict()
    state["graph"] = state.pop("coupler_mask")
    two.load_state_dict(state)
    assert torch.equal(one.input_weights, two.input_weights)


@pytest.mark.parametrize("other", ["a", "a ", " a"])
def test_class_names_differ_by_more_than_blanks(other: str) -> None:
    names = ("a", other, *"bcdefghi")
    with pytest.raises(InputError, match="'a' more than once"):
        replace(entrain.load("mnist-74"), task=Classification(names))


def test_class_folders_differ_by_more_than_blanks(tmp_path: Path) -> None:
    draws = np.random.default_rng(0)
    for name in ("a", "a ", "b"):
        (tmp_path / name).mkdir()
        for i in range(5):
            pixels = draws.integers(0, 256, (28, 28)).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{i}.png")
    with pytest.raises(InputError, match="two class folders are called 'a', apart from blanks"):
        load_own(tmp_path)
