"""Control experiments: many teachers, training orders, exact zero, and parts removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from committed import RESULTS
from entrain import kernels
from entrain.data import load_dataset
from entrain.rules import TeacherSpec, TwoStage
from entrain.rules.training_data import TrainingData
from entrain.training import TrainingState, train_stage
from entrain_paper.experiments import (
    EXPERIMENTS,
    TINY,
    ExperimentContext,
    architecture_orders,
    experiment,
    from_zero_symmetry,
    likelihood,
    recurrence,
    single_runs,
    teacher_spread,
    teacher_sweep,
    trajectory,
    with_prerequisites,
)
from entrain_paper.experiments.comparison import Scale
from entrain_paper.experiments.metrics import trajectory_rmse
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import FASHION, MNIST, PAPER
from entrain_paper.experiments.temperature import noisy_metric
from entrain_paper.report.control_tables import CONTROL_TABLES
from entrain_paper.report.numerics import devices_section, rounding_section
from entrain_paper.report.order_tables import ORDER_TABLES
from networks import random_network
from synthetic_results import metrics, results

CPU = torch.device("cpu")
NODES = ("output", "hidden")


def context_of(stages) -> ExperimentContext:
    data = TrainingData(load_dataset("mnist-small"), CPU)
    states: dict[str, TrainingState] = {}
    for stage in with_prerequisites(stages):
        states[stage.key] = train_stage(stage, data, states)
    return ExperimentContext(TINY, states, load_dataset, CPU)


# Teachers


def test_teacher_sweep_has_twenty_teachers_per_dataset() -> None:
    for name, counts in ((MNIST, {"top1": 10, "cross-entropy": 10}), (FASHION, None)):
        rules = [each.rule for each in teacher_sweep.teachers(PAPER, name)]
        assert all(isinstance(rule, TeacherSpec) for rule in rules)
        found = [rule.selection for rule in rules]
        assert len(found) == 20
        if counts:
            assert {rule: found.count(rule) for rule in found} == counts
    path = teacher_sweep.students(PAPER, MNIST)["PATH"]
    assert len({teacher.key for teacher in path.teachers}) == 20
    assert path.runs == (0,) * 20


def row(name: str, rule: str, top1: float) -> dict:
    methods = {m: metrics(top1) | {"top2": top1 + 2.0} for m in ("PATH", "TWO-STAGE-END")}
    return {"dataset": name, "rule": rule, "teacher": {"test_top1": top1}} | methods


def test_quantile_of_a_paper_number_among_the_teachers() -> None:
    (paper,) = (
        each["top1_mean"]
        for each in paper_numbers()["multiseed"]["rows"]
        if (each["dataset"], each["method"]) == (MNIST, "PATH")
    )
    tops = [paper - 1.0, paper - 0.5, paper + 0.5, paper + 1.0, paper + 1.5]
    rows = [row(MNIST, "top1", top) for top in tops]
    rows += [row(MNIST, "cross-entropy", paper + 1.0)] * 2
    rows += [row(FASHION, "cross-entropy", 80.0)] * 2
    found = teacher_sweep.quantiles({"rows": rows})
    by = {(q["dataset"], q["rule"], q["method"], q["metric"]): q for q in found}
    assert by[MNIST, "top1", "PATH", "top1"]["below"] == 2 / 5
    assert by[MNIST, "cross-entropy", "PATH", "top1"]["below"] == 0.0
    assert by[MNIST, "top1", "PATH", "top1"]["most"] == tops[-1]


def test_scales_use_teachers_of_the_papers_selection_rule() -> None:
    tops = [88.0, 89.0, 91.0]
    rows = [row(MNIST, "top1", top) for top in tops] + [row(MNIST, "cross-entropy", 50.0)]
    rows += [row(FASHION, "cross-entropy", top) for top in tops]
    spread = teacher_spread.spread({"teacher-sweep": {"values": {"rows": rows}}})
    assert spread.teachers[MNIST, "PATH", "top1"] == Scale(tuple(tops))
    assert spread.teachers[MNIST, teacher_spread.GAIN, "top1"].difference_margin == 0.0


# Orders


def test_branches_from_exact_zero_have_twenty_orders_and_others_five() -> None:
    found = single_runs.branches(PAPER, MNIST)
    counts = {what: sum(len(stage.runs) for stage in each) for what, each in found.items()}
    assert counts["ZERO-END-ONLY"] == counts["Z-END"] == counts["weight 10"] == 20
    assert counts["TWO-STAGE-END"] == counts["weight 0.1"] == counts["PATH, exact"] == 5
    (solved,), (end,) = found["PATH, exact"], found["TWO-STAGE-END from it"]
    assert isinstance(solved.rule, TwoStage)
    assert solved.rule.solver == "exact"
    assert end.start == solved


def test_trajectories_of_an_order_are_those_of_its_networks() -> None:
    (end,) = single_runs.branches(TINY, MNIST)["TWO-STAGE-END"]
    context = context_of([TINY.main_path(MNIST), end])
    found = {row["nodes"]: row for row in single_runs._trajectories(context, MNIST)}
    for order in range(TINY.few_runs):
        alone = trajectory.errors(context, MNIST, (TINY.main_path(MNIST), end), order)
        for method in ("path", "two_stage_end"):
            rmse = trajectory_rmse(alone[method]["output"])
            assert found["output"][method][order] == pytest.approx(rmse)
    assert len({*found["hidden"]["two_stage_end"]}) == TINY.few_runs


def test_all_orders_of_an_architecture_have_the_same_teacher() -> None:
    path, end = architecture_orders.students(PAPER)
    assert path.parallel_runs == end.parallel_runs == 75
    rules = [teacher.rule for teacher in path.teachers[4:7]]
    widths = [rule.widths for rule in rules if isinstance(rule, TeacherSpec)]
    assert widths == [(32, 16, 16), (64,), (64,)]
    assert path.runs == (0, 1, 2, 3, 4) * 15
    assert end.start == path


def test_gains_of_an_architecture_are_paired_by_order() -> None:
    found = architecture_orders.measure(context_of([*architecture_orders.students(TINY)]))
    for each in found["rows"]:
        pairs = zip(each["path"]["runs"], each["two_stage_end"]["runs"], strict=True)
        gains = [end["top1"] - path["top1"] for path, end in pairs]
        assert each["gain"]["mean"] == pytest.approx(sum(gains) / len(gains))
        assert (each["gain"]["least"], each["gain"]["most"]) == (min(gains), max(gains))
    text = ORDER_TABLES["architecture-orders"](found)
    assert "T32_16_16" in text
    assert f"of {len(found['rows'])} architectures in every order" in text


def test_share_of_orders_below_the_paper() -> None:
    assert single_runs._below([1.0, 2.0, 3.0, 4.0], 2.5) == 0.5
    assert single_runs._below([1.0], None) is None


def test_noisy_metrics_at_temperature_zero_equal_the_exact_ones() -> None:
    stage = TINY.main_path(MNIST)
    context = context_of([stage])
    own = context.test(MNIST, stage)[0]
    found = teacher_sweep._more_metrics(
        context, MNIST, stage.teachers[0], context.networks(stage)[0]
    )
    for readout in ("single", "ensemble"):
        for metric in ("top1", "endpoint_rmse"):
            value = found[noisy_metric(readout, metric, 0.0)]
            assert value == pytest.approx(own[metric], rel=1e-5)
    hottest = TINY.temperatures[-1]
    assert hottest > 0.0
    assert found[noisy_metric("single", "endpoint_rmse", hottest)] > own["endpoint_rmse"]


# From exact zero


def test_rows_from_exact_zero_differ_by_rounding_only() -> None:
    found = from_zero_symmetry.measure(context_of(from_zero_symmetry.stages(TINY)))
    single, double = found["rows"]
    assert (single["arithmetic"], double["arithmetic"]) == ("float32", "float64")
    for each, unit in ((single, 2.0**-24), (double, 2.0**-53)):
        assert each["step"][:3] == [1, 2, 3]
        assert each["size"][0] == 0.0  # nothing leads from a hidden oscillator to an output yet
        first = next(step for step, size in enumerate(each["size"]) if size)
        assert first < 3
        assert each["spread"][first] <= 1000 * unit * each["size"][first]
    assert max(double["spread"][:10]) < 1e-6 * max(double["size"][:10])
    orders = single_runs.order_count(TINY)
    for method in ("Z-END", "ZERO-END-ONLY"):
        runs = [run for run in found["runs"] if run["method"] == method]
        assert [run["order"] for run in runs] == list(range(orders))
        assert all(run["spread"] >= 0.0 for run in runs)


def test_spread_of_rows_is_their_largest_difference() -> None:
    weights = torch.tensor([[[1.0, 5.0], [2.0, 5.0], [0.5, 5.0]], [[3.0, 3.0]] * 3])
    assert from_zero_symmetry._spread(weights).tolist() == [1.5, 0.0]


# Without a part


def test_stages_without_a_part_differ_in_that_part_only() -> None:
    stages = {name: recurrence.stage(TINY, MNIST, name) for name in recurrence.WITHOUT}
    full = stages["nothing"]
    assert len({stage.key for stage in stages.values()}) == len(stages)
    for name, stage in stages.items():
        if name in recurrence.STEPS:
            plain = replace(stage, network=replace(stage.network, dynamics=full.network.dynamics))
            assert plain.key == full.key
            assert stage.network.dynamics.steps == recurrence.STEPS[name]


def test_removed_and_frozen_couplings_do_not_change_in_training() -> None:
    alone = recurrence.stage(TINY, MNIST, recurrence.HIDDEN)
    two = replace(TINY, direct_epochs=2)
    frozen = recurrence.stage(two, MNIST, recurrence.TRAINING)
    context = context_of([alone, frozen])
    hidden = alone.network.hidden
    for network in context.networks(alone):
        couplings = network.couplings
        assert not couplings[..., :hidden, :hidden].any()
        assert couplings[..., :hidden, hidden:].any()
    data = TrainingData(load_dataset("mnist-small"), CPU)
    short = replace(frozen, rule=replace(frozen.rule, epochs=1))
    begun = train_stage(short, data, {})
    ended = context.state(frozen)
    assert torch.equal(begun.best["couplings"], ended.best["couplings"])
    assert not torch.equal(begun.best["input_weights"], ended.best["input_weights"])


# The path as a likelihood


def test_path_loss_is_the_mean_over_batches(monkeypatch) -> None:
    network = random_network(9, 6, 4, dtype=torch.float32)
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(7, 9, generator=generator)
    coefficients = torch.randn(7, 10, generator=generator, dtype=torch.float64)
    examples = experiment.TestExamples(
        inputs, torch.zeros(7, dtype=torch.int64), inputs, coefficients
    )
    whole = likelihood._path_loss(network, examples)
    monkeypatch.setattr(likelihood, "_CHUNK", 3)
    assert likelihood._path_loss(network, examples) == pytest.approx(whole, rel=1e-5)
    path = coefficients.float()[:1, None]
    model = network.phase_model(inputs[:1]).map(lambda tensor: tensor.detach()[None])
    alone = experiment.TestExamples(inputs[:1], torch.zeros(1), inputs[:1], coefficients[:1])
    expected, _ = kernels.reference.path_loss(model, path, network.dynamics)
    assert likelihood._path_loss(network, alone) == pytest.approx(float(expected))


# In the report


@pytest.mark.parametrize("name", [n for n in (*CONTROL_TABLES, *ORDER_TABLES) if n in results(2)])
def test_tables_of_synthetic_results_have_all_rows(name: str) -> None:
    values = results(3)[name]
    for each in values["rows"]:
        each.setdefault("below", 0.5)
        for method in ("PATH", "TWO-STAGE-END"):
            if method in each:
                each[method]["top2"] = 99.0
        if "teacher" in each:
            each["teacher"]["epoch"] = 40
    text = (CONTROL_TABLES | ORDER_TABLES)[name](values)
    assert text.count("\n") > len(values["rows"])
    assert EXPERIMENTS[name].title


def test_rounding_section_lists_repeated_trainings() -> None:
    one = {"dataset": FASHION, "method": "Z-END", "top1": 84.4}
    other = {"dataset": FASHION, "what": "Z-END", "runs": [{"top1": 82.5}, {"top1": 80.0}]}
    found = rounding_section(
        {"ablation": {"values": {"rows": [one]}}, "single-runs": {"values": {"rows": [other]}}}
    )
    assert "| 84.40 (ablation) | 82.50 (single-runs) | -1.90 |" in found
    assert rounding_section({}) == ""


def test_trainings_on_two_devices_are_listed() -> None:
    def single(device: str, shift: float) -> dict[str, Any]:
        tops = {"PATH": 87.34 + shift, "TWO-STAGE-END": 96.71}
        results = {method: {"top1": top} for method, top in tops.items()}
        return {"dataset": "mnist", "seed": 0, "device": device, "results": results} | {
            "teacher": {"top1": 95.91}
        }

    text = devices_section({"exact": single("a GPU", 0.0), "exact-cpu": single("a CPU", 1.39)})
    assert "| MNIST | PATH, seed 0 | 87.34 (a GPU) | 88.73 (a CPU) | +1.39 |" in text
    assert text.count("| MNIST |") == 3
    assert devices_section({"exact": single("a GPU", 0.0)}) == ""


def test_committed_report_compares_gpu_and_cpu() -> None:
    text = (RESULTS / "reproduction" / "method.md").read_text()
    assert "87.34 (NVIDIA H200) | 88.73 (two x86-64 cores) | +1.39" in text


def test_teacher_sweep_reports_the_correlation_with_the_epoch() -> None:
    rows = []
    for rule, shift in (("top1", 0.0), ("cross-entropy", 5.0)):
        for epoch in (10, 100, 1000):
            each = row(MNIST, rule, 90.0 - epoch / 1000 + shift)
            each["teacher"]["epoch"] = epoch
            rows.append(each)
    rows += [row(FASHION, "cross-entropy", 80.0) for _ in range(2)]
    for each in rows[-2:]:
        each["teacher"]["epoch"] = 10
    text = CONTROL_TABLES["teacher-sweep"]({"rows": rows})
    assert "Correlation with the logarithm of the epoch" in text
    assert "On MNIST both rules select from the same 3 trainings" in text


def test_single_runs_describe_the_exact_control_and_trajectories() -> None:
    tops = {"PATH-CONT": 87.0, "ZERO-END-ONLY": 20.0}
    tops |= {single_runs.EXACT["PATH"]: 87.3, single_runs.EXACT["TWO-STAGE-END"]: 96.8}
    mean = {"agreement": 90.0, "endpoint_rmse": 0.1}
    rows = [
        {"dataset": MNIST, "what": what, "paper": None, "below": None, "runs": [{"top1": top}]}
        | {"mean": mean | {"top1": top}, "sd": {"top1": 0.1, "agreement": 0.1}}
        for what, top in tops.items()
    ]
    text = ORDER_TABLES["single-runs"]({"rows": rows})
    assert "PATH-CONT 87.00 %, PATH at its minimum 87.30 %" in text
    assert "| solved |" in text
    assert "MNIST 20.00 to 20.00 %" in text
    assert "Trajectories" not in text
    both = {"path": [0.2, 0.25], "two_stage_end": [0.1, 0.2]}
    times = {"times_path_is_larger": [200, 199], "times_after_start": 200}
    moved = [{"dataset": MNIST, "nodes": each} | both | times for each in NODES]
    text = ORDER_TABLES["single-runs"]({"rows": rows, "trajectories": moved})
    lines = {each: next(s for s in text.splitlines() if f"| {each} |" in s) for each in NODES}
    assert "| -50.0 to -20.0 % | 199 to 200 of 200 |" in lines["output"]
    assert "| 0 to 1 of 200 |" in lines["hidden"]
