"""Verdicts on numbers, and the report."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from entrain_paper.experiments import EXPERIMENTS, PAPER, Measurement
from entrain_paper.experiments.comparison import Cell, Claim, Comparison, Constant, Row, Scale
from entrain_paper.experiments.paper_numbers import CITATIONS, paper_numbers
from entrain_paper.experiments.teacher_spread import network_source, spread, width_name
from entrain_paper.figures import FIGURES
from entrain_paper.report import document

RESULTS = Path(__file__).parents[2] / "results"


BY = ("MNIST", "PATH", "top1")


def test_two_sds_of_the_paper_take_precedence_over_other_scales() -> None:
    spread = {BY: Scale((9.0, 10.0, 11.0))}
    far = 10.0 + spread[BY].prediction_margin
    assert Cell(10.0, 10.4, BY, 0.2).verdict(spread) == "within orders"
    assert Cell(10.0, 10.5, BY, 0.2).verdict(spread) == "within teachers"
    assert Cell(far - 0.1, 10.0, BY, 0.2).verdict(spread) == "within teachers"
    assert Cell(far + 0.1, 10.0, BY, 0.2).verdict(spread) == "differs"
    assert Cell(10.0, 8.9, None, 0.2).verdict(spread) == "differs"
    assert Cell(10.0, 10.0, None).verdict(spread) == "no scale"
    assert Cell(10.0, 10.0, ("MNIST", "PATH", "top2")).verdict(spread) == "no scale"
    assert Cell(10.0, None, BY).verdict(spread) == "differs"
    assert Cell(10.0, float("nan"), BY, 99.0).verdict(spread) == "differs"
    assert Cell(None, 10.0, BY).verdict(spread) is None


def test_paper_number_is_judged_by_our_draws_not_by_our_main_number() -> None:
    spread = {BY: Scale((9.0, 10.0, 11.0))}
    assert Cell(10.0, 99.0, BY).verdict(spread) == "within teachers"
    orders = {BY: Scale((9.0, 10.0, 11.0), "orders")}
    assert Cell(10.0, 99.0, BY).verdict(orders) == "within orders"


def test_borrowed_scale_judges_the_difference() -> None:
    spread = {BY: Scale((9.0, 10.0, 11.0))}
    near = spread[BY].difference_margin - 0.1
    assert Cell(50.0, 50.0 + near, BY, borrowed=True).verdict(spread) == "borrowed scale"
    assert Cell(50.0, 50.2 + near, BY, borrowed=True).verdict(spread) == "differs"
    assert Cell(10.0, 10.1, BY, 0.2, borrowed=True).verdict(spread) == "within orders"


def test_numbers_of_other_networks_have_a_borrowed_scale() -> None:
    for name, labels in (
        ("widths", ("16", "32", "128")),
        ("architectures", ("S64", "T40_08_16")),
        ("ablation", ("PRETRAIN-END-ONLY", "TWO-STAGE-END")),
    ):
        compare = EXPERIMENTS[name].compare
        assert compare is not None
        rows = compare(json.loads((RESULTS / f"{name}.json").read_text())["values"]).rows
        cells = [
            cell
            for row in rows
            if set(labels) & set(row.labels)
            for cell in row.cells
            if not isinstance(cell, Constant)
        ]
        assert cells
        assert all(cell.borrowed for cell in cells), name


def test_scale_of_the_same_network_takes_precedence_over_a_borrowed_one() -> None:
    mine = network_source(*BY, "S64")
    cell = Cell(80.0, 81.0, BY, borrowed=True, own_source=mine)
    near, far = Scale((79.0, 80.0, 81.0)), Scale((89.0, 90.0, 91.0))
    assert cell.verdict({BY: near}) == "borrowed scale"
    assert cell.verdict({BY: far, mine: near}) == "within teachers"
    assert cell.verdict({BY: near, mine: far}) == "differs"


def test_scales_of_other_networks_use_the_papers_selection_rule_and_epochs() -> None:
    def trained(top: float) -> Any:
        runs = [{"top1": top + 0.1 * teacher} for teacher in range(3)]
        teachers = [{"test_top1": top + 2.0}] * 3
        return {"path": {"runs": runs}, "two_stage_end": {"runs": runs}, "teachers": teachers}

    kinds = (("top1", 20, 86.0), ("top1", 40, 87.0), ("cross-entropy", 20, 88.0))
    widths = [
        {"dataset": "MNIST", "H": 128, "rule": rule, "epochs": epochs} | trained(top)
        for rule, epochs, top in kinds
    ]
    architectures = [{"dataset": "Fashion-MNIST", "identifier": "S64"} | trained(80.0)]
    values = {"widths": widths, "architectures": architectures}
    found = spread({"more-teachers": {"values": values}})
    assert found[network_source(*BY, width_name(128))].draws == pytest.approx((86.0, 86.1, 86.2))
    assert found[network_source("Fashion-MNIST", "PATH", "top1", "S64")].draws[0] == 80.0
    assert BY not in found


def test_a_setting_is_equal_or_differs() -> None:
    assert Constant(64, 64).verdict({}) == "setting"
    assert Constant(64, 65).verdict({BY: Scale((0.0, 100.0))}) == "differs"
    assert Constant(0.131, 0.1307, rounding=0.0005).verdict({}) == "setting"


def test_repeated_numbers_and_claims_are_not_counted() -> None:
    cells = (Cell(1.0, 1.0, paper_sd=0.1), Cell(1.0, 1.0, paper_sd=0.1, repeated=True))
    claims = (Claim("first", True, ""), Claim("follows", True, "", repeated=True))
    comparison = Comparison(("row",), ("a", "b"), (Row(("x",), cells),), claims)
    assert comparison.counts({}) == {"within orders": 1}
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


def test_scales_follow_from_the_runs_of_teacher_seeds() -> None:
    runs = [{"top1": 90.0 + each, "epoch": 3} for each in (0.0, 1.0, 2.0)]
    twice = [{"top1": 95.0 + 2 * each, "epoch": 3} for each in (0.0, 1.0, 2.0)]
    teachers = [{"test_top1": 96.0, "seed": each} for each in range(3)]
    row = {
        "dataset": "MNIST",
        "teachers": teachers,
        "path": {"runs": runs},
        "two_stage_end": {"runs": twice},
    }
    found = spread({"teacher-seeds": {"values": {"rows": [row]}}})
    assert set(found) == {
        ("MNIST", "teacher", "test_top1"),
        ("MNIST", "PATH", "top1"),
        ("MNIST", "TWO-STAGE-END", "top1"),
        ("MNIST", "TWO-STAGE-END - PATH", "top1"),
    }
    assert found["MNIST", "teacher", "test_top1"].difference_margin == 0.0
    path, end = (found["MNIST", method, "top1"] for method in ("PATH", "TWO-STAGE-END"))
    assert end.difference_margin == pytest.approx(2 * path.difference_margin)
    assert path.difference_margin == pytest.approx(4.3027 * 2**0.5, rel=1e-4)
    assert path.prediction_margin == pytest.approx(4.3027 * (4 / 3) ** 0.5, rel=1e-4)


def test_branches_without_teachers_are_judged_by_training_orders() -> None:
    runs = [{"top1": 80.0 + each} for each in range(20)]
    rows = [
        {"dataset": "Fashion-MNIST", "what": what, "runs": runs} for what in ("Z-END", "weight 10")
    ]
    found = spread({"single-runs": {"values": {"rows": rows}}})
    assert set(found) == {("Fashion-MNIST", "Z-END", "top1")}
    assert found["Fashion-MNIST", "Z-END", "top1"].over == "orders"


@pytest.mark.parametrize("name", sorted(n for n, e in EXPERIMENTS.items() if e.compare))
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
    assert comparison.counts({}) == {"within orders": 24}
    assert all(claim.holds for claim in comparison.claims)
    rows[0]["runs"] = [{"top1": 99.0, "epoch": 300}] * 10
    assert not all(claim.holds for claim in compare(result).claims)
    rows[0]["runs"] = [{"top1": rows[0]["mean"]["top1"], "epoch": 299}] * 10
    (broken,) = (claim for claim in compare(result).claims if not claim.holds)
    assert "selected at its last epoch" in broken.text


def test_committed_results_have_the_keys_of_the_experiments() -> None:
    for name, experiment in EXPERIMENTS.items():
        result = json.loads((RESULTS / f"{name}.json").read_text())
        assert result["key"] == Measurement(experiment, PAPER).key, name
        assert result["setting"]["name"] == "paper"
        assert result["device"]
        assert result["versions"]["torch"]
        assert all(stage["seconds"] > 0 for stage in result["stages"])


def test_shared_training_has_one_device() -> None:
    places: dict[tuple[str, float], set[str]] = {}
    for name in EXPERIMENTS:
        result = json.loads((RESULTS / f"{name}.json").read_text())
        for stage in result["stages"]:
            by = places.setdefault((stage["key"], stage["seconds"]), set())
            by.add(stage.get("device", result["device"]))
    assert {which: by for which, by in places.items() if len(by) > 1} == {}


def test_committed_report_is_generated_from_the_committed_results() -> None:
    results = {n: json.loads((RESULTS / f"{n}.json").read_text()) for n in EXPERIMENTS}
    drawn = [name for name, each in FIGURES.items() if set(each.needs) <= results.keys()]
    text = document(results, drawn)
    assert text == (RESULTS / "REPRODUCTION.md").read_text(), "run `entrain report results`"
    for name in drawn:
        assert (RESULTS / "figures" / f"{name}.png").stat().st_size > 5_000
        assert f"figures/{name}.png" in text
    size = sum(p.stat().st_size for p in RESULTS.rglob("*") if "stages" not in p.parts)
    assert size < 12_000_000


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
    ) in document(results, [])
    alone = made_on("teachers", "NVIDIA H200", OLD, [fast])
    assert "1 measurements took 3.0 minutes on NVIDIA H200; times on" in document(alone, [])


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
    ) in document(results, [])


def test_every_cited_row_has_a_source() -> None:
    for name in ("cross_platform_resources", "cross_platform_training", "broader_context"):
        cited = [r["citation"] for r in paper_numbers()[name]["rows"] if r["system"] != "This work"]
        assert cited
        assert set(cited) <= set(CITATIONS)
