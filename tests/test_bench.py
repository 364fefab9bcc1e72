"""The comparison is fair: right results or no speed, and every contestant is named."""

from __future__ import annotations

import json

import pytest
import torch

from entrain import InputError
from entrain.bench import Work, compare, growth
from entrain.bench.contestants import CONTESTANTS, IDENTITY, OURS, REFERENCE, Contestant

SMALL = Work(batch=4, oscillators=14, steps=15)


def wrong(work: Work):
    train, infer = IDENTITY.prepare(work)

    def biased():
        loss, by_fields, by_couplings = train()
        return loss, by_fields * 1.01, by_couplings

    return biased, infer


def broken(work: Work):
    raise RuntimeError("no such solver")


def test_right_results_get_a_speed_and_others_only_a_name() -> None:
    contestants = (
        OURS,
        REFERENCE,
        IDENTITY,
        Contestant("wrong", wrong),
        Contestant("broken", broken),
        Contestant("absent", wrong, ("no_such_module",)),
    )
    result = compare(SMALL, inferences=6, rounds=2, contestants=contestants, memory=False)
    rows = result["contestants"]
    assert json.loads(json.dumps(result)) == result
    for name in (OURS.name, REFERENCE.name, IDENTITY.name):
        assert rows[name]["status"] == "ok"
        assert rows[name]["error"] < 1e-4
        assert rows[name]["step_ms"] > 0
        assert rows[name]["inference_ms"] > 0
    assert rows[OURS.name]["step_ratio"] == 1.0
    assert rows["wrong"] == rows["wrong"] | {"status": "differs from the reference"}
    assert rows["broken"]["status"].startswith("failed: RuntimeError: no such solver")
    assert rows["absent"]["status"] == "not installed: no_such_module"
    for name in ("wrong", "broken", "absent"):
        assert "step_ms" not in rows[name]


@pytest.mark.parametrize("contestant", CONTESTANTS, ids=lambda c: c.name)
def test_every_installed_contestant_does_the_same_work(contestant: Contestant) -> None:
    missing = contestant.missing()
    if missing is not None:
        pytest.skip(f"{contestant.name} needs {missing}")
    if contestant.name == "torch.compile":
        pytest.skip("compiles for a minute; `entrain bench` checks its results")
    train, infer = contestant.prepare(SMALL)
    outputs, *_ = SMALL.exact()
    assert torch.allclose(infer().double(), outputs, atol=1e-5)
    tolerance = 1e-4 if "adjoint" not in contestant.name else float("inf")  # it differs, by design
    assert SMALL.error(train()) < tolerance


def test_a_contestant_can_be_left_out_by_name() -> None:
    result = compare(
        SMALL, inferences=2, rounds=1, contestants=(OURS, IDENTITY), without=[IDENTITY.name]
    )
    assert result["contestants"][IDENTITY.name]["status"] == "left out, as asked"
    assert result["contestants"][OURS.name]["memory_mb"] is not None
    with pytest.raises(InputError, match="did you mean"):
        compare(SMALL, contestants=(OURS,), without=["entrain kernel"])


def test_growth_fits_the_exponent_of_each_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    module = __import__("entrain.bench.growth", fromlist=["SIZES"])
    monkeypatch.setattr(module, "SIZES", {"steps": (10, 20, 40, 80)})
    monkeypatch.setattr(
        module,
        "interleaved",
        lambda calls, work, rounds, say: dict.fromkeys(calls, 3.0 * work.steps**1.5),
    )
    found = growth(SMALL, contestants=(REFERENCE,))
    assert found["steps"]["exponent"][REFERENCE.name] == pytest.approx(1.5)
