"""Training in view: points and digits are learnt, settings act, and what was learnt is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser_page import Visit, playwright, saved
from browser_page import browser as browser
from browser_page import url as url
from browser_page import visit as visit

import entrain
from entrain.data import load_dataset

FACTOR = 5  # of the plane's coordinates, playground/src/training/lessons.ts


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Visit:
    """The page on which one sees it learn, before the first step."""
    opened = visit(color_scheme="light", viewport={"width": 1440, "height": 900})
    opened.page.goto(opened.url + "#learn")
    playwright.expect(opened.get("learn-facts")).to_contain_text("step 0")
    return opened


def step_of(page: Visit) -> int:
    return int(re.match(r"step ([\d,]+)", page.text("learn-facts"))[1].replace(",", ""))


def accuracy(page: Visit) -> float:
    return float(re.search(r"([\d.]+) % of the examples", page.text("learn-facts"))[1])


def test_moons_are_learnt_and_the_map_shows_it(page: Visit) -> None:
    before = page.picture(page.get("decision-map"))
    page.get("learn-play").click()
    page.eventually(lambda: accuracy(page) >= 95)
    page.get("learn-play").click()
    playwright.expect(page.get("learn-play")).to_have_text("Play")
    assert np.abs(page.picture(page.get("decision-map")) - before).mean() > 5
    assert "steps" in page.get("loss-curve").get_attribute("aria-label")
    label = page.get("learn-wires").get_attribute("aria-label")
    assert float(label.rpartition(" ")[2]) > 1  # couplings grow from 0.3
    page.page.wait_for_timeout(300)
    still = step_of(page)
    page.get("learn-step").click()
    page.eventually(lambda: step_of(page) == still + 1)
    page.get("learn-reset").click()
    page.eventually(lambda: step_of(page) == 0)


@pytest.mark.parametrize("name", ["circles", "spirals", "blobs"])
def test_every_set_is_learnt(page: Visit, name: str) -> None:
    page.set("learn-set", name)
    page.get("learn-play").click()
    page.eventually(lambda: accuracy(page) >= 95)


def test_points_that_are_drawn_are_learnt(page: Visit) -> None:
    page.get("learn-clear").click()
    playwright.expect(page.get("learn-status")).to_contain_text("Click into the plane")
    plane = page.get("decision-map").bounding_box()
    for label, share in ((0, 0.25), (1, 0.75)):
        page.get(f"learn-class-{label}").check(force=True)
        for other in (0.2, 0.5, 0.8):
            position = {"x": share * plane["width"], "y": other * plane["height"]}
            page.get("decision-map").click(position=position)
    page.get("decision-map").focus()
    page.press("ArrowRight", "ArrowRight", "ArrowRight", " ")  # a point by keys
    assert page.get("learn-set").input_value() == "drawn"
    page.get("learn-play").click()
    page.eventually(lambda: accuracy(page) == 100)


def test_a_collapse_is_named(page: Visit) -> None:
    page.set("learn-rate", 0)  # 10^0
    page.get("learn-play").click()
    status = page.get("learn-status")
    playwright.expect(status).to_contain_text("Collapsed.")
    playwright.expect(status).to_contain_text("Lower the learning rate")


def test_rule_noise_and_chip_act(page: Visit) -> None:
    page.set("learn-rule", "equilibrium")
    playwright.expect(page.get("learn-facts")).to_contain_text("cosine")
    page.set("learn-rule", "gradient")
    page.set("learn-mismatch", 0.2)
    page.set("learn-bits", "3")
    page.set("learn-temperature", 0.05)
    page.get("learn-play").click()
    page.eventually(lambda: step_of(page) > 0)
    playwright.expect(page.get("learn-facts")).to_contain_text("on this chip")
    playwright.expect(page.get("learn-facts")).to_contain_text("by the ideal network")


def test_a_saved_model_has_the_same_scores_in_python(page: Visit, tmp_path: Path) -> None:
    page.set("learn-set", "spirals")
    page.get("learn-play").click()
    page.eventually(lambda: accuracy(page) >= 95)
    page.get("learn-play").click()
    page.page.wait_for_timeout(500)
    reached = accuracy(page)
    path = tmp_path / "learnt.safetensors"
    path.write_bytes(saved(page, "learn-save"))
    model = entrain.load(path)
    assert model.details["train"]["top1"] == pytest.approx(reached, abs=0.051)
    assert model.network.oscillators == 16
    page.get("learn-open").click()  # the reader shows the same scores
    playwright.expect(page.get("title")).to_contain_text("16 oscillators read 2 numbers")
    page.eventually(lambda: len(page.scores()) == 2)
    mean = np.zeros((1, 2))
    assert page.scores() == pytest.approx(model.scores(mean)[0].tolist(), abs=2e-6)


def test_digits_are_learnt_and_read_as_in_python(page: Visit, tmp_path: Path) -> None:
    page.set("learn-set", "digits")
    page.get("learn-play").click()
    page.eventually(lambda: "test digits" in page.text("learn-facts") and step_of(page) > 150)
    page.get("learn-play").click()
    page.page.wait_for_timeout(500)
    tested = float(re.search(r"([\d.]+) % of 300 test", page.text("learn-facts"))[1])
    assert tested > 88
    label = page.get("digit-sheet").get_attribute("aria-label")
    assert int(re.match(r"Test digits: (\d+) of 64 read right", label)[1]) > 50
    path = tmp_path / "digits.safetensors"
    path.write_bytes(saved(page, "learn-save"))
    test = load_dataset("digits").test
    features = np.round(test.features.astype(float) * 255 / 16).astype(np.uint8)
    model = entrain.load(path)
    right = (model.predict(features) == test.labels).mean()
    assert 100 * right == pytest.approx(tested, abs=0.051)


def test_back_returns_to_the_page_before(page: Visit) -> None:
    page.get("to-read").click()
    page.ready()
    page.page.go_back()
    playwright.expect(page.get("learn-play")).to_be_visible()


FRAMES = """async () => {
  const gaps = []; let last = performance.now();
  await new Promise(done => requestAnimationFrame(function next(now) {
    gaps.push(now - last); last = now;
    if (gaps.length < 180) requestAnimationFrame(next); else done();
  }));
  gaps.sort((a, b) => a - b);
  return 1000 / gaps[90];
}"""


def test_training_leaves_sixty_frames_a_second(page: Visit) -> None:
    page.get("learn-play").click()
    page.eventually(lambda: step_of(page) > 10)
    assert page.page.evaluate(FRAMES) > 55  # the median of 180 frames at 1440 pixels
