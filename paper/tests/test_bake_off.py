"""`entrain bakeoff`: its list, measurements, search and report."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.text import Text
from torch import Tensor

from command_line import Invoke, Refuse, printed
from entrain.data import load_dataset
from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper import peers
from entrain_paper.experiments import EXPERIMENTS, TINY
from entrain_paper.experiments.bake_off import entries, experiment, experiments_named
from entrain_paper.figures import FIGURES
from entrain_paper.figures.bake_off import COSTS, pareto_front
from entrain_paper.peers import SYSTEMS, Peer
from entrain_paper.peers.search import current_settings, search_system
from entrain_paper.report.tables import TABLES
from synthetic_bake_off import BOTH, ON_CPU, results
from synthetic_bake_off import SYSTEMS as MADE_UP

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]

KEYS = {
    *("system", "dataset", "cited", "measured_mean", "measured_sd", "runs", "parameters"),
    *("variables", "couplers", "seconds", "energy", "validation", "epochs", "why"),
}


@dataclass(frozen=True)
class Line(Peer):
    """Scores W x, the smallest trainable system."""

    title: ClassVar[str] = "A line"
    cited: ClassVar[dict[str, float]] = {"MNIST": 99.9, "Fashion-MNIST": 1.0}
    name: str = "line"
    rate: float = 0.01

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return {"W": 0.01 * torch.randn(classes, inputs, generator=generator)}

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        return inputs @ parameters["W"].mT

    @property
    def variables(self) -> int:
        return 10


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    """A small system, added to the others."""
    system = Line()
    monkeypatch.setitem(peers.SYSTEMS, system.name, system)
    return system


def quick(folder: Path, *names: str) -> list[object]:
    return ["bakeoff", *names, "--size=tiny", "--device=cpu", "--out", folder]


# The command


def test_list_has_every_system_with_its_cited_accuracy(invoke: Invoke) -> None:
    found = printed(invoke, "bakeoff", "--list")["systems"]
    assert {*SYSTEMS, "two-stage-end", "direct", "ep"} <= set(found)
    assert found["scellier"]["cited"] == {"MNIST": 98.21}
    assert found["two-stage-end"]["cited"]["Fashion-MNIST"] == pytest.approx(86.4, abs=0.01)
    shown = invoke("bakeoff").stdout
    assert all(name in shown for name in ("scellier", "98.21 / -", "96.71 / 86.40"))


def test_wrong_names_and_options_are_refused(refuse: Refuse, tmp_path: Path) -> None:
    assert "did you mean 'scellier'?" in refuse("bakeoff", "sceller", "--json")
    assert "choose from Fashion-MNIST, MNIST" in refuse("bakeoff", "all", "--dataset", "cifar")
    assert "--runs must be a whole number" in refuse("bakeoff", "all", "--runs", 0)
    assert "needs the name of a system" in refuse("bakeoff", "--search")
    assert "search its settings with entrain search" in refuse("bakeoff", "direct", "--search")
    missing = refuse("bakeoff", "all", "--search", "--out", tmp_path)
    assert "run entrain bakeoff all first" in missing
    assert not list(tmp_path.iterdir())


def test_system_is_measured_once(line: Line, invoke: Invoke, tmp_path: Path) -> None:
    first = printed(invoke, *quick(tmp_path, "line"))
    assert [row["dataset"] for row in first["rows"]] == list(BOTH)
    for row in first["rows"]:
        assert set(row) >= KEYS
        assert row["measured_mean"] == pytest.approx(np.mean(row["runs"]))
        assert len(row["runs"]) == len(row["validation"]) == len(row["epochs"]) == TINY.few_runs
        assert row["measured_mean"] > 40  # chance is 10
        assert (row["parameters"], row["variables"], row["couplers"]) == (7840, 10, None)
    kept = json.loads((tmp_path / "bake-off-line.json").read_text())
    assert kept["values"]["rows"] == first["rows"]
    again = invoke(*quick(tmp_path, "line"))
    assert "nothing to do" in again.stdout
    assert f"{first['rows'][0]['measured_mean'] - 99.9:+.2f}" in again.stdout


def test_noisy_system_has_the_same_row_when_measured_again(invoke: Invoke, tmp_path: Path) -> None:
    def measured() -> list[dict[str, Any]]:
        rows = printed(invoke, *quick(tmp_path, "whitelam", "--dataset=mnist"))["rows"]
        return [{name: row[name] for name in row if name != "seconds"} for row in rows]

    first = measured()
    (tmp_path / "bake-off-whitelam-mnist.json").unlink()
    with torch.random.fork_rng([]):
        torch.manual_seed(1)
        assert measured() == first


def test_all_writes_the_report_with_figures(
    line: Line, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = experiment([line])
    monkeypatch.setattr("entrain_paper.experiments.bake_off.EXPERIMENT", small)
    done = invoke(*quick(tmp_path, "all"))
    assert done.exit_code == 0, done.stderr
    assert "REPRODUCTION.md" in done.stdout
    assert (tmp_path / "bake-off.json").is_file()
    report = (tmp_path / "reproduction" / "bake-off.md").read_text()
    assert "| `line`: A line | 99.90 |" in report
    for cost in (*COSTS, "cited"):
        assert f"figures/bake-off-{cost}.png" in report
        assert (tmp_path / "figures" / f"bake-off-{cost}.png").is_file()


def test_single_dataset_has_a_separate_file_and_shares_trainings(
    line: Line, invoke: Invoke, tmp_path: Path
) -> None:
    done = invoke(*quick(tmp_path, "line", "--dataset", "mnist"))
    assert done.exit_code == 0, done.stderr
    assert "2 of 2 jobs" in done.stdout
    both = invoke(*quick(tmp_path, "line"))
    assert "2 of 3 jobs" in both.stdout  # the other dataset, and the measurement
    names = {path.name for path in tmp_path.glob("*.json")}
    assert names == {"bake-off-line.json", "bake-off-line-mnist.json"}


def test_all_is_the_bake_off_experiment() -> None:
    assert experiments_named(["all"]) == [EXPERIMENTS["bake-off"]]
    (one,) = experiments_named(["all"], ("MNIST",))
    assert one.name == "bake-off-mnist"
    both, half = (each.stages(TINY) for each in (EXPERIMENTS["bake-off"], one))
    assert {stage.key for stage in half} < {stage.key for stage in both}
    assert len(half) == len(entries())


def test_single_systems_have_the_stages_of_the_bake_off() -> None:
    names = [entry.name for entry in entries()]
    assert len(set(names)) == len(names)
    whole = {stage.key for stage in EXPERIMENTS["bake-off"].stages(TINY)}
    parts = [each.stages(TINY) for each in experiments_named(names)]
    assert {stage.key for stages in parts for stage in stages} == whole


# The search


def test_current_settings_are_inside_the_search_space() -> None:
    for system in SYSTEMS.values():
        for name, (low, high) in system.search_space().items():
            assert low <= getattr(system, name) <= high, (system.name, name)
            assert low < high


def test_search_continues_with_its_earlier_trials(
    line: Line, invoke: Invoke, tmp_path: Path
) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed")
    options = [*quick(tmp_path, "line"), "--search", "--epochs=1", "--dataset=MNIST"]
    (first,) = printed(invoke, *options, "--trials=2")["searches"]
    assert first["own"]["settings"] == {"rate": line.rate}
    assert first["best"]["top1"] >= first["own"]["top1"]
    kept = json.loads((tmp_path / "searches" / "line-mnist.json").read_text())
    assert kept["trials"] == first["trials"]
    (more,) = printed(invoke, *options, "--trials=4")["searches"]
    assert len(more["trials"]) == 4
    assert all(trial in more["trials"] for trial in first["trials"])


def test_search_of_all_takes_systems_below_their_cited_accuracy(
    line: Line, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed")
    monkeypatch.setattr("entrain_paper.experiments.bake_off.ENTRAIN_SYSTEMS", ())
    for name in [*peers.SYSTEMS]:
        if name != line.name:
            monkeypatch.delitem(peers.SYSTEMS, name)
    whole = experiments_named(["all"], ("MNIST",))[0]
    assert whole.name == "bake-off-mnist"
    options = quick(tmp_path, "all")
    assert invoke(*options, "--dataset=MNIST").exit_code == 0
    searched = ["--search", "--trials=1", "--epochs=1"]
    found = printed(invoke, *options, *searched, "--dataset=MNIST")["searches"]
    assert [(each["system"], each["dataset"]) for each in found] == [("line", "MNIST")]
    assert invoke(*options, "--dataset=Fashion-MNIST").exit_code == 0
    reached = invoke(*options, *searched, "--dataset=Fashion-MNIST")
    assert "nothing to search" in reached.stdout


def test_search_without_remaining_minutes_starts_no_trial() -> None:
    pytest.importorskip("optuna", reason="optuna is not installed")
    digits, cpu = load_dataset("digits"), torch.device("cpu")
    short = Line(epochs=1)
    assert not search_system(digits, short, trials=3, minutes=0.0, device=cpu)
    (only,) = search_system(digits, short, trials=1, device=cpu)
    assert only.settings == current_settings(short)


# The report


def draw(name: str, runs: int = 3) -> Figure:
    return FIGURES[name].draw(json.loads(json.dumps(results(runs))))


def test_table_has_cited_measured_difference_and_reason() -> None:
    text = TABLES["bake-off"](json.loads(json.dumps(results(3)))["bake-off"])
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    found = [[cell.strip() for cell in line] for line in lines]
    heading, *mnist = found[: 1 + len(MADE_UP)]
    cells = {
        line[0].split(":")[0].strip("`"): dict(zip(heading, line, strict=True)) for line in mnist
    }
    gower = cells["gower"]
    assert (gower["cited"], gower["measured"], gower["difference"]) == (
        "97.20",
        "97.00 ± 0.05",
        "-0.20",
    )
    assert gower["reason"] == "reason of gower"
    assert (cells["nmode"]["parameters"], cells["ep"]["energy"]) == ("1,628,170", "12.3")
    assert (cells["direct"]["cited"], cells["direct"]["difference"]) == ("", "")
    tops = [float(line[2].split()[0]) for line in mnist]
    assert tops == sorted(tops, reverse=True)


def test_pareto_front_has_exactly_the_undominated_points() -> None:
    generator = np.random.default_rng(0)
    points = [(float(x), float(y)) for x, y in generator.integers(1, 12, (40, 2))]
    front = pareto_front(points)

    def beaten(point: tuple[float, float]) -> bool:
        return any(x <= point[0] and y >= point[1] and (x, y) != point for x, y in points)

    assert set(front) == {point for point in points if not beaten(point)}


@pytest.mark.parametrize("cost", COSTS)
def test_figure_labels_every_system_with_a_cost(cost: str) -> None:
    figure = draw(f"bake-off-{cost}")
    rows = [row for row in results(3)["bake-off"]["rows"] if row[cost]]
    if cost == "seconds":  # of one kind of device only
        rows = [row for row in rows if "NVIDIA" in row["device"]]
        assert len(rows) == 2 * (len(MADE_UP) - len(ON_CPU))
    for axis in figure.axes:
        members = [row for row in rows if row["dataset"] == axis.get_title()]
        marked = {
            (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
            for line in axis.lines
            if line.get_marker() in ("o", "s", "^")
        }
        assert marked == {(row[cost], row["measured_mean"]) for row in members}
        assert {text.get_text() for text in axis.texts} == {row["system"] for row in members}
        low, high = axis.get_xlim()
        assert low < min(x for x, _ in marked) <= max(x for x, _ in marked) < high


@pytest.mark.parametrize("name", [*(f"bake-off-{cost}" for cost in COSTS), "bake-off-cited"])
def test_labels_do_not_overlap(name: str) -> None:
    figure = draw(name)
    figure.draw_without_rendering()
    for axis in figure.axes:
        boxes = [Text.get_window_extent(text) for text in axis.texts]  # without its line
        for one, other in itertools.combinations(boxes, 2):
            wide = min(one.x1, other.x1) - max(one.x0, other.x0)
            high = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert min(wide, high) <= 0.5, (name, wide, high)


def test_cited_figure_has_only_systems_with_a_cited_accuracy() -> None:
    axes = draw("bake-off-cited").axes
    for place, axis in enumerate(axes):
        cited = {name for name, values in MADE_UP.items() if values[3][place] is not None}
        assert {text.get_text() for text in axis.texts} == cited
