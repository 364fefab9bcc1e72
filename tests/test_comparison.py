"""Verdicts by rule, and the paper's own numbers as a result."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path

import pytest

from entrain.experiments import EXPERIMENTS, PAPER, Measurement
from entrain.experiments.comparison import Cell, Comparison, Row, accuracy, error
from entrain.experiments.published import CITATIONS, published
from entrain.figures import FIGURES
from entrain.report import document
from unmeasured import UNMEASURED

RESULTS = Path(__file__).parents[1] / "results"
MEASURED = {name: each for name, each in EXPERIMENTS.items() if name not in UNMEASURED}


def table(*cells: Cell, signed: bool = False) -> Comparison:
    rows = tuple(Row((str(i),), (cell,), "g") for i, cell in enumerate(cells))
    return Comparison(("row",), ("value",), rows, signed=signed)


def verdicts(*cells: Cell, signed: bool = False) -> list[str]:
    return list(table(*cells, signed=signed).verdicts())


def test_within_two_deviations_or_the_tolerance_is_reproduced() -> None:
    assert verdicts(Cell(10.0, 10.4, paper_sd=0.2)) == ["reproduced"]
    assert verdicts(Cell(10.0, 10.5, paper_sd=0.2)) == ["differs"]
    assert verdicts(Cell(10.0, 10.5, 0.5, paper_sd=0.2)) == ["reproduced"]
    assert verdicts(Cell(10.0, None)) == ["differs"]
    assert verdicts(Cell(10.0, float("nan"), 99.0)) == ["differs"]
    assert verdicts(Cell(None, 10.0)) == []
    assert verdicts(accuracy("MNIST", 90.0, 91.0)) == ["reproduced"]
    assert verdicts(accuracy("MNIST", 90.0, 91.1)) == ["differs"]
    assert verdicts(accuracy("Fashion-MNIST", 90.0, 91.1)) == ["reproduced"]
    assert verdicts(error(0.1, 0.114)) == ["reproduced"]
    assert verdicts(error(0.1, 0.116)) == ["differs"]


def test_the_order_of_rows_decides_what_is_only_qualitative() -> None:
    low, high = Cell(10.0, 14.0, 1.0), Cell(20.0, 20.5, 1.0)
    assert verdicts(low, high) == ["qualitatively", "reproduced"]
    assert verdicts(Cell(10.0, 21.0, 1.0), high) == ["differs", "reproduced"]
    as_one = Cell(10.5, 9.0, 1.0)  # the paper has it within the tolerance of `low`
    assert verdicts(low, as_one, high) == ["qualitatively", "qualitatively", "reproduced"]
    assert verdicts(low) == ["differs"]  # nothing to stand beside


def test_an_effect_needs_its_sign() -> None:
    assert verdicts(Cell(5.0, 9.0, 1.0), signed=True) == ["qualitatively"]
    assert verdicts(Cell(5.0, -9.0, 1.0), signed=True) == ["differs"]


@pytest.mark.parametrize("name", sorted(n for n, e in EXPERIMENTS.items() if e.compare))
def test_our_results_compare(name: str) -> None:
    result = json.loads((RESULTS / f"{name}.json").read_text())
    compare = EXPERIMENTS[name].compare
    assert compare is not None
    comparison = compare(result["values"])
    assert comparison.rows or comparison.claims
    for row in comparison.rows:
        assert len(row.labels) == len(comparison.labels)
        assert len(row.cells) == len(comparison.columns)
    before = copy.deepcopy(published())
    compare(result["values"])
    assert published() == before


def test_the_papers_numbers_as_a_result_are_all_reproduced() -> None:
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
            "runs": [{"top1": row["top1_mean"], "epoch": 300}] * 10,
        }
        for row in published()["multiseed"]["rows"]
    ]
    compare = EXPERIMENTS["multiseed"].compare
    assert compare is not None
    result = {"epochs": {"stage1": 300, "stage2": 300}, "rows": rows}
    comparison = compare(result)
    assert Counter(comparison.verdicts()) == {"reproduced": 24}
    assert all(claim.holds for claim in comparison.claims)
    rows[0]["runs"] = [{"top1": 99.0, "epoch": 300}] * 10
    assert not all(claim.holds for claim in compare(result).claims)
    rows[0]["runs"] = [{"top1": rows[0]["mean"]["top1"], "epoch": 299}] * 10
    (broken,) = (claim for claim in compare(result).claims if not claim.holds)
    assert "selected at its last epoch" in broken.text


def test_the_results_here_are_of_the_experiments_as_they_are() -> None:
    for name, experiment in MEASURED.items():
        result = json.loads((RESULTS / f"{name}.json").read_text())
        assert result["key"] == Measurement(experiment, PAPER).key, name
        assert result["setting"]["name"] == "paper"
        assert result["device"]
        assert result["versions"]["torch"]
        assert all(stage["seconds"] > 0 for stage in result["stages"])


def test_the_report_here_is_made_from_the_results_here() -> None:
    results = {n: json.loads((RESULTS / f"{n}.json").read_text()) for n in MEASURED}
    drawn = [name for name, each in FIGURES.items() if set(each.needs) <= results.keys()]
    text = document(results, drawn)
    assert text == (RESULTS / "REPRODUCTION.md").read_text(), "run `entrain report results`"
    for name in drawn:
        assert (RESULTS / "figures" / f"{name}.png").stat().st_size > 5_000
        assert f"figures/{name}.png" in text
    size = sum(p.stat().st_size for p in RESULTS.rglob("*") if "stages" not in p.parts)
    assert size < 10_000_000


def test_every_cited_row_has_its_source() -> None:
    for name in ("cross_platform_resources", "cross_platform_training", "broader_context"):
        cited = [r["citation"] for r in published()[name]["rows"] if r["system"] != "This work"]
        assert cited
        assert set(cited) <= set(CITATIONS)
