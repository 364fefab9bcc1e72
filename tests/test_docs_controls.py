"""The pages on controls equal the measured results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entrain.evaluation.controls import CONTROLS, EXPLANATIONS, catalogue
from examples import ROOT, printed

TITLES = {
    "digits": "digits",
    "japanese-vowels": "Japanese vowels",
    "spoken-digits": "spoken digits",
    "mnist": "MNIST, part",
    "fashion-mnist": "Fashion-MNIST, part",
}


def results() -> dict[str, dict[str, Any]]:
    """The committed results by title."""
    files = {title: ROOT / "results" / f"controls-{name}.json" for name, title in TITLES.items()}
    return {title: json.loads(file.read_text()) for title, file in files.items() if file.exists()}


def table() -> str:
    """Means and differences of every control as the page has them, in points of top-1."""
    measured = results()
    lines = [f"| control | {' | '.join(measured)} |", "|---" * (1 + len(measured)) + "|"]
    for name in CONTROLS[1:]:
        cells = []
        for result in measured.values():
            row = next(row for row in result["controls"] if row["name"] == name)
            if name == catalogue.TRAINED:
                cells.append(f"{row['mean']:.2f} ± {row['sd']:.2f} %")
                continue
            text = f"{row['difference']:+.2f} ± {row['half_width']:.2f}"
            is_clear = abs(row["difference"]) > row["half_width"]
            cells.append(f"**{text}**" if is_clear else text)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_equals_the_results() -> None:
    assert table() in (ROOT / "docs" / "results.md").read_text(), table()


@pytest.mark.parametrize("title", results())
def test_the_sentences_equal_the_results(title: str) -> None:
    result, page = results()[title], (ROOT / "docs" / "controls.md").read_text()
    assert result["sentence"] in " ".join(page.split())
    assert len(result["controls"]) == len(CONTROLS)
    assert result["runs"] == 5


def test_every_control_is_explained() -> None:
    page = (ROOT / "docs" / "controls.md").read_text()
    for name in EXPLANATIONS:
        assert f"| {name} |" in page


def test_the_examples_run(tmp_path: Path) -> None:
    sentence, values, difference = printed("controls.md", tmp_path)
    assert "over a perceptron" in sentence or "against a perceptron" in sentence
    assert len(json.loads(values.replace("(", "[").replace(")", "]"))) == 3
    assert difference.startswith("PairedDifference(mean=")
