"""CUDA kernels of sparse and of large networks, one launch per step; see test_kernels_gpu.py."""

from __future__ import annotations

from unittest import mock

import pytest
import torch

import model_facts as facts
from cuda_emulation import DEVICE, emulation
from entrain.kernels import components, gpu, gpu_steps, memory, reference
from entrain.physics import Dynamics, PhaseModel

SMALL = (2, 3, 7, 6)
PAIRS = [("lag",), ("harmonic",), ("edge_lag",), ("lag", "edge_lag"), ("harmonic", "edge_lag")]
KINDS = pytest.mark.parametrize("degree", [None, 3.0], ids=["dense", "sparse"])


@pytest.fixture(autouse=True, scope="module")
def _device(tmp_path_factory):
    with (
        emulation(tmp_path_factory.mktemp("emulated")),
        mock.patch.object(components, "_DENSITY", 2.0),  # the small graphs of these tests are dense
    ):
        yield


@KINDS
@pytest.mark.parametrize("shape", [(1, 1, 2, 1), (1, 1, 9, 3), (2, 35, 11, 5), (1, 70, 6, 3)])
def test_rollout_and_every_gradient(shape: facts.Shape, degree: float | None) -> None:
    degree = degree and min(degree, shape[2] - 1)
    facts.check_model(gpu_steps, DEVICE, facts.model_of(shape, degree=degree), shape[-1])


@KINDS
@pytest.mark.parametrize("terms", PAIRS, ids="+".join)
def test_terms_of_the_coupling_function(terms: tuple[str, ...], degree: float | None) -> None:
    facts.check_model(gpu_steps, DEVICE, facts.model_of(SMALL, terms, degree=degree), SMALL[-1])


@KINDS
@pytest.mark.parametrize("record", [0, 1, 3])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("shared", [False, True], ids=["of samples", "shared"])
def test_everything_varies(shared: bool, noisy: bool, record: int, degree: float | None) -> None:
    model = facts.model_of(SMALL, facts.EVERY_TERM, degree=degree, shared=shared, start=True)
    model = facts.varied(model, SMALL[-1], facts.all_names(model), hold=2, first=3)
    noise = facts.varied_noise(SMALL) if noisy else None
    facts.check_model(gpu_steps, DEVICE, model, SMALL[-1], noise=noise, record=record)


@KINDS
@pytest.mark.parametrize("name", ["fields", "couplings", "injection"])
def test_a_factor_in_time(name: str, degree: float | None) -> None:
    model = facts.model_of(SMALL, ["injection"], degree=degree)
    facts.check_model(gpu_steps, DEVICE, facts.varied(model, SMALL[-1], [name]), SMALL[-1])


@KINDS
def test_gradients_by_matrices_are_summed_in_blocks_of_steps(
    monkeypatch: pytest.MonkeyPatch, degree: float | None
) -> None:
    from entrain.kernels import dense_products

    monkeypatch.setattr(dense_products, "_LENGTH", 13)  # two steps of three samples
    model = facts.model_of(SMALL, ["harmonic"], degree=degree)
    facts.check_model(gpu_steps, DEVICE, facts.varied(model, 5, ["couplings"]), 5)


@KINDS
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
def test_segments_of_the_steps_give_the_same_gradients(
    monkeypatch: pytest.MonkeyPatch, noisy: bool, degree: float | None
) -> None:
    model = facts.model_of(SMALL, ["injection", "lag"], degree=degree)
    model = facts.varied(model, 6, ["couplings", "injection"], hold=4, first=1)
    noise, dynamics = facts.varied_noise(SMALL) if noisy else None, Dynamics(1.1, 0.2, 6)
    single = facts.single(model, DEVICE)
    needed = gpu_steps.tape_bytes(single, 6) * 2 * 3 * (3 if noisy else 1)
    monkeypatch.setattr(memory, "TAPE_BYTES", needed // 3)
    forcing = facts.on(noise, DEVICE)
    phases, pullback = memory.rollout_with_pullback(gpu_steps, single, dynamics, forcing, 2)
    exact, exact_pullback = reference.rollout_with_pullback(model, dynamics, noise=noise, record=2)
    assert facts.relative_error(phases, exact, angles=noisy) < 1e-5
    gradient = facts.random_tensor(*exact.shape, seed=7)
    errors = facts.gradient_errors(pullback(gradient.float().to(DEVICE)), exact_pullback(gradient))
    facts.within(errors, facts.GRADIENT_TOLERANCE)


def test_products_with_a_matrix_on_a_dense_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "_DENSITY", 0.0)
    model = facts.model_of(SMALL, ["harmonic", "edge_lag"], degree=3.0)
    facts.check_model(gpu_steps, DEVICE, model, SMALL[-1])


def test_oscillators_of_more_neighbours_than_lanes() -> None:
    model = facts.model_of((2, 3, 45, 2), degree=40.0)
    facts.check_model(gpu_steps, DEVICE, model, 2)


def test_networks_that_fit_into_a_block_take_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    def fits(oscillators: int, degree: float | None) -> bool:
        return gpu.supports(facts.model_of((1, 1, oscillators, 1), degree=degree))

    monkeypatch.setattr(components, "_DENSITY", 1 / 16)
    assert fits(1024, None)
    assert not fits(1025, None)
    assert fits(512, 4.0)
    assert not fits(513, 4.0)
    assert fits(513, 100.0)


def test_much_work_takes_a_launch_per_step() -> None:
    def is_one_launch(oscillators: int, batch: int) -> bool:
        fields = torch.zeros(1, batch, oscillators)
        return gpu.is_fastest(PhaseModel(fields, torch.zeros(1, oscillators, oscillators)))

    assert is_one_launch(1000, 256)
    assert not is_one_launch(1000, 1056)
    assert not is_one_launch(512, 4224)
    assert is_one_launch(256, 100_000)
    assert not is_one_launch(1025, 1)


def test_starts_are_not_changed() -> None:
    model = facts.single(facts.model_of((1, 1, 6, 4), degree=2.0, start=True), DEVICE)
    before = model.start.clone()
    gpu_steps.rollout(model, Dynamics(steps=4))
    assert bool((model.start == before).all())
