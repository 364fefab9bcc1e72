"""Drawing on the playground's pad: by finger, pen, eraser and keys."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from browser_page import PHONE, SEVEN, TILE, Visit, playwright
from browser_page import browser as browser
from browser_page import page as page
from browser_page import url as url
from browser_page import visit as visit


def _finger(kind: str, x: float, y: float) -> tuple[str, dict[str, Any]]:
    points = [] if kind == "End" else [{"x": x, "y": y}]
    return "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}


def _pen(kind: str, x: float, y: float) -> tuple[str, dict[str, Any]]:
    kinds = {"Start": "mousePressed", "Move": "mouseMoved", "End": "mouseReleased"}
    button = {"button": "left", "buttons": 1, "clickCount": 1, "pointerType": "pen"}
    return "Input.dispatchMouseEvent", {"type": kinds[kind], "x": x, "y": y, **button}


_EVENTS = {"touch": _finger, "pen": _pen}


@pytest.mark.parametrize("pointer", _EVENTS)
def test_a_finger_and_a_pen_draw(visit: Callable[..., Visit], pointer: str) -> None:
    page = visit(reduced_motion="reduce", viewport=PHONE, has_touch=True).go()
    page.page.evaluate("addEventListener('pointerdown', e => window.pointer = e.pointerType, true)")
    page.get("pad-clear").tap()
    page.get("pad").scroll_into_view_if_needed()
    before = page.page.evaluate("scrollY")
    way = [
        (a[0] + (b[0] - a[0]) * k / 8, a[1] + (b[1] - a[1]) * k / 8)
        for a, b in itertools.pairwise(page.on_pad(SEVEN))
        for k in range(9)
    ]
    device = page.context.new_cdp_session(page.page)
    kinds = ["Start", *["Move"] * len(way), "End"]
    for kind, (x, y) in zip(kinds, [way[0], *way, way[-1]], strict=True):
        device.send(*_EVENTS[pointer](kind, x, y))
    playwright.expect(page.get("message")).to_have_text("Your drawing.")
    playwright.expect(page.get("verdict")).to_have_text("7")
    assert page.page.evaluate("window.pointer") == pointer
    assert page.page.evaluate("scrollY") == before


def test_a_second_finger_that_leaves_ends_no_stroke(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce", viewport=PHONE, has_touch=True).go()
    page.get("pad-clear").tap()
    page.get("pad").scroll_into_view_if_needed()
    first, *rest = page.on_pad(SEVEN)
    palm = {"x": first[0], "y": first[1] + 60, "id": 1}
    count = "window.left = 0; addEventListener('pointerup', e => window.left += !e.isPrimary, true)"
    page.page.evaluate(count)
    device = page.context.new_cdp_session(page.page)

    def touch(kind: str, *points: dict[str, Any]) -> None:
        device.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [*points]})

    at = {"x": first[0], "y": first[1], "id": 0}
    touch("Start", at)
    touch("Start", at, palm)
    touch("End", palm)
    page.eventually(lambda: page.page.evaluate("window.left") == 1)
    for x, y in rest:
        touch("Move", {"x": x, "y": y, "id": 0})
    touch("End")
    playwright.expect(page.get("message")).to_have_text("Your drawing.")
    playwright.expect(page.get("verdict")).to_have_text("7")


def test_the_eraser_takes_away_and_undo_brings_back(page: Visit) -> None:
    before = page.scores()
    page.get("pad-clear").click()
    page.stroke(SEVEN)
    page.shown()
    drawn = page.scores()
    assert drawn != before
    page.get("pad-eraser").click()
    page.stroke(SEVEN[:2])
    page.eventually(lambda: page.scores() != drawn)
    page.stroke(SEVEN)
    playwright.expect(page.get("message")).to_contain_text("Draw a digit to begin")
    page.get("pad-undo").click()
    page.get("pad-undo").click()
    page.eventually(lambda: page.scores() == drawn)
    page.get("pad-brush").click()
    page.stroke([(0.3, 0.55), (0.75, 0.55)])
    page.eventually(lambda: page.scores() != drawn)


def test_a_digit_is_drawn_played_and_a_part_silenced_by_keys_alone(
    visit: Callable[..., Visit],
) -> None:
    page = visit(reduced_motion="reduce").go()
    page.tab_to("pad")
    page.press("Delete", *["ArrowLeft"] * 6, " ", *["ArrowRight"] * 12)
    page.press(*["ArrowDown", "ArrowDown", "ArrowLeft"] * 6, " ")
    playwright.expect(page.get("message")).to_have_text("Your drawing.")
    playwright.expect(page.get("verdict")).to_have_text("7")
    drawn = page.scores()
    page.tab_to("play")
    page.press("Enter")
    page.eventually(lambda: 0 < page.value("time-slider") < 200)
    page.tab_to("dial-0")
    page.press("End", "Enter")
    page.tab_to("silence")
    page.press("Enter")
    page.eventually(lambda: page.scores() != drawn)
    page.press("Enter")
    page.eventually(lambda: page.scores() == drawn)


@pytest.mark.parametrize(
    ("dataset", "words"), [("mnist", "a digit"), ("fashion-mnist", "a piece of clothing")]
)
def test_a_single_dot_is_not_read_as_a_drawing(page: Visit, dataset: str, words: str) -> None:
    page.get(f"gallery-{dataset}-{TILE}").click()
    page.page.wait_for_timeout(300)
    before = page.scores()
    page.stroke([(0.5, 0.5), (0.5, 0.5)])
    playwright.expect(page.get("message")).to_have_text(
        f"That is only a dot. Draw {words} to begin; the last picture stays."
    )
    assert page.scores() == before
    page.stroke(SEVEN)
    playwright.expect(page.get("message")).to_have_text("Your drawing.")
    page.eventually(lambda: page.scores() != before)
