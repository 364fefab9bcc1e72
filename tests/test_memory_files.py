"""Memories in files, in figures and in the documentation, and bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from entrain import InputError, Memory
from entrain.memory import (
    RecallTraining,
    capacity,
    corrupt,
    overlaps,
    random_patterns,
)
from entrain.plots import save
from entrain.plots.memory import draw_capacity, recall_figure

ROOT = Path(__file__).parents[1]
QUICK = RecallTraining(iterations=5, batch=8)


# Files


@pytest.mark.parametrize("phases", [False, True])
def test_a_saved_memory_recalls_the_same(tmp_path: Path, phases: bool) -> None:
    patterns = random_patterns(4, 50, phases=phases)
    memory = Memory.store(patterns, "pseudo-inverse", phases=phases, injection=0.05)
    memory.save(tmp_path / "memory.safetensors")
    again = Memory.read(tmp_path / "memory.safetensors")
    assert repr(again) == repr(memory)
    cues = corrupt(patterns, 0.3, phases=phases)
    assert torch.equal(again.recall(cues).states, memory.recall(cues).states)
    content = bytearray((tmp_path / "memory.safetensors").read_bytes())
    content[-20] ^= 1
    (tmp_path / "damaged.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="digest"):
        Memory.read(tmp_path / "damaged.safetensors")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a model, expected a memory"):
        Memory.read(ROOT / "src" / "entrain" / "models" / "mnist-74.safetensors")
    with pytest.raises((InputError, OSError)):
        Memory.read(tmp_path / "none.safetensors")


# Bad input

GOOD = random_patterns(3, 20)


@pytest.mark.parametrize(
    ("patterns", "settings", "message"),
    [
        ((GOOD + 1) / 2, {}, "turn bits x into 2 x - 1"),
        (GOOD * 0.5, {}, "set phases=True"),
        (torch.full((1, 20), math.nan), {}, "finite"),
        (torch.cat([GOOD, GOOD[:1]]), {}, "0 and 3 are equal or inverse"),
        (torch.cat([GOOD, -GOOD[:1]]), {}, "0 and 3 are equal or inverse"),
        (torch.stack([GOOD[0], GOOD[0] + 1]), {"phases": True}, "equal after a rotation"),
        (torch.zeros(0, 20), {}, "one pattern and two oscillators"),
        (torch.ones(3, 1), {}, "one pattern and two oscillators"),
        (torch.ones(2, 3, 4), {}, "P x N"),
        ([[1, -1], [1]], {}, "rows of numbers"),
        (torch.polar(torch.ones(2, 4), torch.ones(2, 4)), {"phases": True}, "must be real"),
        (GOOD, {"rule": "hebb"}, "did you mean 'hebbian'"),
        (GOOD, {"injection": -1.0}, "injection"),
        (GOOD, {"training": QUICK}, 'training is of the rule "trained"'),
        (torch.eye(8) * 2 - 1, {"rule": "pseudo-inverse"}, "span all 8 dimensions"),
    ],
)
def test_bad_patterns_are_refused(patterns: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Memory.store(patterns, **settings)


@pytest.mark.parametrize(
    ("cues", "settings", "message"),
    [
        (torch.ones(19), {}, "20 numbers"),
        (torch.ones(2, 21), {}, "20 numbers"),
        (torch.full((20,), 0.5), {}, r"0 \(unknown\)"),
        (torch.full((20,), math.nan), {}, "finite"),
        (GOOD, {"time": 0}, "time"),
        (GOOD, {"steps": 0}, "steps"),
        (GOOD, {"spread": -1.0}, "spread"),
        (GOOD, {"seed": -1}, "seed"),
        (GOOD, {"chip": "no-such"}, "no-such"),
    ],
)
def test_bad_cues_are_refused(cues: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Memory.store(GOOD).recall(cues, **settings)


def test_bad_couplings_and_settings_are_refused() -> None:
    matrix = torch.zeros(20, 20)
    one_way = matrix.clone()
    one_way[0, 1] = 1.0
    for arguments, message in (
        ((GOOD, one_way), "symmetric"),
        ((GOOD, torch.eye(20)), "diagonal"),
        ((GOOD, torch.zeros(3, 3)), "20 x 20"),
        ((GOOD, matrix, one_way), "antisymmetric"),
    ):
        with pytest.raises(InputError, match=message):
            Memory(*arguments)
    for name, value in (("corruption", 1.5), ("iterations", 0), ("learning_rate", -1.0)):
        with pytest.raises(InputError, match=name):
            RecallTraining(**{name: value})  # type: ignore[arg-type]
    memory = Memory.store(GOOD)
    for settings in ({"corruption": -0.1}, {"cues": 0}, {"least": math.nan}, {"seed": -1}):
        with pytest.raises(InputError):
            memory.evaluate(**settings)
    with pytest.raises(InputError, match="states must be 20 numbers"):
        overlaps(torch.ones(19), GOOD)
    with pytest.raises(InputError, match="hardware"):
        capacity(20, [0.1], hardware="typical")
    with pytest.raises(InputError, match="loads"):
        capacity(20, [0.0])


# The documentation and the results


def test_the_tutorial_equals_the_results() -> None:
    page = (ROOT / "docs" / "tutorials" / "memory.md").read_text()
    results = json.loads((ROOT / "results" / "memory.json").read_text())
    for table in (capacity_table(results), phase_table(results), chip_table(results)):
        assert table in page, table


def percent(row: dict[str, Any]) -> str:
    return f"{100 * row['rate']:.0f}"


def capacity_table(results: dict[str, Any]) -> str:
    """Rates of oscillators and of Hopfield networks as the page has them."""
    shares = sorted({row["corruption"] for row in results["rows"]})
    titles = (f"{100 * share:.0f} % flipped" for share in shares)
    lines = [f"| rule | load | {' | '.join(titles)} |", "|---" * (len(shares) + 2) + "|"]
    rates = {
        (row["rule"], row["load"], row["corruption"], row["system"]): percent(row)
        for row in results["rows"]
    }
    for rule, load in dict.fromkeys(key[:2] for key in rates):
        pairs = (
            " / ".join(
                rates[rule, load, share, name] for name in ("oscillators", "Hopfield network")
            )
            for share in shares
        )
        lines.append(f"| {rule} | {load:.2f} | {' | '.join(pairs)} % |")
    return "\n".join(lines)


def phase_table(results: dict[str, Any]) -> str:
    """Rates and overlaps of phases as the page has them."""
    lines = ["| rule | load | overlap at least 0.95 | mean overlap |", "|---" * 4 + "|"]
    lines += [
        f"| {row['rule']} | {row['load']:.2f} | {percent(row)} % | {row['overlap']:.3f} |"
        for row in results["phases"]
    ]
    return "\n".join(lines)


def chip_table(results: dict[str, Any]) -> str:
    """Rates on chips as the page has them."""
    titles = "| chip | rule | patterns | 20 % flipped | worst chip | 30 % flipped | worst chip |"
    lines, rates = [titles, "|---" * 7 + "|"], dict[tuple[str, str, int], list[str]]()
    for row in results["chips"]:
        cells = rates.setdefault((row["chip"], row["rule"], row["patterns"]), [])
        refused = "refused" in row
        cells += (
            ["does not fit", ""]
            if refused
            else [f"{percent(row)} %", f"{100 * row['worst']:.0f} %"]
        )
    lines += [f"| {' | '.join(map(str, (*key, *cells)))} |" for key, cells in rates.items()]
    return "\n".join(lines)


def test_figures_of_memories_are_drawn(tmp_path: Path) -> None:
    results = json.loads((ROOT / "results" / "memory.json").read_text())
    draw_capacity(tmp_path / "capacity.png", results["rows"])
    for phases in (False, True):
        patterns = random_patterns(2, 12, phases=phases)
        memory = Memory.store(patterns, phases=phases)
        save(recall_figure(patterns, memory.recall(patterns), (3, 4)), tmp_path / f"{phases}.png")
        save(recall_figure(patterns[0], memory.recall(patterns[0]), (3, 4)), tmp_path / "one.png")
        with pytest.raises(InputError, match="12 pixels"):
            recall_figure(patterns, memory.recall(patterns), (4, 4))
        with pytest.raises(InputError, match="those of the recall"):
            recall_figure(patterns[:1], memory.recall(patterns), (3, 4))
    assert len(list(tmp_path.iterdir())) == 4
