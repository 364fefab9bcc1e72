"""Kinds of chips as TOML files: the presets, units and sources, and files that are refused."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

import pytest

import entrain.hardware
from command_line import Invoke, Refuse, printed
from entrain.hardware import (
    Delay,
    Hardware,
    Levels,
    Mismatch,
    Wiring,
    describe,
    find,
    preset,
    presets,
    read,
)
from entrain.hardware.hardware import EFFECT_TYPES
from entrain.utils.errors import InputError

PRESETS = Path(entrain.hardware.__file__).parent / "presets"

WITHOUT_UNIT = {"kind", "rule", "mask"}


def test_presets_are_the_files_in_the_package() -> None:
    assert set(presets()) == {path.stem for path in PRESETS.iterdir()}
    assert "typical" in presets()
    assert len(presets()) >= 5


@pytest.mark.parametrize("name", presets())
def test_every_number_of_a_preset_has_a_unit_and_a_source(name: str) -> None:
    content = tomllib.loads((PRESETS / f"{name}.toml").read_text())
    assert content["title"]
    found = 0
    for section, entries in content.items():
        if section == "title":
            continue
        for entry, value in entries.items():
            if isinstance(value, str):  # a choice or a fact in words, such as rule = "rms"
                assert section == "chip" or entry in WITHOUT_UNIT
                continue
            assert value["source"].strip(), (section, entry)
            if entry not in WITHOUT_UNIT:
                assert value["unit"].strip(), (section, entry)
            found += 1
    assert found


@pytest.mark.parametrize("name", presets())
def test_a_preset_survives_json(name: str) -> None:
    hardware = preset(name)
    assert hardware.name == name
    assert not hardware.is_identity
    text = json.dumps(hardware.to_json())
    again = Hardware.from_json(json.loads(text))
    assert again == hardware
    assert again.name == name
    assert json.dumps(again.to_json()) == text
    assert hash(again) == hash(hardware)


def test_a_mask_survives_json() -> None:
    hardware = Hardware(wiring=Wiring(mask=((0, 3), (1, 2))), coupling_levels=Levels(bits=4))
    assert Hardware.from_json(json.loads(json.dumps(hardware.to_json()))) == hardware


def test_spread_outputs_survive_json_and_defaults_are_not_written() -> None:
    hardware = Hardware(wiring=Wiring("kings", outputs="spread"))
    assert hardware.to_json()["wiring"] == {"kind": "kings", "outputs": "spread"}
    assert Hardware.from_json(json.loads(json.dumps(hardware.to_json()))) == hardware
    assert Hardware(wiring=Wiring("kings")).to_json()["wiring"] == {"kind": "kings"}


def test_typical_has_the_values_of_its_file() -> None:
    chip = describe("typical")
    hardware = chip.hardware
    assert hardware.mismatch == Mismatch(couplings=0.1, input_weights=0.1)
    assert hardware.coupling_levels == Levels(bits=4, range=3.0, rule="rms")
    assert hardware.sparsity is not None
    assert hardware.sparsity.kept == 0.5
    assert chip.units["mismatch.couplings"] == "1"  # of 0.1, which stands as 10 % in the file
    assert chip.sources["mismatch.couplings"]
    assert preset("lo-2023").oscillators == 48
    levels = preset("lo-2023").coupling_levels
    assert levels is not None
    assert levels.levels == pytest.approx([k / 14 for k in range(-14, 15)])


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


FULL = """
title = "Mine"
[chip]
oscillators = { value = 80, unit = "oscillators", source = "me" }
supply = { value = 1.2, unit = "V", source = "a meter" }
[mismatch]
couplings = { value = 7, unit = "%", source = "measured" }
biases = 0.2
[coupling_function]
lag = { value = 30, unit = "deg", source = "simulated" }
second = { value = 12, unit = "%", source = "simulated" }
second_even = { value = -0.05, unit = "1", source = "simulated" }
[delay]
time = { value = 0.02, unit = "unit of time", source = "wires" }
[frequency_spread]
sd = { value = 0.5, unit = "rad per unit of time" }
[wiring]
mask = [[0, 1], [2, 5]]
"""


def test_a_file_with_units_is_read_in_basic_units(tmp_path: Path) -> None:
    path = written(tmp_path, FULL)
    chip = describe(str(path))
    hardware = chip.hardware
    assert (chip.title, hardware.name, hardware.oscillators) == ("Mine", "mine", 80)
    assert chip.facts == {"supply": "1.2 V (a meter)"}
    assert hardware.mismatch is not None
    assert hardware.mismatch.couplings == pytest.approx(0.07)
    assert hardware.mismatch.biases == 0.2
    assert hardware.coupling_function is not None
    assert hardware.coupling_function.lag == pytest.approx(math.pi / 6)
    assert hardware.coupling_function.second == pytest.approx(0.12)
    assert hardware.coupling_function.second_even == -0.05
    assert hardware.delay == Delay(0.02)
    assert Hardware.from_json(json.loads(json.dumps(hardware.to_json()))) == hardware
    assert hardware.wiring == Wiring(mask=((0, 1), (2, 5)))
    assert chip.sources["mismatch.couplings"] == "measured"
    assert read(path) == find(path) == find(str(path)) == hardware
    assert find(hardware) is hardware


def test_shares_above_1_are_read_with_their_unit(tmp_path: Path) -> None:
    for entry in ("{ value = 300, unit = '%' }", "{ value = 3.0, unit = '1' }"):
        kind = read(written(tmp_path, f"[mismatch]\ncouplings = {entry}\n"))
        assert kind == Hardware(mismatch=Mismatch(couplings=3.0))
    whole = read(written(tmp_path, "[mismatch]\ncouplings = 1\n"))
    assert whole == Hardware(mismatch=Mismatch(couplings=1.0))


def test_facts_are_texts_or_have_a_value(tmp_path: Path) -> None:
    text = "[chip]\npower = '1 mW'\ncells = { value = 4 }\narea = { value = 2, unit = 'mm2' }\n"
    facts = {"power": "1 mW", "cells": "4", "area": "2 mm2"}
    assert describe(str(written(tmp_path, text))).facts == facts


def test_wang_2019_states_what_is_not_modelled() -> None:
    facts = describe("wang-2019").facts
    assert "not modelled" in facts["second_harmonic"]
    assert facts["graph"] == "assumed: all-to-all"
    assert preset("wang-2019").to_json() == {
        "name": "wang-2019",
        "oscillators": 240,
        "coupling_levels": {"bits": 5},
        "mismatch": {"couplings": 0.1},
    }


def test_an_empty_file_is_the_ideal_network(tmp_path: Path) -> None:
    assert read(written(tmp_path, "")) == Hardware()


BAD = {
    "[mismach]\n": "unknown effect 'mismach'; did you mean 'mismatch'",
    "[mismatch]\ncoupling = 0.1\n": "unknown entry of mismatch 'coupling'; did you mean 'coupl",
    "[mismatch]\ncoupling = { value = 5, unit = '%' }\n": "'coupling'; did you mean 'couplings'",
    "[mismatch]\ncouplings = -0.1\n": "mismatch: couplings must be finite and at least 0",
    "[mismatch]\ncouplings = nan\n": "mismatch: couplings must be finite and at least 0, got nan",
    "[mismatch]\ncouplings = { value = 5, unit = 'V' }\n": "couplings must be in '1' or '%', got '",
    "[mismatch]\ncouplings = { value = 5, unit = [1] }\n": "must be in '1' or '%', got [1]",
    "[mismatch]\ncouplings = { value = true, unit = '%' }\n": "must be a number, got True",
    "[mismatch]\ncouplings = { value = 5, units = '%' }\n": "must hold value, unit and source",
    "[mismatch]\ncouplings = { unit = '%' }\n": "must hold value, unit and source, got unit",
    "[mismatch]\ncouplings = [1, 2]\n": "couplings must be a number, got (1, 2)",
    "[wiring]\nkind = { value = 'kings', unit = '1' }\n": "wiring.kind has no unit, got '1'",
    "[wiring]\nkind = 'king'\n": "unknown kind 'king'; did you mean 'kings'",
    "[wiring]\nkind = ['kings']\n": "unknown kind",
    "[wiring]\noutputs = 'spred'\n": "unknown outputs 'spred'; did you mean 'spread'",
    "[wiring]\nmask = [[1, 0]]\n": "mask must list couplers (i, j)",
    "[coupling_levels]\nbits = 0\n": "coupling_levels: bits must be a whole number of at least 1",
    "[coupling_levels]\nbits = 1\n": "coupling_levels: bits must be from 2 to 24, got 1",
    "[coupling_levels]\nbits = 4.0\n": "coupling_levels: bits must be a whole number",
    "[coupling_levels]\nlevels = [1, -1]\n": "levels must be two or more, in rising order",
    "[coupling_levels]\nlevels = 3\n": "levels must be numbers, got 3",
    "[coupling_levels]\n": "give bits or levels of the couplings",
    "[field_levels]\nbits = 3\n": "fields change with the input",
    "[sparsity]\nkept = { value = 150, unit = '%' }\n": "kept must be a share from 0 to 1, got 1.5",
    "[dead]\ncouplers = { value = 100, unit = '%' }\n": "dead: couplers must be a share below",
    "[chip]\noscillators = 1.5\n": "oscillators must be a whole number of at least 1",
    "[chip]\noscillators = { value = 5, unit = '%' }\n": "oscillators must be in 'oscillators'",
    "[chip]\nsize = 48\n": "'size' in [chip] is not an entry of chips; to show it as a fact, ",
    "[chip]\nbits = 4\n": "'bits' in [chip] would change nothing; it belongs to [coupling_",
    "[chip]\nbits = '4'\n": "belongs to [coupling_levels] or [weight_levels] or [bias_levels]",
    "[chip]\ndegree = { value = 4 }\n": "in [chip] would change nothing; it belongs to [wiring]",
    "[chip]\ntuning = 0.1\n": "it belongs to [components]",
    "[chip]\nmismatch = 0.1\n": "it belongs to a section [mismatch]",
    "[chip]\nname = 'ours'\n": "it belongs to title, above all sections",
    "[chip]\nfoo = { value = 3, unti = 'x' }\n": "'foo' in [chip] is not an entry of chips",
    "[chip]\nfoo = { unit = 'x' }\n": "write a text or { value = ..., unit =",
    "[chip]\nfoo = { value = { value = 1 } }\n": "'foo' in [chip] is not an entry of chips",
    "[chip]\nfoo = { value = 1, unit = 2 }\n": "'foo' in [chip] is not an entry of chips",
    "[mismatch]\ncouplings = 3\n": "mismatch.couplings is a share, so that 3 would be 300 %; write "
    '{ value = 3, unit = "%" } for 3 %, or { value = 300, unit = "%" } for 300 %',
    "[mismatch]\ncouplings = { value = 3 }\n": "couplings is a share, so that 3 would be 300 %",
    "[coupling_function]\nsecond = -1.5\n": "second is a share, so that -1.5 would be -150 %",
    "[components]\ninductance = 5\n": "components.inductance is a share, so that 5 would be 500 %",
    "mismatch = 0.1\n": "mismatch must be a section [mismatch], got 0.1",
    "chip = 48\n": "chip must be a section [chip], got 48",
    "[mismatch\n": "not a TOML file",
    "[readout]\nbits = 3\nbits = 4\n": "not a TOML file",
    "x = " + "[" * 3000 + "\n": "not a TOML file",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=range(len(BAD)))
def test_an_invalid_file_is_refused_by_its_name(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    huge = written(tmp_path, "# " + "x" * 2**20)
    with pytest.raises(InputError, match="expected at most 1,048,576 for a hardware file"):
        read(huge)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a TOML file"):
        read(binary)
    with pytest.raises(InputError, match="no such hardware file"):
        find(str(tmp_path / "none.toml"))
    with pytest.raises(InputError, match="is a folder, expected a hardware file"):
        find(str(tmp_path))
    for name in ("typicl", "TYPICAL"):
        with pytest.raises(InputError, match=r"did you mean 'typical'.*or give a TOML file"):
            find(name)
    for name in ("x" * 5000, "~nobody-of-that-name", "a\0b", ""):
        with pytest.raises(InputError):
            find(name)
    with pytest.raises(TypeError, match="hardware must be a Hardware, a name or a file, got 3"):
        find(3)  # type: ignore[arg-type]


# The command line


def test_the_command_lists_every_preset(invoke: Invoke) -> None:
    assert set(printed(invoke, "hardware")["hardware"]) == set(presets())
    shown = invoke("hardware").stdout
    assert all(name in shown for name in presets())


@pytest.mark.parametrize("name", presets())
def test_the_command_shows_every_number_with_its_source(invoke: Invoke, name: str) -> None:
    found = printed(invoke, "hardware", name)
    assert Hardware.from_json(found["hardware"]) == preset(name)
    shown = invoke("hardware", name).stdout
    content = tomllib.loads((PRESETS / f"{name}.toml").read_text())
    for effect in EFFECT_TYPES:
        for entry in content.get(effect, {}):
            assert f"{effect}.{entry}" in shown or (entry == "rule" and "their rms" in shown)
            if entry not in WITHOUT_UNIT:
                assert found["units"][f"{effect}.{entry}"]
                assert found["sources"][f"{effect}.{entry}"]


def test_the_command_shows_a_file(invoke: Invoke, tmp_path: Path) -> None:
    found = printed(invoke, "hardware", written(tmp_path, FULL))
    assert found["title"] == "Mine"
    assert found["hardware"]["mismatch"] == {"couplings": pytest.approx(0.07), "biases": 0.2}
    shown = invoke("hardware", written(tmp_path, FULL)).stdout
    for text in ("1.2 V", "measured", "2 couplers", "0.5 rad per unit of time", "7 %"):
        assert text in shown


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_the_command_refuses(refuse: Refuse, tmp_path: Path, json_too: tuple[str, ...]) -> None:
    bad = written(tmp_path, "[mismatch]\ncouplings = -1\n")
    for command in (
        ("hardware", bad),
        ("yield", "mnist-74", "--hardware", bad),
        ("train", "digits", "--hardware", bad, "--out", tmp_path / "run"),
    ):
        assert "mismatch: couplings must be finite and at least 0" in refuse(*command, *json_too)
    assert "did you mean 'typical'" in refuse("hardware", "typica", *json_too)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
