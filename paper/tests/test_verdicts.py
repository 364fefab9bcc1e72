"""Rules of the verdicts: ranks over orders, signs, listed claims, and no borrowed scale."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from committed import all_committed, committed, whole_report, without_families
from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.comparison import (
    Cell,
    Claim,
    Comparison,
    Constant,
    Scale,
    Spread,
    printed,
)
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.teacher_spread import (
    GAIN,
    branch_source,
    network_source,
    spread,
    width_name,
)
from entrain_paper.report import documents, headline, judge
from entrain_paper.report.assumptions import open_points
from entrain_paper.report.judged import Judged
from entrain_paper.report.tables import TABLES

MNIST, FASHION = "MNIST", "Fashion-MNIST"


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    return all_committed()


@pytest.fixture(scope="module")
def judged(results: dict[str, dict[str, Any]]) -> Judged:
    return judge(results)


@pytest.fixture(scope="module")
def without() -> Judged:
    return judge(without_families())


def compared(name: str, values: Any = None) -> Comparison:
    compare = EXPERIMENTS[name].compare
    assert compare is not None
    return compare(committed(name)["values"] if values is None else values)


def cell(comparison: Comparison, *labels: str, column: str) -> Cell:
    (row,) = (row for row in comparison.rows if row.labels[: len(labels)] == labels)
    return row.cells[comparison.columns.index(column)]


# Ranks over training orders


def test_a_number_beyond_all_twenty_orders_differs_however_skewed_they_are() -> None:
    by = (FASHION, "Z-END", "top1")
    skewed = Scale((70.0, 75.0, *(85.0 + 0.01 * order for order in range(18))), "orders")
    spread = Spread(orders={by: skewed})
    beyond = Cell(85.3, 84.0, by)
    assert abs(85.3 - skewed.mean) < skewed.prediction_margin  # a Gaussian interval passes it
    assert beyond.verdict(spread) == "differs"
    assert Cell(85.1, 84.0, by).verdict(spread) == "within our orders"
    assert Cell(70.0, 84.0, by).verdict(spread) == "within our orders"


def test_few_orders_can_agree_with_a_number_but_not_refute_it() -> None:
    by = (FASHION, "Z-END", "top1")
    spread = Spread(orders={by: Scale((1.0, 2.0, 3.0, 4.0, 5.0), "orders")})
    assert Cell(4.5, 1.0, by).verdict(spread) == "within our orders"
    assert Cell(5.5, 1.0, by).verdict(spread) == "no own scale"


def test_branches_from_zero_are_judged_by_twenty_orders_on_both_datasets(without: Judged) -> None:
    ablation, orders = without.comparisons["ablation"], without.spread.orders
    verdicts = {
        (row.labels[0], row.labels[1], column): (cell, cell.verdict(without.spread))
        for row in ablation.rows
        for column, cell in zip(ablation.columns, row.cells, strict=True)
        if row.labels[1] in ("Z-END", "ZERO-END-ONLY")
    }
    assert len(verdicts) == 2 * 2 * 3
    for cell, verdict in verdicts.values():
        assert cell.source is not None
        draws = orders[cell.source].draws
        assert len(draws) == 20
        assert cell.paper is not None
        inside = min(draws) <= cell.paper <= max(draws)
        assert verdict == ("within our orders" if inside else "differs")
    assert verdicts[FASHION, "Z-END", "top-1 %"][1] == "differs"  # 86.11; ours reach 85.73
    assert verdicts[FASHION, "Z-END", "agreement %"][1] == "differs"  # 93.10; ours reach 92.74


def test_teachers_of_runs_that_rounding_decides_are_ranked_like_their_orders() -> None:
    runs = [{"top1": top, "endpoint_rmse": 0.1} for top in (78.0, 84.0, 84.5, 85.0, 85.5)]
    steady, unsteady = "PRETRAIN-END-ONLY", "Z-END"
    rows = [
        {"dataset": FASHION, "network": "rate 30", "method": method, "runs": runs}
        for method in (steady, unsteady)
    ]
    scales = spread(
        {
            "single-runs": committed("single-runs"),
            "teachers-of-branches": {"values": {"rows": rows}},
        }
    )
    by = {method: branch_source(FASHION, method, "top1") for method in (steady, unsteady)}
    assert scales.teachers[by[steady]].covers(86.11)
    assert not scales.teachers[by[unsteady]].covers(86.11)
    assert Cell(86.11, 84.42, by[unsteady]).verdict(scales) == "differs"
    assert Cell(85.50, 84.42, by[unsteady]).verdict(scales) != "differs"


def test_numbers_within_two_deviations_of_the_paper_are_counted_one_by_one(judged: Judged) -> None:
    close = sum(
        cell.paper_sd is not None
        and cell.difference is not None
        and abs(cell.difference) <= 2 * cell.paper_sd + 1e-9
        for comparison in judged.comparisons.values()
        for cell in comparison.cells()
        if not cell.repeated
    )
    assert judged.total()["within the paper's orders"] == close
    assert f"{close} lie within two of the paper's standard deviations" in headline(judged)


# The sign of the reduction of the RMSE


def test_reductions_of_the_rmse_are_positive_and_agree_with_the_paper(judged: Judged) -> None:
    effects = judged.comparisons["paired-effects"]
    reductions = [
        row
        for row in effects.rows
        if row.labels[2] == "RMSE reduction" and row.labels[1].startswith("TWO-STAGE-END")
    ]
    assert len(reductions) == 4
    for row in reductions:
        (number,) = row.cells
        name = row.labels[0]
        assert judged.spread.teachers[name, GAIN, "rmse_reduction"].mean > 0.1
        if row.labels[1] == GAIN:
            assert number.verdict(judged.spread) == "within our teachers"
        position = number.position(judged.spread)
        assert position is not None
        assert abs(position) < 1


def test_a_flipped_sign_of_an_effect_differs(judged: Judged) -> None:
    by = (MNIST, GAIN, "rmse_reduction")
    assert Cell(0.237, 0.289, by).verdict(judged.spread) == "within our teachers"
    assert Cell(-0.237, 0.289, by).verdict(judged.spread) == "differs"


# Claims


def test_a_failing_claim_that_follows_from_another_is_marked_and_listed(
    results: dict[str, dict[str, Any]], judged: Judged
) -> None:
    text = "Fashion-MNIST: PATH does not improve with every width"
    (claim,) = (c for c in judged.comparisons["widths"].claims if c.text == text)
    assert not claim.holds
    assert not claim.counted
    assert claim.text in {c.text for _, c in judged.failing(additional=False)}
    pages = documents(results, [])
    assert f"**{text}** (not counted" in pages["REPRODUCTION.md"]
    (line,) = (s for s in pages["reproduction/widths.md"].splitlines() if f"✗ {text}" in s)
    assert "not counted: follows from" in line


def test_every_failing_sentence_is_on_the_first_page(
    results: dict[str, dict[str, Any]], judged: Judged
) -> None:
    page = documents(results, [])["REPRODUCTION.md"]
    failing = judged.failing(additional=False) + judged.failing(additional=True)
    assert failing
    for _, claim in failing:
        assert claim.text[1:] in page


def test_failing_sentences_about_widths_and_weights_have_reasons(
    results: dict[str, dict[str, Any]], judged: Judged
) -> None:
    page = documents(results, [])["REPRODUCTION.md"]
    assert "of them are below weight 0" in page
    for name, claim in judged.failing(additional=False):
        assert claim.reason, (name, claim.text)


def test_no_claim_has_a_printed_number_as_a_bound() -> None:
    bounds = ("no more than 0.", "or more", "lie between", "never more than")
    for name, experiment in EXPERIMENTS.items():
        if experiment.compare is None or not experiment.source or name == "energy-descent":
            continue
        for claim in compared(name).claims:
            assert not any(bound in claim.text for bound in bounds), claim.text


@pytest.mark.parametrize("name", ["ablation", "endpoint-weight"])
def test_claims_at_the_auxiliary_rate_do_not_borrow_the_deviation_of_the_main_rate(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [(claim.text, claim.holds, claim.measured) for claim in compared(name).claims]
    for row in paper_numbers()["multiseed"]["rows"]:
        monkeypatch.setitem(row, "top1_sd", 0.0)
    after = [(claim.text, claim.holds, claim.measured) for claim in compared(name).claims]
    assert after == before


def test_numbers_of_the_text_are_judged_as_numbers(judged: Judged) -> None:
    labels = {row.labels[0] for c in judged.comparisons.values() for row in c.text}
    for part in (
        "first selected epoch",
        "smallest gain of top-1",
        "from the last doubling",
        "teacher minus PATH at H = 128",
        "largest change of an output",
        "ensemble from kT = 0 to 1",
        "both losses minus the endpoint loss alone",
    ):
        assert any(part in label for label in labels), part


# Borrowed scales


def test_scale_of_another_network_decides_no_verdict() -> None:
    mine, main = network_source(MNIST, "PATH", "top1", "H = 16"), (MNIST, "PATH", "top1")
    near, far = Cell(80.0, 80.1, mine, nearest=main), Cell(80.0, 99.0, mine, nearest=main)
    spread = Spread(teachers={main: Scale((79.0, 80.0, 81.0))})
    assert near.verdict(spread) == far.verdict(spread) == "no own scale"
    assert abs(far.position(spread) or 0.0) > 1 > abs(near.position(spread) or 9.0)
    own = Spread(teachers={main: Scale((79.0, 80.0, 81.0)), mine: Scale((98.0, 99.0, 99.5))})
    assert near.verdict(own) == "differs"


def test_numbers_without_teachers_of_their_own_are_not_judged(without: Judged) -> None:
    for name, labels in (("widths", ("16", "32", "128")), ("architectures", ("S64", "T40_08_16"))):
        comparison = without.comparisons[name]
        numbers = [
            number
            for row in comparison.rows
            if set(labels) & set(row.labels)
            for number in row.cells
            if not isinstance(number, Constant)
        ]
        assert numbers
        for number in numbers:
            assert number.source is not None
            assert number.source not in without.spread.teachers
            verdict = number.verdict(without.spread)
            assert verdict not in ("within our teachers", "differs")


def test_teachers_of_a_whole_family_judge_its_numbers() -> None:
    def trained(top: float) -> list[dict[str, float]]:
        return [{"top1": top + teacher, "endpoint_rmse": 0.3} for teacher in range(5)]

    row = {
        "dataset": MNIST,
        "network": width_name(16),
        "teachers": [{"test_top1": 90.0 + teacher} for teacher in range(5)],
        "path": {"runs": trained(85.0)},
        "two_stage_end": {"runs": trained(90.0)},
    }
    scale = spread({"teachers-of-widths": {"values": {"rows": [row]}}})
    numbers = compared("widths")
    assert cell(numbers, MNIST, "16", column="PATH top-1 %").verdict(Spread()) == "no own scale"
    assert cell(numbers, MNIST, "16", column="PATH top-1 %").verdict(scale) == "within our teachers"
    assert (
        cell(numbers, MNIST, "16", column="teacher top-1 %").verdict(scale) == "within our teachers"
    )
    assert cell(numbers, FASHION, "16", column="PATH top-1 %").verdict(scale) == "no own scale"


def test_weight_ten_is_judged_by_its_twenty_orders(judged: Judged) -> None:
    row = judged.comparisons["endpoint-weight"].rows[-1]
    assert row.labels == ("10",)
    assert {number.verdict(judged.spread) for number in row.cells} == {"within our orders"}
    assert {number.source and number.source[1] for number in row.cells} == {"weight 10, rate 30"}


def test_pages_print_where_a_number_has_no_scale(without: Judged) -> None:
    pages, count = documents(without_families(), []), without.total()["no own scale"]
    assert count > 100
    assert f"{count} have no scale of their own" in pages["REPRODUCTION.md"]
    here = without.counts("architectures")["no own scale"]
    assert f"{here} have no scale of their own" in pages["reproduction/architectures.md"]


# Open points, numerics, rounding, qualifiers


def test_open_points_of_the_paper_are_listed(results: dict[str, dict[str, Any]]) -> None:
    points = dict(open_points(results))
    checkpoint = points["Checkpoint of the MNIST teacher"]
    assert "By the first reading, 10 teachers have 95.75 to 96.24 % (the paper's is below" in (
        checkpoint
    )
    assert "By the second reading, 10 teachers have 95.48 to 95.95 % (the paper's is inside)" in (
        checkpoint
    )
    assert "Parametrisation of J under SGD" in points
    assert "Checkpoint of the MNIST teacher" in documents(results, [])["reproduction/method.md"]


def test_third_reading_of_the_checkpoint_has_its_numbers_among_the_open_points() -> None:
    swept = committed("teacher-sweep")
    (row, *_) = (r for r in swept["values"]["rows"] if r["dataset"] == MNIST)
    teacher = row["teacher"] | {"validation_top1": 95.6}
    path, end = row["PATH"] | {"top1": 89.2}, row["TWO-STAGE-END"] | {"top1": 96.72}
    students = {"teacher": teacher, "PATH": path, "TWO-STAGE-END": end}
    rows = [row | students | {"rule": "hybrid"}, row | {"rule": "hybrid"}]
    hybrid = {"checkpoint-rules": {"values": {"rows": rows}}}
    text = dict(open_points({"teacher-sweep": swept} | hybrid))["Checkpoint of the MNIST teacher"]
    assert "By the third reading, 2 teachers have 95.60 to" in text
    assert f"PATH has {row['PATH']['top1']:.2f} to 89.20 %" in text
    alone = dict(open_points({"teacher-sweep": swept}))["Checkpoint of the MNIST teacher"]
    assert "third reading, " not in alone


def test_one_number_is_printed_one_way_however_it_was_summed() -> None:
    assert printed(96.625, ".2f") == printed(96.62500000000001, ".2f")
    assert printed(0.1 + 0.2, ".1f") == "0.3"
    assert printed(-0.0, "+.2f") == "+0.00"


def test_mean_agreement_is_equal_in_both_tables_that_show_it(
    results: dict[str, dict[str, Any]],
) -> None:
    pages = documents(results, [])
    limits, sweep = pages["reproduction/method.md"], pages["reproduction/controls.md"]
    (line,) = (
        s for s in limits.splitlines() if s.startswith("| MNIST | TWO-STAGE-END | agreement")
    )
    (other,) = (
        s for s in sweep.splitlines() if s.startswith("| MNIST | top-1 | TWO-STAGE-END | agreement")
    )
    mean = line.split(" | ")[4]
    assert other.split(" | ")[4].startswith(f"{mean} ±")


def test_tables_of_published_networks_keep_the_papers_qualifiers() -> None:
    resources = TABLES["resources"](committed("resources")["values"])
    assert "classifier footprint NR" in resources
    assert "exact footprint NR" in resources
    protocols = TABLES["training-protocols"](committed("training-protocols")["values"])
    assert "repeated-search count NR" in protocols
    assert "optimizer details NR" in protocols
    assert "no stochastic sampling in principal training" in protocols
    broader = TABLES["broader-context"](committed("broader-context")["values"])
    for mark in "†‡¶‖#§":
        assert f"<sup>{mark}</sup>" in broader
        assert f"{mark} " in broader.rpartition("\n\n")[2]
    assert "Fashion NR" in broader


# Sentences that were not tested


def test_smallest_logical_state_is_a_claim_that_can_fail() -> None:
    values = copy.deepcopy(committed("resources")["values"])
    (claim,) = compared("resources", values).claims
    assert claim.holds
    assert "not reported: Fan" in claim.measured
    values["others"][0]["total"] = 74
    (claim,) = compared("resources", values).claims
    assert not claim.holds


def test_bootstrap_and_student_intervals_are_compared() -> None:
    values = copy.deepcopy(committed("paired-effects")["values"])

    def claim() -> Claim:
        (found,) = (c for c in compared("paired-effects", values).claims if "bootstrap" in c.text)
        return found

    assert claim().holds
    values["rows"][0]["bootstrap_interval"] = [-1.0, 1.0]
    assert not claim().holds


def test_whole_report_has_no_slug_as_a_heading(results: dict[str, dict[str, Any]]) -> None:
    headings = [s.lstrip("# ") for s in whole_report(results, []).splitlines() if s[:1] == "#"]
    assert not set(headings) & set(EXPERIMENTS)
    assert "Multi-Seed Autonomous-Inference Results" in headings
