"""Verdicts on numbers, and the report."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from committed import MEASURED, RESULTS, all_committed, whole_report
from entrain_paper.experiments import EXPERIMENTS, PAPER, Measurement
from entrain_paper.experiments.comparison import (
    Cell,
    Claim,
    Comparison,
    Constant,
    Row,
    Scale,
    Spread,
)
from entrain_paper.experiments.paper_numbers import CITATIONS, paper_numbers
from entrain_paper.experiments.teacher_spread import spread
from entrain_paper.figures import FIGURES
from entrain_paper.report import DEVIATIONS, documents
from entrain_paper.reproduction import ResultsFolder

BY = ("MNIST", "PATH", "top1")


def test_first_rule_that_applies_decides() -> None:
    teachers = Scale((9.0, 10.0, 11.0))
    spread = Spread(teachers={BY: teachers})
    far = 10.0 + teachers.prediction_margin
    assert Cell(10.0, 10.4, BY, 0.2).verdict(spread) == "within the paper's orders"
    assert Cell(10.0, 10.5, BY, 0.2).verdict(spread) == "within our teachers"
    assert Cell(far - 0.1, 10.0, BY, 0.2).verdict(spread) == "within our teachers"
    assert Cell(far + 0.1, 10.0, BY, 0.2).verdict(spread) == "differs"
    assert Cell(10.0, 8.9, None, 0.2).verdict(spread) == "no own scale"
    assert Cell(10.0, 10.0, None).verdict(spread) == "no own scale"
    assert Cell(10.0, 10.0, ("MNIST", "PATH", "top2")).verdict(spread) == "no own scale"
    assert Cell(10.0, None, BY).verdict(spread) == "differs"
    assert Cell(10.0, float("nan"), BY, 99.0).verdict(spread) == "differs"
    assert Cell(None, 10.0, BY).verdict(spread) is None


def test_paper_number_is_judged_by_our_draws_not_by_our_main_number() -> None:
    draws = (9.0, 10.0, 11.0)
    assert Cell(10.0, 99.0, BY).verdict(Spread({BY: Scale(draws)})) == "within our teachers"
    orders = Spread(orders={BY: Scale(draws, "orders")})
    assert Cell(10.0, 99.0, BY).verdict(orders) == "within our orders"


def test_position_is_one_where_the_verdict_changes() -> None:
    teachers = Scale((9.0, 10.0, 11.0))
    spread = Spread({BY: teachers})
    edge = teachers.mean + teachers.prediction_margin
    assert Cell(edge, 0.0, BY).position(spread) == pytest.approx(-1.0)
    assert Cell(10.0, 10.4, BY, 0.2).position(spread) == pytest.approx(1.0)
    orders = Spread(orders={BY: Scale((1.0, 2.0, 5.0), "orders")})
    assert Cell(1.0, 0.0, BY).position(orders) == pytest.approx(1.0)
    assert Cell(3.0, 0.0, BY).position(orders) == pytest.approx(0.0)
    assert Constant(64, 64).position(spread) is None
    assert Cell(1.0, 1.0).position(spread) is None


def test_a_setting_is_equal_or_differs() -> None:
    assert Constant(64, 64).verdict(Spread()) == "setting"
    assert Constant(64, 65).verdict(Spread({BY: Scale((0.0, 100.0))})) == "differs"
    assert Constant(0.131, 0.1307, rounding=0.0005).verdict(Spread()) == "setting"


def test_repeated_numbers_and_claims_are_not_counted() -> None:
    cells = (Cell(1.0, 1.0, paper_sd=0.1), Cell(1.0, 1.0, paper_sd=0.1, repeated=True))
    claims = (Claim("first", True, ""), Claim("follows", True, "", follows="first"))
    comparison = Comparison(("row",), ("a", "b"), (Row(("x",), cells),), claims)
    assert comparison.counts(Spread()) == {"within the paper's orders": 1}
    assert comparison.repeats == 1
    assert (comparison.supported, len(comparison.counted)) == (1, 1)


def test_margins_cover_95_percent_of_draws() -> None:
    """t s sqrt(2) of n draws covers the difference of two more, t s sqrt(1 + 1/n) around the mean
    a further draw."""
    generator = np.random.default_rng(0)
    inside = further = 0
    for _ in range(4000):
        drawn = 5.0 + 3.0 * generator.standard_normal(7)
        scale = Scale(tuple(drawn[2:]))
        inside += abs(drawn[0] - drawn[1]) <= scale.difference_margin
        further += abs(drawn[0] - scale.mean) <= scale.prediction_margin
    assert 0.94 < inside / 4000 < 0.96
    assert 0.94 < further / 4000 < 0.96


def test_scales_follow_from_the_students_of_the_selected_teachers() -> None:
    rows = [
        {
            "dataset": "MNIST",
            "rule": rule,
            "teacher": {"test_top1": 96.0, "seed": seed},
            "PATH": {"top1": 90.0 + step * seed, "epoch": 3},
            "TWO-STAGE-END": {"top1": 95.0 + 2 * step * seed, "epoch": 3},
        }
        for rule, step in (("top1", 1.0), ("cross-entropy", 9.0))
        for seed in range(3)
    ]
    scales = spread({"teacher-sweep": {"values": {"rows": rows}}})
    assert set(scales.teachers) == {
        ("MNIST", "teacher", "test_top1"),
        ("MNIST", "PATH", "top1"),
        ("MNIST", "TWO-STAGE-END", "top1"),
        ("MNIST", "TWO-STAGE-END - PATH", "top1"),
    }
    assert scales.teachers["MNIST", "teacher", "test_top1"].difference_margin == 0.0
    path, end = (scales.teachers["MNIST", method, "top1"] for method in ("PATH", "TWO-STAGE-END"))
    assert end.difference_margin == pytest.approx(2 * path.difference_margin)
    assert path.difference_margin == pytest.approx(4.3027 * 2**0.5, rel=1e-4)
    assert path.prediction_margin == pytest.approx(4.3027 * (4 / 3) ** 0.5, rel=1e-4)


@pytest.mark.parametrize("name", sorted(n for n in MEASURED if EXPERIMENTS[n].compare))
def test_committed_results_can_be_compared(name: str) -> None:
    result = json.loads((RESULTS / f"{name}.json").read_text())
    compare = EXPERIMENTS[name].compare
    assert compare is not None
    comparison = compare(result["values"])
    assert comparison.rows or comparison.claims
    for row in comparison.rows:
        assert len(row.labels) == len(comparison.labels)
        assert len(row.cells) == len(comparison.columns)
    before = copy.deepcopy(paper_numbers())
    compare(result["values"])
    assert paper_numbers() == before


def test_paper_numbers_as_results_are_within_two_sds() -> None:
    rows = [
        {
            "dataset": row["dataset"],
            "method": row["method"],
            "mean": {
                "top1": row["top1_mean"],
                "top2": row["top2_mean"],
                "agreement": row["agreement_mean"],
                "endpoint_rmse": row["rmse_mean"],
            },
            "sd": dict.fromkeys(("top1", "top2", "agreement", "endpoint_rmse"), 0.0),
            "runs": [{"top1": row["top1_mean"], "epoch": 300 if "PATH" in row["method"] else 17}]
            * 10,
        }
        for row in paper_numbers()["multiseed"]["rows"]
    ]
    compare = EXPERIMENTS["multiseed"].compare
    assert compare is not None
    result = {"epochs": {"stage1": 300, "stage2": 300}, "rows": rows}
    comparison = compare(result)
    assert comparison.counts(Spread())["within the paper's orders"] == 24
    assert all(claim.holds for claim in comparison.claims)
    rows[0]["runs"] = [{"top1": 99.0, "epoch": 300}] * 10
    assert not all(claim.holds for claim in compare(result).claims)
    rows[0]["runs"] = [{"top1": rows[0]["mean"]["top1"], "epoch": 299}] * 10
    (broken,) = (claim for claim in compare(result).claims if not claim.holds)
    assert "selected at its last epoch" in broken.text


def test_committed_results_have_the_keys_of_the_experiments() -> None:
    for name, result in all_committed().items():
        assert result["key"] == Measurement(EXPERIMENTS[name], PAPER).key, name
        assert result["setting"]["name"] == "paper"
        assert result["device"]
        assert result["versions"]["torch"]
        assert all(stage["seconds"] > 0 for stage in result["stages"])


def test_shared_training_has_one_device() -> None:
    places: dict[tuple[str, float], set[str]] = {}
    for result in all_committed().values():
        for stage in result["stages"]:
            by = places.setdefault((stage["key"], stage["seconds"]), set())
            by.add(stage.get("device", result["device"]))
    assert {which: by for which, by in places.items() if len(by) > 1} == {}


def test_committed_report_is_generated_from_the_committed_results() -> None:
    results = all_committed()
    drawn = [name for name, each in FIGURES.items() if set(each.needs) <= results.keys()]
    pages = documents(results, [*drawn, DEVIATIONS], ResultsFolder(RESULTS).protocol())
    for path, text in pages.items():
        assert text == (RESULTS / path).read_text(), f"{path}: run `entrain report results`"
    written = {f"reproduction/{path.name}" for path in (RESULTS / "reproduction").iterdir()}
    assert written == pages.keys() - {"REPRODUCTION.md"}
    for name in (*drawn, DEVIATIONS):
        assert (RESULTS / "figures" / f"{name}.png").stat().st_size > 5_000
        assert any(f"figures/{name}.png" in text for text in pages.values())
    size = sum(p.stat().st_size for p in RESULTS.rglob("*") if "stages" not in p.parts)
    assert size < 12_000_000


def test_first_page_can_be_read_in_a_minute() -> None:
    page = documents(all_committed(), [])["REPRODUCTION.md"]
    prose = [s for s in page.partition("## Pages")[0].splitlines() if not s.startswith("|")]
    assert len(" ".join(prose).split()) < 700
    order = [page.index(s) for s in ("What the paper claims", "Test accuracy", "What fails")]
    assert order == sorted(order)


OLD = {"entrain": "0.1.0", "torch": "2.0"}
NEW = {"entrain": "0.2.0", "torch": "2.0"}
CPU = {"entrain": "0.1.0", "torch": "2.0+cpu"}


def made_on(name: str, device: str, versions: dict[str, str], stages: Any = ()) -> dict[str, Any]:
    """The result of an experiment here, as if measured in two minutes with these stages."""
    result = json.loads((RESULTS / f"{name}.json").read_text())
    made = {"device": device, "versions": versions, "seconds": 120.0, "stages": stages}
    return {name: result | made}


def test_report_sums_the_minutes_of_each_device() -> None:
    slow = {"key": "slow", "seconds": 3600.0, "device": "x86_64, 2 cores", "versions": CPU}
    fast = {"key": "fast", "seconds": 60.0}  # where and by what its result says
    results = (
        made_on("teachers", "NVIDIA H200", OLD, [fast, slow])
        | made_on("preprocessing", "NVIDIA H200", OLD, [slow])  # the same training
        | made_on("configuration", "x86_64, 2 cores", CPU)
    )
    assert (
        "2 training stages and 3 measurements took 62.0 minutes on x86_64 (2 cores) and "
        "5.0 minutes on NVIDIA H200; times on a shared device count in full. "
    ) in whole_report(results, [])
    alone = made_on("teachers", "NVIDIA H200", OLD, [fast])
    assert "1 measurements took 3.0 minutes on NVIDIA H200; times on" in whole_report(alone, [])


def test_report_lists_exceptional_versions_once() -> None:
    newer = {"key": "newer", "seconds": 60.0, "device": "NVIDIA H200", "versions": NEW}
    slow = {"key": "slow", "seconds": 60.0, "device": "x86_64, 2 cores", "versions": CPU}
    same = {"key": "same", "seconds": 60.0, "device": "NVIDIA H200", "versions": OLD}
    results = (
        made_on("preprocessing", "NVIDIA H200", OLD, [newer, newer | {"key": "other"}, slow])
        | made_on("teachers", "NVIDIA H200", NEW, [same])
        | made_on("configuration", "NVIDIA H200", NEW)
        | made_on("multiseed", "NVIDIA H200", OLD)
        | made_on("paired-effects", "NVIDIA H200", OLD)
    )
    assert (
        "Versions: entrain 0.1.0, torch 2.0; teachers, configuration and some trainings of "
        "preprocessing: entrain 0.2.0; some trainings of preprocessing: torch 2.0+cpu. Epochs"
    ) in whole_report(results, [])


def test_every_cited_row_has_a_source() -> None:
    for name in ("cross_platform_resources", "cross_platform_training", "broader_context"):
        cited = [r["citation"] for r in paper_numbers()[name]["rows"] if r["system"] != "This work"]
        assert cited
        assert set(cited) <= set(CITATIONS)
