"""A yield that is measured into a file: interrupted, killed, extended, and never mixed up."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import Invoke, Refuse, environment, killed_after, printed
from entrain.data import Split
from entrain.evaluation.chip_yield import Block, ChipTest, yield_of, yields_of
from entrain.hardware import Hardware, Mismatch, preset
from entrain.models.model import Model
from entrain.utils.errors import InputError
from entrain.utils.files import file_lock, strict_json, with_digest
from test_yield import chip_run as chip_run
from test_yield import model as model
from test_yield import test_set as test_set

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]

TYPICAL = preset("typical")

# `entrain` with two chips in a block, which waits for SIGINT after the third block.
WAITING = """
import sys, time
from entrain.cli import main
from entrain.evaluation import chips
from entrain.evaluation.chip_yield import ChipTest

chips._ON_A_CPU = 2 * 300  # the test examples of digits
measure, blocks = ChipTest.correct, 0

def wait(test, block):
    global blocks
    blocks += 1
    if blocks == 4:
        print("three blocks", file=sys.stderr, flush=True)
        time.sleep(60)
    return measure(test, block)

ChipTest.correct = wait
main()
"""

# `entrain` with two chips in a block, each kept at once, killed when it replaces the file for the
# COUNTth time, just before or just after.
DRIVER = """
import os, signal, sys
from entrain.evaluation import yield_file
from entrain.cli import main
from entrain.evaluation import chips

yield_file.SECONDS_BETWEEN_SAVES = 0.0
moment, count, *sys.argv[1:] = sys.argv[1:]
chips._ON_A_CPU = 2 * 300  # the test examples of digits
replace, left = os.replace, int(count)

def replace_and_die(source, target):
    global left
    left -= str(target).endswith("yield.json")
    if left == 0 and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

os.replace = replace_and_die
main()
"""


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of chips that are measured in this process, as they are."""
    seeds: list[int] = []
    measure = ChipTest.correct

    def counted(test: ChipTest, block: Block) -> list[bytes]:
        seeds.extend(block.seeds)
        return measure(test, block)

    monkeypatch.setattr(ChipTest, "correct", counted)
    return seeds


def kept_in(path: Path) -> dict[str, list[float]]:
    (kind,) = json.loads(path.read_text())["measured"]["kinds"]
    return kind


def killed(moment: str, count: int, *arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *map(str, (moment, count, *arguments))],
        env=environment(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_killed_measurement_goes_on_where_it_was(
    chip_run: Path, tmp_path: Path, invoke: Invoke, measured: list[int]
) -> None:
    file, plain = tmp_path / "yield.json", ("yield", chip_run, "--chips", 9)
    undisturbed = printed(invoke, *plain)
    measured.clear()
    killed("after", 2, *plain, "--out", file)
    assert kept_in(file)["seeds"] == [0, 1, 2, 3]
    killed("before", 2, *plain, "--out", file)
    assert kept_in(file)["seeds"] == [0, 1, 2, 3, 4, 5]
    assert len(list(tmp_path.glob(".*"))) == 1  # what was half-written
    found = printed(invoke, *plain, "--out", file)
    assert measured == [6, 7, 8]
    assert found == undisturbed | {"file": str(file)}
    assert list(tmp_path.glob(".*")) == []
    kept = json.loads(file.read_text())
    assert {name: kept[name] for name in undisturbed} == undisturbed


def test_more_chips_are_added_and_fewer_are_taken(
    model: Model, test_set: Split, tmp_path: Path, measured: list[int]
) -> None:
    file = tmp_path / "yield.json"
    whole = yield_of(model, TYPICAL, test_set, chips=12)
    measured.clear()
    for first, chips, new in ((0, 4, 4), (6, 3, 3), (0, 12, 5), (2, 9, 0)):
        done: list[float] = []
        found = yield_of(
            model,
            "typical",
            test_set,
            chips=chips,
            first_seed=first,
            out=file,
            on_done=done.extend,
        )
        assert found.accuracies == whole.accuracies[first : first + chips]
        assert sorted(done) == sorted(found.accuracies)
        assert len(measured) == new
        measured.clear()


def test_an_error_keeps_what_was_measured(
    model: Model, test_set: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, measure = tmp_path / "yield.json", ChipTest.correct

    def fail(test: ChipTest, block: Block) -> list[bytes]:
        if 4 in block.seeds:
            raise KeyboardInterrupt
        return measure(test, block)

    monkeypatch.setattr("entrain.evaluation.chips._ON_A_CPU", 2 * len(test_set))
    monkeypatch.setattr(ChipTest, "correct", fail)
    with pytest.raises(KeyboardInterrupt):
        yield_of(model, TYPICAL, test_set, chips=8, out=file)
    assert kept_in(file)["seeds"] == [0, 1, 2, 3]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("json_too", [False, True])
def test_interrupted_yield_shows_the_chips_it_measured(
    invoke: Invoke, chip_run: Path, json_too: bool
) -> None:
    command = [sys.executable, "-c", WAITING, "yield", str(chip_run), "--effects", "--chips=9"]
    process = subprocess.Popen(
        [*command, "--json"] if json_too else command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with killed_after(120, process):
        assert process.stderr is not None
        assert process.stderr.readline() == "three blocks\n"
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted after 6 of 9 chips" in said
    expected = printed(invoke, "yield", chip_run, "--chips", 6)
    if json_too:
        assert json.loads(shown) == expected | {"interrupted": True, "chips_asked": 9}
    else:
        assert f"{expected['mean']:.2f}" in shown
        assert "6 chips of typical" in shown


def test_a_file_of_an_earlier_version_is_refused_and_kept(
    model: Model, test_set: Split, tmp_path: Path
) -> None:
    """It has one draw of noise for all chips."""
    file = tmp_path / "yield.json"
    yield_of(model, TYPICAL, test_set, chips=2, out=file)
    measured = json.loads(file.read_text())["measured"]
    del measured["version"], measured["examples"], measured["kinds"][0]["correct"]
    file.write_text(strict_json(with_digest({"measured": measured})))
    before = file.read_bytes()
    with pytest.raises(InputError, match="of an earlier version of entrain, which drew the noise"):
        yield_of(model, TYPICAL, test_set, chips=3, out=file)
    assert file.read_bytes() == before


def test_a_file_of_something_else_is_refused_and_kept(
    model: Model, test_set: Split, tmp_path: Path
) -> None:
    file = tmp_path / "yield.json"
    yield_of(model, TYPICAL, test_set, chips=2, out=file)
    before = file.read_bytes()
    other = replace(
        model,
        network=type(model.network).from_parameters(
            model.network.as_parameters().map(lambda tensor: 1.01 * tensor.detach()),
            model.network.dynamics,
        ),
    )
    fewer = test_set.rows(slice(50))
    for words, arguments, options in (
        ("of another model", (other, TYPICAL, test_set), {}),
        ("on other examples, or on another number of them", (model, TYPICAL, fewer), {}),
        ("on other hardware", (model, TYPICAL.without("dead"), test_set), {}),
        ("with another seed of the noise", (model, TYPICAL, test_set), {"noise_seed": 1}),
    ):
        with pytest.raises(InputError, match=f"holds the yield {words}, and nothing is overwr"):
            yield_of(*arguments, chips=2, out=file, **options)
        assert file.read_bytes() == before
    renamed = replace(TYPICAL, name="ours")
    assert len(yield_of(model, renamed, test_set, chips=3, out=file).accuracies) == 3


def test_a_file_belongs_to_its_number_of_examples(
    chip_run: Path, tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    file = tmp_path / "yield.json"
    some = ("yield", chip_run, "--out", file)
    found = printed(invoke, *some, "--chips", 3, "--examples", 40)
    assert json.loads(file.read_text())["examples"] == found["examples"] == 40
    before = file.read_bytes()
    for other in ((), ("--examples", 41)):
        message = refuse(*some, "--chips", 3, *other)
        assert "holds the yield on other examples, or on another number of them" in message
        assert file.read_bytes() == before
    more = printed(invoke, *some, "--chips", 4, "--examples", 40)
    assert more["accuracies"][:3] == found["accuracies"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense", "not a file of entrain yield"),
        ("[1]", "not a file of entrain yield"),
        (strict_json(with_digest({"measured": 3})), "not a file of entrain yield"),
        (strict_json(with_digest({"mean": 3})), "not a file of entrain yield"),
        (strict_json(with_digest({"measured": {"version": 2}})), "not a file of entrain yield"),
        ('{"mean": 98.5}', "not a file of entrain yield (no digest)"),
    ],
)
def test_a_file_of_another_sort_is_refused(
    refuse: Refuse, chip_run: Path, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "yield.json"
    file.write_text(content)
    assert message in refuse("yield", chip_run, "--chips", 2, "--out", file)
    assert file.read_text() == content


def test_a_changed_file_is_refused(refuse: Refuse, invoke: Invoke, chip_run: Path, tmp_path: Path):
    file = tmp_path / "yield.json"
    printed(invoke, "yield", chip_run, "--chips", 2, "--out", file)
    file.write_text(file.read_text().replace('"noise_seed": 0', '"noise_seed": 1'))
    assert "does not match its digest" in refuse("yield", chip_run, "--chips", 2, "--out", file)


def test_two_processes_do_not_measure_into_one_file(
    refuse: Refuse, chip_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "yield.json"
    with file_lock(tmp_path / "yield.json.lock") as ours:
        assert ours
        assert "another process is measuring into it" in refuse(
            "yield", chip_run, "--chips", 2, "--out", file
        )
    assert not file.exists()


def test_bad_places_and_engines_are_refused(refuse: Refuse, chip_run: Path, tmp_path: Path) -> None:
    few = ("yield", chip_run, "--chips", 2)
    assert "is a folder, expected a file such as" in refuse(*few, "--out", tmp_path)
    assert "ends in .json" in refuse(*few, "--out", tmp_path / "yield.txt")
    assert "unknown engine 'rya'; did you mean 'ray'" in refuse(*few, "--engine", "rya")
    assert "address belongs to the engine ray" in refuse(*few, "--address", "127.0.0.1:1")
    assert "be requested from a cluster" in refuse(*few, "--engine", "ray", "--device", "cuda:1")
    assert list(tmp_path.iterdir()) == []


def test_kinds_that_are_equal_are_measured_once(
    model: Model, test_set: Split, measured: list[int]
) -> None:
    one = Hardware(mismatch=Mismatch(couplings=0.5))
    found = yields_of(model, [one, Hardware(), replace(one, name="again")], test_set, chips=3)
    assert len(measured) == 6
    assert found[one] == yield_of(model, one, test_set, chips=3)


def test_the_strengths_of_each_effect(
    invoke: Invoke, chip_run: Path, model: Model, test_set: Split, tmp_path: Path
) -> None:
    kind, file = tmp_path / "three.toml", tmp_path / "yield.json"
    kind.write_text(
        '[wiring]\nkind = "kings"\noutputs = "spread"\n'
        "[coupling_levels]\nbits = 3\n[mismatch]\ncouplings = 0.4\n"
    )
    command = ("yield", chip_run, "--hardware", kind, "--chips", 6)
    figure = tmp_path / "strengths.svg"
    options = ("--strengths", "--effects", "--out", file, "--figure", figure)
    found = printed(invoke, *command, *options)
    strengths = found["strengths"]
    assert strengths.keys() == {"coupling_levels", "mismatch"}  # a graph has no strength
    assert [each["strength"] for each in strengths["coupling_levels"]] == [
        "5 bits",
        "4 bits",
        "3 bits",
        "2 bits",
    ]
    assert [each["factor"] for each in strengths["mismatch"]] == [0.25, 0.5, 1, 2, 4]
    hardware = Hardware.from_json(found["hardware"])
    twice = replace(hardware, mismatch=Mismatch(couplings=0.8))
    wanted = yield_of(model, twice, test_set, chips=6)
    assert strengths["mismatch"][3]["mean"] == wanted.mean
    assert strengths["mismatch"][3]["p5"] == wanted.percentile(5)
    assert strengths["mismatch"][2]["mean"] == found["mean"]
    assert strengths["mismatch"][0]["mean"] > strengths["mismatch"][4]["mean"]
    drawn = figure.read_text()
    assert "<svg" in drawn
    assert "exists already" in invoke(*command, *options).stderr
    shown = invoke(*command, *options, "--overwrite")
    assert shown.exit_code == 0
    assert "x 0.25" in shown.stdout
    assert "coupling_levels" in shown.stdout
    assert printed(invoke, *command) == {
        name: value
        for name, value in found.items()
        if name not in ("effects", "strengths", "file", "figure")
    }
