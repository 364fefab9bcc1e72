"""Every figure of the library can be drawn, whatever the data."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image

from entrain.calibration import Calibration, Prior
from entrain.calibration.unknowns import Unknowns
from entrain.data import FeatureScaling
from entrain.evaluation import ClassReport
from entrain.export import Verification
from entrain.hardware import Hardware
from entrain.models.model import Model
from entrain.plots import confusion_matrix, save, style, trajectories, trajectory
from entrain.plots.calibration import draw_calibration
from entrain.plots.chip_yield import draw_yield
from entrain.plots.circuits import draw_verification
from entrain.plots.cost import draw_cost
from entrain.tasks import Classification
from entrain.utils.errors import InputError
from networks import random_network

pytestmark = pytest.mark.filterwarnings("error")

NAMES = {
    "negative": ("a", "b", "c"),
    "constant": ("same", "same ", "same  "),
    "empty": ("", " ", "  "),
    "non-ascii": (
        "\u65e5\u672c $x_1^",
        "\u0645\u0631\u062d\u0628\u0627 {%",
        "\udcff\x1b[0m$\U0001f600$",
    ),
    "long": ("n" * 100, "o" * 100, "p q " * 25),
}
KINDS = tuple(NAMES)


def numbers(kind: str, *shape: int) -> np.ndarray:
    """Numbers from 0 to 1; negative, equal, or none along the first axis."""
    if kind == "empty":
        return np.zeros((0, *shape[1:]))
    values = np.random.default_rng(0).uniform(0.1, 1.0, shape)
    return {"negative": -values, "constant": np.full(shape, 0.5)}.get(kind, values)


def trajectories_figure(kind: str, path: Path, *, phases: bool = False) -> None:
    images, outputs = numbers(kind, 2, 2, 4), numbers(kind, 2, 5, 3).transpose(1, 0, 2)
    figure = trajectories(
        images=images,
        outputs=outputs,
        labels=np.arange(len(images)) % 3,
        class_names=NAMES[kind],
        title="title",
        phases=np.concatenate([outputs, outputs], -1) if phases else None,
    )
    save(figure, path)


def phases_figure(kind: str, path: Path) -> None:
    trajectories_figure(kind, path, phases=True)


def confusion_figure(kind: str, path: Path) -> None:
    labels = numbers(kind, 30) > 0.5
    confusion_matrix(
        ClassReport.of(labels.astype(int), np.zeros(len(labels), int), NAMES[kind]), path
    )


def yield_figure(kind: str, path: Path) -> None:
    accuracies = numbers(kind, 20).tolist()
    name = NAMES[kind][0]
    row = {"factor": 1.0, "mean": 1.0, "p5": 0.0, "p95": 2.0, "strength": "10 %"}
    result: dict[str, Any] = {"accuracies": accuracies, "hardware": {"name": name}}
    result |= {"chips": len(accuracies), "mean": float("nan"), "p5": -1.0, "ideal": 50.0}
    result |= {"confidence": 95, "intervals": {"mean": [-2.0, 1.0]}}
    if accuracies:
        result |= {"effects": {"mismatch": {"alone": accuracies[0], "without": -1.0}}}
        result |= {"strengths": {"phase_noise": [row | {"factor": 0.5}, row]}}
    draw_yield(path, result)


def cost_figure(kind: str, path: Path) -> None:
    title = NAMES[kind][0]
    systems = [
        {"title": title, "energy": energy, "parts": [{"name": "couplers", "energy": energy}]}
        for value in numbers(kind, 3).tolist()
        for energy in ({"low": value, "typical": value, "high": value},)
    ]
    draw_cost(path, systems, title)


def verification_figure(kind: str, path: Path) -> None:
    scores, phases = numbers(kind, 4, 3), numbers(kind, 6, 5)
    verification = Verification(
        *("ngspice", len(scores), 0, 0, 0.0, 0.0, 0.0),
        labels=[0] * max(1, len(scores)),
        verdicts=[],
        scores=scores,
        wanted=scores,
        simulated_phases=phases,
        python_phases=phases,
    )
    draw_verification(path, verification, NAMES[kind])


def calibration_figure(kind: str, path: Path) -> None:
    unknowns = Unknowns(numbers(kind, 4, 4 * (kind != "empty")), Prior())
    estimate = numbers(kind, len(unknowns)) if kind != "empty" else np.zeros(len(unknowns))
    draw_calibration(
        path,
        Calibration(unknowns, estimate, np.abs(estimate), estimate, 0.0, 0.0, 1, Hardware()),
    )


FIGURES = (
    *(trajectories_figure, phases_figure, confusion_figure, yield_figure, cost_figure),
    *(verification_figure, calibration_figure),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_every_figure_is_drawn_without_a_warning(
    draw: Callable[[str, Path], None], kind: str, tmp_path: Path
) -> None:
    draw(kind, tmp_path / "figure.png")
    with Image.open(tmp_path / "figure.png") as figure:
        assert max(figure.size) < 4000


ROWS = np.random.default_rng(1).normal(size=(30, 6))


@pytest.fixture(scope="module")
def model() -> Model:
    network = random_network(scale=2.0, dtype=torch.float32, steps=50)
    scaling = FeatureScaling.fit(ROWS)
    return Model(network, scaling, Classification(("no", "yes", "$")), "some data", "DIRECT")


def test_a_trajectory_ends_at_the_scores_and_names_wrong_answers(model: Model) -> None:
    x, predicted = ROWS[:4], model.predict(ROWS[:4])
    labels = np.where(predicted == "no", "yes", "no")
    panels = trajectory(model, x, labels).axes[:4]
    for axis, answer, label, scores in zip(
        panels, predicted, labels, model.scores(x).tolist(), strict=True
    ):
        assert [float(line.get_ydata()[-1]) for line in axis.lines] == pytest.approx(scores)
        assert axis.get_title() == f"{answer.replace('$', chr(92) + '$')} (is {label})"
    assert "(is" not in trajectory(model, x).axes[0].get_title()


def test_phases_of_all_oscillators_start_together(model: Model, tmp_path: Path) -> None:
    figure = trajectory(model, ROWS[0], phases=True, path=tmp_path / "phases.svg")
    starts = [float(line.get_ydata()[0]) for line in figure.axes[0].lines]
    assert starts == pytest.approx([np.pi / 2] * 8)
    assert (tmp_path / "phases.svg").read_bytes().startswith(b"<?xml")


def test_a_trajectory_has_a_panel_for_each_of_a_few_examples(model: Model) -> None:
    with pytest.raises(InputError, match="at most 25 examples, got 30; choose some rows"):
        trajectory(model, ROWS)
    with pytest.raises(InputError, match="expected 2 labels"):
        trajectory(model, ROWS[:2], ["no"])


def test_a_figure_with_a_palette_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between two writes would leave the first, newer than the results it shows."""
    contents: list[bytes] = []
    monkeypatch.setattr(style, "write_atomically", lambda path, data: contents.append(data))
    style.save(Figure(), tmp_path / "a.png", colours=16)
    (content,) = contents
    with Image.open(io.BytesIO(content)) as image:
        assert image.mode == "P"
