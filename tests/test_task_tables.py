"""The tables of docs/tasks.md equal results/tasks.json."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from typing import Any

from examples import ROOT

RESULTS: dict[str, Any] = json.loads((ROOT / "results" / "tasks.json").read_text())
PAGE = (ROOT / "docs" / "tasks.md").read_text()
SEQUENCES = {"japanese-vowels": "Japanese vowels", "spoken-digits": "spoken digits"}


def spread(values: Sequence[float], digits: int) -> str:
    """Mean and standard deviation of several values, or the only one."""
    text = f"{statistics.mean(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {statistics.stdev(values):.{digits}f}"


def number_table() -> str:
    """NRMSE of every model, the smallest in bold."""
    names = list(RESULTS["numbers"]["diabetes"])
    rows = [f"| NRMSE | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for problem, scores in sorted(RESULTS["numbers"].items()):
        errors = {name: scores[name]["nrmse"] for name in names}
        best = min(names, key=lambda name: statistics.mean(errors[name]))
        digits = 4 if statistics.mean(errors[best]) < 0.1 else 3
        cells = [spread(errors[name], digits) for name in names]
        cells = [f"**{c}**" if n == best else c for n, c in zip(names, cells, strict=True)]
        rows.append(f"| {problem} | {' | '.join(cells)} |")
    return "\n".join(rows)


def sequence_table() -> str:
    """Test accuracy of every model, with its parameters and the number of runs."""
    rows = [f"| test top-1 % | {' | '.join(SEQUENCES.values())} |", "|---|---|---|"]
    for model in RESULTS["japanese-vowels"]:
        cells = []
        for part in SEQUENCES:
            result = RESULTS[part].get(model)
            cells.append("" if result is None else sequence_cell(result))
        rows.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(rows)


def speaker_table() -> str:
    """Accuracy on each speaker who was left out, and the means."""
    scores = RESULTS["speakers"]
    models = list(next(iter(scores.values())))
    rows = [f"| speaker left out | {' | '.join(models)} |", "|---" * (len(models) + 1) + "|"]
    for speaker, values in scores.items():
        rows.append(f"| {speaker} | {' | '.join(f'{values[m]:.1f} %' for m in models)} |")
    means = (statistics.mean(values[m] for values in scores.values()) for m in models)
    return "\n".join([*rows, f"| mean | {' | '.join(f'{mean:.1f} %' for mean in means)} |"])


def sequence_cell(result: dict[str, Any]) -> str:
    """Accuracy, parameters and runs of a model."""
    extra = [f"{result['parameters']:,} parameters"] if "parameters" in result else []
    if len(result["top1"]) > 1:
        extra.append(f"{len(result['top1'])} runs")
    text = spread(result["top1"], 2)
    return f"{text} ({', '.join(extra)})" if extra else text


def test_the_table_of_numbers_equals_the_results() -> None:
    assert number_table() in PAGE, number_table()


def test_the_table_of_sequences_equals_the_results() -> None:
    assert sequence_table() in PAGE, sequence_table()


def test_the_table_of_speakers_equals_the_results() -> None:
    assert speaker_table() in PAGE, speaker_table()


def test_the_bars_are_met() -> None:
    series = RESULTS["numbers"]["Mackey-Glass"]["KuramotoRegressor"]["nrmse"]
    assert max(series) <= 0.02
    for part, bar in (("japanese-vowels", 94.0), ("spoken-digits", 98.0)):
        assert statistics.mean(RESULTS[part]["oscillators"]["top1"]) >= bar
