"""The documentation's other examples run, and links lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import entrain
from entrain import rules
from examples import ROOT, printed, run

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "results").glob("*.md")]
)
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("*.py"))


def test_the_examples_of_training_run(tmp_path: Path) -> None:
    data, accuracy = printed("training.md", tmp_path)
    assert data.startswith("FeatureDataset(named 'data'")
    assert float(accuracy) > 70


def test_the_example_of_getting_started_runs(tmp_path: Path) -> None:
    accuracy, answers = printed("getting-started.md", tmp_path)
    assert float(accuracy) == pytest.approx(96.85, abs=0.02)
    assert answers.count("7 2 1 0 4 1 4 9") == 2


def test_the_examples_of_networks_run(tmp_path: Path) -> None:
    lines = printed("networks.md", tmp_path)
    cut, overlap, recalled, couplers, gradient, accuracy, *_ = lines[4:]
    for line in lines[1:4]:
        measured, theory = (float(part.split()[-1]) for part in line.split(","))
        assert measured == pytest.approx(theory, abs=0.01)
    assert int(cut.split(",")[0].split()[-1]) >= 136  # of 150 edges
    assert overlap.endswith("1.00 after")
    assert float(recalled.split()[-1]) > 0.99
    assert (couplers, gradient) == ("100", "torch.Size([24])")
    assert float(accuracy) > 85
    assert (tmp_path / "with-frequencies.safetensors").exists()


def test_the_examples_of_solving_run(tmp_path: Path) -> None:
    shown, cut, split, proper, share, runs, seconds, time, chip, chips, parts, cost = printed(
        "solving.md", tmp_path
    )
    assert shown.startswith("Solution(cut ")
    best, again = cut.split()
    assert again == f"[{best}]"
    assert 200 <= int(best) <= 225
    assert split == "0 0"
    assert proper == "True"
    assert 0 < float(share) <= 1
    repetitions, low, high = (float(word) for word in re.findall(r"[\d.]+|inf", runs))
    assert 1 <= low <= repetitions <= high
    assert float(seconds.split()[0]) > 0
    assert float(time) > 0
    assert int(chip) > 20
    assert chips.startswith("ProblemYield(chips 10, runs of each 5")
    assert parts.startswith("40 60 ")  # oscillators and couplers
    run, solution, total = map(float, cost.split())
    assert 1e-12 < run <= solution < 1e-3
    assert total > 0


def test_the_page_of_solving_equals_the_results() -> None:
    page = (ROOT / "docs" / "solving.md").read_text()
    for table in (solver_table(), gpu_table(), chip_table(), effect_table(), circuit_table()):
        assert table in page, table


def test_the_tutorial_of_teachers_quotes_the_measured_accuracies() -> None:
    page = (ROOT / "docs" / "tutorials" / "any-teacher.md").read_text()
    results = json.loads((ROOT / "results" / "distillation-small.json").read_text())
    for name, row in results.items():
        labels, teacher = (
            f"{row[source]['mean']:.2f} ± {row[source]['sd']:.2f}"
            for source in ("labels", "teacher")
        )
        difference = sum(row["difference"]) / len(row["difference"])
        validation = row["teacher_validation"][0]
        line = f"| {name} | {validation:.2f} | {labels} | {teacher} | {difference:+.2f} |"
        assert line in page, line


def solver_table() -> str:
    """The comparison of solvers as the page has it."""
    results = json.loads((ROOT / "results" / "ising.json").read_text())
    names = list(results["mean_percent_of_reference"])
    rows = [f"| graph | reference | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for graph, cuts in results["cuts"].items():
        best = max(cuts.values())
        cells = [f"**{cut:,.0f}**" if cut == best else f"{cut:,.0f}" for cut in cuts.values()]
        rows.append(f"| {graph} | {results['reference'][graph]:,.0f} | {' | '.join(cells)} |")
    means = (f"{results['mean_percent_of_reference'][name]:.2f} %" for name in names)
    return "\n".join([*rows, f"| mean | | {' | '.join(means)} |"])


def gpu_table() -> str:
    """The cuts on a GPU as the page has them."""
    results = json.loads((ROOT / "results" / "ising-gpu.json").read_text())
    names = ("2000 steps", "4000 steps", "8000 steps", "16000 steps", "5 seconds")
    titles = " | ".join(name.replace("000 steps", ",000 steps") for name in names)
    rows = [f"| graph | best known | {titles} |", "|---" * (len(names) + 2) + "|"]
    for graph, best in results["best_known"].items():
        cells = (f"{results[name]['graphs'][graph]['cut']:,}" for name in names)
        rows.append(f"| {graph} | {best:,} | {' | '.join(cells)} |")
    means = (f"{results[name]['mean_percent']:.2f} %" for name in names)
    times = (f"{results[name]['most_seconds']:.2f} s" for name in names)
    rows.append(f"| mean | | {' | '.join(means)} |")
    return "\n".join([*rows, f"| longest | | {' | '.join(times)} |"])


def chip_table() -> str:
    """The chips as the page has them."""
    results = json.loads((ROOT / "results" / "ising-chips.json").read_text())
    assert (results["chips"], results["effect_chips"]) == (1000, 50)
    columns = ("problem", "chip", "best cut", "ideal, a run", "a run on a chip", "worst chip")
    columns += ("runs at the best cut", "chips that reach it")
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in results["rows"]:
        if "refused" in row:
            rows.append(f"| {row['problem']} | `{row['chip']}` | does not fit" + " |" * 6)
            continue
        single = row["single_run"]
        cells = (
            *(f"{row['target']}", f"{row['ideal']:.2f}", f"{single['mean']:.2f}"),
            *(f"{single['worst']:.2f}", f"{100 * row['success_probability']:.1f} %"),
            f"{100 * row['reach_target']:.0f} %",
        )
        rows.append(f"| {row['problem']} | `{row['chip']}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def effect_table() -> str:
    """The cost of each effect alone as the page has it."""
    rows = json.loads((ROOT / "results" / "ising-chips.json").read_text())["rows"]
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        for effect, means in row.get("effects", {}).items():
            name = (row["chip"], effect.replace("_", " "))
            cost = round(row["ideal"] - means["alone"], 1) + 0.0  # without -0.0
            cells.setdefault(name, {})[row["problem"]] = f"{cost:.1f}"
    lines = [f"| chip | effect | {' | '.join(problems)} |", "|---" * (len(problems) + 2) + "|"]
    for (chip, effect), costs in cells.items():
        values = " | ".join(costs.get(problem, "") for problem in problems)
        lines.append(f"| `{chip}` | {effect} | {values} |")
    return "\n".join(lines)


def circuit_table() -> str:
    """The machines in ngspice as the page has them."""
    results = json.loads((ROOT / "results" / "ising-circuits.json").read_text())
    columns = ("problem", "circuit", "same cut", "same states", "largest difference of a phase")
    for cycles in (5, 10, 20):  # "23 of 24 runs of LC oscillators"
        rows = [row for row in results["rows"] if row["circuit"].startswith(f"LC, {cycles} ")]
        assert [sum(row["same_cut"] for row in rows), len(rows)] == [23, 3]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in results["rows"]:
        shares = (f"{row[key]} of {results['restarts']}" for key in ("same_cut", "same_states"))
        difference = f"{row['max_phase_difference']:.1g}"
        lines.append(
            f"| {row['problem']} | {row['circuit']} | {' | '.join(shares)} | {difference} rad |"
        )
    return "\n".join(lines)


def test_the_examples_of_the_estimator_run(tmp_path: Path) -> None:
    accuracy, *_, chip, chips, same, shape = printed("estimator.md", tmp_path)
    assert float(accuracy) > 0.96
    assert float(chip) > 0.65
    mean, low = map(float, chips.split())
    assert mean > 75
    assert low > 65
    assert (same, shape) == ("True", "torch.Size([201, 5, 74])")
    assert (tmp_path / "digits-table.safetensors").exists()


def test_the_page_of_rules_names_every_other_protocol() -> None:
    text = (ROOT / "docs" / "rules.md").read_text()
    assert "docs/rules.md" in (ROOT / "README.md").read_text()
    for name in entrain.PROTOCOLS.keys() - rules.PAPER_PROTOCOLS.keys():
        assert name.split("-FROM-")[0] in text


def test_the_examples_of_circuits_run(tmp_path: Path) -> None:
    (accuracy,) = printed("circuits.md", tmp_path)
    assert float(accuracy) > 0.95


def test_the_examples_of_costs_run(tmp_path: Path) -> None:
    counts, *parts, solved = printed("cost.md", tmp_path)
    assert counts.endswith(" True")
    assert solved == "40 60 True"
    assert [line.rsplit(maxsplit=2)[0] for line in parts][-2:] == ["couplers", "readout"]


def test_the_examples_of_calibration_run(tmp_path: Path) -> None:
    (line,) = printed("calibration.md", tmp_path)
    assert float(line.split()[0]) < 0.012
    assert (tmp_path / "calibrated.safetensors").is_file()


def test_scripts_of_the_gallery_draw_their_figures(tmp_path: Path) -> None:
    """One after the other in one process."""
    code = f"import runpy\nfor path in {[str(path) for path in SCRIPTS]}: runpy.run_path(path)"
    run(code, tmp_path, MPLBACKEND="Agg")
    page = (ROOT / "docs" / "gallery.md").read_text()
    for path in SCRIPTS:
        assert (tmp_path / path.with_suffix(".png").name).stat().st_size > 5_000
        assert f"images/gallery/{path.stem}.png" in page
        assert f'--8<-- "gallery/{path.name}"' in page
        assert len(path.read_text().splitlines()) <= 30


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_files_exist(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_page_of_calibration_equals_the_results() -> None:
    page = (ROOT / "docs" / "calibration.md").read_text()
    found = json.loads((ROOT / "results" / "calibration.json").read_text())
    cases = {name: case for name, case in found["simulated"].items() if isinstance(case, dict)}
    assert len(cases) == 4
    for case in cases.values():
        percent, digits = case["couplings_percent_of_rms"], 3 if case["noise"] < 1e-5 else 2
        weak = case["couplings_weak_form_percent"]
        row = f"| {percent:.{digits}f} % | {weak:.2f} % | {case['frequencies']:.4f} |"
        assert row in page, row
    for part in ("simulated", "circuit"):
        for name, accuracy in found[part].items():
            if isinstance(accuracy, float):
                assert f"| {accuracy:.{2 if part == 'simulated' else 0}f} % |" in page, name
