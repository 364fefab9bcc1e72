"""The moment of decision: what is shown before, while and after the outputs decide."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser_page import SEVEN, TILE, Visit, playwright
from browser_page import browser as browser
from browser_page import page as page
from browser_page import url as url
from browser_page import visit as visit

import entrain
from entrain.data import load_test_split

DECIDING = "deciding…"
LEAD = 0.1  # of the first output over the second, in cos


def decided_step(tile: int) -> int:
    """The first of 200 steps from which on one output leads by LEAD, as Python computes it."""
    test = load_test_split("mnist")
    index = np.flatnonzero(test.labels == tile // 3)[tile % 3]
    model = entrain.load("mnist-74")
    phases = model.network.simulate(model.inputs(test.features[index]), record=1).phases
    outputs = phases[:, 0, model.network.hidden :].cos().detach().numpy()  # (times, classes)
    ordered = np.sort(outputs, axis=1)
    leads = (ordered[:, -1] - ordered[:, -2] >= LEAD) & (outputs.argmax(1) == outputs[-1].argmax())
    return int(np.flatnonzero(~leads)[-1]) + 1


@pytest.mark.parametrize("tile", [TILE, 12])
def test_the_verdict_is_made_when_python_says_and_not_before(page: Visit, tile: int) -> None:
    page.get(f"gallery-mnist-{tile}").click()
    page.shown()
    step = decided_step(tile)
    assert 2 < step < 198
    told = float(re.findall(r"t = ([\d.]+) \(", page.text("decided"))[0])
    assert told == pytest.approx(0.2 * step / 200, rel=0.01)  # the model is read at t_f = 0.2
    for at in (0, step // 2, step - 1):
        page.set("time-slider", at)
        for name in ("verdict", "bar-verdict"):
            assert page.text(name) == DECIDING
        assert page.scores() == []
        assert page.text("margin") == page.text("decided") == ""
        assert page.page.locator("g.dial.winner").count() == 0
    for at in (step, 200):
        page.set("time-slider", at)
        assert page.text("verdict") == str(tile // 3)
        assert bool(page.scores()) == (at == 200)  # they are read at the end
        assert page.text("bar-verdict").startswith(str(tile // 3))
        assert page.page.locator("g.dial.winner").count() == 1


def colourful(picture: np.ndarray) -> np.ndarray:
    """Which columns of a plot hold colours, and not only the grey of its frame."""
    spread = picture[..., :3].max(-1) - picture[..., :3].min(-1)
    return ((spread > 60) & (picture[..., 3] > 100)).any(0)


def test_traces_end_at_the_current_time(page: Visit) -> None:
    for at in (40, 100, 160):
        page.set("time-slider", at)
        traces = page.picture(page.get("traces"))
        names = np.flatnonzero(colourful(traces)).max() - 12  # the squares beside them
        right = names - 6
        now = 24 + round((right - 24) * at / 200)
        columns = np.flatnonzero(colourful(traces[:, :right]))
        assert now - 6 < columns.max() <= now + 12  # the dot at the end of a curve
        assert columns.min() < 40
        energy = page.picture(page.get("energy"))
        curve = (energy[..., :3].sum(-1) < 150) & (energy[..., 3] > 120)  # not the grey cursor
        ink = curve.any(0)
        assert now - 6 < np.flatnonzero(ink[:right]).max() <= now + 6


def test_bars_show_the_outputs_at_the_current_time(page: Visit) -> None:
    test = load_test_split("mnist")
    model = entrain.load("mnist-74")
    index = np.flatnonzero(test.labels == TILE // 3)[TILE % 3]
    phases = model.network.simulate(model.inputs(test.features[index]), record=1).phases
    seen = []
    for at in (0, 60, 200):
        page.set("time-slider", at)
        words = page.get("bars").get_attribute("aria-label")
        shown = [float(each) for each in re.findall(r"\d (-?\d\.\d\d)", words)]
        expected = phases[at, 0, model.network.hidden :].cos()
        assert shown == pytest.approx(expected.tolist(), abs=0.0051)
        picture = page.picture(page.get("bars"))
        seen.append(int(colourful(picture).sum()))
    assert seen[0] > seen[2]  # the others shrink; the 7 is black


def plays(page: Visit) -> bool:
    """Whether the time moves, from near the start on."""
    page.shown()
    playwright.expect(page.get("play")).to_have_text("Pause")
    before = page.value("time-slider")
    page.eventually(lambda: page.value("time-slider") > before)
    return True


def test_every_stroke_picture_and_setting_plays(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="no-preference").go()
    assert plays(page)  # the first picture, too

    def then(act: Callable[[], Any]) -> None:
        page.set("time-slider", 200)
        playwright.expect(page.get("play")).to_have_text("Play")
        act()
        assert plays(page)

    then(lambda: page.get("gallery-mnist-12").click())
    then(lambda: page.stroke(SEVEN))
    then(lambda: page.set("temperature", 0.4))
    then(lambda: page.get("new-noise").click())
    then(lambda: page.set("chip-kind", "typical"))
    then(lambda: page.get("dial-3").dblclick())


def test_a_slider_that_moves_shows_the_end_and_plays_when_it_is_let_go(
    visit: Callable[..., Visit],
) -> None:
    page = visit(reduced_motion="no-preference").go()
    slider = page.get("temperature-slider")
    move = "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); }"
    for value in (0.5, 1.0):
        slider.evaluate(move, str(value))
        page.shown()
        assert page.value("time-slider") == 200
        assert page.text("verdict") != DECIDING
    slider.evaluate("e => e.dispatchEvent(new Event('change', {bubbles: true}))")
    assert plays(page)


def test_drawing_stops_the_animation(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="no-preference").go()
    page.get("pad-clear").click()
    at = page.on_pad(SEVEN)
    page.page.mouse.move(*at[0])
    page.page.mouse.down()
    for point in at[1:]:
        page.page.mouse.move(*point, steps=8)
    page.shown()
    page.eventually(lambda: page.value("time-slider") == 0)
    assert page.text("verdict") == DECIDING
    page.page.mouse.up()
    assert plays(page)
    playwright.expect(page.get("verdict")).to_have_text("7")


def test_reduced_motion_shows_the_end_at_once(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    for act in (
        lambda: page.get("gallery-mnist-12").click(),
        lambda: page.stroke(SEVEN),
        lambda: page.set("steps", 100),
    ):
        act()
        page.shown()
        assert page.text("verdict") != DECIDING
        assert page.value("time-slider") == float(page.get("time-slider").get_attribute("max"))


def test_drawings_are_marked_right_or_wrong_and_the_score_is_kept(page: Visit) -> None:
    playwright.expect(page.get("mark-right")).to_be_hidden()  # a test image has its answer
    page.stroke(SEVEN)
    page.shown()
    page.get("mark-right").click()
    assert page.text("score") == "1 of 1 right"
    page.get("mark-wrong").click()  # another look at the same drawing
    assert page.text("score") == "0 of 1 right"
    page.get("mark-right").click()
    page.get("pad-clear").click()
    page.stroke([(0.5, 0.2), (0.5, 0.8)])
    page.shown()
    assert page.get("mark-right").get_attribute("aria-pressed") == "false"
    page.get("mark-wrong").click()
    assert page.text("score") == "1 of 2 right"
    page.set("time-slider", 0)
    playwright.expect(page.get("mark-right")).to_be_hidden()  # nothing is decided yet
    page.page.reload()
    page.ready()
    assert page.text("score") == "1 of 2 right"


def test_the_run_of_an_ensemble_that_is_shown_is_named(page: Visit) -> None:
    page.set("temperature", 0.5)
    page.get("ensemble").click()
    playwright.expect(page.get("dials-of")).to_contain_text("run 1 of 10")
    assert "run 1 of 10" in page.text("energy-unit")
    page.get("ensemble").click()
    playwright.expect(page.get("dials-of")).to_have_text("")
    assert "run 1" not in page.text("energy-unit")
    assert "in the unit of the couplings" in page.text("energy-unit")
