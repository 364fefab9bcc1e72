"""Hardware that cannot be: a clear error in Python and on the command line, and nothing lost."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import entrain
from command_line import Invoke, Refuse, printed
from entrain import Direct, InputError
from entrain.hardware import (
    Dead,
    Hardware,
    Levels,
    Mismatch,
    PhaseNoise,
    Readout,
    Sparsity,
    Wiring,
    on_chips,
    preset,
    read,
)
from entrain.rules import from_json
from entrain.rules.chip_training import ChipTraining

BAD_IN_PYTHON: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown effect": (
        lambda: Hardware(mismach=Mismatch(0.1)),  # type: ignore[call-arg]
        "unknown effect 'mismach'; did you mean 'mismatch'",
    ),
    "unknown preset": (lambda: preset("tipical"), "did you mean 'typical'"),
    "no name": (lambda: preset(""), "unknown hardware ''"),
    "negative strength": (lambda: Mismatch(couplings=-0.1), "couplings must be finite and at leas"),
    "negative noise": (lambda: PhaseNoise(-1.0), "temperature must be finite and at least 0"),
    "share": (lambda: Dead(couplers=1.1), "couplers must be a share from 0 to 1"),
    "bits": (lambda: Levels(bits=0), "bits must be a whole number of at least 1, got 0"),
    "phase bits": (lambda: Readout(bits=0), "bits of the phase must be a whole number"),
    "levels": (lambda: Levels(levels=(1.0, -1.0)), "levels must be two or more, in rising order"),
    "no effect": (lambda: Hardware(mismatch=0.1), "mismatch must be a Mismatch"),  # type: ignore[arg-type]
    "matrix": (lambda: Wiring(mask=np.ones((3, 3), bool)), "mask must have no self-coupling"),  # type: ignore[arg-type]
    "one way": (
        lambda: Wiring(mask=[[False, True], [False, False]]),  # type: ignore[arg-type]
        r"mask must be symmetric: it differs at \(0, 1\) and \(1, 0\)",
    ),
    "rows": (
        lambda: Wiring(mask=torch.zeros(3, 2, dtype=torch.bool)),  # type: ignore[arg-type]
        "mask must be a square array, got 3 rows and one of 2",
    ),
    "numbers": (
        lambda: Wiring(mask=np.eye(3)),  # type: ignore[arg-type]
        r"list couplers \(i, j\) with 0 <= i < j, or be an N x N matrix of booleans, got \(1.0,",
    ),
    "a kind and a mask": (
        lambda: Wiring("kings", mask=((0, 1),)),
        "give the kind of a graph or a mask, one of them; got 'kings' and a mask",
    ),
    "beyond the chip": (
        lambda: Hardware(oscillators=48, wiring=Wiring(mask=((0, 1), (3, 60)))),
        r"wiring: mask has the coupler \(3, 60\), the chip 48 oscillators, 0 to 47",
    ),
}


@pytest.mark.parametrize(("make", "message"), BAD_IN_PYTHON.values(), ids=BAD_IN_PYTHON)
def test_invalid_hardware_is_refused_at_construction(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


UNFIT: dict[str, tuple[Hardware, str]] = {
    "mask": (
        Hardware(wiring=Wiring(mask=((0, 99),))),
        r"mask has the coupler \(0, 99\), the network 22 oscillators",
    ),
    "ring": (Hardware(wiring=Wiring("ring", degree=40)), "degree must be below the 22 oscillators"),
    "size": (Hardware(oscillators=15), "the chip 15: room for 5 hidden ones beside 10 outputs"),
    "no coupler": (
        Hardware(wiring=Wiring(mask=((13, 20),)), sparsity=Sparsity(0.5)),
        "the wiring has no coupler of a network of 12 hidden oscillators, 0 to 11, and 10 outputs",
    ),
    "empty": (Hardware(wiring=Wiring(mask=())), "the wiring has no coupler"),
    "too many gone": (
        Hardware(sparsity=Sparsity(0.002)),
        "the network has 186 couplers, and keeping 0.002 of them leaves none; keep at least 0.0054",
    ),
    "of few": (
        Hardware(wiring=Wiring(mask=((0, 1), (1, 12))), sparsity=Sparsity(0.2)),
        "the network has 2 couplers, and keeping 0.2 of them leaves none; keep at least 0.5",
    ),
    "outputs among themselves": (
        Hardware(wiring=Wiring("ring", degree=4)),
        r"joins these outputs to no hidden oscillator: 2, 3, 4, 5, 6, 7 \(outputs 0 to 9 are the "
        r"oscillators 12 to 21\), .* spread the outputs over the chip \(wiring.outputs = \"spread",
    ),
    "an output alone": (
        Hardware(wiring=Wiring(mask=tuple((0, j) for j in range(1, 20)))),
        "no hidden oscillator: 8, 9 .* learnt; choose another graph or mask",  # 8 if spread, too
    ),
}


@pytest.mark.parametrize(("kind", "message"), UNFIT.values(), ids=UNFIT)
def test_hardware_that_a_network_does_not_fit_is_refused_before_training(
    kind: Hardware, message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(InputError, match=message):
        entrain.train("digits", network=12, epochs=1, hardware=kind, folder=folder)
    assert not folder.exists()
    with pytest.raises(InputError, match=message):
        entrain.KuramotoClassifier(hidden=12, hardware=kind).fit(np.eye(10), np.arange(10))
    model = entrain.load("mnist-74")
    with pytest.raises(InputError):
        model.on(replace(kind, oscillators=5).sample(0))


def test_hardware_given_twice_is_refused_in_python() -> None:
    own = Direct(chips=ChipTraining(preset("ark")))
    with pytest.raises(InputError, match="hardware is given twice, as hardware and by DIRECT;"):
        entrain.train("digits", protocol=own, hardware="typical")
    with pytest.raises(InputError, match=r"given twice, as hardware and by DIRECT\.chips"):
        entrain.train("digits", hardware="typical", settings={"DIRECT.chips": None})


def test_hardware_given_twice_is_refused_by_every_command(refuse: Refuse, tmp_path: Path) -> None:
    for command in (
        ("train", "digits", "--out", tmp_path / "run"),
        ("yield", "mnist-74-direct"),
        ("evaluate", "mnist-74-direct", "--chip", 0),
    ):
        for json_too in ((), ("--json",)):
            message = refuse(*command, "--hardware", "typical", "--hardware=ark", *json_too)
            assert "--hardware is given 2 times; give one" in message
    assert list(tmp_path.iterdir()) == []


def test_a_continued_run_uses_its_hardware(refuse: Refuse, tmp_path: Path) -> None:
    message = refuse("train", "--resume", tmp_path, "--hardware", "typical")
    assert "--hardware cannot be combined with --resume" in message


def test_a_misspelling_in_the_section_chip_is_refused(tmp_path: Path, refuse: Refuse) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[chip]\noscilators = 48\npower = '1 mW'\n")
    with pytest.raises(InputError, match="unknown entry of chip 'oscilators'; did you mean 'osc"):
        read(file)
    out = ("--out", tmp_path / "run")
    assert "did you mean 'oscillators'" in refuse("train", "digits", "--hardware", file, *out)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_training_refuses_and_leaves_no_folder(refuse: Refuse, tmp_path: Path) -> None:
    kind, out = tmp_path / "kind.toml", ("--out", tmp_path / "run", "--network=12")
    for text, message in (
        ("[wiring]\nmask = [[13, 20]]\n", "the wiring has no coupler of a network of 12 hidden"),
        ("[sparsity]\nkept = { value = 0.2, unit = '%' }\n", "keeping 0.002 of them leaves none"),
        ("[sparsity]\nkept = { value = 50, unit = 'couplers' }\n", "kept must be in '1' or '%'"),
        ("[wiring]\nkind = 'ring'\ndegree = 40\n", "degree must be below the 22 oscillators"),
    ):
        kind.write_text(text)
        assert message in refuse("train", "digits", "--hardware", kind, *out)
    assert "PATH cannot be trained for hardware" in refuse(
        "train", "digits", "--hardware", "typical", "--protocol", "PATH", *out
    )
    assert [path.name for path in tmp_path.iterdir()] == ["kind.toml"]


# What can be


def test_evaluation_accepts_a_chip_that_training_refuses() -> None:
    kind = Hardware(wiring=Wiring("ring", degree=4))
    model = entrain.load("mnist-74")
    with pytest.raises(InputError, match="joins these outputs to no hidden oscillator"):
        kind.check_training(model.network.hidden, model.network.outputs)
    alone = on_chips(model.batched_parameters(), kind, [0]).parameters.couplings.squeeze()
    assert not alone[68, :64].any()  # an output among its neighbours
    model.on(kind.sample(0))


def trained_for(text: str, tmp_path: Path, invoke: Invoke) -> Path:
    """The run of a small training for the hardware that a file describes."""
    kind, run = tmp_path / "kind.toml", tmp_path / "run"
    kind.write_text(text)
    options = ("--network=12", "--epochs=3", "--set=steps=10")
    printed(invoke, "train", "digits", "--hardware", kind, "--out", run, *options)
    return run


def test_a_ring_trains_with_its_outputs_spread(tmp_path: Path, invoke: Invoke) -> None:
    text = "[wiring]\nkind = 'ring'\ndegree = 4\noutputs = 'spread'\n"
    run = trained_for(text, tmp_path, invoke)
    model = entrain.load(run)
    assert model.hardware is not None
    wiring = Wiring("ring", degree=4, outputs="spread")
    assert model.hardware.wiring == wiring
    couplings = model.network.as_parameters().couplings
    there = wiring.graph_of(12, 10)
    assert not couplings[~there].any()
    assert couplings[12:, :12].any(1).all()
    ours = model.batched_parameters()  # which uses no coupler that the chip lacks
    on_chip = on_chips(ours, model.hardware, [0]).parameters
    assert torch.equal(on_chip.couplings, ours.couplings)


def test_numpy_numbers_can_be_saved() -> None:
    kind = Hardware(
        wiring=Wiring(mask=np.array([[0, 1], [1, 2]])),  # type: ignore[arg-type]
        coupling_levels=Levels(bits=np.int64(4), range=np.float32(2.5)),
        mismatch=Mismatch(couplings=np.float32(0.5)),
        readout=Readout(bits=np.int32(4), noise=np.float64(0.1)),
        oscillators=np.int64(40),
    )
    training = ChipTraining(kind, chips=np.int64(4))
    rule = Direct(chips=training)
    assert from_json(json.loads(json.dumps(rule.to_json()))) == rule
    assert kind.mismatch == Mismatch(couplings=0.5)


def test_a_mask_may_be_a_matrix() -> None:
    there = [[False, True, False], [True, False, True], [False, True, False]]
    wanted = Wiring(mask=((0, 1), (1, 2)))
    for mask in (there, np.array(there), torch.tensor(there), [np.array(row) for row in there]):
        assert Wiring(mask=mask) == wanted  # type: ignore[arg-type]
    assert torch.equal(wanted.graph(3), torch.tensor(there))
    assert Hardware.from_json({"wiring": {"mask": there}}) == Hardware(wiring=wanted)
    assert Wiring(mask=torch.tensor([[1, 2], [0, 1]])) == wanted  # type: ignore[arg-type]
    assert Hardware(oscillators=3, wiring=wanted).wiring == wanted


def test_repr_shows_present_effects_and_hardware_survives_pickling() -> None:
    kind = Hardware(mismatch=Mismatch(couplings=0.1), name="ours")
    assert repr(kind) == f"Hardware(mismatch={kind.mismatch!r}, name='ours')"
    assert repr(Hardware()) == "Hardware()"
    assert pickle.loads(pickle.dumps(preset("typical"))) == preset("typical")


def test_few_couplers_that_are_enough_train(tmp_path: Path, invoke: Invoke) -> None:
    run = trained_for("[sparsity]\nkept = { value = 0.6, unit = '%' }\n", tmp_path, invoke)
    assert printed(invoke, "show", run)["couplers_used"] == 1
