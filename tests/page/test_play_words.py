"""The words of the page: none is wrong or puzzling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from browser_page import Visit, playwright, visiting
from browser_page import browser as browser
from browser_page import page as page
from browser_page import url as url
from browser_page import visit as visit
from playground_models import save_wine

from test_play import start


def test_an_ideal_chip_with_something_set_by_hand_is_not_called_perfect(page: Visit) -> None:
    assert "without an imperfection" in page.text("chip-words")
    page.set("coupling-bits", 4)
    page.set("mismatch", 10)
    page.shown()
    assert page.text("chip-words") == (
        "Set by hand: couplings of 4 bits; gains that differ (couplings 10 %)."
    )


def test_an_unsure_answer_names_its_threshold(page: Visit) -> None:
    page.set("observation-time", 0.02)
    page.shown()
    page.eventually(lambda: page.text("doubt") != "")
    assert page.text("doubt").startswith("unsure: small margin, below 0.")


def test_clearing_the_pad_is_no_problem(page: Visit) -> None:
    page.get("pad-clear").click()
    playwright.expect(page.get("message")).to_contain_text("Draw a digit")
    assert "problem" not in page.get("message").get_attribute("class")


def test_one_bit_is_singular(page: Visit) -> None:
    options = page.get("phase-bits").locator("option").all_text_contents()
    assert "1 bit" in options
    assert "1 bits" not in options


def test_a_problem_is_shown_where_the_visitor_is(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    page.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.get("chip-number").evaluate(
        "e => { e.disabled = false; e.value = '-1'; e.dispatchEvent(new Event('change')); }"
    )
    box = page.get("message").bounding_box()
    assert "Chips are numbered" in page.text("message")
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 800


def test_a_table_model_is_never_asked_for_a_digit(browser: object, tmp_path: Path) -> None:
    process, address = start("--no-browser", str(save_wine(tmp_path / "wine.safetensors")))
    try:
        with visiting(browser, address) as begin:
            page = begin(reduced_motion="reduce").go()
            assert "digit" not in page.page.evaluate("document.body.innerText")
    finally:
        process.terminate()
        process.wait(60)


def test_the_bars_have_an_axis_from_minus_one_to_one(page: Visit) -> None:
    picture = page.picture(page.get("bars"))
    axis = picture[int(picture.shape[0] * 10.2 / 11) :, :, 3].max(0) > 0
    places = np.flatnonzero(axis) / len(axis)
    for least, most in ((0.0, 0.25), (0.4, 0.7), (0.93, 1.0)):  # -1 beside cos, 0, 1
        assert ((places > least) & (places < most)).any()


def test_the_pulls_are_not_all_on_the_origin(page: Visit) -> None:
    page.get("pulls").scroll_into_view_if_needed()
    page.page.wait_for_timeout(500)
    picture = page.picture(page.get("pulls"))
    blue, height, width = picture[..., :3].astype(int), *picture.shape[:2]
    grey = (abs(blue - [86, 97, 115]).sum(2) < 90) & (picture[..., 3] > 100)
    rows, columns = np.nonzero(grey)
    away = np.hypot(rows / height - 0.5, columns / width - 0.5)
    assert (away > 0.1).mean() > 0.2


def test_the_tour_draws_what_the_network_reads(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    assert "Draw a digit, or press Next and a 7 is drawn." in page.text("tour-words")
    page.get("dataset-fashion-mnist").click()
    words = "Draw a piece of clothing, or press Next and trousers are drawn."
    playwright.expect(page.get("tour-words")).to_contain_text(words)
    page.get("tour-next").click()
    playwright.expect(page.get("verdict")).to_have_text("Trouser")
    playwright.expect(page.get("message")).to_contain_text("Your drawing")
