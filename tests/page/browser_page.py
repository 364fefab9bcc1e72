"""A visitor of the playground: Debian's Chromium against the real command.

Screenshots go to the folder ENTRAIN_SCREENSHOTS names (docs/images for the README's), or nowhere.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from test_play import start

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed (apt-get install chromium)", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

playwright.expect.set_options(timeout=60_000)  # ms; a busy machine takes longer than 5 s

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
SEVEN = [(0.28, 0.25), (0.72, 0.25), (0.62, 0.5), (0.45, 0.82)]
TILE = 21  # the first 7 of the test set, in the gallery


class Visit:
    """One visitor's page, with everything it asked for and complained about."""

    def __init__(self, context: Any, url: str) -> None:
        self.context, self.url = context, url
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.sizes: dict[str, int] = {}
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("response", self._received)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _received(self, response: Any) -> None:
        self.sizes[response.url] = int(response.headers.get("content-length", 0))

    def go(self, fragment: str = "") -> Visit:
        self.page.goto(self.url + fragment)
        self.ready()
        return self

    def ready(self) -> None:
        playwright.expect(self.get("verdict")).to_have_text(re.compile(r"\S"))

    def get(self, name: str) -> Any:
        return self.page.get_by_test_id(name)

    def text(self, name: str) -> str:
        return " ".join(self.get(name).inner_text().split())

    def value(self, name: str) -> float:
        return float(self.get(name).input_value())

    def set(self, name: str, value: float | str) -> None:
        """Move a slider, type a number or choose an option, as a visitor's change would."""
        control = self.get(name)
        if control.evaluate("e => e.tagName") == "SELECT":
            control.select_option(str(value))
            return
        control.evaluate(
            "(e, value) => { e.value = value; e.dispatchEvent(new Event('input', {bubbles: true}));"
            " e.dispatchEvent(new Event('change', {bubbles: true})); }",
            str(value),
        )

    def eventually(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds`: the page runs in frames, and loads models when it needs them."""
        for _ in range(1200):
            if holds():
                return
            self.page.wait_for_timeout(50)
        assert holds()

    def shown(self) -> None:
        """Wait for the frame that shows what was done last: it is computed beside the page."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => done()))")
        self.eventually(lambda: self.page.locator("body[aria-busy]").count() == 0)

    def scores(self, suffix: str = "") -> list[float]:
        """The outputs, as the margin's tooltip lists them; none before the verdict is made."""
        listed = self.get(f"margin{suffix}").get_attribute("title") or ""
        return [float(each.rpartition(" ")[2]) for each in listed.split(", ") if each]

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, name: str) -> None:
        """Press Tab until `name` has the focus."""
        for _ in range(150):
            self.press("Tab")
            if self.page.evaluate("document.activeElement.dataset.testid") == name:
                return
        raise AssertionError(f"Tab never reaches {name}")

    def tab_to_term(self, name: str) -> None:
        """Press Tab until the explanation of `name` has the focus."""
        for _ in range(200):
            self.press("Tab")
            if self.page.evaluate("document.activeElement.dataset.term") == name:
                return
        raise AssertionError(f"Tab never reaches what explains {name}")

    def picture(self, canvas: Any) -> np.ndarray:
        """What a canvas shows: (rows, columns, RGBA)."""
        png = canvas.evaluate("c => c.toDataURL()").partition(",")[2]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")).astype(int)

    def on_pad(self, points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        """Where on the page these points in fractions of the pad are."""
        self.get("pad").scroll_into_view_if_needed()
        box = self.get("pad").bounding_box()
        return [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]

    def stroke(self, points: list[tuple[float, float]]) -> None:
        """Draw on the pad through points in fractions of it."""
        at = self.on_pad(points)
        self.page.mouse.move(*at[0])
        self.page.mouse.down()
        for point in at[1:]:
            self.page.mouse.move(*point, steps=8)
        self.page.mouse.up()

    def snap(self, name: str) -> None:
        if folder := os.environ.get("ENTRAIN_SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"playground-{name}.png")


def saved(page: Visit, name: str) -> bytes:
    """What a button saves."""
    with page.page.expect_download() as download:
        page.get(name).click()
    return Path(download.value.path()).read_bytes()


def rows(page: Visit, name: str) -> list[list[str]]:
    """The table that a button saves."""
    return list(csv.reader(io.StringIO(saved(page, name).decode())))


def shortest(measure: Callable[[], float], *, wanted: float, tries: int) -> float:
    """The shortest of several times, of which one below `wanted` is enough: other work on the
    machine only adds."""
    found = math.inf
    for _ in range(tries):
        found = min(found, measure())
        if found < wanted:
            break
    return found


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The page, served by the real command."""
    process, address = start("--no-browser")
    yield address
    process.terminate()
    assert process.wait(60) == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@contextlib.contextmanager
def visiting(browser: Any, url: str) -> Iterator[Callable[..., Visit]]:
    """`visit(...)`: a new visitor; at the end nobody may have seen an error or asked elsewhere."""
    visits: list[Visit] = []

    def begin(**options: Any) -> Visit:
        context = browser.new_context(**({"viewport": DESKTOP} | options))
        visits.append(Visit(context, url))
        return visits[-1]

    yield begin
    for each in visits:
        each.context.close()
        assert each.complaints == [], each.complaints
        elsewhere = [r for r in each.requests if not r.startswith((url, "blob:", "data:"))]
        assert elsewhere == [], elsewhere


@pytest.fixture
def visit(browser: Any, url: str) -> Iterator[Callable[..., Visit]]:
    """Visitors of one test."""
    with visiting(browser, url) as begin:
        yield begin


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Visit:
    """A still page, in light colours, that shows the first 7."""
    opened = visit(reduced_motion="reduce", color_scheme="light").go()
    opened.get(f"gallery-mnist-{TILE}").click()
    playwright.expect(opened.get("verdict")).to_have_text("7")
    return opened
