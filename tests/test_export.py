"""Designs, netlists and fixed-point networks, without a simulator."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import entrain
from circuits import SPREAD, column, small
from command_line import Run
from entrain.export import Design, Spice, WordLengths, design_of, fixed_point
from entrain.export.components import components_of, parts
from entrain.export.design import read_design, write_design
from entrain.export.netlists import netlists
from entrain.export.ngspice import phases_of, read_raw
from entrain.export.targets import Oscillator
from entrain.export.verilog import verilog_files
from entrain.hardware import Components, preset
from entrain.physics import Dynamics, PhaseModel
from entrain.utils.errors import InputError

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]


# Designs


def test_a_design_has_the_fields_and_phases_of_the_model(tiny_run: Run) -> None:
    model = entrain.load(tiny_run.model)
    split = entrain.load_dataset("digits").test
    design = design_of(model, split.features[:4], split.labels[:4], name="tiny")
    inputs = model.inputs(split.features[:4])
    assert design.fields == pytest.approx(model.network.fields(inputs).detach().numpy(), abs=1e-5)
    scores = design.scores(design.phases())
    assert scores == pytest.approx(model.scores(split.features[:4]).numpy(), abs=1e-4)
    assert design.labels == tuple(split.labels[:4])


def test_a_design_of_a_chip_has_the_numbers_of_that_chip(tiny_run: Run) -> None:
    model = entrain.load(tiny_run.model)
    split = entrain.load_dataset("digits").test
    chip = preset("ark").sample(3)
    design = design_of(model, split.features[:4], split.labels[:4], chip=chip)
    wanted = model.on(chip).scores(split.features[:4]).numpy()
    assert design.scores(design.phases()) == pytest.approx(wanted, abs=1e-4)
    ideal = design_of(model, split.features[:4], split.labels[:4])
    assert not np.allclose(design.couplings, ideal.couplings)


def test_a_design_is_read_as_it_was_written(tmp_path: Path) -> None:
    design = small(frequencies=column(*range(6)), lag=torch.tensor([0.1], dtype=torch.float64))
    write_design(tmp_path, design)
    found = read_design(tmp_path)
    for name, tensor in design.phase_model.tensors().items():
        assert torch.equal(found.phase_model.tensors()[name], tensor)
    assert (found.labels, found.dynamics) == (design.labels, design.dynamics)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": (0, 1)},
        {"labels": (0, 1, 2)},
        {"class_names": ("a", "b" * 300)},
        {"class_names": ("a",)},
        {"outputs": 0},
        {"phase_model": PhaseModel(torch.zeros(1, 3, 6), torch.zeros(1, 5, 6))},
        {"phase_model": PhaseModel(torch.full((1, 3, 6), math.nan), torch.zeros(1, 6, 6))},
        {"phase_model": PhaseModel(torch.zeros(2, 3, 6), torch.zeros(2, 6, 6))},
    ],
)
def test_inconsistent_designs_raise(tmp_path: Path, change: dict) -> None:
    write_design(tmp_path, replace(small(), **change))
    with pytest.raises(InputError, match="not a readable design"):
        read_design(tmp_path)


def test_a_design_under_other_fields() -> None:
    design = small()
    fields, start = design.fields[::-1], np.linspace(0.0, 1.0, 6)
    other = design.under(fields)
    assert np.array_equal(other.phases(), design.phases()[::-1])
    begun = design.under(fields[:1], start)
    assert np.array_equal(begun.trajectory(2, 100)[0, 0], start)
    with pytest.raises(InputError, match=r"shape \(M, 6\), got \(3, 5\)"):
        design.under(fields[:, :5])


def test_trajectory_converges_with_more_steps() -> None:
    design = small(frequencies=column(1, -2, 0, 3, 0, 0))
    coarse, fine = design.trajectory(5, 100), design.trajectory(5, 4000)
    assert coarse.shape == (6, 3, 6)
    assert coarse[-1] == pytest.approx(design.phases(), abs=1e-12)
    assert coarse[0] == pytest.approx(np.full((3, 6), math.pi / 2))
    assert 0.0 < np.abs(coarse[-1] - fine[-1]).max() < 0.1


# Netlists


def test_a_coupling_is_a_transconductance_and_a_field_an_injection() -> None:
    design, spice = small(), Spice("lc", cycles=50.0)
    text = netlists(design, spice)["network.inc"]
    unit = 50.0 / 1e9 / 0.2  # seconds of one unit of time
    (line,) = (each for each in text.splitlines() if each.startswith("G0_1 "))
    assert float(line.split()[-1]) == pytest.approx(2e-12 * design.couplings[0, 1] / unit)
    assert f" gm={2e-12 / unit:.12g}\n" in text
    assert "Gf3 0 n3 lref 0 {gm*b3}" in text
    assert text.count("\nG") - text.count("\nGf") == 30


@pytest.mark.parametrize("oscillator", ["levelled", "cubic"])
def test_oscillators_settle_at_one_volt(oscillator: Oscillator) -> None:
    """The averaged equation dA/dt = <conductance> A / 2 C of the netlist's own formula: zero at
    A = 1, and small changes of A decay at twice the amplitude rate."""
    spice, unit = Spice("lc", amplitude_rate=50.0, oscillator=oscillator), 100.0 / 1e9 / 0.2
    text = netlists(small(), spice)["network.inc"]
    values = dict(re.findall(r"(\w+)=([\d.e+-]+)", text))
    (formula,) = re.findall(r"^B0 0 n0 i=(.*)$", text, re.MULTILINE)
    for name in ("g1", "level", "z"):
        formula = formula.replace(f"{{{name}}}", values.get(name, ""))
    angles = np.linspace(0.0, 2.0 * math.pi, 400, endpoint=False)
    rates = []
    for amplitude in (0.99, 1.0, 1.01):
        given = {"v": amplitude * np.cos(angles), "y": amplitude * np.sin(angles)}
        given["y"] = given["y"] * 2 * math.pi * 1e9 * 1e-12  # the inductor's current
        current = eval(formula.replace("v(n0)", "v").replace("i(vsense0)", "y"), {}, given)
        rates.append(2.0 * np.mean(current * np.cos(angles)) / 2e-12 * unit)
    assert rates[1] == pytest.approx(0.0, abs=1e-8)
    assert (rates[2] - rates[0]) / 0.02 == pytest.approx(-2 * 50.0, rel=0.01)


def test_limited_couplings_have_a_fundamental_of_one_volt_and_do_not_see_amplitudes() -> None:
    angles = np.linspace(0.0, 2.0 * math.pi, 1000, endpoint=False)
    wave = np.cos(angles)
    text = netlists(small(), Spice("lc"))["network.inc"]
    (gain,) = re.findall(r"limited=([\d.]+)", text)
    assert "Bl0 0 l0 i={limited}*tanh(4*v(n0))" in text
    found = [2 * np.mean(float(gain) * np.tanh(4 * a * wave) * wave) for a in (0.9, 1.0, 1.1)]
    assert found[1] == pytest.approx(1.0)
    assert abs(found[2] - found[0]) < 0.2 * 0.15  # a linear coupling would change by 0.2
    cubic = netlists(small(), Spice("lc", oscillator="cubic"))["network.inc"]
    assert "tanh" not in cubic
    assert "G0_1 0 n0 n1 0" in cubic


def test_a_natural_frequency_detunes_its_tank() -> None:
    design, spice = small(frequencies=column(0, 5, 0, 0, 0, 0)), Spice("lc")
    lines = netlists(design, spice)["network.inc"].splitlines()
    inductors = {each.split()[0]: float(each.split()[3]) for each in lines if each[0] == "L"}
    unit = spice.unit(design)
    omega = 2 * math.pi * 1e9
    assert inductors["Lref"] == pytest.approx(1.0 / (omega**2 * 1e-12), rel=1e-9)
    assert inductors["L1"] == pytest.approx(1.0 / ((omega + 5 / unit) ** 2 * 1e-12), rel=1e-9)


def test_components_without_tolerance_are_the_netlist_as_designed() -> None:
    design = small(frequencies=column(0, 5, 0, 0, 0, 0))
    wanted = netlists(design, Spice("lc"))
    for nothing in (Components(), Components(tuning=0.0)):
        assert netlists(design, Spice("lc", spread=nothing, seed=3)) == wanted


def test_every_component_has_a_tolerance_of_its_own_and_a_seed_gives_it_again() -> None:
    design = small(n=40)
    ideal, found, again, other = (
        netlists(design, spice)["network.inc"]
        for spice in (Spice("lc"), *(Spice("lc", spread=SPREAD, seed=k) for k in (3, 3, 4)))
    )
    assert found == again != other
    wanted = {"C": 0.02, "L": 0.01, "G": 0.04}
    for kind, tolerance in wanted.items():
        pairs = [
            (float(a.split()[place]), float(b.split()[place]))
            for a, b in zip(found.splitlines(), ideal.splitlines(), strict=True)
            if a[0] == kind and a[1] != "f" and (place := 3 if kind in "CL" else 5)
        ]
        ratios = np.array([a / b for a, b in pairs])
        assert len(set(ratios)) == len(ratios) == {"C": 41, "L": 41, "G": 1560}[kind]
        assert ratios.std() == pytest.approx(tolerance, rel=0.3)
        assert abs(ratios.mean() - 1.0) < tolerance
    factors = {name: float(x) for name, x in re.findall(r"gm\*(b\d+)\*([\d.]+)}", found)}
    assert len(factors) == 40
    assert np.std(list(factors.values())) == pytest.approx(0.03, rel=0.4)
    g1, level = (np.array(re.findall(rf"{{{g}\*([\d.]+)}}", found), float) for g in ("g1", "level"))
    assert g1.std() == pytest.approx(0.05, rel=0.4)
    assert abs(np.corrcoef(g1, level)[0, 1]) < 0.5


def test_amplitude_rate_scales_with_the_observation_time() -> None:
    """In the paper's 0.2 units of time as in the 15 of equilibrium propagation."""
    spice = Spice("lc")
    short, long = (
        replace(small(), dynamics=Dynamics(observation_time=time)) for time in (0.2, 15.0)
    )
    assert spice.rate(short) == 20.0 * 100.0**0.5
    assert spice.rate(long) * 15.0 == pytest.approx(spice.rate(short) * 0.2)


def test_tuned_tanks_have_the_frequency_whatever_their_components() -> None:
    spread = Components(capacitance=0.1, inductance=0.05, tuning=1e-4)
    omegas = np.linspace(6e9, 7e9, 400)
    made = parts(Spice("lc", spread=spread), omegas)
    found = 1.0 / np.sqrt(made.capacitors * made.inductors)
    assert (found / omegas - 1.0).std() == pytest.approx(1e-4, rel=0.2)
    assert (made.inductors * omegas**2 * 1e-12).std() == pytest.approx(0.05, rel=0.2)
    untuned = parts(Spice("lc", spread=replace(spread, tuning=None)), omegas)
    off = 1.0 / np.sqrt(untuned.capacitors * untuned.inductors) / omegas
    assert off.std() == pytest.approx(0.5 * math.hypot(0.1, 0.05), rel=0.2)


def test_components_are_read_from_files(tmp_path: Path) -> None:
    found = components_of("typical")
    assert found.transconductance == 0.05
    assert found.tuning == pytest.approx(2e-4)
    with pytest.raises(InputError, match="no section"):
        components_of("ark")
    path = tmp_path / "mine.toml"
    path.write_text(
        '[components]\ncapacitance = { value = 5, unit = "%", source = "data sheet" }\n'
    )
    assert components_of(str(path)) == Components(capacitance=0.05)
    path.write_text('[components]\ncapacitance = { value = 500, unit = "%" }\n')
    with pytest.raises(InputError, match=r"components: capacitance is a relative spread"):
        components_of(str(path))
    path.write_text("[components]\ncapacitence = 0.1\n")
    with pytest.raises(InputError, match="did you mean 'capacitance'"):
        components_of(str(path))
    with pytest.raises(InputError, match="the level phase has no components"):
        Spice("phase", spread=SPREAD)


def test_lc_netlist_raises_for_unsupported_terms() -> None:
    with pytest.raises(InputError, match="lag, which an lc netlist"):
        netlists(small(lag=torch.tensor([0.2], dtype=torch.float64)), Spice("lc"))
    with pytest.raises(InputError, match="more cycles"):
        netlists(small(frequencies=column(-4000, 0, 0, 0, 0, 0)), Spice("lc"))


def test_demodulation_finds_phases_against_a_reference_of_any_frequency() -> None:
    design, spice = small(n=3, outputs=1), Spice("lc", cycles=40.0)
    time = np.linspace(0.0, 40.5e-9, 40_000)
    omega = 2 * math.pi * 1e9
    turned = 0.99 * omega * time + 0.3  # the reference runs slow, and began somewhere
    moving = 1.0 + 2.0 * time / 40e-9
    found = {"time": time, "v(nref)": np.cos(turned)}
    found["i(vsenseref)"] = np.sin(turned) * omega * 1e-12
    for i, phase in enumerate((0.5 * np.ones_like(time), moving, -moving)):
        found[f"v(n{i})"] = 0.9 * np.cos(turned + phase)
    phases = phases_of(design, spice, found, np.linspace(0.0, 40e-9, 11))
    inner = slice(1, None)  # at t = 0 there is only half a cycle
    wanted = np.stack([np.full(11, 0.5), np.linspace(1, 3, 11), -np.linspace(1, 3, 11)], 1)
    assert phases[inner] == pytest.approx(wanted[inner], abs=0.02)


def test_a_raw_file_is_read(tmp_path: Path) -> None:
    head = "Title: x\nNo. Variables: 2\nNo. Points: 3\nVariables:\n"
    head += "\t0\ttime\ttime\n\t1\tv(p0)\tvoltage\nBinary:\n"
    (tmp_path / "x.raw").write_bytes(head.encode() + np.arange(6.0).tobytes())
    found = read_raw(tmp_path / "x.raw")
    assert found["time"].tolist() == [0.0, 2.0, 4.0]
    assert found["v(p0)"].tolist() == [1.0, 3.0, 5.0]
    (tmp_path / "y.raw").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a binary raw file"):
        read_raw(tmp_path / "y.raw")


# Fixed point


def test_fixed_point_converges_with_more_bits() -> None:
    design = small(frequencies=column(1, -2, 0, 3, 0, 0))
    wanted = design.phases()
    errors = []
    for lengths in (
        WordLengths(10, 6, 7, 7),
        WordLengths(14, 10, 12, 10),
        WordLengths(20, 12, 13, 13),
    ):
        found = fixed_point(design, lengths)
        ours = found.radians(found.phases(found.fields(design.fields)))
        errors.append(np.abs(np.angle(np.exp(1j * (ours - wanted)))).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 2e-3


def test_one_step_by_hand() -> None:
    """Two oscillators, from pi/2: sin = 7, cos = 0 of 4 bits, so that only fields turn them."""
    n = 2
    couplings = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
    fields = torch.tensor([[[10.0, -10.0]]], dtype=torch.float64)
    design = Design(PhaseModel(fields, couplings), Dynamics(steps=1), 1, (0,), ("a",))
    found = fixed_point(design, WordLengths(phase=12, coupling=4, sine=4, address=4))
    assert found.table.tolist()[:5] == [0, 3, 5, 6, 7]
    assert found.scale == 7.0
    whole = found.fields(design.fields)
    assert whole.tolist() == [[490, -490]]
    gain = 0.2 / (2 * math.pi) * 4096 / (7 * 49)
    assert found.step / 2**found.shift == pytest.approx(gain, rel=1e-4)
    assert found.step.bit_length() == 16
    moved = math.floor(7 * 490 * gain + 0.5)
    assert found.phases(whole).tolist() == [[(1024 - moved) % 4096, 1024 + moved]]
    assert n == len(found.couplings)


def test_prediction_is_the_first_output_nearest_to_zero() -> None:
    found = fixed_point(small(outputs=3), WordLengths(phase=8, address=8))
    phases = np.array([[0, 0, 0, 250, 6, 128], [0, 0, 0, 4, 252, 4], [0, 0, 0, 128, 100, 200]])
    assert found.verdicts(phases).tolist() == [0, 0, 2]
    assert found.signed(phases)[0].tolist() == [0, 0, 0, -6, 6, -128]


def test_fields_stay_within_their_bits() -> None:
    found = fixed_point(small(), WordLengths())
    whole = found.fields(np.array([[1e9, -1e9, 0.0, 1.0, 0.0, 0.0]]))
    assert whole[0, 0] == -whole[0, 1] == 2 ** (found.sum_bits - 1) - 1


def test_incompatible_word_lengths_raise() -> None:
    for wrong in ({"address": 2}, {"phase": 8, "address": 9}, {"sine": 1}, {"lanes": 0}):
        with pytest.raises(InputError):
            WordLengths(**wrong)
    with pytest.raises(InputError, match="incompatible word lengths"):
        fixed_point(small(), WordLengths(coupling=20, sine=20))
    with pytest.raises(InputError, match="lag, which the fixed-point core"):
        fixed_point(small(lag=torch.tensor([0.2], dtype=torch.float64)), WordLengths())


def test_coupling_words_hold_rows_of_lanes() -> None:
    design = small(n=5)
    lengths = WordLengths(coupling=8, lanes=4)
    words = verilog_files(design, lengths)["couplings.hex"].split()
    whole = fixed_point(design, lengths).couplings
    assert len(words) == 10
    for i, j in ((0, 1), (2, 4), (4, 0)):
        word = int(words[2 * i + j // 4], 16)
        value = (word >> (8 * (j % 4))) & 255
        assert value == whole[i, j] % 256
    assert int(words[1], 16) >> 8 == 0  # the end of a row is filled with zeros
