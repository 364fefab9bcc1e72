"""Chips by the hundred on the page, of one kind or with imperfections set by hand."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import Visit, playwright, rows, saved, visiting
from browser_page import browser as browser
from browser_page import url as url
from browser_page import visit as visit
from PIL import Image

import entrain
from command_line import environment
from entrain.data import Split
from entrain.hardware import Hardware, preset
from entrain.hardware.files import read as read_hardware
from entrain.utils.tensor_file import read_tensors
from test_play import SOURCE

pytestmark = pytest.mark.usefixtures("one_thread")

IMAGES = 50
ALLOWED = " 'wasm-unsafe-eval'"  # in the policy of the page
COMPILES = """() => {
  try { return Boolean(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))); }
  catch { return false; }
}"""
LONG = 240_000  # ms; a busy machine takes its time


def open_lab(visit: Callable[..., Visit], fragment: str, **options: Any) -> Visit:
    """A still page with few chips on few images chosen."""
    page = visit(reduced_motion="reduce", color_scheme="light", **options).go(fragment)
    page.set("lab-chips", "10")
    page.set("lab-images", str(IMAGES))
    return page


def made(page: Visit) -> None:
    """Make the chips, and wait for the last."""
    page.get("make-chips").click()
    playwright.expect(page.get("yield-note")).to_contain_text("10 chips", timeout=LONG)


@pytest.fixture(scope="module")
def lab(browser: Any, url: str) -> Iterator[Visit]:
    """A page with its chips made, for several tests that look at it."""
    with visiting(browser, url) as visit:
        page = open_lab(visit, "#v=1&d=fashion-mnist&p=direct&g=0&h=typical")
        made(page)
        yield page


def split(dataset: str) -> Split:
    """The page's test images, as many as are chosen."""
    tensors, _ = read_tensors(SOURCE / "public" / "test-images.safetensors", "gallery")
    every = len(tensors[f"{dataset}.labels"]) // IMAGES
    pixels = tensors[f"{dataset}.images"][::every].flatten(1).numpy()
    return Split(pixels, tensors[f"{dataset}.labels"][::every].long().numpy())


def test_ten_chips_have_the_accuracies_that_python_gives_them(visit: Callable[..., Visit]) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=direct&g=0&h=typical&n=7&s=3")
    made(page)
    header, *found = rows(page, "histogram-csv")
    assert header == ["chip", "accuracy % of mnist-74-direct", "accuracy % of mnist-74-robust"]
    assert [int(row[0]) for row in found] == list(range(7, 17))
    for place, name in ((1, "mnist-74-direct"), (2, "mnist-74-robust")):
        expected = entrain.yield_of(
            entrain.load(name), "typical", split("mnist"), chips=10, first_seed=7, noise_seed=3
        )
        # Python is in single precision: an image at the edge may be read otherwise.
        accuracies = [float(row[place]) for row in found]
        assert accuracies == pytest.approx(list(expected.accuracies), abs=100 / IMAGES + 1e-9)
        cells = page.get(f"yield-row-{place - 1}").locator("td").all_inner_texts()
        assert float(cells[0]) == pytest.approx(np.mean(accuracies), abs=0.006)
        assert float(cells[2]) == pytest.approx(np.percentile(accuracies, 5), abs=0.006)
        page.set("threshold", 60)
        above = page.get(f"yield-row-{place - 1}").locator("td").all_inner_texts()[-1]
        assert above == f"{100 * np.mean(np.array(accuracies) >= 60):.0f} %"
    matrix = rows(page, "confusion-csv")
    counts = np.array([[int(cell) for cell in row[1:]] for row in matrix[1:]])
    assert counts.sum() == 10 * IMAGES
    assert 100 * counts.trace() / counts.sum() == pytest.approx(
        np.mean([float(row[1]) for row in found])
    )


def test_chips_have_the_same_accuracies_without_webassembly(visit: Callable[..., Visit]) -> None:
    def forbid(route: Any) -> None:
        response = route.fetch()
        policy = response.headers.get("content-security-policy", "").replace(ALLOWED, "")
        headers = response.headers | {"content-security-policy": policy}
        route.fulfill(headers=headers, body=response.body().replace(ALLOWED.encode(), b""))

    pages = [open_lab(visit, fragment := "#v=1&d=mnist&p=robust&g=0&h=typical")]
    pages.append(visit(reduced_motion="reduce"))
    pages[1].page.route(lambda url: url == pages[1].url, forbid)
    pages[1].go(fragment)
    for name, value in (("lab-chips", "10"), ("lab-images", str(IMAGES))):
        pages[1].set(name, value)
    assert [page.page.evaluate(COMPILES) for page in pages] == [True, False]
    for page in pages:
        made(page)
    assert rows(pages[0], "histogram-csv") == rows(pages[1], "histogram-csv")
    pages[1].complaints = [line for line in pages[1].complaints if "WebAssembly" not in line]


def test_imperfections_set_by_hand_are_those_of_the_package(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=direct&g=0")
    page.get("imperfections").locator("summary").click()
    page.set("lab-beside", "")
    for name, value in {
        "weight-bits": "5",
        "phase-bits": "5",
        "graph": "kings",
        "offset": 5,
        "frequency-spread": 0.5,
        "lag-angle": 0.1,
        "dead-couplers": 2,
        "dead-oscillators": 1,
        "weight-mismatch": 4,
        "mismatch": 3,
        "temperature": 0.05,
        "coupling-bits": "6",
    }.items():
        page.set(name, value)
    page.eventually(lambda: "chip.toml" in page.text("yield-command"))
    page.eventually(lambda: "bits = 6" in page.get("yield-command").inner_text())
    command = page.get("yield-command").inner_text()
    toml = command.split("<<'END'\n")[1].split("\nEND\n")[0]
    (tmp_path / "chip.toml").write_text(toml)
    kind = read_hardware(tmp_path / "chip.toml")
    by_hand = {
        "wiring": {"kind": "kings"},
        "coupling_levels": {"bits": 6, "range": 1.0, "rule": "max"},
        "weight_levels": {"bits": 5, "range": 1.0, "rule": "max"},
        "mismatch": {"couplings": 0.03, "input_weights": 0.04},
        "offset": {"couplings": 0.05},
        "dead": {"couplers": 0.02, "oscillators": 0.01},
        "frequency_spread": {"sd": 0.5},
        "coupling_function": {"lag": 0.1},
        "phase_noise": {"temperature": 0.05},
        "readout": {"bits": 5},
    }
    assert list(kind.effects) == list(Hardware.from_json(by_hand).effects)
    made(page)
    accuracies = [float(row[1]) for row in rows(page, "histogram-csv")[1:]]
    expected = entrain.yield_of(
        entrain.load("mnist-74-direct"), kind, split("mnist"), chips=10, first_seed=0
    )
    assert accuracies == pytest.approx(list(expected.accuracies), abs=100 / IMAGES + 1e-9)
    fragment = page.page.url.partition("#")[2]
    again = visit(reduced_motion="reduce").go(f"#{fragment}")
    again.eventually(lambda: again.scores() == page.scores())
    assert again.text("imperfections-set") == "(9 set by hand)"
    again.get("reset-physics").click()
    playwright.expect(again.get("imperfections-set")).to_have_text("")


def test_commands_shown_in_the_lab_run(visit: Callable[..., Visit]) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=robust&g=0&h=own&n=7&s=3")
    command = page.get("yield-command").inner_text()
    assert command == (
        "entrain yield mnist-74-robust --chips 10 --seed 7 --noise-seed 3 --threshold 95"
    )
    page.set("chip-kind", "wang-2019")
    page.eventually(lambda: "--hardware wang-2019 " in page.text("yield-command"))
    found = subprocess.run(
        [sys.executable, "-m", *page.text("evaluate-command").split(), "--json"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"chip": 7' in found.stdout


def test_curves_are_updated_with_the_settings(visit: Callable[..., Visit]) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=two-stage-end&g=0")
    page.set("lab-beside", "")
    page.get("draw-curves").click()
    finished = re.compile(r"50 test images\. ")
    playwright.expect(page.get("curves-note")).to_have_text(finished, timeout=LONG)
    times = {float(t): float(a) for t, a in rows(page, "curve-time-csv")[1:]}
    bits = {int(b): float(a) for b, a in rows(page, "curve-bits-csv")[1:]}
    heat = {float(t): float(a) for t, a in rows(page, "curve-temperature-csv")[1:]}
    assert times[1.0] > times[0.1]
    assert bits[8] > bits[2]
    assert heat[0] > heat[2]
    network = entrain.load("mnist-74")
    data = split("mnist")
    exact = 100 * float(np.mean(network.predict_indices(data.features) == data.labels))
    assert times[1.0] == heat[0] == pytest.approx(exact)
    page.set("coupling-bits", "2")
    playwright.expect(page.get("curves-note")).to_contain_text("% done", timeout=LONG)


def test_the_lab_leaves_the_chip_above_alone(visit: Callable[..., Visit]) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=robust&g=0")
    assert page.get("lab-kind").input_value() == "typical"  # the page has the ideal chip
    options = page.get("lab-kind").locator("option").all_text_contents()
    assert "ideal" not in options
    before = page.scores()
    page.set("lab-kind", "wang-2019")
    page.eventually(lambda: "--hardware wang-2019" in page.text("yield-command"))
    assert page.get("chip-kind").input_value() == "ideal"
    assert page.scores() == before
    page.set("lab-kind", "own")
    made(page)
    note = page.text("yield-note")
    assert "mnist-74-robust mean" in note
    assert "(on the whole test set 98.05 %)" in note


def test_figures_are_saved_as_they_are_shown(lab: Visit) -> None:
    lab.page.emulate_media(color_scheme="light")
    for name in ("histogram", "confusion"):
        drawing = ET.fromstring(saved(lab, f"{name}-svg"))
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in ET.tostring(drawing, encoding="unicode")
        picture = Image.open(io.BytesIO(saved(lab, f"{name}-png")))
        width = int(drawing.attrib["width"])
        assert picture.size == (2 * width, 2 * int(drawing.attrib["height"]))
        assert len(np.unique(np.asarray(picture.convert("L")))) > 20


def test_simulation_of_chips_can_be_stopped(visit: Callable[..., Visit]) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=direct&g=0&h=typical")
    page.set("lab-chips", "1000")
    page.get("make-chips").click()
    playwright.expect(page.get("lab-status")).to_contain_text("of 1000 chips made")
    page.get("stop-chips").click()
    playwright.expect(page.get("make-chips")).to_be_visible()
    before = page.text("lab-status")
    page.page.wait_for_timeout(1500)
    assert page.text("lab-status") == before
    page.page.evaluate(  # at once, before the first of them is begun
        """() => ["make-chips", "stop-chips"].forEach((name) => {
          document.querySelector(`[data-testid=${name}]`).click();
        })"""
    )
    page.page.wait_for_timeout(1500)
    assert page.text("lab-status") == ""


def test_imperfections_set_while_runs_are_under_way_are_kept(visit: Callable[..., Visit]) -> None:
    """A run that ends shows its own controls, unless they were moved on meanwhile."""
    page = open_lab(visit, "#v=1&d=mnist&p=direct&g=0")
    page.get("imperfections").locator("summary").click()
    many = {"offset": 5, "frequency-spread": 0.5, "lag-angle": 0.1, "dead-couplers": 2}
    many |= {"dead-oscillators": 1, "weight-mismatch": 4}
    page.page.evaluate(
        """async (many) => {
          for (const [name, value] of Object.entries(many)) {
            const input = document.querySelector(`[data-testid=${name}]`);
            input.value = value;
            input.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((next) => setTimeout(next)); // the run begins
            const end = performance.now() + 60;
            while (performance.now() < end); // it is over, and what it found waits
          }
        }""",
        many,
    )
    page.eventually(lambda: f"({len(many)} set by hand)" in page.text("imperfections-set"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lab_has_no_accessibility_violations(lab: Visit, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    lab.page.emulate_media(color_scheme=scheme)
    for name in ("imperfections", "takeaway"):
        if not lab.get(name).evaluate("e => e.open"):
            lab.get(name).locator("summary").click()
    lab.shown()
    found = axe.run(lab.page, {"include": [["[data-testid=lab]"], ["[data-testid=chip]"]]})
    assert [
        (v["id"], [n["target"] for n in v["nodes"]]) for v in found.response["violations"]
    ] == []


@pytest.mark.parametrize("width", [390, 1024, 2560])
def test_lab_fits_wide_and_narrow_windows(visit: Callable[..., Visit], width: int) -> None:
    page = open_lab(
        visit,
        "#v=1&d=fashion-mnist&p=direct&g=0&h=typical",
        viewport={"width": width, "height": 900},
    )
    made(page)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    lab = page.get("lab").bounding_box()
    for name in ("histogram", "confusion", "confusion-other"):
        box = page.get(name).bounding_box()
        assert box["x"] >= lab["x"]
        assert box["x"] + box["width"] <= lab["x"] + lab["width"]


WIDE = {"width": 1280, "height": 900}


def test_lab_fits_a_window_that_becomes_narrow(visit: Callable[..., Visit]) -> None:
    page = open_lab(visit, "#v=1&d=mnist&p=direct&g=0&h=typical", viewport=WIDE)
    made(page)
    page.page.set_viewport_size(WIDE | {"width": 390})
    page.eventually(lambda: page.page.evaluate("document.documentElement.scrollWidth") <= 390)


def test_toml_of_every_preset_is_that_preset(visit: Callable[..., Visit]) -> None:
    assert tomllib.loads("[a]\nb = 1e-7")["a"]["b"] == 1e-7  # as JavaScript writes small numbers
    page = visit(reduced_motion="reduce").go("#v=1&d=mnist&p=direct&g=0&h=typical")
    assert "--hardware typical " in page.text("yield-command")
    page.set("mismatch", 11)
    page.eventually(lambda: "couplings = 0.11" in page.text("yield-command"))
    assert preset("typical").mismatch is not None
