"""Models on chips: one chip, many of them, and the command that measures them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

import entrain
from command_line import Invoke, Refuse, printed
from entrain.cli import app
from entrain.data import Split, load_dataset
from entrain.evaluation.chip_yield import Yield, yield_of
from entrain.evaluation.chips import check_chips
from entrain.evaluation.intervals import wilson
from entrain.hardware import Hardware, Mismatch, Readout, preset
from entrain.models.model import Model, read_model
from entrain.utils.errors import InputError
from model_files import rewritten

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]

TYPICAL = preset("typical")


@pytest.fixture(scope="module")
def chip_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny training for typical chips, by the command."""
    folder = tmp_path_factory.mktemp("chips") / "run"
    options = ("--network=12", "--epochs=6", "--set=steps=20")
    command = ["train", "digits", "--hardware", "typical", *options, "--out", str(folder)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def model(chip_run: Path) -> Model:
    return entrain.load(chip_run)


@pytest.fixture(scope="module")
def ideal(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a model that was not trained for chips."""
    path = tmp_path_factory.mktemp("ideal") / "ideal.safetensors"
    replace(model, hardware=None, details={}).save(path)
    return path


@pytest.fixture(scope="module")
def test_set() -> Split:
    return load_dataset("digits").test


# One chip


def test_a_model_on_an_ideal_chip_is_the_model(model: Model, test_set: Split) -> None:
    pixels = test_set.features[:50]
    on = model.on(Hardware().sample(3))
    assert torch.equal(on.scores(pixels), model.scores(pixels))
    assert np.array_equal(on.predict(pixels), model.predict(pixels))
    assert on.evaluate(test_set) == model.evaluate(test_set)


def test_a_chip_answers_the_same_whatever_is_asked_with_it(model: Model, test_set: Split) -> None:
    """Without noise, which belongs to the place of a sample in its run."""
    model = replace(model, hardware=TYPICAL.without("phase_noise"))
    on = model.on(5)
    whole = on.scores(test_set.features[:20])
    assert torch.equal(whole, on.scores(test_set.features[:20]))
    one = on.scores(test_set.features[7:8])[0]
    assert torch.allclose(whole[7], one, atol=1e-5)
    other = model.on(6).scores(test_set.features[:20])
    assert not torch.allclose(whole, other, atol=1e-2)


def test_what_is_evaluated_is_what_is_predicted(model: Model, test_set: Split) -> None:
    """Coarse readings are often alike: the first class of them is the answer in both."""
    on = replace(model, hardware=Hardware(readout=Readout(bits=2))).on(0)
    scores = on.scores(test_set.features)
    best = scores.amax(-1, keepdim=True)
    assert int(((scores == best).sum(-1) > 1).sum()) > 30
    right = 100 * float((on.predict_indices(test_set.features) == test_set.labels).mean())
    assert on.evaluate(test_set)["top1"] == pytest.approx(right)


def test_the_noise_of_a_run_is_drawn_by_its_seed(model: Model, test_set: Split) -> None:
    chip, pixels = TYPICAL.sample(1), test_set.features[:20]
    first = model.on(chip).scores(pixels)
    assert torch.equal(first, model.on(chip, noise_seed=0).scores(pixels))
    assert not torch.equal(first, model.on(chip, noise_seed=1).scores(pixels))


def test_the_answers_of_a_chip_are_those_of_its_scores(model: Model, test_set: Split) -> None:
    on, pixels = model.on(TYPICAL.sample(2)), test_set.features[:50]
    scores = on.scores(pixels)
    assert np.array_equal(on.predict_indices(pixels), scores.argmax(-1))
    likely = on.probabilities(pixels)
    assert torch.equal(likely, model.probabilities_of(scores))
    assert torch.allclose(likely.sum(-1), torch.ones(50))
    doubts = on.reject_reasons(pixels)
    assert doubts == model.reject_reasons(pixels, scores) != model.reject_reasons(pixels)
    assert on.rejected(pixels).tolist() == [doubt is not None for doubt in doubts]


def test_a_seed_is_a_chip_of_the_kind_that_it_was_trained_for(model: Model) -> None:
    assert model.on(7).chip == TYPICAL.sample(7)
    assert model.on(np.int64(7), noise_seed=3).noise_seed == 3
    with pytest.raises(InputError, match=r"entrain.hardware.preset\('typical'\).sample\(7\)"):
        replace(model, hardware=None).on(7)
    with pytest.raises(InputError, match="seed must be a whole number from 0"):
        model.on(-1)
    with pytest.raises(TypeError, match="got True"):
        model.on(True)


def test_a_model_of_one_kind_on_another_warns(model: Model) -> None:
    with pytest.warns(UserWarning, match="^the model was trained for typical, not for ark$"):
        model.on(preset("ark").sample(0))
    with pytest.warns(UserWarning, match="^the model was trained for typical, not for these chips"):
        model.on(TYPICAL.without("dead").sample(0))
    model.on(replace(TYPICAL, name="the same").sample(0))
    model.on(Hardware(mismatch=Mismatch(0.0)).sample(0))  # nothing of a kind
    replace(model, hardware=None).on(TYPICAL.sample(0))


def test_a_model_is_put_on_a_chip_of_a_kind(model: Model) -> None:
    with pytest.raises(TypeError, match=r"expected a chip, hardware.sample\(seed\)"):
        model.on(TYPICAL)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="noise_seed must be a whole number"):
        model.on(TYPICAL.sample(0), noise_seed=-1)
    with pytest.raises(InputError, match="the network has 22 oscillators, the chip 10"):
        model.on(Hardware(oscillators=10).sample(0))


# Files


def test_a_model_keeps_its_hardware(model: Model, tmp_path: Path) -> None:
    assert model.hardware == TYPICAL
    assert model.hardware.name == "typical"
    path = tmp_path / "again.safetensors"
    model.save(path)
    assert read_model(path).hardware == TYPICAL
    rewritten(path, tmp_path / "bad.safetensors", header={"hardware": {"mismatch": {"c": 1}}})
    with pytest.raises(InputError, match=r"bad.safetensors: unknown entry of mismatch 'c'"):
        read_model(tmp_path / "bad.safetensors")


def test_the_file_of_an_ideal_network_does_not_mention_hardware(
    ideal: Path,
) -> None:
    assert b"hardware" not in ideal.read_bytes()
    assert read_model(ideal).hardware is None


# Many chips


def test_a_yield_is_its_chips_one_by_one(model: Model, test_set: Split) -> None:
    found = yield_of(model, TYPICAL, test_set, chips=12, first_seed=3)
    alone = [model.on(TYPICAL.sample(seed)).evaluate(test_set)["top1"] for seed in range(3, 15)]
    assert found.accuracies == pytest.approx(alone, abs=100 / len(test_set) + 1e-9)
    same = sum(a == b for a, b in zip(found.accuracies, alone, strict=True))
    assert same >= 11  # a score within rounding of another may turn one answer
    assert len(set(found.accuracies)) > 3
    assert found.accuracies[2:7] == pytest.approx(
        yield_of(model, "typical", test_set, chips=5, first_seed=5).accuracies,
        abs=100 / len(test_set) + 1e-9,
    )


def test_a_chip_has_one_accuracy_in_every_command(
    invoke: Invoke, chip_run: Path, model: Model, test_set: Split
) -> None:
    """With noise: alone, within any set of chips, and in `entrain evaluate`."""
    noisy = replace(TYPICAL, readout=Readout(noise=0.3, jitter=0.1), mismatch=None, name="")
    chips, noise = (9, 2, 30), ("--noise-seed", 4)
    with pytest.warns(UserWarning, match="trained for typical"):
        alone = [
            model.on(noisy.sample(seed), noise_seed=4).evaluate(test_set)["top1"] for seed in chips
        ]
    found = yield_of(model, noisy, test_set, chips=29, first_seed=2, noise_seed=4).accuracies
    assert [found[seed - 2] for seed in chips] == alone
    assert len(set(alone)) > 1
    listed = printed(invoke, "yield", chip_run, "--chips", 3, *noise)
    for seed, accuracy in enumerate(listed["accuracies"]):
        one = printed(invoke, "evaluate", chip_run, "--chip", seed, "--seed", 4)
        assert one["top1"] == accuracy
        low, high = one["top1_interval"]
        assert low < accuracy < high
        assert (low, high) == wilson(round(accuracy * 3), 300)
    assert "95 % interval of top-1" in invoke("evaluate", chip_run, "--chip", 1).stdout


def test_intervals_contain_their_values(model: Model, test_set: Split) -> None:
    found = yield_of(model, TYPICAL, test_set, chips=110)
    values = found.summary() | {"above_threshold": found.above(60)}
    intervals = found.intervals(threshold=60)
    assert intervals.keys() == {"mean", "p5", "p50", "worst", "above_threshold"}
    assert all(low < values[name] < high for name, (low, high) in intervals.items())
    assert found.standard_error > found.sd / math.sqrt(110)  # examples add to it
    assert found.intervals() == yield_of(model, TYPICAL, test_set, chips=110).intervals()
    with pytest.raises(InputError, match="intervals need the correct examples of each chip"):
        Yield((90.0, 80.0)).intervals()


def test_the_numbers_of_a_yield() -> None:
    found = Yield((90.0, 80.0, 70.0, 60.0, 50.0))
    assert (found.mean, found.worst, found.percentile(50)) == (70.0, 50.0, 70.0)
    assert found.sd == pytest.approx(np.sqrt(250.0))
    assert found.percentile(5) == pytest.approx(52.0)
    assert (found.above(70.0), found.above(90.1)) == (60.0, 0.0)
    assert Yield((42.0,)).sd == 0.0


@pytest.mark.parametrize(
    ("chips", "first", "message"),
    [
        (0, 0, "chips must be a whole number of at least 1, got 0"),
        (2.5, 0, "chips must be a whole number"),
        (3, -1, "first seed must be a whole number from 0"),
        (3, 2**32 - 2, "seeds end at 4294967295, got 3 chips from seed 4294967294 on"),
    ],
)
def test_chips_that_cannot_be_counted(chips: int, first: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_chips(chips, first)


def test_more_mismatch_is_worse(model: Model, test_set: Split) -> None:
    means = [
        yield_of(model, Hardware(mismatch=Mismatch(couplings=sd)), test_set, chips=20).mean
        for sd in (0.0, 0.5, 2.0)
    ]
    assert means[0] == pytest.approx(model.evaluate(test_set)["top1"])
    assert means[0] > means[1] > means[2]


# The command line


def test_the_command_is_yield_of(
    invoke: Invoke, chip_run: Path, model: Model, test_set: Split, tmp_path: Path
) -> None:
    figure = tmp_path / "yield.png"
    found = printed(
        invoke,
        *("yield", chip_run, "--chips", 8, "--seed", 4, "--threshold", 50, "--figure", figure),
    )
    wanted = yield_of(model, TYPICAL, test_set, chips=8, first_seed=4)
    assert found["accuracies"] == list(wanted.accuracies)
    assert {name: found[name] for name in wanted.summary()} == wanted.summary()
    assert {"mean", "sd", "p5", "worst"} <= wanted.summary().keys()
    assert found["above_threshold"] == wanted.above(50)
    assert found["standard_error"] == wanted.standard_error
    expected = {name: list(interval) for name, interval in wanted.intervals(50).items()}
    assert found["intervals"] == {"ideal": found["intervals"]["ideal"], **expected}
    low, high = found["intervals"]["mean"]
    shown = " ".join(invoke("yield", chip_run, "--chips", 8, "--seed", 4).stdout.split())
    assert f"{low:.2f} to {high:.2f}" in shown
    assert f"standard error of the mean │ {found['standard_error']:.2f}" in shown
    assert found["ideal"] == model.evaluate(test_set)["top1"]
    assert found["hardware"] == found["trained_for"]
    assert Hardware.from_json(found["hardware"]) == TYPICAL
    assert (found["chips"], found["examples"], found["dataset"]) == (8, len(test_set), "digits")
    with Image.open(figure) as drawn:
        assert drawn.format == "PNG"
        assert np.asarray(drawn.convert("L")).std() > 10


def test_the_command_measures_the_first_examples(
    invoke: Invoke, chip_run: Path, model: Model, test_set: Split
) -> None:
    found = printed(invoke, "yield", chip_run, "--chips", 4, "--examples", 50)
    first = test_set.rows(slice(50))
    assert found["examples"] == 50
    assert found["accuracies"] == list(yield_of(model, TYPICAL, first, chips=4).accuracies)
    assert found["ideal"] == model.evaluate(first)["top1"]


def test_a_model_is_shown_in_one_line(model: Model) -> None:
    network = "22 oscillators, 64 inputs, 10 classes, 'digits'"
    assert repr(model) == f"Model('DIRECT', {network}, for 'typical')"
    assert repr(replace(model, hardware=None)) == f"Model('DIRECT', {network})"


def test_each_effect_is_measured_alone_and_left_out(
    invoke: Invoke, chip_run: Path, tmp_path: Path
) -> None:
    kind = tmp_path / "two.toml"
    kind.write_text(
        "[mismatch]\ncouplings = { value = 150, unit = '%' }\n[coupling_levels]\nbits = 2\n"
    )
    figure = tmp_path / "effects.svg"
    found = printed(
        invoke,
        *("yield", chip_run, "--hardware", kind, "--chips", 5, "--effects", "--figure", figure),
    )
    assert found["effects"].keys() == {"mismatch", "coupling_levels"}
    alone = {name: each["alone"] for name, each in found["effects"].items()}
    without = {name: each["without"] for name, each in found["effects"].items()}
    assert alone["mismatch"] == without["coupling_levels"]
    assert alone["coupling_levels"] == without["mismatch"]
    assert "<svg" in figure.read_text()
    shown = invoke("yield", chip_run, "--hardware", kind, "--chips", 5, "--effects")
    assert "coupling_levels" in shown.stdout
    assert f"{found['mean']:.2f}" in shown.stdout
    assert "trained for typical, not for two" in " ".join(shown.stderr.split())


def test_the_command_says_what_a_model_was_made_for(
    invoke: Invoke, chip_run: Path, ideal: Path
) -> None:
    few = ("--chips", 2)
    assert "trained for" not in invoke("yield", chip_run, *few).stderr
    shown = invoke("yield", ideal, "--hardware", "ark", *few)
    assert shown.exit_code == 0
    assert "trained for the ideal network, not for chips" in " ".join(shown.stderr.split())
    found = printed(invoke, "yield", ideal, "--hardware", "ark", *few)
    assert found["trained_for"] is None
    with_json = invoke("yield", chip_run, "--hardware", "ark", "--json", *few)
    assert with_json.stderr == "the model was trained for typical, not for ark\n"


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_the_command_refuses_and_writes_nothing(
    refuse: Refuse, chip_run: Path, ideal: Path, tmp_path: Path, json_too: tuple[str, ...]
) -> None:
    figure = tmp_path / "figure.png"
    few = ("--chips", 2, "--figure", figure, *json_too)
    assert "was trained for the ideal network; choose hardware with --hardware" in refuse(
        "yield", ideal, *few
    )
    assert "did you mean 'typical'" in refuse("yield", chip_run, "--hardware", "typcal", *few)
    for option, value, message in (
        ("--chips", 0, "chips must be a whole number of at least 1"),
        ("--seed", -1, "seed must be a whole number"),
        ("--noise-seed", -1, "noise_seed must be a whole number"),
        ("--examples", 0, "--examples must be a whole number of at least 1"),
        ("--examples", 100_000, "--examples must be at most 300, the number of test examples"),
        ("--threshold", 101, "--threshold must be from 0 to 100"),
        ("--threshold", "nan", "--threshold must be finite"),
        ("--figure", tmp_path / "figure.bmp", "a figure ends in .png, .pdf, .svg"),
    ):
        assert message in refuse("yield", chip_run, *few, option, value)
    small = tmp_path / "small.toml"
    small.write_text("[chip]\noscillators = 10\n")
    assert "the network has 22 oscillators, the chip 10" in refuse(
        "yield", chip_run, "--hardware", small, *few
    )
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_training_refuses_hardware_that_does_not_fit(refuse: Refuse, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    small = tmp_path / "small.toml"
    small.write_text("[chip]\noscillators = 10\n")
    assert "the chip 10" in refuse("train", "digits", "--hardware", small, "--network=12", *out)
    small.write_text("[wiring]\nmask = [[0, 99]]\n")
    assert "the network 22 osc" in refuse(
        "train", "digits", "--hardware", small, "--network=12", *out
    )
    assert "PATH cannot be trained for hardware" in refuse(
        "train", "digits", "--hardware", "typical", "--protocol", "PATH", *out
    )
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_a_run_folder_remembers_its_hardware(chip_run: Path) -> None:
    recipe = json.loads((chip_run / "run.json").read_text())["recipe"]
    (rule,) = recipe["protocols"]
    assert Hardware.from_json(rule["chips"]["hardware"]) == TYPICAL
