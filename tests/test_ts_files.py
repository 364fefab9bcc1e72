"""Sequences as text, and the bundled Japanese vowels."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import entrain
from command_line import in_process
from entrain.data import load_own
from entrain.data.sequence_scaling import lengths
from entrain.utils.errors import InputError

HEAD = "# two channels\n@problemName x\n@timeStamps false\n@classLabel true a b\n@data\n"
LINES = [f"{i},2,{i % 7}:0.5,1e-3,-2:{'ab'[i % 2]}" for i in range(20)]


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("suffix", [".ts", ".ts.gz"])
def test_sequences_and_labels_of_a_file_are_read(tmp_path: Path, suffix: str) -> None:
    data: Any = load_own(write(tmp_path / f"waves{suffix}", HEAD + "\n".join(LINES)))
    assert (data.name, data.class_names) == ("waves", ("a", "b"))
    assert data.train.features.shape[1:] == (3, 2)
    first = data.train.features[data.train.features[:, 0, 0] == 1][0]
    np.testing.assert_array_equal(first, [[1, 0.5], [2, 1e-3], [1, -2]])


def test_the_test_file_beside_is_the_test_part(tmp_path: Path) -> None:
    write(tmp_path / "w_TEST.ts", HEAD + "1,2,3,4:5,6,7,8:b")
    data: Any = load_own(write(tmp_path / "w_TRAIN.ts", HEAD + "\n".join(LINES)))
    assert (data.name, len(data.test)) == ("w", 1)
    np.testing.assert_array_equal(data.test.features[0, :, 1], [5, 6, 7, 8])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no sequences"),
        (HEAD, "no sequences"),
        ("1,2:3,4:a", "expected a header line"),
        ("@timeStamps true\n@data\n1:a", "time stamps"),
        ("@targetLabel true\n@data\n1:2", "no classes"),
        (HEAD + "1,2", "line 6: no label"),
        (HEAD + "1,2:a\n1,?:b", "line 7: .*fill in"),
        (HEAD + "1,2:1:a", "channels of 1 and 2"),
        (HEAD + "1,inf:1,2:a", "holds inf"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_own(write(tmp_path / "bad.ts", text))


def test_japanese_vowels_have_the_official_parts() -> None:
    data = entrain.load_dataset("japanese-vowels")
    assert np.bincount(data.train.labels).tolist() == [24] * 9
    assert np.bincount(data.validation.labels).tolist() == [6] * 9
    assert np.bincount(data.test.labels).tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    frames = np.concatenate([lengths(p.features) for p in (data.train, data.validation, data.test)])
    assert (frames.min(), frames.max(), frames.sum()) == (7, 29, 9961)


def test_the_bundled_dataset_is_listed_and_shown() -> None:
    assert "japanese-vowels" in in_process("data").stdout
    assert "216 / 54 / 370" in in_process("data", "japanese-vowels").stdout
    result = in_process("train", "japanese-vowels", "--frames", 8)
    assert result.exit_code == 2
    assert "frames belongs to your own sequences" in " ".join(result.output.split())


def test_japanese_vowels_are_learnt_from_labels() -> None:
    trained = entrain.train("japanese-vowels", network=16, epochs=12)
    assert [rule.name for rule in trained.recipe.protocols] == ["DIRECT"]
    assert trained.model.evaluate(entrain.load_dataset("japanese-vowels").validation)["top1"] > 80
