"""Sounds: WAV files of any kind become log-mel frames, and broken ones are refused."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import wavfile

import entrain
from command_line import in_process
from entrain.data import SequenceScaling, load_own
from entrain.data.log_mel import LogMel, resample_sound
from entrain.data.sequence_scaling import lengths
from entrain.data.sounds import read_sound
from entrain.utils.errors import InputError

RATE = 8000


def tone(frequency: float, seconds: float = 0.3, rate: int = RATE, seed: int = 0) -> np.ndarray:
    """A tone of half of the full level, in a little noise."""
    time = np.arange(int(seconds * rate)) / rate
    noise = 0.01 * np.random.default_rng(seed).normal(size=len(time))
    return 0.5 * np.sin(2 * np.pi * frequency * time) + noise


def write(path: Path, samples: np.ndarray, rate: int = RATE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    wavfile.write(path, rate, (32767 * samples).astype(np.int16))
    return path


def tones(folder: Path, count: int = 8, form: str = "{label}/{i}.wav") -> Path:
    """Low and high tones of different lengths and rates."""
    for i in range(count):
        for label, frequency in (("low", 400), ("high", 1600)):
            rate = RATE if i % 2 else 2 * RATE
            samples = tone(frequency * (1 + 0.02 * (i % 3)), 0.2 + 0.02 * i, rate, i)
            write(folder / form.format(label=label, i=i), samples, rate)
    return folder


def bits24(path: Path, samples: np.ndarray) -> Path:
    """A WAV file of 24 bits, which SciPy reads but does not write."""
    whole = np.rint(samples * 2**23).astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    head = struct.pack("<HHIIHH", 1, 1, RATE, 3 * RATE, 3, 24)
    chunks = b"fmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(whole))
    path.write_bytes(b"RIFF" + struct.pack("<I", 36 + len(whole)) + b"WAVE" + chunks + whole)
    return path


def test_samples_are_the_same_in_every_format(tmp_path: Path) -> None:
    x = tone(440).astype(np.float64)
    forms: dict[str, tuple[np.ndarray, float]] = {
        "float": (x.astype(np.float32), 1e-7),
        "double": (x, 0),
        "int16": (np.rint(x * 2**15).astype(np.int16), 2**-15),
        "int32": (np.rint(x * 2**31).astype(np.int32), 1e-9),
        "uint8": (np.rint(128 + x * 128).astype(np.uint8), 2**-7),
        "stereo": (np.stack([1.2 * x, 0.8 * x], axis=1), 1e-12),
    }
    for name, (values, error) in forms.items():
        wavfile.write(tmp_path / f"{name}.wav", RATE, values)
        samples, rate = read_sound(tmp_path / f"{name}.wav")
        assert rate == RATE
        np.testing.assert_allclose(samples, x, rtol=0, atol=error, err_msg=name)
    np.testing.assert_allclose(read_sound(bits24(tmp_path / "24.wav", x))[0], x, atol=2**-23)


def test_a_tone_is_in_its_band_whatever_the_rate_and_level() -> None:
    front_end = LogMel(RATE)
    centres = [float(name.split()[0]) for name in front_end.channel_names]
    frames = front_end(tone(1000, 0.5), RATE)
    assert frames.shape == (1 + (4000 - 200) // 80, 24)
    assert abs(np.log(centres[int(frames.mean(0).argmax())] / 1000)) < 0.15
    np.testing.assert_allclose(front_end(0.1 * tone(1000, 0.5), RATE), frames, atol=1e-4)
    other = front_end(tone(1000, 0.5, 44_100), 44_100)
    assert abs(len(other) - len(frames)) <= 1
    np.testing.assert_array_equal(other.mean(0).argmax(), frames.mean(0).argmax())
    assert front_end(tone(1000, 0.005), RATE).shape == (1, 24)  # shorter than a window


def test_the_power_of_a_full_tone_is_a_quarter() -> None:
    """|X|^2 at the frequency of a tone of amplitude 1 is 1/4, in the middle of a band."""
    front_end = LogMel(RATE, bands=12)
    centre = float(front_end.channel_names[8].split()[0])
    frames = front_end(np.sin(2 * np.pi * centre * np.arange(RATE) / RATE), RATE)
    assert np.median(frames[:, 8]) == pytest.approx(np.log10(0.25), abs=0.3)


def test_resampling_keeps_a_tone() -> None:
    low = resample_sound(np.sin(2 * np.pi * 300 * np.arange(11_025) / 11_025), 11_025, RATE)
    expected = np.sin(2 * np.pi * 300 * np.arange(RATE) / RATE)
    np.testing.assert_allclose(low[200:-200], expected[200:-200], atol=2e-3)


@pytest.mark.parametrize("form", ["{label}/{i}.wav", "{label}_{i}.wav"])
def test_a_folder_of_sounds_is_a_dataset(tmp_path: Path, form: str) -> None:
    data: Any = load_own(tones(tmp_path / "tones", form=form))
    assert data.class_names == ("high", "low")
    assert data.sound == LogMel(RATE)  # the lowest rate
    assert len(data.train) + len(data.validation) + len(data.test) == 16
    assert set(lengths(data.train.features)) <= set(range(17, 36))
    assert "16,000" in data.notes[0]


def test_sounds_are_trained_on_saved_and_predicted(tmp_path: Path) -> None:
    folder, run = tones(tmp_path / "tones"), tmp_path / "run"
    options = ("--network", 8, "--frames", 8, "--epochs", 15, "--out", run)
    result = in_process("train", folder, *options)
    assert result.exit_code == 0, result.output
    clip = write(tmp_path / "clip.wav", tone(1600, 0.4, 22_050, 9), 22_050)
    bad = tmp_path / "clips" / "bad.wav"
    bad.parent.mkdir()
    bad.write_bytes(b"RIFF")
    low = write(tmp_path / "clips" / "low.wav", tone(410, 0.3, seed=8))
    result = in_process("predict", run, clip, tmp_path / "clips", "--json")
    assert result.exit_code == 1  # one of them is broken
    answers = {a["source"]: a for a in json.loads(result.stdout)["predictions"]}
    assert answers[str(clip)]["label"] == "high"
    assert answers[str(low)]["label"] == "low"
    assert "truncated" in answers[str(bad)]["error"] or "not a WAV" in answers[str(bad)]["error"]
    model = entrain.load(run)
    assert model.predict([clip, low]).tolist() == ["high", "low"]
    assert model.predict(str(clip)).tolist() == ["high"]
    assert in_process("evaluate", run, "--json").exit_code == 0
    scaling = model.preprocessing
    assert isinstance(scaling, SequenceScaling)
    with pytest.raises(InputError, match="not trained on sounds"):
        replace(scaling, sound=None).read_sounds([clip])


def test_sounds_of_another_rate_are_not_evaluated_with_other_bands(tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    options = ("--network", 4, "--frames", 4, "--epochs", 1, "--out", run)
    assert in_process("train", tones(tmp_path / "tones"), *options).exit_code == 0
    for i in range(8):
        for label in ("low", "high"):
            write(other / f"{label}_{i}.wav", tone(500, 0.2, 16_000, i), 16_000)
    result = in_process("evaluate", run, other)
    assert result.exit_code == 2
    assert "read at 16,000 Hz" in " ".join(result.output.split())


def header(rate: int, size: int) -> bytes:
    """A WAV header that claims `size` bytes of samples."""
    head = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    chunks = b"fmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", size)
    return b"RIFF" + struct.pack("<I", 36 + size) + b"WAVE" + chunks


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (b"label,x\n1,2\n", "not a WAV file"),
        (header(RATE, 2000) + b"\1\2" * 500, "truncated"),
        (header(RATE, 2**31) + b"\1\2" * 500, "truncated"),
        (header(RATE, 1000)[:30], "not a WAV file|truncated"),
        (header(RATE, 0), "samples; expected a sound|not a WAV"),
        (header(RATE, 1000) + bytes(1000), "silent"),
        (header(100, 1000) + b"\1\2" * 500, "100 samples a second"),
        (header(2**30, 1000) + b"\1\2" * 500, "samples a second"),
        (header(1000, 1_300_000) + b"\1\2" * 650_000, "650 seconds"),
    ],
)
def test_broken_sounds_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "a.wav"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read_sound(file)
    assert str(error.value).startswith(str(file))


def test_sounds_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    wavfile.write(tmp_path / "a.wav", RATE, np.array([0.0, np.nan, 1.0], dtype=np.float32))
    with pytest.raises(InputError, match="holds NaN"):
        read_sound(tmp_path / "a.wav")
    with pytest.raises(InputError, match="no such sound"):
        read_sound(tmp_path / "none.wav")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["low_1.wav", "high.wav"], "no label"),
        (["low_1.wav", "notes_1.txt"], "not a .wav file"),
        (["low_1.wav"], "expected at least 10"),
        (["low/1.wav", "high_2.wav"], "beside class folders"),
        (["low/1.wav", "high/1.txt"], "not a .wav file"),
    ],
)
def test_bad_folders_of_sounds_are_refused(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        write(tmp_path / "sounds" / name, tone(400))
    with pytest.raises(InputError, match=message):
        load_own(tmp_path / "sounds")


def test_bad_front_ends_are_refused() -> None:
    for wrong in ({"rate": 10}, {"bands": 0}, {"hop": 0.0}, {"window": float("nan")}):
        with pytest.raises(InputError):
            LogMel(**{"rate": RATE} | wrong)
    with pytest.raises(InputError, match="log-mel frames have"):
        LogMel.from_json({"rate": RATE})
