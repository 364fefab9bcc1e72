"""Rollouts cut by samples or by time to fit in memory have the results of whole ones."""

from __future__ import annotations

import pytest
import torch

import kernel_facts as facts
from conditions import in_all_conditions
from entrain import kernels
from entrain.kernels import memory
from entrain.physics import Dynamics, PhaseModel
from entrain.physics.terms import TERMS

cpu = pytest.importorskip("entrain.kernels.cpu")

SHAPE = (2, 19, 7, 12)
REPLICATES = 3


def cut_by_samples(monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    """Five samples at a time."""
    model = facts.example(SHAPE)
    monkeypatch.setattr(cpu, "PARALLEL_SAMPLES", 1)
    monkeypatch.setattr(memory, "TAPE_BYTES", 5 * copies * cpu.tape_bytes(model, SHAPE[-1]))


def cut_by_time(monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    """Five steps at a time, or as many as make whole recorded ones."""
    tape = copies * SHAPE[1] * cpu.tape_bytes(facts.example(SHAPE), SHAPE[-1])
    monkeypatch.setattr(memory, "TAPE_BYTES", tape * 5 // SHAPE[-1] + 100)


@pytest.mark.parametrize("cut", [cut_by_samples, cut_by_time])
@in_all_conditions
@pytest.mark.parametrize("terms", [(), (*TERMS, "start")], ids=["none", "all"])
def test_a_cut_rollout_has_the_phases_and_gradients_of_a_whole_one(
    monkeypatch: pytest.MonkeyPatch, terms, condition, cut
) -> None:
    options = dict(condition)
    noisy, record = options.pop("noisy", False), options.pop("record", 0)
    model = facts.example(SHAPE, terms, scale=0.5, **options).map(torch.Tensor.float)
    dynamics = Dynamics(1.1, 0.2, SHAPE[-1])
    noise = facts.some_noise(SHAPE, 0.02, scheduled="scheduled" in options) if noisy else None
    settings = {"noise": noise, "record": record}
    whole, pullback = kernels.rollout_with_pullback(model, dynamics, **settings)
    gradient = facts.random_tensor(*whole.shape, seed=1).float()
    wanted = pullback(gradient).tensors()
    sizes = set[tuple[int, int]]()
    rollout_with_pullback = cpu.rollout_with_pullback

    def counted(piece: PhaseModel, part: Dynamics, **rest):
        sizes.add((piece.fields.shape[1], part.steps))
        return rollout_with_pullback(piece, part, **rest)

    monkeypatch.setattr(cpu, "rollout_with_pullback", counted)
    cut(monkeypatch, SHAPE[0] * (REPLICATES if noisy else 1))
    found, pullback = kernels.rollout_with_pullback(model, dynamics, **settings)
    assert facts.relative_error(found, whole.double(), angles=noisy) < 1e-5
    gradients = pullback(gradient).tensors()
    assert gradients.keys() == wanted.keys()
    for name, tensor in gradients.items():
        assert facts.relative_error(tensor, wanted[name].double()) < 3e-5, name
    assert sizes == ({(5, 12), (4, 12)} if cut is cut_by_samples else steps_of(record))


def steps_of(record: int) -> set[tuple[int, int]]:
    if record == 2:
        return {(19, 4)}
    return {(19, 5), (19, 2)}
