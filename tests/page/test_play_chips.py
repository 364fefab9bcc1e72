"""Chips on the page: the package's own, by kind and number, with their noise and their readout."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from browser_page import TILE, Visit, playwright
from browser_page import browser as browser
from browser_page import page as page
from browser_page import url as url
from browser_page import visit as visit

import entrain
from entrain.data import load_test_split
from entrain.evaluation.chips import scores_of_realised
from entrain.hardware import (
    CouplingFunction,
    Dead,
    FanIn,
    Hardware,
    Levels,
    Mismatch,
    Readout,
    Wiring,
    noise_seeds,
    on_chips,
    preset,
    presets,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def python(hardware: Hardware, chip: int, tile: int = TILE, noise_seed: int = 0) -> torch.Tensor:
    """The scores (O,) of a gallery tile by mnist-74 on one chip, in double precision."""
    model = entrain.load("mnist-74")
    test = load_test_split("mnist")
    index = int(np.flatnonzero(test.labels == tile // 3)[tile % 3])
    network = model.batched_parameters().map(lambda tensor: tensor.double())
    inputs = model.inputs(test.features[index]).double()
    realised = on_chips(network, hardware, [chip])
    dynamics = model.network.dynamics
    noise = noise_seeds(noise_seed, [chip])
    return scores_of_realised(realised, hardware, [chip], inputs, dynamics, noise, index)[0, 0]


def close(scores: torch.Tensor) -> Any:
    return pytest.approx(scores.tolist(), abs=1e-5)


def test_a_chip_reads_what_python_reads_on_it(page: Visit) -> None:
    page.set("chip-kind", "typical")
    page.eventually(lambda: page.scores() == close(python(preset("typical"), 0)))
    assert (page.value("temperature"), page.value("mismatch")) == (0.1, 10)
    assert "couplings of 4 bits" in page.text("chip-words")
    assert "half of the couplers" in page.text("chip-words")
    page.get("new-chip").click()
    page.eventually(lambda: page.scores() == close(python(preset("typical"), 1)))
    assert page.value("chip-number") == 1
    page.set("chip-number", 4_294_967_295)
    page.eventually(lambda: page.scores() == close(python(preset("typical"), 4_294_967_295)))
    page.get("new-chip").click()
    page.eventually(lambda: page.scores() == close(python(preset("typical"), 0)))


def test_new_noise_is_another_run_of_the_same_chip(page: Visit) -> None:
    page.set("chip-kind", "typical")
    page.set("chip-number", 3)
    page.eventually(lambda: page.scores() == close(python(preset("typical"), 3)))
    page.get("new-noise").click()
    page.eventually(lambda: "s=" in page.page.url)
    seed = int(re.findall(r"[#&]s=(\d+)", page.page.url)[0])
    page.eventually(lambda: page.scores() == close(python(preset("typical"), 3, noise_seed=seed)))
    assert page.value("chip-number") == 3
    page.set("temperature", 0)  # the chip stays as it is without the noise
    page.eventually(
        lambda: page.scores() == close(python(preset("typical").without("phase_noise"), 3))
    )


def test_buttons_that_would_change_nothing_are_off_and_say_why(page: Visit) -> None:
    def off() -> dict[str, bool]:
        names = ("new-noise", "new-chip", "chip-number", "ensemble")
        return {name: page.get(name).is_disabled() for name in names}

    assert all(off().values())
    assert "at temperature 0 every run of this chip is the same" in page.text("noise-why")
    assert "all chips are the same" in page.text("chip-why")
    page.set("chip-kind", "wang-2019")  # chips that differ, without noise
    page.eventually(lambda: page.scores() == close(python(preset("wang-2019"), 0)))
    assert off() == {"new-noise": True, "new-chip": False, "chip-number": False, "ensemble": True}
    page.get("new-chip").click()
    page.eventually(lambda: page.scores() == close(python(preset("wang-2019"), 1)))
    page.set("chip-kind", "ideal")
    page.set("temperature", 0.5)  # runs that differ, of one chip
    page.shown()
    assert off() == {"new-noise": False, "new-chip": True, "chip-number": True, "ensemble": False}
    playwright.expect(page.get("noise-why")).to_be_hidden()


def test_chips_that_do_not_fit_say_why_and_cannot_be_chosen(page: Visit) -> None:
    options = page.get("chip-kind").locator("option").all()
    told = {each.get_attribute("value"): each for each in options}
    assert list(told) == ["ideal", *presets()]
    off = {name: each.inner_text() for name, each in told.items() if each.is_disabled()}
    assert off.keys() == {"lo-2023", "moy-2022", "ahmed-2021"}
    assert off["lo-2023"] == "lo-2023 (it has 48 oscillators, the network 74)"
    assert re.search(r"lacks \d+ of the network's 2656 couplers", off["moy-2022"])


def test_equal_outputs_give_no_answer(visit: Callable[..., Visit]) -> None:
    for chip, tile in itertools.product(range(20), range(30)):
        scores = python(preset("typical"), chip, tile)
        alike = np.flatnonzero(scores == scores.max()).tolist()
        if len(alike) > 1:
            break
    assert len(alike) > 1
    start = f"#v=1&d=mnist&p=two-stage-end&g={tile}&h=typical&n={chip}"
    page = visit(reduced_motion="reduce").go(start)
    playwright.expect(page.get("verdict")).to_have_text("no answer")
    assert page.scores() == close(scores)
    names = f"{', '.join(map(str, alike[:-1]))} and {alike[-1]} are read alike"
    assert names in page.text("doubt")
    assert f"accuracies count {int(scores.argmax())}" in page.text("doubt")
    assert page.text("margin") == "margin 0.00"
    page.set("chip-kind", "ideal")
    playwright.expect(page.get("verdict")).to_have_text(re.compile(r"^\d$"))


def test_a_link_carries_the_chip(page: Visit) -> None:
    page.set("chip-kind", "ark")
    page.set("chip-number", 12)
    expected = close(python(preset("ark"), 12))
    page.eventually(lambda: page.scores() == expected and "n=12" in page.page.url)
    page.page.reload()
    page.ready()
    page.eventually(lambda: page.scores() == expected)
    assert page.get("chip-kind").input_value() == "ark"
    assert page.value("chip-number") == 12


def test_links_of_the_first_version_show_the_same_chip(
    visit: Callable[..., Visit],
) -> None:
    start = f"#v=1&d=mnist&p=two-stage-end&g={TILE}&b=4&x=0.1&s=7"
    page = visit(reduced_motion="reduce").go(start)
    assert page.value("chip-number") == 7
    levels = Levels(bits=4, range=1.0, rule="max")
    hardware = Hardware(coupling_levels=levels, mismatch=Mismatch(couplings=0.1))
    assert page.scores() == close(python(hardware, 7))


def test_a_link_to_a_chip_that_does_not_fit_shows_a_message(
    visit: Callable[..., Visit],
) -> None:
    page = visit(reduced_motion="reduce").go("#v=1&d=mnist&p=path&h=lo-2023")
    assert "it has 48 oscillators" in page.text("message")
    assert page.get("chip-kind").input_value() == "ideal"


@pytest.mark.parametrize(
    ("wiring", "reason"), [(None, ""), (Wiring("random", degree=3), "drawn by the package alone")]
)
def test_a_model_offers_the_chip_it_was_made_for_or_says_why_not(
    visit: Callable[..., Visit], tmp_path: Path, wiring: Wiring | None, reason: str
) -> None:
    mine = Hardware(
        wiring=wiring,
        fan_in=FanIn(200),
        dead=Dead(oscillators=0.1),
        coupling_function=CouplingFunction(second=0.4, second_even=0.25),
        readout=Readout(bits=6),
        name="mine",
    )
    path = tmp_path / "model.safetensors"
    replace(entrain.load("mnist-74"), hardware=mine).save(path)
    page = visit(reduced_motion="reduce")
    page.page.route("**/models/mnist-74.safetensors", lambda route: route.fulfill(path=path))
    page.go(f"#v=1&d=mnist&p=two-stage-end&g={TILE}&n=5")
    option = page.get("chip-kind").locator("option").last
    assert option.inner_text().startswith("trained for it")
    assert reason in option.inner_text()
    assert option.is_disabled() == bool(reason)
    if not reason:
        page.set("chip-kind", "own")
        page.eventually(lambda: page.scores() == close(python(mine, 5)))
        assert "no more than 200 inputs to a hidden oscillator" in page.text("chip-words")
        assert "function has 0.25 cos 2φ: the energy may rise" in page.text("lag")


def test_reset_brings_the_ideal_network_back(page: Visit) -> None:
    whole = page.scores()
    page.set("chip-kind", "typical")
    page.set("coupling-bits", "3")
    page.eventually(lambda: page.scores() != whole)
    page.get("reset-physics").click()
    page.eventually(lambda: page.scores() == whole)
    assert page.get("chip-kind").input_value() == "ideal"
    assert page.value("temperature") == page.value("mismatch") == 0
