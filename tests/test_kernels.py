"""The choice of a kernel, checkpointing, and the exact solver as a stage."""

from __future__ import annotations

import pytest
import torch

import entrain
from entrain import kernels
from entrain.kernels import reference
from entrain.learning import PROTOCOLS, Protocol, Recipe, carry_out, teach
from entrain.learning.exact_path import solve_path
from entrain.physics import Dynamics
from networks import random_couplings, random_tensor


def test_float64_and_the_word_reference_are_answered_by_the_reference() -> None:
    single = torch.zeros(1, 2, 5)
    assert kernels.answering(single.double()) is reference
    with kernels.use("reference"):
        assert kernels.answering(single) is reference
    assert kernels.answering(single).__name__ == "entrain.kernels.cpu"
    with pytest.raises(entrain.InputError, match="auto, reference"), kernels.use("fast"):
        pass
    assert kernels.answering(single).__name__ == "entrain.kernels.cpu"


@pytest.mark.parametrize("steps", [1, 2, 30, 50, 100])
def test_checkpointing_changes_nothing(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    fields, couplings = random_tensor(2, 3, 8), random_couplings(2, 5, 3)
    gradient, dynamics = random_tensor(2, 3, 8, seed=1), Dynamics(steps=steps)
    phases, pullback = reference.rollout_with_pullback(fields, couplings, dynamics)
    wanted = pullback(gradient)
    monkeypatch.setattr(reference, "KEPT_BYTES", 100)
    assert steps <= 2 or reference.segment_length(fields, steps) < steps
    again, pullback = kernels.rollout_with_pullback(fields, couplings, dynamics)
    assert torch.equal(again, phases)
    for ours, theirs in zip(pullback(gradient), wanted, strict=True):
        assert torch.equal(ours, theirs)


def test_segments_of_a_long_rollout_of_a_large_network_fit_in_memory() -> None:
    """1,000 oscillators, 10,000 steps, 256 samples: kept states and a segment, far below 4 GiB."""
    fields, steps = torch.zeros(1, 256, 1000), 10_000
    length = reference.segment_length(fields, steps)
    kept = (-(-steps // length) + length + 1) * fields.numel() * fields.element_size()
    assert not reference.fits_in_memory(fields, steps)
    assert kept < 0.25 * 2**30


def test_exact_is_the_default_stage_one_and_no_sgd_epoch_is_better() -> None:
    data = entrain.load_dataset("digits")
    recipe = Recipe.for_dataset("digits", ["PATH"]).adjusted(
        teacher={"widths": (6, 4), "epochs": 30, "initialisations": 1}
    )
    assert recipe.protocols[0].solver == "exact"
    by_sgd = Recipe.for_dataset("digits", ["PATH"], path_solver="sgd", teacher=recipe.teacher)
    by_sgd = by_sgd.adjusted(path={"epochs": 15, "learning_rate": 20_000.0})
    cpu = torch.device("cpu")
    solved = carry_out(recipe, data, device=cpu)
    exact, sgd = solved.states["PATH"], carry_out(by_sgd, data, device=cpu).states["PATH"]
    lowest = min(losses[0] for losses in sgd.history["path_loss"])
    assert exact.history["path_loss"][0][0] < lowest
    inputs = data.preprocessing(data.train.pixels, unseen=False)
    lessons = teach(solved.teacher, inputs, torch.from_numpy(data.train.labels))
    minimum = solve_path(lessons, recipe.dynamics)
    for name, tensor in exact.best.items():
        assert torch.equal(tensor, minimum[name])


def test_only_path_can_be_solved_exactly() -> None:
    with pytest.raises(entrain.InputError, match="only PATH"):
        Protocol("Z-END", "zero", 1.0, 1.0, 30.0, 20, solver="exact")
    assert PROTOCOLS["PATH"].solver == "sgd"  # the paper's
    with pytest.raises(entrain.InputError, match="ridge belongs to the exact solver"):
        Recipe.for_dataset("digits", path_solver="sgd").adjusted(path={"ridge": 1e-4})


def test_a_ridge_reaches_the_exact_solver() -> None:
    data, cpu = entrain.load_dataset("digits"), torch.device("cpu")
    recipe = Recipe.for_dataset("digits", ["PATH"]).adjusted(
        teacher={"widths": (6, 4), "epochs": 10, "initialisations": 1}
    )
    plain, ridged = (
        carry_out(r, data, device=cpu).states["PATH"].best["input_weights"].norm()
        for r in (recipe, recipe.adjusted(path={"ridge": 0.1}))
    )
    assert ridged < plain
