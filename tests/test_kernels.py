"""The choice of a kernel, checkpointing, cut batches, and the exact solver as a stage."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import entrain
from entrain import kernels
from entrain.kernels import memory, reference
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.rules import PAPER_PROTOCOLS, TwoStage
from entrain.rules.exact_path import solve_path
from entrain.rules.training_data import teacher_targets
from entrain.training import Recipe, run_pipeline
from networks import TERMS, random_model, random_tensor


def test_float64_and_reference_mode_select_the_reference() -> None:
    double = random_model(1, 2, 5, TERMS)
    single = double.map(Tensor.float)
    assert kernels.select_backend(double) is reference
    with kernels.use("reference"):
        assert kernels.select_backend(single) is reference
    assert kernels.select_backend(single).__name__ == "entrain.kernels.cpu"
    with pytest.raises(entrain.InputError, match="auto, reference"), kernels.use("fast"):
        pass
    assert kernels.select_backend(single).__name__ == "entrain.kernels.cpu"


@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("steps", [1, 2, 30, 50, 100])
def test_segments_give_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, steps: int, noisy: bool
) -> None:
    model, dynamics = random_model(2, 3, 8, TERMS), Dynamics(steps=steps)
    noise = Noise(1, 0.1, torch.arange(2), torch.arange(3)) if noisy else None
    phases, pullback = reference.rollout_with_pullback(model, dynamics, noise=noise)
    gradient = random_tensor(*phases.shape, seed=1)
    wanted = pullback(gradient).tensors()
    monkeypatch.setattr(reference, "STORED_BYTES", 100)
    assert steps <= 2 or reference.segment_length(model.fields, steps) < steps
    again, pullback = kernels.rollout_with_pullback(model, dynamics, noise=noise)
    assert torch.equal(again, phases)
    for name, found in pullback(gradient).tensors().items():
        assert torch.equal(found, wanted[name])


@pytest.mark.parametrize("record", [False, True], ids=["end", "record"])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("shared", [False, True], ids=["each", "shared"])
@pytest.mark.parametrize("rows", [1, 5, 8])
def test_pieces_of_a_batch_give_the_same_gradients(
    monkeypatch: pytest.MonkeyPatch, rows: int, shared: bool, noisy: bool, record: bool
) -> None:
    # Small enough for increments below 1/2: a larger one has its neighbours in the tile turned
    # by other roundings.
    model = random_model(2, 19, 7, TERMS, shared=shared, size=0.5).map(Tensor.float)
    dynamics = Dynamics(1.3, 0.5, 12)
    noise = Noise(1, 0.02, torch.arange(3), torch.arange(19)) if noisy else None
    cpu = pytest.importorskip("entrain.kernels.cpu")
    whole, pullback = kernels.rollout_with_pullback(model, dynamics, noise=noise, record=record)
    gradient = random_tensor(*whole.shape, seed=1).float()
    wanted = pullback(gradient).tensors()

    taken = []
    rollout_with_pullback = cpu.rollout_with_pullback

    def counted(piece: PhaseModel, *rest, **options):
        taken.append(piece.fields.shape[1])
        return rollout_with_pullback(piece, *rest, **options)

    def refused(*_, **__):
        raise AssertionError("the reference was asked")

    monkeypatch.setattr(cpu, "rollout_with_pullback", counted)
    monkeypatch.setattr(reference, "rollout_with_pullback", refused)
    copies = 2 * (3 if noisy else 1)
    monkeypatch.setattr(cpu, "PARALLEL_SAMPLES", 1)
    monkeypatch.setattr(memory, "TAPE_BYTES", rows * copies * cpu.tape_bytes(model, 12))
    found, pullback = kernels.rollout_with_pullback(model, dynamics, noise=noise, record=record)
    assert torch.equal(found, whole)
    for name, tensor in pullback(gradient).tensors().items():
        assert tensor.shape == wanted[name].shape
        assert float((tensor - wanted[name]).norm() / wanted[name].norm()) < 1e-6, name
    assert sum(taken) == 19
    assert max(taken) == rows


def test_segments_of_a_long_rollout_of_a_large_network_fit_in_memory() -> None:
    """1,000 oscillators, 10,000 steps, 256 samples: kept states and a segment, far below 4 GiB."""
    phases, steps = torch.zeros(1, 256, 1000), 10_000
    length = reference.segment_length(phases, steps)
    kept = (-(-steps // length) + length + 1) * phases.numel() * phases.element_size()
    assert length < steps
    assert kept < 0.25 * 2**30


def test_exact_solver_is_the_default_and_has_a_lower_loss_than_sgd() -> None:
    data = entrain.load_dataset("digits")
    recipe = Recipe.for_dataset("digits", ["PATH"]).adjusted(
        teacher={"widths": (6, 4), "epochs": 30, "initialisations": 1}
    )
    assert recipe.protocols[0].solver == "exact"
    by_sgd = Recipe.for_dataset("digits", ["PATH"], path_solver="sgd", teacher=recipe.teacher)
    by_sgd = by_sgd.adjusted(path={"epochs": 15, "learning_rate": 20_000.0})
    cpu = torch.device("cpu")
    solved = run_pipeline(recipe, data, device=cpu)
    exact, sgd = solved.states["PATH"], run_pipeline(by_sgd, data, device=cpu).states["PATH"]
    lowest = min(losses[0] for losses in sgd.history["path_loss"])
    assert exact.history["path_loss"][0][0] < lowest
    inputs = data.preprocessing(data.train.features, unseen=False)
    targets = teacher_targets(solved.teacher, inputs, torch.from_numpy(data.train.labels))
    minimum = solve_path(targets, recipe.spec.dynamics)
    for name, tensor in exact.best.items():
        assert torch.equal(tensor, minimum[name])


def test_only_path_can_be_solved_exactly() -> None:
    with pytest.raises(entrain.InputError, match="only PATH"):
        TwoStage("Z-END", "zero", 1.0, 1.0, 30.0, 20, solver="exact")
    assert PAPER_PROTOCOLS["PATH"].solver == "sgd"  # the paper's
    with pytest.raises(entrain.InputError, match="ridge belongs to the exact solver"):
        Recipe.for_dataset("digits", path_solver="sgd").adjusted(path={"ridge": 1e-4})


def test_a_ridge_reaches_the_exact_solver() -> None:
    data, cpu = entrain.load_dataset("digits"), torch.device("cpu")
    recipe = Recipe.for_dataset("digits", ["PATH"]).adjusted(
        teacher={"widths": (6, 4), "epochs": 10, "initialisations": 1}
    )
    plain, ridged = (
        run_pipeline(r, data, device=cpu).states["PATH"].best["input_weights"].norm()
        for r in (recipe, recipe.adjusted(path={"ridge": 0.1}))
    )
    assert ridged < plain


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("couplings", (1, 7, 7)),
        ("couplings", (2, 6, 6)),
        ("frequencies", (1, 1, 7)),
        ("frequencies", (7,)),
        ("injection", (2, 4, 1)),
        ("start", (1, 4, 7)),
        ("lag", (1,)),
    ],
)
def test_tensors_of_wrong_shapes_are_refused(name: str, shape: tuple[int, ...]) -> None:
    model = random_model(2, 4, 7, TERMS).map(Tensor.float)
    with pytest.raises(entrain.InputError, match=f"{name} must be "):
        kernels.rollout(replace(model, **{name: torch.zeros(shape)}), Dynamics(steps=3))
    with pytest.raises(entrain.InputError, match="one dtype and device"):
        kernels.rollout(replace(model, lag=model.lag.double()), Dynamics(steps=3))
