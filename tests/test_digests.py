"""Damaged files: a digest tells them, and none is ever read as another model or result."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from command_line import Refuse, Run
from entrain.cli.search import settings_of
from entrain.data import load_dataset
from entrain.models.model import read_model
from entrain.rules import Direct
from entrain.training import read_state
from entrain.training.run_folder import RunFolder
from entrain.training.search import SPACE, search
from entrain.utils.errors import InputError
from entrain.utils.files import read_json_with_digest, strict_json, with_digest
from entrain.utils.tensor_file import pack_tensors, unpack_tensors
from model_files import rewritten

RESULTS = Path(__file__).parents[1] / "results"


def flipped(content: bytes, bits: int, dice: random.Random) -> bytes:
    """`content` with so many of its bits turned over."""
    changed = bytearray(content)
    for place in dice.sample(range(8 * len(content)), bits):
        changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def damages(content: bytes, times: int) -> list[bytes]:
    """1 and 40 flipped bits anywhere, and 1 in the lengths, names, types and offsets in front."""
    dice, front = random.Random(3), content[:700]
    return [
        *(flipped(content, bits, dice) for bits in (1, 40) for _ in range(times)),
        *(flipped(front, 1, dice) + content[700:] for _ in range(times)),
    ]


@pytest.mark.parametrize("kind", ["model", "checkpoint"])
def test_flipped_bits_in_a_model_or_a_checkpoint_are_refused(
    tiny_run: Run, tmp_path: Path, kind: str
) -> None:
    source = tiny_run.model if kind == "model" else tiny_run.folder / "state" / "path.safetensors"
    read: Callable[[Path], Any] = read_model if kind == "model" else read_state
    file = tmp_path / "damaged.safetensors"
    read(source)
    for content in damages(source.read_bytes(), 150):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"damaged\.safetensors: "):
            read(file)


def test_every_bit_of_a_small_file(tmp_path: Path) -> None:
    content = pack_tensors("model", {"a": torch.arange(3.0), "b": torch.tensor(7)}, {"x": [1, "y"]})
    unpack_tensors(content, "model", "small")
    for place in range(8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(InputError, match="small: "):
            unpack_tensors(bytes(changed), "model", "small")


def test_a_damaged_file_says_what_to_do(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    source = tiny_run.folder / "state" / "path.safetensors"
    content = bytearray(source.read_bytes())
    content[-100] ^= 1
    folder = tmp_path / "run"
    (folder / "state").mkdir(parents=True)
    (folder / "run.json").write_bytes((tiny_run.folder / "run.json").read_bytes())
    (folder / "state" / "path.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=r"damaged after .* Delete it to train its stage again"):
        RunFolder.open(folder).load("PATH")
    model = bytearray(tiny_run.model.read_bytes())
    model[-100] ^= 1
    (folder / "model.safetensors").write_bytes(model)
    message = refuse("show", folder / "model.safetensors", "--json")
    assert "does not match its digest" in message
    assert "copy or train it again" in message


def test_model_without_a_digest_is_refused(tiny_run: Run, tmp_path: Path) -> None:
    file = rewritten(tiny_run.model, tmp_path / "x.safetensors", digest=False)
    with pytest.raises(InputError, match="does not match its digest"):
        read_model(file)
    rewritten(tiny_run.model, file, header={"version": 1}, digest=False)
    with pytest.raises(InputError, match="format version 1"):
        read_model(file)


def test_the_same_content_gives_the_same_bytes(tiny_run: Run, tmp_path: Path) -> None:
    again = tmp_path / "again.safetensors"
    read_model(tiny_run.model).save(again)
    assert again.read_bytes() == tiny_run.model.read_bytes()


def a_search_result() -> dict[str, Any]:
    settings = {name: low for name, (low, _) in SPACE.items()}
    trial = {"settings": settings, "top1": 12.5}
    return {"dataset": "digits", "epochs": 2, "hidden": 8, "validation_top1": 12.5} | {
        "settings": settings,
        "trials": [trial, trial],
    }


@pytest.mark.parametrize("kind", ["run", "experiment", "search"])
def test_flipped_bits_in_a_result_are_refused_or_change_nothing(
    tiny_run: Run, tmp_path: Path, kind: str
) -> None:
    """A digit beyond a number's precision, or e for E: the values are the same then."""
    if kind == "run":
        source = (tiny_run.folder / "results.json").read_bytes()
        (tmp_path / "run.json").write_bytes((tiny_run.folder / "run.json").read_bytes())
        file, read = tmp_path / "results.json", RunFolder.open(tmp_path).results
    elif kind == "experiment":
        paper = pytest.importorskip("entrain_paper.reproduction", reason="pip install ./paper")
        source = (RESULTS / "widths.json").read_bytes()
        file = tmp_path / "widths.json"
        read = lambda: paper.ResultsFolder(tmp_path).result("widths")  # noqa: E731
    else:
        source = strict_json(with_digest(a_search_result()), 1).encode()
        file = tmp_path / "found.json"
        read = lambda: settings_of(file, ["DIRECT"])  # noqa: E731
    file.write_bytes(source)
    whole = read()
    assert whole
    refused = 0
    for content in damages(source, 150):
        file.write_bytes(content)
        try:
            found = read()
        except InputError as error:
            assert str(error).startswith(f"{file}: ")  # noqa: PT017 (either way is right)
            refused += 1
        else:
            assert found == whole
    assert refused > 400


def test_a_result_without_its_digest_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    values = {"a": [1, 0.1, None, "é"], "b": {"2": True}}
    file.write_text(json.dumps(with_digest(values)))
    assert read_json_with_digest(file, "a result") == values
    assert with_digest(with_digest(values)) == with_digest(values)
    assert with_digest({"b": {2: True}, "a": (1, 0.1, float("nan"), "é")}) == with_digest(values)
    file.write_text(json.dumps(with_digest(values)).replace("digest", "diges4"))
    with pytest.raises(InputError, match=r"not a result \(no digest\)"):
        read_json_with_digest(file, "a result")
    file.write_text(json.dumps(with_digest(values) | {"b": {}}))
    with pytest.raises(InputError, match=r"x\.json: does not match .* move it away and measure"):
        read_json_with_digest(file, "a result")
    for text in ("[]", "5", "{", "[" * 100_000, '{"a": ' + "9" * 5000 + "}"):
        file.write_text(text)
        with pytest.raises(InputError, match=r"not a result .* move it away"):
            read_json_with_digest(file, "a result")


def test_the_committed_files_have_their_digests() -> None:
    paper = pytest.importorskip("entrain_paper.reproduction", reason="pip install ./paper")
    folder = paper.ResultsFolder(RESULTS)
    for name in ("records", "multiseed"):
        assert "digest" in json.loads(folder.result_path(name).read_text())
        assert folder.result(name)
    content = (RESULTS.parent / "src/entrain/models/mnist-74.safetensors").read_bytes()
    with pytest.raises(InputError, match="does not match its digest"):
        unpack_tensors(content[:-1] + bytes([content[-1] ^ 1]), "model", "mnist-74")


def test_flipped_bits_in_the_journal_of_a_search_are_refused_or_change_nothing(
    tmp_path: Path,
) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed")
    digits, journal = load_dataset("digits"), tmp_path / "s.journal"
    protocol = Direct(epochs=1, batch_size=128, coarse_steps=10, fine_epochs=0)

    def resume() -> Any:
        return search(digits, protocol, trials=2, hidden=8, journal=journal)

    first, source = resume(), journal.read_bytes()
    dice, refused = random.Random(3), 0
    for _ in range(40):
        journal.write_bytes(flipped(source, 1, dice))
        try:
            assert resume() == first
        except InputError as error:
            assert str(error).startswith(f"{journal}: ")  # noqa: PT017 (either way is right)
            refused += 1
    assert refused > 35
