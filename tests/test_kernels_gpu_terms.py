"""Registered terms, schedules and recorded times in the CUDA kernels; see test_kernels_gpu.py."""

from __future__ import annotations

import dataclasses
from types import ModuleType

import pytest
import torch

import model_facts as facts
from cuda_emulation import DEVICE, emulation
from entrain.kernels import gpu, gpu_steps
from entrain.kernels.components import Components
from entrain.kernels.cuda_program import Program
from entrain.physics.terms import LOCAL

SMALL = (2, 3, 7, 6)
PAIRS = [("lag",), ("harmonic",), ("edge_lag",), ("lag", "edge_lag"), ("harmonic", "edge_lag")]
HELD = (1, 3, 67, 4)  # two matrices in registers
NOT_HELD = (1, 2, 170, 4)


@pytest.fixture(autouse=True, scope="module")
def _device(tmp_path_factory):
    with emulation(tmp_path_factory.mktemp("emulated")):
        yield


@pytest.mark.parametrize("term", LOCAL)
def test_every_local_term(term: str) -> None:
    facts.check_model(gpu, DEVICE, facts.model_of(SMALL, [term]), SMALL[-1])


@pytest.mark.parametrize("terms", PAIRS, ids="+".join)
@pytest.mark.parametrize("shape", [SMALL, HELD, NOT_HELD], ids=["small", "held", "not held"])
def test_terms_of_the_coupling_function(shape: facts.Shape, terms: tuple[str, ...]) -> None:
    facts.check_model(gpu, DEVICE, facts.model_of(shape, terms), shape[-1])


@pytest.mark.parametrize("record", [0, 3])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
@pytest.mark.parametrize("shared", [False, True], ids=["of samples", "shared"])
def test_all_terms_at_once(shared: bool, noisy: bool, record: int) -> None:
    model = facts.model_of(SMALL, facts.EVERY_TERM, shared=shared, start=True)
    noise = facts.some_noise(SMALL) if noisy else None
    facts.check_model(gpu, DEVICE, model, SMALL[-1], noise=noise, record=record)


@pytest.mark.parametrize("record", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
def test_every_nth_step_is_recorded(record: int, noisy: bool) -> None:
    noise = facts.varied_noise(SMALL) if noisy else None
    facts.check_model(gpu, DEVICE, facts.model_of(SMALL), SMALL[-1], noise=noise, record=record)


@pytest.mark.parametrize("backend", [gpu, gpu_steps], ids=["block", "steps"])
def test_noise_with_replicates_of_every_sample(backend: ModuleType) -> None:
    replicates = torch.tensor([[0, 3, 4], [7, 2, 1]])
    noise = dataclasses.replace(facts.some_noise(SMALL), replicates=replicates)
    facts.check_model(backend, DEVICE, facts.model_of(SMALL), SMALL[-1], noise=noise)


@pytest.mark.parametrize("name", ["fields", "couplings", "frequencies", "injection"])
def test_a_factor_in_time(name: str) -> None:
    model = facts.model_of(SMALL, ["frequencies", "injection"])
    facts.check_model(gpu, DEVICE, facts.varied(model, SMALL[-1], [name]), SMALL[-1])


@pytest.mark.parametrize(("hold", "first"), [(1, 0), (2, 0), (4, 0), (4, 3), (2, 5), (9, 0)])
def test_a_drive_in_segments(hold: int, first: int) -> None:
    model = facts.varied(facts.model_of(SMALL), SMALL[-1], hold=hold, first=first)
    facts.check_model(gpu, DEVICE, model, SMALL[-1])


@pytest.mark.parametrize("shape", [SMALL, HELD, NOT_HELD], ids=["small", "held", "not held"])
@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
def test_everything_varies(shape: facts.Shape, noisy: bool) -> None:
    names = facts.EVERY_TERM if shape == SMALL else ("injection", "lag", "edge_lag")
    model = facts.model_of(shape, names, shared=True, start=True)
    model = facts.varied(model, shape[-1], facts.all_names(model), hold=2, first=1)
    noise = facts.varied_noise(shape) if noisy else None
    facts.check_model(gpu, DEVICE, model, shape[-1], noise=noise, record=2)


@pytest.mark.parametrize("terms", [(), ("lag", "harmonic"), ("edge_lag",)], ids="+".join)
def test_small_sparse_graphs(terms: tuple[str, ...]) -> None:
    facts.check_model(gpu, DEVICE, facts.model_of(SMALL, terms, degree=3.0), SMALL[-1])


def test_a_constant_schedule_gives_the_bits_of_none() -> None:
    model = facts.single(facts.model_of(SMALL, ["injection"]), DEVICE)
    constant = facts.varied(model, SMALL[-1], facts.all_names(model))
    ones = dict.fromkeys(constant.schedule.factors, torch.ones(SMALL[-1], device=DEVICE))
    constant = dataclasses.replace(constant, schedule=facts.Schedule(ones))
    found = gpu.rollout(constant, facts.Dynamics(steps=SMALL[-1]))
    assert torch.equal(found, gpu.rollout(model, facts.Dynamics(steps=SMALL[-1])))


def test_absent_terms_are_not_compiled() -> None:
    plain = facts.model_of(SMALL)
    program = Program.of(plain, Components(plain))
    assert program.is_plain
    assert "if (term ==" not in program.source()
    assert all(
        value == 0 for name, value in program.macros if name not in ("COMPONENTS", "MATRICES")
    )
    lagged = facts.model_of(SMALL, ["lag"])
    assert dict(Program.of(lagged, Components(lagged)).macros)["FACTORED"] == 1
