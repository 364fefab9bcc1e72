"""What an inference costs: sums, scaling, counts, and a source for every number."""

from __future__ import annotations

import importlib.util
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import entrain
from command_line import Invoke, Refuse, printed
from entrain.cost import (
    Cost,
    Quantity,
    Range,
    System,
    Technology,
    Workload,
    cost_of_workload,
    find_technology,
    technologies,
    text,
    workload_of,
)
from entrain.cost.chip import Inputs
from entrain.cost.digital import mlp_width
from entrain.cost.technology import ENTRIES
from entrain.export.verilog import cycles_per_inference
from entrain.hardware import Dead, Hardware, Levels, Sparsity

ROOT = Path(__file__).parents[1]
WORK = Workload(784, 64, 10, 1000, 52906, 200)
CASES = tuple(itertools.product(technologies(), ("digital", "crossbar")))


def cost(technology: str | Technology = "vo2", inputs: Inputs = "digital", **changes: Any) -> Cost:
    return cost_of_workload(replace(WORK, **changes), find_technology(technology), inputs)


def changed(technology: str, place: str, factor: float) -> Technology:
    """A technology with one of its numbers `factor` times as large."""
    found = find_technology(technology)
    old = found.quantities[place]
    return replace(
        found, quantities=found.quantities | {place: replace(old, range=old.range * factor)}
    )


def is_assumed(quantity: Quantity) -> bool:
    """True if the number has no source, or a source for a part of it only."""
    return "assumed" in quantity.source.lower()


def part(system: System, name: str) -> Any:
    (match,) = [part for part in system.parts if part.name == name]
    return match


@pytest.mark.parametrize(("technology", "inputs"), CASES)
def test_totals_are_sums_of_parts_and_ranges_are_ordered(technology: str, inputs: Inputs) -> None:
    for system in cost(technology, inputs).systems:
        for bound in ("low", "typical", "high"):
            for measure in ("time", "energy", "area"):
                if (whole := getattr(system, measure)) is not None:
                    parts = sum(getattr(getattr(each, measure), bound) for each in system.parts)
                    assert getattr(whole, bound) == pytest.approx(parts)
        assert system.power.typical == pytest.approx(system.energy.typical / system.time.typical)
        for holder in (system, *system.parts):
            for measure in ("time", "energy", "power", "area"):
                value = getattr(holder, measure)
                assert value is None or 0 <= value.low <= value.typical <= value.high
        assert all(each.formula and each.source for each in system.parts)


@pytest.mark.parametrize(("technology", "inputs"), CASES)
def test_energy_of_running_parts_is_linear_in_cycles(technology: str, inputs: Inputs) -> None:
    energies = {
        factor: cost(changed(technology, "run.cycles", factor), inputs) for factor in (1, 2, 3)
    }
    for name in ("oscillators", "couplers"):
        once, twice = (part(energies[factor].chip, name).energy.typical for factor in (1, 2))
        assert twice == pytest.approx(2 * once)
    first, second, third = (energies[factor].energy.typical for factor in (1, 2, 3))
    assert first < second
    assert third - second == pytest.approx(second - first)
    assert energies[1].mlp == energies[3].mlp


@pytest.mark.parametrize("technology", technologies())
def test_coupler_energy_is_proportional_to_their_number(technology: str) -> None:
    none, some, many = (part(cost(technology, couplers=n).chip, "couplers") for n in (0, 500, 1000))
    assert none.energy == none.area == Range.exactly(0.0)
    assert many.energy.high == pytest.approx(2 * some.energy.high)
    assert many.area.low == pytest.approx(2 * some.area.low)


def test_each_analog_bit_costs_its_growth() -> None:
    given = find_technology("lc")
    built = given["couplers.bits"].typical
    same, finer, coarser = (
        part(cost("lc", coupling_bits=built + more).chip, "couplers").energy for more in (0, 1, -1)
    )
    growth = given["couplers.growth"]
    assert finer.low == pytest.approx(growth.low * same.low)
    assert finer.high == pytest.approx(growth.high * same.high)
    assert coarser.high == pytest.approx(same.high / growth.low)
    assert same.high == pytest.approx(
        1000 * given["couplers.power"].high * 300 / given["run.frequency"].low
    )


def test_power_of_the_chip_of_moy() -> None:
    """1,968 oscillators with 4 couplers each of 5 levels take the 42 mW that were measured."""
    chip = cost("ring-65nm", couplers=4 * 1968, hidden=1957, coupling_bits=2.32).chip
    time = part(chip, "oscillators").time.typical
    energy = sum(part(chip, name).energy.typical for name in ("oscillators", "couplers"))
    assert energy / time == pytest.approx(0.042, rel=0.01)


def test_input_weights_take_most_of_the_energy() -> None:
    found = entrain.cost_of(entrain.load("mnist-74-robust"), "ring-65nm")
    front = sum(each.energy.typical for each in found.parts[:2])
    assert front > 0.7 * found.energy.typical
    assert front > 0.7 * found.mlp.energy.typical


# Counts


def test_couplers_are_counted_on_the_chip() -> None:
    model = entrain.load("mnist-74-direct")
    ideal = workload_of(model)
    assert (ideal.couplers, ideal.weights, ideal.parameters) == (2656, 50176, 52906)
    half = workload_of(replace(model, hardware=Hardware(sparsity=Sparsity(0.5))))
    assert half.couplers == 1328
    dead = replace(model, hardware=Hardware(sparsity=Sparsity(0.5), dead=Dead(couplers=0.1)))
    counts = [workload_of(dead, seed).couplers for seed in (0, 1, 2)]
    assert all(1150 < count < 1240 for count in counts)
    assert len(set(counts)) > 1
    nearly = Hardware(dead=Dead(couplers=1.0 - 1e-9))
    assert workload_of(replace(model, hardware=nearly)).couplers == 0
    few = Hardware(
        coupling_levels=Levels(bits=2), weight_levels=Levels(part="input_weights", bits=5)
    )
    rounded = workload_of(replace(model, hardware=few))
    assert 0 < rounded.couplers < 2656
    assert (rounded.coupling_bits, rounded.weight_bits, rounded.field_bits) == (2, 5, 8)


def test_bits_of_listed_levels_are_log2_of_their_number() -> None:
    assert 2 ** workload_of(entrain.load("mnist-48-chip")).coupling_bits == pytest.approx(29)


def test_mlp_has_the_most_units_that_fit() -> None:
    width = mlp_width(WORK)
    assert width == 66  # that of the bake-off
    assert width * 795 + 10 <= WORK.parameters < (width + 1) * 795 + 10
    bits = part(cost().mlp, "weight memory").count
    assert bits == 8 * (52480 + 784 + 66)


def test_cycles_of_the_core_are_those_of_its_simulation() -> None:
    results = json.loads((ROOT / "results" / "circuits.json").read_text())
    rows = [results["core"], *results["synthesis"]["rows"]]
    assert {row["target"]["lanes"] for row in rows} == {1, 4, 8}
    for row in rows:
        wanted = row["details"]["cycles_per_inference"]
        assert cycles_per_inference(74, 10, 200, row["target"]["lanes"]) == wanted


def test_common_core_matches_the_synthesis_results() -> None:
    results = json.loads((ROOT / "results" / "circuits.json").read_text())["synthesis"]["rows"]
    placed = [row["details"]["synthesis"]["nextpnr"] for row in results[:2]]
    technology = find_technology("vo2")
    small, large = placed[1], placed[0]
    assert technology["core.cells"].typical == small["used"]["ICESTORM_LC"][0]
    assert technology["core.cells"].high == large["used"]["ICESTORM_LC"][0]
    assert technology["core.blocks"].typical == small["used"]["ICESTORM_RAM"][0]
    assert technology["core.frequency"].typical == pytest.approx(1e6 * small["megahertz"])


def test_core_is_none_for_unsupported_terms() -> None:
    model = entrain.load("mnist-74")
    arrays = model.network.as_parameters()
    lagging = entrain.KuramotoNetwork.from_parameters(
        replace(arrays, lag=torch.tensor(0.1)), model.network.dynamics
    )
    found = entrain.cost_of(replace(model, network=lagging), "lc")
    assert found.core is None
    assert [each.name for each in found.systems] == ["chip", "mlp"]


# Technologies


@pytest.mark.parametrize("name", technologies())
def test_shipped_technologies_have_sources(name: str) -> None:
    technology = find_technology(name)
    assert {place.split(".")[0] for place in technology.quantities} == set(ENTRIES)
    for place, each in technology.quantities.items():
        assert is_assumed(each) or any(mark.isdigit() for mark in each.source), (
            place
        )  # a year, a file
    assert any(not is_assumed(each) for each in technology.quantities.values())


def test_units_are_those_of_the_file(tmp_path: Path) -> None:
    original = (ROOT / "src/entrain/cost/presets/vo2.toml").read_text()
    other = tmp_path / "mine.toml"
    other.write_text(
        original.replace('low = 40, typical = 50, high = 60, unit = "MHz"',
                         'low = 40e3, typical = 50e3, high = 60e3, unit = "kHz"')
    )  # fmt: skip
    assert other.read_text() != original
    same = cost_of_workload(WORK, find_technology(other), "digital")
    assert same.energy.typical == pytest.approx(cost("vo2").energy.typical, rel=1e-12)


BAD = {
    "unit": ('unit = "MHz"', 'unit = "pJ"', "run.frequency must be in 'MHz' or 'kHz'"),
    "no unit": (', unit = "MHz"', "", "run.frequency must be in 'MHz' .* got None"),
    "no source": (', source = "on arXiv 2604.04594: 40 to 60 MHz"', "", "must have a source"),
    "empty source": ('"on arXiv 2604.04594: 40 to 60 MHz"', '" "', "must have a source"),
    "negative": ("low = 1.2", "low = -1.2", "oscillators.energy, low must be finite and at leas"),
    "order": ("low = 1.2", "low = 1.7", "rise from low to typical to high, got 1.7, 1.5, 1.9"),
    "not finite": ("low = 1.2", "low = nan", "must be finite"),
    "infinite": ("high = 1.9", "high = inf", "must be finite"),
    "too much": ("high = 1.9", "high = 1e300", "must be from 0 to 1e.18"),
    "zero frequency": ("low = 40", "low = 0", "run.frequency, low must be finite and above 0"),
    "text": ("low = 1.2", 'low = "1.2"', "must be a number, got '1.2'"),
    "some": ("low = 1.2, ", "", "must hold value, or low, typical and high"),
    "both": ("low = 1.2", "value = 1, low = 1.2", "must hold value, or low, typical and high"),
    "unknown section": ("[couplers]", "[coupler]", "unknown section 'coupler'; did you mean 'coup"),
    "unknown entry": ("cycles =", "cicles =", "unknown entry of run 'cicles'; did you mean 'cycl"),
    "power and energy": ("[couplers]\n", "[couplers]\npower = { value = 1, unit = 'uW', source = "
                         "'assumed' }\n", "must have power or energy, one of them; got both"),
    "neither": ("[oscillators]\nenergy", "[oscillators]\n#", "got neither"),
    "plain number": ("[readout]\nenergy = {", "[readout]\nenergy = 4 #", "must hold value"),
    "no toml": ("[run]", "[run", "not a TOML file"),
    "growth": ("growth = { low = 1,", "growth = { low = 0.5,", "must be from 1 to 16"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BAD.values(), ids=BAD)
def test_invalid_technologies_raise(old: str, new: str, message: str, tmp_path: Path) -> None:
    original = (ROOT / "src/entrain/cost/presets/vo2.toml").read_text()
    file = tmp_path / "mine.toml"
    file.write_text(original.replace(old, new, 1))
    assert file.read_text() != original
    with pytest.raises(entrain.InputError, match=message):
        find_technology(file)


def test_a_missing_section_or_entry_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[run]\ncycles = { value = 1, unit = "cycles", source = "assumed" }\n')
    with pytest.raises(entrain.InputError, match="run lacks frequency"):
        find_technology(file)
    file.write_text("title = 'nothing'\n")
    with pytest.raises(entrain.InputError, match=r"the section \[run\] is missing"):
        find_technology(file)


def test_damaged_technologies_are_read_or_raise(tmp_path: Path) -> None:
    """Whatever a file says, it is an `InputError` or an estimate that is finite."""
    import random

    from entrain.utils.files import strict_json
    from fuzzing.mutations import mutated

    seeds = [path.read_bytes() for path in (ROOT / "src/entrain/cost/presets").glob("*.toml")]
    dice = random.Random(0)
    file = tmp_path / "mine.toml"
    outcomes = set()
    for _ in range(300):
        file.write_bytes(mutated(dice.choice(seeds), seeds, dice))
        try:
            found = cost_of_workload(WORK, find_technology(file), "crossbar")
        except entrain.InputError:
            outcomes.add("refused")
        else:
            outcomes.add("read")
            assert "null" not in strict_json(found.chip.to_json()["energy"])
    assert outcomes == {"read", "refused"}


# Commands, and what was kept


def test_the_command_prints_parts_totals_and_comparison(
    invoke: Invoke, refuse: Refuse, tmp_path: Path
) -> None:
    figure = tmp_path / "cost.svg"
    line = ("cost", "mnist-74-robust", "--technology", "ring-65nm")
    result = printed(invoke, *line, "--figure", figure)
    assert set(result["systems"]) == {"chip", "mlp", "core"}
    assert result["workload"]["couplers"] == workload_of(entrain.load("mnist-74-robust")).couplers
    assert figure.read_text().startswith("<?xml")
    figure.write_text("mine")
    message = refuse(*line, "--figure", figure)
    assert "exists already; choose another name, or --overwrite" in message
    assert figure.read_text() == "mine"
    printed(invoke, *line, "--figure", figure, "--overwrite")
    assert figure.read_text().startswith("<?xml")
    shown = invoke(*line).stdout
    for word in ("couplers", "weight memory", "readout", "784-66-10", "not modelled"):
        assert word in shown
    crossbar = printed(invoke, *line, "--inputs", "crossbar")["systems"]["chip"]
    names = [each["name"] for each in crossbar["parts"]]
    assert "crossbar cells" in names
    assert "weight memory" not in names


def test_a_model_without_a_technology_is_compared_in_all(invoke: Invoke) -> None:
    found = printed(invoke, "cost", "mnist-74")["technologies"]
    alone = printed(invoke, "cost", "mnist-74", "--technology", "vo2")
    assert tuple(found) == technologies()
    assert found["vo2"] == {name: value for name, value in alone.items() if name != "model"}
    shown = invoke("cost", "mnist-74").stdout
    assert all(name in shown for name in (*technologies(), "time", "energy", "power", "area"))


def test_the_command_lists_and_shows_technologies(invoke: Invoke) -> None:
    assert set(printed(invoke, "cost", "--list")["technologies"]) == set(technologies())
    shown = printed(invoke, "cost", "--technology", "vo2")["quantities"]
    assert shown["oscillators.energy"]["high"] == pytest.approx(1.9e-12)
    assert "2604.04594" in shown["oscillators.energy"]["source"]
    assert "oscillators.energy" in invoke("cost", "--technology", "vo2").stdout
    assert "Not modelled" in invoke("cost", "--help").stdout


def test_cost_command_raises_for_invalid_input(refuse: Refuse, tmp_path: Path) -> None:
    assert "name a MODEL, or a --technology" in refuse("cost")
    figure = ("--figure", tmp_path / "a.png")
    assert "add --technology" in refuse("cost", "mnist-74", *figure)
    assert "add MODEL" in refuse("cost", "--technology", "vo2", *figure)
    assert "did you mean 'vo2'" in refuse("cost", "mnist-74", "--technology", "v02")
    assert "no such technology file" in refuse(
        "cost", "mnist-74", "--technology", tmp_path / "no.toml"
    )
    assert "did you mean 'crossbar'" in refuse(
        "cost", "mnist-74", "--technology", "vo2", "--inputs", "crosbar"
    )
    assert "a figure ends in" in refuse(
        "cost", "mnist-74", "--technology", "vo2", "--figure", tmp_path / "a.txt"
    )
    assert "seed must be" in refuse("cost", "mnist-74", "--technology", "vo2", "--seed", -1)
    with pytest.raises(TypeError, match="model must be a Model"):
        entrain.cost_of("mnist-74", "vo2")  # type: ignore[arg-type]


def test_committed_costs_and_docs_table_are_up_to_date() -> None:
    paper = pytest.importorskip("entrain_paper.report.cost_tables", reason="pip install ./paper")
    spec = importlib.util.spec_from_file_location("cost_table", ROOT / "benchmarks/cost_table.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    rows = json.loads((ROOT / "results" / "cost.json").read_text())["rows"]
    assert len(rows) == 3 * (2 * len(technologies()) + 2)
    for row, again in zip(rows, script.rows(), strict=True):
        assert (row["model"], row["design"]) == (again["model"], again["design"])
        for measure in ("time", "energy", "power", "area"):
            assert row[measure] == (again[measure] and pytest.approx(again[measure]))
    assert paper.cost_table(rows) in (ROOT / "docs" / "cost.md").read_text()


def test_conclusions_of_the_page_match_the_results() -> None:
    rows = json.loads((ROOT / "results" / "cost.json").read_text())["rows"]
    page = " ".join((ROOT / "docs" / "cost.md").read_text().split())
    made_for_chips = [row for row in rows if row["model"] != "mnist-74-direct"]
    digital = [row["shares"] for row in made_for_chips if row["design"].endswith(", digital")]
    front = [100 * (each["weight memory"] + each["multiply-accumulate"]) for each in digital]
    assert f"they take {min(front):.0f} to {max(front):.0f} % of the typical energy" in page
    assert all(each["input DACs"] + each["readout"] < 0.01 for each in digital)
    energies = {(row["model"], row["design"]): 1e9 * row["energy"]["typical"] for row in rows}
    robust, other = (
        [energies["mnist-74-robust", f"{name}, {inputs}"] for name in technologies()]
        for inputs in ("digital", "crossbar")
    )
    mlp = energies["mnist-74-robust", "MLP 784-66-10, 8 bits"]
    assert f"takes {min(robust):.0f} to {max(robust):.0f} nJ where the 8-bit MLP" in page
    assert f"MLP takes {mlp:.0f} nJ" in page
    assert f"takes {min(other):.0f} to {max(other):.0f} nJ typically" in page
    ratios = [100 * a / b for a, b in zip(other, robust, strict=True)]
    assert f"{min(ratios):.0f} to {max(ratios):.0f} % of the digital one" in page


def test_numbers_are_shown_with_prefixes() -> None:
    assert text(Range(3.1e-8, 7.84e-8, 1.6e-7), "J") == "78 nJ (31 to 160 nJ)"
    assert text(Range(5e-10, 1e-9, 2e-9), "s") == "1 ns (500 ps to 2 ns)"
    assert text(Range.exactly(2e-12), "m2") == "2 µm²"
    assert text(Range.exactly(0.9999e-9), "J") == "1 nJ"
