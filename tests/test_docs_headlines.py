"""Headline numbers of the documentation equal the committed results."""

from __future__ import annotations

import json
import re
import statistics
import tomllib
from typing import Any

import pytest

from entrain.rules import EquilibriumPropagation
from examples import ROOT


def values(name: str) -> Any:
    """The values of an experiment in results/."""
    return json.loads((ROOT / "results" / f"{name}.json").read_text())["values"]


def page(name: str) -> str:
    """The text of a page of docs/."""
    return (ROOT / "docs" / name).read_text()


METHODS = {
    "PATH": "PATH, the paper's Stage I",
    "TWO-STAGE-END": "TWO-STAGE-END, the paper's network",
    "DIRECT": "DIRECT",
    "DIRECT for chips": "DIRECT, trained for `typical`",
}


def test_the_yields_of_all_methods_equal_the_results() -> None:
    rows = {(row["dataset"], row["method"]): row for row in values("typical-yield")["rows"]}
    for method, title in METHODS.items():
        both = [rows[dataset, method] for dataset in ("MNIST", "Fashion-MNIST")]
        assert all(row["chips"] == 1000 for row in both)
        cells = " | ".join(f"{row['mean']:.2f} % | {row['worst']:.2f} %" for row in both)
        assert f"| {title} | {cells} |" in page("results.md")


def untrained_on_chips() -> list[float]:
    """MNIST on `typical` without training for it: five DIRECT networks; one; the paper's one."""
    rows = {row["method"]: row for row in values("typical-yield")["rows"][:4]}
    (five,) = [
        row["not_trained"]["mean"]
        for row in values("trained-for-chips")["rows"]
        if (row["dataset"], row["constraint"]) == ("MNIST", "all of typical at once")
    ]
    return [five, rows["DIRECT"]["mean"], rows["TWO-STAGE-END"]["mean"]]


@pytest.mark.parametrize("name", ["index.md", "hardware.md", "results.md"])
def test_a_page_states_all_accuracies_without_training_for_chips(name: str) -> None:
    for mean in untrained_on_chips():
        assert f"{mean:.2f} %" in page(name) or f"{mean:.2f} /" in page(name), mean


def test_the_numbers_of_three_bits_equal_the_results() -> None:
    (trained,) = [
        row for row in values("trained-for-chips")["rows"] if row["constraint"] == "3-bit couplings"
    ]
    ladders = {
        row["method"]: next(s for s in row["strengths"] if s["label"] == "3 bits")
        for row in values("fragility")["rows"]
        if (row["dataset"], row["effect"]) == ("MNIST", "coupling_bits")
    }
    (curve,) = [
        row
        for row in values("chip-resources")["rows"]
        if (row["curve"], row["value"]) == ("bits", 3)
    ]
    text = page("hardware.md")
    for row in (trained["not_trained"], ladders["DIRECT"], curve["not_trained"]):
        assert f"| {row['mean']:.2f} ± {row['sd']:.2f} | [`" in text
    assert f"{trained['trained']['mean']:.2f} ± {trained['trained']['sd']:.2f} % after" in text
    assert f"{ladders['TWO-STAGE-END']['mean']:.2f} %" in text
    assert curve["epochs"] == 60


def test_the_cosines_of_the_defaults_of_ep_equal_the_results() -> None:
    rows = [row for row in values("rule-gradients")["rows"] if row["rule"] == "EP"]
    cosines = {(row["curve"], row["value"]): row["couplings"]["cosine"] for row in rows}
    rule = EquilibriumPropagation()
    default = (rule.dynamics.observation_time, rule.dynamics.time_step, rule.beta)
    settings = zip(
        ("time", "step", "strength"), ("time", "step", "β"), (15.0, 0.25, 0.3), default, strict=True
    )
    for curve, title, old, new in settings:
        cells = f"{old:g} | {cosines[curve, old]:.3f} | {new:g} | {cosines[curve, new]:.3f}"
        assert f"| {title} | {cells} |" in page("rules.md")


def test_the_reproduction_of_the_paper_equals_the_results() -> None:
    rows = values("multiseed")["rows"]
    for row in rows:
        if row["method"] in ("PATH", "TWO-STAGE-END"):
            cell = f"{row['mean']['top1']:.3f} ± {row['sd']['top1']:.3f} %"
            assert f"| {row['dataset']}, {row['method']} | {cell} |" in page("results.md")


def test_the_page_of_choices_quotes_numbers_of_the_other_pages() -> None:
    sources = "".join(page(name) for name in ("results.md", "hardware.md", "rules.md"))
    quoted = set(re.findall(r"\b\d+\.\d{2,3}\b", page("choosing.md")))
    assert len(quoted) >= 9
    assert {number for number in quoted if number not in sources} == set()


def test_the_table_of_extras_is_complete() -> None:
    text = page("getting-started.md")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for extra in extras:
        assert f"| `pip install '.[{extra}]'` |" in text, extra
    paper = tomllib.loads((ROOT / "paper" / "pyproject.toml").read_text())["project"]
    for extra in paper["optional-dependencies"]:
        assert f"| `pip install './paper[{extra}]'` |" in text, extra


def test_install_lines_work_from_a_clone() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for path in pages:
        assert "pip install 'entrain" not in path.read_text(), path.name
        assert "pip install entrain" not in path.read_text(), path.name


def result(name: str) -> Any:
    """A file of results/."""
    return json.loads((ROOT / "results" / f"{name}.json").read_text())


def test_the_times_by_threads_equal_the_results() -> None:
    for threads, row in result("cpu-threads")["threads"].items():
        step, inferences = (
            f"{100 * row[f'{part} of sgemm']:.0f} %" for part in ("step", "inferences")
        )
        cells = f"{row['step']:.1f} | {step} | {row['inferences']:.0f} | {inferences}"
        assert f"| {threads} | {cells} | {row['predict']:.0f} |" in page("scale.md")


GPU_STEPS = {
    "74 oscillators, 200 steps": "step, 1 x 256 samples",
    "74 oscillators, 200 steps, ten networks side by side": "step, 10 x 256 samples",
    "256 oscillators, 50 steps": "step, 256 oscillators, 50 steps",
    "512 oscillators, 50 steps": "step, 512 oscillators, 50 steps",
    "1,000 oscillators, 50 steps": "step, 1000 oscillators, 50 steps",
    "1,000 oscillators, 10,000 steps, cut along the batch": "step, 1,000 oscillators, 10,000 steps",
    "10,000 inferences of 74 oscillators": "10,000 inferences",
}


def test_the_times_on_a_gpu_equal_the_results() -> None:
    times = result("bench/h200/device_times")["ms"]
    for title, name in GPU_STEPS.items():
        number = float(f"{times[name]:.2g}") if times[name] < 100 else round(times[name])
        digits = f"{number:.2f}" if number < 1 else f"{number:,}"
        assert f"| {title} | {digits} |" in page("scale.md")


def test_accuracies_and_times_of_the_estimator_equal_the_results() -> None:
    for dataset, measured in result("estimator")["datasets"].items():
        (line,) = (x for x in page("estimator.md").splitlines() if x.startswith(f"| {dataset} |"))
        for values in measured.values():
            seconds = statistics.median(values["cpu_seconds"])
            assert f"{statistics.mean(values['accuracy']):.1f}" in line
            assert f", {seconds:.2g} s" in line


def test_the_times_of_settings_side_by_side_equal_the_results() -> None:
    iris, wine = (result("side-by-side")["datasets"][name] for name in ("iris", "wine"))
    text = " ".join(page("scale.md").split())
    for way, words in (
        ("side by side", "{:.1f} or {:.1f} CPU seconds"),
        ("one by one", "one by one {:.1f} or {:.1f}"),
        ("GridSearchCV, n_jobs=1", "by `GridSearchCV` {:.1f} or {:.1f}"),
    ):
        assert words.format(iris[way][1], wine[way][1]) in text


@pytest.mark.parametrize("name", ["scale.md", "hardware.md"])
def test_the_seconds_of_a_hundred_chips_equal_the_results(name: str) -> None:
    (row,) = (rows["typical"] for key, rows in result("yield-times").items() if "2 cores" in key)
    assert f"100 of them take {row['cpu_seconds']:.0f} CPU seconds" in page(name)


def test_the_tables_of_the_reject_option_equal_the_results() -> None:
    results = json.loads((ROOT / "results" / "reject-option.json").read_text())
    text, parts = page("predicting.md"), ("validation", "test")
    for name, result in results.items():
        if not name.endswith(("-robust", "-chip")):
            cells = [
                f"{result[part]['top1']:.2f} | {result[part]['coverage']:.1f} | "
                f"{result[part]['top1_sure']:.2f}"
                for part in parts
            ]
            assert f"| {name} | {' | '.join(cells)} |" in text, name
    everything = results["mnist-74"]["photographs"]["all"]
    names = ("right", "right_and_sure", "right_or_unsure")
    assert f"| **all** | {' | '.join(f'**{everything[n]:.0f}**' for n in names)} |" in text
