"""Calibrated chips: their models, training for them, files of traces, and commands."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import entrain
from devices import CHIP, KIND, coupling_error, measured, small_model, true
from entrain.calibration import Calibration, Traces, calibrate, plan, read_traces, train_in_the_loop
from entrain.hardware import Hardware, Measured, Mismatch, on_chips
from entrain.models.model import Model
from entrain.utils.errors import InputError


@pytest.fixture(scope="module")
def model() -> Model:
    return small_model()


@pytest.fixture(scope="module")
def clean(model: Model) -> Calibration:
    return calibrate(model, measured(model), iterations=80)


def test_noiseless_traces_determine_the_chip(model: Model, clean: Calibration) -> None:
    assert coupling_error(clean.couplings, model) < 0.002
    own, _ = clean.part("frequencies")
    assert np.abs(own - true(model)["frequencies"]).max() < 0.02
    assert clean.part("lag")[0] == pytest.approx(0.1, abs=0.002)
    assert clean.noise < 1e-3 < 0.05 < clean.noise_as_programmed


def test_calibrated_model_has_the_scores_of_the_chip(model: Model, clean: Calibration) -> None:
    pixels = entrain.load_dataset("digits").test.features
    wanted = model.on(CHIP).scores(pixels)
    scores = clean.model(model).on(0).scores(pixels)
    assert (scores - wanted).abs().max() < 0.02 < (model.scores(pixels) - wanted).abs().max()


def test_compensated_parameters_cancel_the_gains(model: Model) -> None:
    rng = np.random.default_rng(0)
    n = model.network.oscillators
    gains = 1 + 0.2 * rng.standard_normal((n, n))
    effect = Measured(
        couplings=tuple(map(tuple, (gains + gains.T) / 2)),
        fields=tuple(1 + 0.2 * rng.random(n)),
        offsets=tuple(rng.standard_normal(n)),
    )
    wanted = model.batched_parameters()
    inputs = model.inputs(entrain.load_dataset("digits").test.features[:5])
    found = on_chips(effect.compensated(wanted), Hardware(measured=effect), [0])
    ideal = wanted.phase_model(inputs[None])
    made = found.phase_model(inputs[None])
    assert torch.allclose(made.couplings, ideal.couplings, atol=1e-5)
    assert torch.allclose(made.fields, ideal.fields, atol=1e-4)


def test_training_for_a_calibrated_chip_raises_its_accuracy(
    model: Model, clean: Calibration, tmp_path: Path
) -> None:
    test = entrain.load_dataset("digits").test
    path = tmp_path / "calibrated.safetensors"
    clean.model(model).save(path)
    trained = entrain.train("digits", network=path, epochs=4, folder=tmp_path / "run").model
    assert trained.hardware == entrain.load(path).hardware
    with warnings.catch_warnings(
        action="ignore"
    ):  # the true hardware differs from the calibrated chip
        before, after = (each.on(CHIP).evaluate(test)["top1"] for each in (model, trained))
    assert after > before
    assert after > model.evaluate(test)["top1"] - 2.0
    again = entrain.train("digits", network=path, epochs=4, folder=tmp_path / "run").model
    for ours, theirs in zip(again.network.parameters(), trained.network.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_zero_couplings_stay_zero(model: Model, clean: Calibration, tmp_path: Path) -> None:
    parameters = model.network.as_parameters().map(torch.Tensor.detach)
    couplings = parameters.couplings.clone()
    couplings[0, 1] = couplings[1, 0] = 0.0
    network = entrain.KuramotoNetwork.from_parameters(
        replace(parameters, couplings=couplings), model.network.dynamics
    )
    path = tmp_path / "pruned.safetensors"
    replace(clean.model(model), network=network).save(path)
    trained = entrain.train("digits", network=path, epochs=1).model
    found = trained.network.as_parameters().couplings
    assert found[0, 1] == found[1, 0] == 0.0
    assert found.count_nonzero() == couplings.count_nonzero()


def test_training_in_the_loop_lowers_the_loss_of_the_chip(model: Model, clean: Calibration) -> None:
    """The calibration lacks the frequencies of the chip; its phases make up for that."""
    data = entrain.load_dataset("digits")
    calibrated = clean.model(model)
    truth = on_chips(model.batched_parameters(), KIND, [CHIP.seed])

    def chip(couplings: np.ndarray, fields: np.ndarray) -> np.ndarray:
        ratio = truth.parameters.couplings / model.batched_parameters().couplings.where(
            truth.parameters.couplings != 0, torch.ones(())
        )
        b = torch.from_numpy(fields).float()[None]
        for change in truth.field_changes:
            b = change(b)
        acting = replace(
            truth.parameters.phase_model(torch.zeros(1, 1, 64)),
            fields=b,
            couplings=torch.from_numpy(couplings).float()[None] * ratio,
        )
        return entrain.kernels.rollout(acting, model.network.dynamics)[0].numpy()

    hardware = calibrated.hardware
    assert hardware is not None
    assert hardware.measured is not None
    poor = replace(hardware, measured=replace(hardware.measured, frequencies=None))
    losses: list[float] = []
    trained = train_in_the_loop(
        replace(calibrated, hardware=poor),
        chip,
        data.train.features,
        data.train.labels,
        steps=30,
        batch_size=256,
        on_step=lambda step, loss, right: losses.append(loss),
    )
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:3])
    assert trained.hardware == poor


def test_phases_of_a_wrong_shape_raise(model: Model, clean: Calibration) -> None:
    data = entrain.load_dataset("digits")
    with pytest.raises(InputError, match="the chip returned phases of shape"):
        train_in_the_loop(
            clean.model(model),
            lambda couplings, fields: np.zeros(3),
            data.train.features,
            data.train.labels,
        )
    with pytest.raises(InputError, match="no calibrated chip"):
        train_in_the_loop(model, lambda c, f: f, data.train.features, data.train.labels)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_traces_are_read_as_written(model: Model, tmp_path: Path, suffix: str) -> None:
    given = measured(model, runs=3, noise=0.1)
    path = tmp_path / f"traces{suffix}"
    given.save(path)
    found = read_traces(path)
    for name in ("times", "fields", "phases"):
        assert np.array_equal(getattr(found, name), getattr(given, name))
    assert found.noise == 0.1


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "times fall": ({"times": [0.2, 0.1]}, "positive and rising"),
    "fields of one run": ({"fields": [1.0, 2.0]}, "runs x oscillators"),
    "other phases": ({"phases": np.zeros((2, 3, 4))}, "2 x 1 x 2, got shape"),
    "infinite phases": ({"phases": np.full((2, 1, 2), np.inf)}, "NaN if not read"),
    "no phases": ({"phases": np.full((2, 1, 2), np.nan)}, "not all missing"),
    "text": ({"fields": [["a", "b"]]}, "must be real numbers"),
    "noise": ({"noise": -1.0}, "noise must"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_traces_raise(case: str) -> None:
    changed, said = BAD[case]
    good: dict[str, Any] = {"times": [0.1, 0.2], "fields": [[1.0, 2.0]]}
    good["phases"] = np.zeros((2, 1, 2))
    with pytest.raises(InputError, match=said):
        Traces(**good | changed)


def test_files_without_traces_raise(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(InputError, match="no such"):
        read_traces(path)
    path.write_bytes(b"PK nothing")
    with pytest.raises(InputError, match="not a complete"):
        read_traces(path)
    np.savez(path, times=np.ones(1), unknown=np.ones(1))
    with pytest.raises(InputError, match="expected times and fields"):
        read_traces(path)
    np.savez(path, times=np.ones(1), fields=np.array([[None]], dtype=object))
    with pytest.raises(InputError, match="holds Python objects"):
        read_traces(path)


def test_traces_of_another_network_raise(model: Model) -> None:
    with pytest.raises(InputError, match="are a plan"):
        calibrate(model, plan(model))
    with pytest.raises(InputError, match="the network has 18"):
        calibrate(model, Traces([0.1], np.ones((1, 3)), np.ones((1, 1, 3))))
    late = Traces([5.0], np.ones((1, 18)), np.ones((1, 1, 18)))
    with pytest.raises(InputError, match="unit of the network's time"):
        calibrate(model, late)


def test_calibrated_chip_of_another_size_raises(model: Model) -> None:
    effect = Hardware(measured=Measured(fields=(1.0, 1.1)))
    with pytest.raises(InputError, match="measured with 2 oscillators, not with 18"):
        on_chips(model.batched_parameters(), effect, [0])
    with pytest.raises(InputError, match="one number of oscillators"):
        Measured(fields=(1.0,), offsets=(1.0, 2.0))


def test_commands_plan_calibrate_and_train(
    invoke: Any, refuse: Any, model: Model, tmp_path: Path
) -> None:
    file, kind = tmp_path / "m.safetensors", tmp_path / "kind.toml"
    model.save(file)
    kind.write_text("[mismatch]\ncouplings = 0.1\nfields = 0.1\n[frequency_spread]\nsd = 1\n")
    traces, out = tmp_path / "t.npz", tmp_path / "calibrated.safetensors"
    invoke("traces", file, "--hardware", kind, "--seed", 2, "--runs", 40, "--out", traces)
    assert set(np.load(traces).files) == {"times", "fields", "phases", "noise"}
    shown = invoke("calibrate", traces, "--model", file, "--out", out, "--iterations", 10).stdout
    assert "frequencies" in shown
    assert out.with_suffix(".json").is_file()
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    assert "exists already" in refuse("calibrate", traces, "--model", file, "--out", out)
    run = tmp_path / "run"
    assert "was not measured" in refuse("train", "--network", file, "--out", run)
    assert "cannot be combined" in refuse(
        "train", "--network", out, "--set", "steps=4", "--out", run
    )
    shown = invoke("train", "--network", out, "--epochs", 1, "--out", tmp_path / "run").stdout
    assert "trained for it" in shown
    assert "chip %" in shown
    shown = invoke("evaluate", run).stdout
    assert "calibrated" in shown
    assert "ideal network" in shown
    results = json.loads(invoke("evaluate", run, "--json").stdout)
    assert results["on_device"]["top1"] != results["top1"]


def test_traces_command_names_the_effects_it_leaves_out(
    invoke: Any, refuse: Any, model: Model, tmp_path: Path
) -> None:
    file = tmp_path / "m.safetensors"
    model.save(file)
    done = invoke("traces", file, "--hardware", "typical", "--out", tmp_path / "t.npz", "--runs", 3)
    assert "left out of the readings: phase_noise, readout" in done.stderr
    assert "sparsity" in done.stderr
    plan = ("traces", file, "--out", tmp_path / "p.npz")
    assert "choose it with --hardware" in refuse(*plan, "--noise", 0.5)
    assert not (tmp_path / "p.npz").exists()


def test_calibrated_chip_is_one_chip() -> None:
    device = Hardware(measured=Measured(fields=(1.0, 1.1)))
    assert device.is_one_chip
    assert not Hardware(mismatch=Mismatch(0.1)).is_one_chip
    assert not replace(device, mismatch=Mismatch(0.1)).is_one_chip
    assert not Hardware(measured=Measured()).is_one_chip
