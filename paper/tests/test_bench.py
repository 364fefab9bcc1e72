"""The comparison is fair: a backend has times only if its results are right."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
import torch

from entrain import InputError
from entrain_paper.bench import Problem, compare, growth
from entrain_paper.bench.backends import BACKENDS, IDENTITY, OURS, REFERENCE, Backend
from entrain_paper.bench.problem import LARGEST_ERROR

SMALL = Problem(batch=4, oscillators=14, steps=15)
ADJOINT = next(backend for backend in BACKENDS if "adjoint" in backend.name)


def wrong(problem: Problem):
    train, infer = IDENTITY.prepare(problem)

    def biased():
        loss, by_fields, by_couplings = train()
        return loss, by_fields * 1.01, by_couplings

    return biased, infer


def broken(problem: Problem):
    raise RuntimeError("no such solver")


def test_only_backends_with_right_results_have_times() -> None:
    backends = (
        OURS,
        REFERENCE,
        IDENTITY,
        Backend("wrong", wrong),
        Backend("broken", broken),
        Backend("absent", wrong, ("no_such_module",)),
    )
    result = compare(SMALL, inferences=6, rounds=2, backends=backends, memory=False)
    rows = result["backends"]
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


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
def test_every_installed_backend_gives_the_reference_results(backend: Backend) -> None:
    missing = backend.missing()
    if missing is not None:
        pytest.skip(f"{backend.name} needs {missing}")
    if backend.name == "torch.compile":
        pytest.skip("compiles for a minute; `entrain bench` checks its results")
    train, infer = backend.prepare(SMALL)
    outputs, *_ = SMALL.exact()
    assert torch.allclose(infer().double(), outputs, atol=1e-5)
    if backend is ADJOINT:  # the error of its gradient is tested below
        assert float(train()[0].detach()) == pytest.approx(float(SMALL.exact()[1]), rel=1e-5)
    else:
        assert SMALL.error(train()) < 1e-4


def test_the_adjoint_gradient_has_an_error_of_first_order_in_the_step() -> None:
    if (missing := ADJOINT.missing()) is not None:
        pytest.skip(f"{ADJOINT.name} needs {missing}")
    few = replace(SMALL, oscillators=3)  # with more, its backward path differs
    problems = [replace(few, steps=steps) for steps in (100, 200, 400)]
    errors = [problem.error(ADJOINT.prepare(problem)[0]()) for problem in problems]
    assert LARGEST_ERROR < errors[-1] < 0.02  # so that no time is reported
    for coarse, fine in itertools.pairwise(errors):
        assert coarse / fine == pytest.approx(2.0, rel=0.1)


def test_rates_are_shares_of_pytorchs_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of 12 N^2 B K operations in the time of a product has their ratio as its share."""
    module = __import__("entrain_paper.bench.compare", fromlist=["interleaved"])
    monkeypatch.setattr(module, "interleaved", lambda calls, *_: dict.fromkeys(calls, 2.0))
    result = compare(SMALL, inferences=2, rounds=1, backends=(OURS,), memory=False)
    row, sample = result["backends"][OURS.name], SMALL.steps * SMALL.oscillators**2
    assert row["step_share"] == pytest.approx(12 * SMALL.batch * sample / (2 * 1024**3))
    assert row["inference_share"] == pytest.approx(4 * 2 * sample / (2 * 1024**3))
    assert result["sgemm_gflops"] == pytest.approx(2 * 1024**3 / 2e-3 / 1e9)


def test_a_backend_can_be_left_out_by_name() -> None:
    result = compare(
        SMALL, inferences=2, rounds=1, backends=(OURS, IDENTITY), without=[IDENTITY.name]
    )
    assert result["backends"][IDENTITY.name]["status"] == "left out by --without"
    assert result["backends"][OURS.name]["memory_mb"] is not None
    with pytest.raises(InputError, match="did you mean"):
        compare(SMALL, backends=(OURS,), without=["entrain kernel"])


def test_growth_fits_the_exponent_of_each_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    module = __import__("entrain_paper.bench.growth", fromlist=["SIZES"])
    monkeypatch.setattr(module, "SIZES", {"steps": (10, 20, 40, 80)})
    monkeypatch.setattr(
        module,
        "interleaved",
        lambda calls, problem, rounds, report: dict.fromkeys(calls, 3.0 * problem.steps**1.5),
    )
    measured = growth(SMALL, backends=(REFERENCE,))
    assert measured["steps"]["exponent"][REFERENCE.name] == pytest.approx(1.5)
