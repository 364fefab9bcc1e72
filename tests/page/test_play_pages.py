"""The pages beside the reader: cutting graphs, accessibility of all, and widths."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser_page import Visit, playwright
from browser_page import browser as browser
from browser_page import url as url
from browser_page import visit as visit

PAGES = {"learn": "learn-play", "understand": "story-read", "cut": "cut-anneal"}


def opened(visit: Callable[..., Visit], name: str, **options: object) -> Visit:
    page = visit(**({"reduced_motion": "reduce"} | options))
    page.page.goto(f"{page.url}#{name}")
    playwright.expect(page.get(PAGES[name])).to_be_visible()
    page.shown()
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", list(PAGES))
def test_pages_have_no_accessibility_violations(
    visit: Callable[..., Visit], name: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(visit, name, color_scheme=scheme)
    found = axe.run(page.page).response["violations"]
    assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in found] == []


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
@pytest.mark.parametrize("name", list(PAGES))
def test_pages_fit_every_width(visit: Callable[..., Visit], name: str, width: int) -> None:
    page = opened(visit, name, viewport={"width": width, "height": 850})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width


def cut(page: Visit) -> tuple[int, int, int]:
    """Edges that are cut now, at best, and by the comparison."""
    words = page.text("cut-facts")
    numbers = re.match(r"(\d+) of \d+ edges cut now, (\d+) at best; .* (\d+)\.$", words)
    assert numbers is not None, words
    return int(numbers[1]), int(numbers[2]), int(numbers[3])


def test_the_petersen_graph_is_cut_in_twelve_edges(visit: Callable[..., Visit]) -> None:
    page = opened(visit, "cut")
    page.set("cut-graph", "Petersen")
    playwright.expect(page.get("cut-facts")).to_contain_text("of 15 edges")
    for _ in range(10):
        page.get("cut-anneal").click()
        if cut(page)[0] == 12:
            break
    assert cut(page) == (12, 12, 12)


def test_a_graph_is_drawn_by_clicks_and_by_text(visit: Callable[..., Visit]) -> None:
    page = opened(visit, "cut")
    page.get("cut-clear").click()
    canvas = page.get("cut-canvas")
    for x, y in ((60, 60), (200, 60), (130, 200)):
        canvas.click(position={"x": x, "y": y})
    for x, y in ((60, 60), (200, 60), (200, 60), (130, 200)):  # two edges
        canvas.click(position={"x": x, "y": y})
    assert page.get("cut-edges").input_value() == "1-2 2-3"
    page.get("cut-edges").fill("1-2 2-3 3-4 4-1 1-2")
    page.get("cut-edges").press("Enter")
    playwright.expect(page.get("cut-facts")).to_contain_text("of 4 edges")
    playwright.expect(page.get("cut-facts")).to_contain_text("the largest possible is 4")
    page.get("cut-edges").fill("1-1")
    page.get("cut-edges").press("Enter")
    playwright.expect(page.get("cut-facts")).to_contain_text("pairs of different nodes")


def test_heat_undoes_a_cut(visit: Callable[..., Visit]) -> None:
    page = opened(visit, "cut")
    page.set("cut-graph", "grid")
    page.set("cut-noise", 0.5)
    page.set("cut-injection", 0)
    page.page.wait_for_timeout(1000)
    hot = [cut(page)[0] for _ in range(10) if page.page.wait_for_timeout(100) is None]
    assert min(hot) < 55  # of 60
