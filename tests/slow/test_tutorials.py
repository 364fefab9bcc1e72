"""The tutorials of the documentation run, and come to what they say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from examples import printed


def test_the_tutorial_of_digits_runs(tmp_path: Path) -> None:
    accuracy, shape, right, downhill, *heated = printed("tutorials/digits.md", tmp_path)
    assert float(accuracy) > 94
    assert shape == "torch.Size([201, 5, 74])"
    assert (right, downhill) == ("True", "True")
    cold, warm, hot = (float(line.split()[1]) for line in heated)
    assert cold == pytest.approx(float(accuracy), abs=0.1)
    assert cold > warm > hot
    assert (tmp_path / "decision.png").exists()


def test_the_tutorial_of_own_data_runs(tmp_path: Path) -> None:
    accuracy, labels, same = printed("tutorials/own-data.md", tmp_path)
    assert float(accuracy) > 90
    assert set(labels.strip("[]").split()) <= {"0", "1", "2"}
    assert same == "True"
    answers = (tmp_path / "answers.csv").read_text().splitlines()
    assert len(answers) == 1 + 178


def test_the_tutorial_of_numbers_runs(tmp_path: Path) -> None:
    nrmse, predicted, ours, ridge, within, series = printed("tutorials/numbers.md", tmp_path)
    assert float(nrmse) < 0.8
    assert len(predicted.strip("[]").split()) == 2
    assert float(ours) > float(ridge) - 0.1
    assert float(within) > 0.85
    assert float(series) < 0.02


def test_the_tutorial_of_sequences_runs(tmp_path: Path) -> None:
    data, accuracy, labels, vowels, on_chips = printed("tutorials/sequences.md", tmp_path)
    assert "sequences" not in data
    assert float(accuracy) > 85
    assert float(vowels) > 92
    assert set(labels.strip("[]").replace("'", "").split()) <= {"low", "middle", "high"}
    assert float(on_chips) > 60


def test_the_tutorial_of_teachers_runs(tmp_path: Path) -> None:
    by_classifier, temperature, half, distorted, same, convolutional = printed(
        "tutorials/any-teacher.md", tmp_path
    )
    assert all(float(accuracy) > 90 for accuracy in (by_classifier, half, distorted))
    assert (float(temperature), same, convolutional) == (2.0, "True", "True")
    for folder in ("from-table", "smaller"):
        assert (tmp_path / folder / "results.json").exists()


def test_the_tutorial_of_sounds_runs(tmp_path: Path) -> None:
    data, accuracy, label, front_end, shape = printed("tutorials/listening.md", tmp_path)
    assert "sounds" in data
    assert float(accuracy) > 85
    assert label == "['fall']"
    assert front_end == "LogMel(rate=8000, bands=24, window=0.025, hop=0.01)"
    assert shape == "(98, 24)"


def test_the_tutorial_of_own_loops_runs(tmp_path: Path) -> None:
    learned, score, *report, better, under_noise, shape = printed("tutorials/own-loop.md", tmp_path)
    assert float(learned) > 0.9
    assert float(score) > 0.9
    assert report
    assert better == "True"
    assert float(under_noise) > 0.8
    assert shape == "torch.Size([5, 300, 3])"


def test_the_tutorial_of_chips_runs(tmp_path: Path) -> None:
    one, trained, ideal, ours, classifier = printed("tutorials/chips.md", tmp_path)
    assert float(trained.split()[0]) > 80
    assert float(one) > 75
    assert float(ideal.split()[0]) < 50
    assert float(ours) > 85
    on_one, on_many = map(float, classifier.split())
    assert on_one > 0.85
    assert on_many > 90
    assert (tmp_path / "digits-for-chips.safetensors").exists()


def test_the_tutorial_of_equilibrium_propagation_runs(tmp_path: Path) -> None:
    frequencies, its_own, another = printed("tutorials/equilibrium-propagation.md", tmp_path)
    assert float(frequencies) > 50
    assert float(its_own) > 80
    assert float(another) < float(its_own) - 5


def test_the_tutorial_of_solving_runs(tmp_path: Path) -> None:
    best, counted, phases, bounded, *times, exact, rough = printed("tutorials/solving.md", tmp_path)
    assert best == counted
    assert 60 <= int(best) <= 72
    start, end = (float(word) for word in phases.split() if "." in word)
    assert start > 0.6 > 0.4 > end
    assert bounded == "True"
    shares = [float(line.split()[1].strip(",")) for line in times]
    assert shares == sorted(shares)
    assert len(shares) == 3
    (_, mean, reached), (_, mean_rough, _) = exact.split(), rough.split()
    assert float(reached) > 0.5
    assert float(mean) > float(mean_rough)
    for name in ("cut.png", "yield.png"):
        assert (tmp_path / name).stat().st_size > 5_000
    assert (tmp_path / "cut" / "solution.json").exists()


def test_the_tutorial_of_memories_runs(tmp_path: Path) -> None:
    shape, best, matches, rates, half, negative, downhill, ark, typical, phases, again = printed(
        "tutorials/memory.md", tmp_path
    )
    assert shape == "(6, 256)"
    assert best == "[0, 1, 2, 3, 4, 5]"
    assert json.loads(matches) == [1.0] * 6
    hebbian, inverse = (float(part.split()[0]) for part in rates.split(","))
    assert hebbian == 0.0 < 0.95 < inverse
    assert float(half) == 1.0
    assert negative == "True [0, 1, 2, 3, 4, 5]"
    assert downhill == "True"
    for line in (ark, typical):
        assert float(line.split("mean overlap ")[1].strip(")")) > 0.95
    assert phases == "[0, 1, 2, 3, 4] True"
    assert again == "True"
    assert (tmp_path / "recalled.png").stat().st_size > 5_000


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
def test_the_tutorial_of_spice_runs(tmp_path: Path) -> None:
    accuracy, agree, close = printed("tutorials/spice.md", tmp_path)
    assert float(accuracy) > 60
    assert (agree, close) == ("3 3", "True")
    found = json.loads((tmp_path / "small-lc" / "verify.json").read_text())
    assert found["images"] == 1


@pytest.mark.slow  # test_reproduction.py has its commands at a smaller size
def test_the_tutorial_of_reproduction_runs(tmp_path: Path) -> None:
    values, reported = printed("tutorials/reproduction.md", tmp_path)
    assert "rows" in values
    assert reported == "True"


@pytest.mark.slow  # test_ray_engine.py starts a Ray of its own, test_yield_ray.py has the command
def test_the_tutorial_of_ray_runs(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    (chips,) = printed("tutorials/ray.md", tmp_path)
    assert chips == "4"


def test_the_walk_through_the_architecture_runs(tmp_path: Path) -> None:
    by_hand, gradients, on_chip, files, cut = printed("how-it-works/architecture.md", tmp_path)
    assert by_hand == "[7, 2] [7, 2]"
    assert "'input_weights': (1, 64, 784)" in gradients
    assert on_chip == "[7, 2]"
    assert "image-0001.cir" in files
    assert int(cut) >= 60
