"""The documentation's examples run, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import entrain
from entrain import rules

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "results" / "README.md"])


def printed(page: str, folder: Path) -> list[str]:
    """What the examples of a page print, run one after the other in `folder`."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", "".join(blocks)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_examples_of_own_networks_run(tmp_path: Path) -> None:
    couplers, gradient, learned, accuracy, *_ = printed("networks.md", tmp_path)
    assert (couplers, gradient) == ("100", "torch.Size([24])")
    assert float(learned) > 0.95
    assert float(accuracy) > 85
    assert (tmp_path / "with-frequencies.safetensors").exists()


def test_the_examples_of_training_in_one_call_run(tmp_path: Path) -> None:
    accuracy, same = printed("training.md", tmp_path)
    assert float(accuracy) > 0.95
    assert same == "True"


def test_the_examples_of_the_estimator_run(tmp_path: Path) -> None:
    accuracy, *_, chip, chips, same, shape = printed("estimator.md", tmp_path)
    assert float(accuracy) > 0.96
    assert float(chip) > 0.65
    mean, low = map(float, chips.split())
    assert mean > 75
    assert low > 65
    assert (same, shape) == ("True", "torch.Size([201, 5, 74])")
    assert (tmp_path / "digits-table.safetensors").exists()


def test_the_examples_of_chips_run(tmp_path: Path) -> None:
    one, trained, ideal, ours, classifier = printed("hardware.md", tmp_path)
    assert float(trained.split()[0]) > 80
    assert float(one) > 75
    assert float(ideal.split()[0]) < 50
    assert float(ours) > 85
    on_one, on_many = map(float, classifier.split())
    assert on_one > 0.85
    assert on_many > 90
    assert (tmp_path / "digits-for-chips.safetensors").exists()


def test_the_examples_of_training_rules_run(tmp_path: Path) -> None:
    (accuracy,) = printed("rules.md", tmp_path)
    assert float(accuracy) > 50


def test_the_page_of_rules_names_every_protocol_that_is_not_the_papers() -> None:
    text = (ROOT / "docs" / "rules.md").read_text()
    assert "docs/rules.md" in (ROOT / "README.md").read_text()
    for name in entrain.PROTOCOLS.keys() - rules.PAPER_PROTOCOLS.keys():
        assert name.split("-FROM-")[0] in text


def test_the_example_of_a_compared_system_runs(tmp_path: Path) -> None:
    (accuracies,) = printed("bake-off.md", tmp_path)
    assert all(float(each) > 80 for each in accuracies.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_examples_of_circuits_run(tmp_path: Path) -> None:
    (accuracy,) = printed("circuits.md", tmp_path)
    assert float(accuracy) > 0.95


def test_the_examples_of_costs_run(tmp_path: Path) -> None:
    counts, *parts = printed("cost.md", tmp_path)
    assert counts.endswith(" True")
    assert [line.rsplit(maxsplit=2)[0] for line in parts][-2:] == ["couplers", "readout"]


def test_the_examples_of_calibration_run(tmp_path: Path) -> None:
    (line,) = printed("calibration.md", tmp_path)
    assert float(line.split()[0]) < 0.012
    assert (tmp_path / "calibrated.safetensors").is_file()
