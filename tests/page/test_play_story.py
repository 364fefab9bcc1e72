"""The story in order, and the tour that acts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser_page import Visit, playwright
from browser_page import browser as browser
from browser_page import url as url
from browser_page import visit as visit


@pytest.fixture
def story(visit: Callable[..., Visit]) -> Visit:
    opened = visit(reduced_motion="reduce")
    opened.page.goto(opened.url + "#understand")
    playwright.expect(opened.get("story-read")).to_be_visible()
    return opened


def cosines(page: Visit, name: str) -> list[float]:
    words = page.get(f"story-{name}").get_attribute("aria-label")
    return [float(each) for each in words.rpartition("cos θ")[2].split(",")]


def test_a_field_turns_an_oscillator_up_or_down(story: Visit) -> None:
    assert cosines(story, "field") == [1.0]
    story.set("story-field-0", -2)
    assert cosines(story, "field") == [-1.0]


def test_a_negative_coupling_pushes_two_oscillators_apart(story: Visit) -> None:
    assert cosines(story, "coupled") == [1.0, 1.0]
    story.set("story-coupled-1", -2)
    one, two = cosines(story, "coupled")
    assert one * two < 0


def test_the_output_that_is_wired_wins(story: Visit) -> None:
    story.set("story-outputs-0", 3)
    outputs = cosines(story, "outputs")[1:]
    assert outputs.index(max(outputs)) == 3


def test_a_setting_lights_its_symbol(story: Visit) -> None:
    story.get("story-coupled-1").focus()
    assert story.page.locator(".equation .lit").all_text_contents() == ["J", "J"]


def test_the_phase_is_told_against_a_reference(story: Visit) -> None:
    words = story.text("page-understand")
    assert "reference oscillator" in words
    assert "where in its swing" not in words
    story.get("story-learn").click()
    playwright.expect(story.get("learn-play")).to_be_visible()


def test_the_tour_draws_cuts_and_warms_and_puts_back(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    page.get("tour-next").click()
    playwright.expect(page.get("message")).to_have_text("Your drawing.")
    playwright.expect(page.get("verdict")).to_have_text("7")
    page.get("tour-next").click()
    page.get("tour-next").click()
    page.eventually(lambda: "cut=" in page.page.url)
    page.get("tour-next").click()
    page.eventually(lambda: page.value("temperature") > 0)
    page.get("tour-next").click()
    page.eventually(lambda: page.value("temperature") == 0)
    page.eventually(lambda: "cut=" not in page.page.url)


def test_back_and_control_z_undo_a_change(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    page.get("tour-skip").click()
    first = page.text("verdict")
    page.get("gallery-mnist-21").click()
    playwright.expect(page.get("verdict")).to_have_text("7")
    page.page.wait_for_timeout(2200)
    page.set("chip-kind", "typical")
    page.eventually(lambda: "h=typical" in page.page.url)
    page.press("Escape")
    page.page.evaluate("document.activeElement.blur()")
    page.page.keyboard.press("Control+z")
    playwright.expect(page.get("chip-kind")).to_have_value("ideal")
    page.page.go_back()
    playwright.expect(page.get("verdict")).to_have_text(first)
