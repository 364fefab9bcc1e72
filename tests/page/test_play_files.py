"""What goes into the page and what comes out: networks, drawings, trajectories and links."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser_page import Visit, playwright, rows, saved
from browser_page import browser as browser
from browser_page import url as url
from browser_page import visit as visit
from PIL import Image
from playground_models import save_untrained

import entrain
from entrain.playground.files import MODELS
from entrain.utils.tensor_file import read_tensors
from test_play import SOURCE

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_shipped_network_can_be_opened(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    seen = set()
    for dataset in ("mnist", "fashion-mnist"):
        page.get(f"dataset-{dataset}").click()
        for protocol in ("two-stage-end", "path", "direct", "robust"):
            page.get(f"protocol-{protocol}").click()
            ending = {"two-stage-end": "", "path": "-path"}.get(protocol, f"-{protocol}")
            model = entrain.load(name := f"{dataset}-74{ending}")
            test = f"test {model.details['test']['top1']:.2f} %"
            playwright.expect(page.get("model-facts")).to_contain_text(test)
            seen.add(name)
    page.page.get_by_role("radio", name="mnist-48-chip").check()
    sizes = "38 hidden oscillators and 10 outputs"
    playwright.expect(page.get("model-facts")).to_contain_text(sizes)
    chips = entrain.load("mnist-48-chip").details["on_chips"]
    assert f"{chips['mean']:.2f} % (mean of 1,000)" in page.text("model-facts")
    assert seen | {"mnist-48-chip"} == set(MODELS)
    page.page.get_by_role("radio", name="mnist-74 family").check()
    playwright.expect(page.get("title")).to_contain_text("74 oscillators")


def test_a_network_file_is_opened_and_a_broken_one_refused(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    path = save_untrained(tmp_path / "my own.safetensors", 12, ("left", "right"), inputs=3)
    page = visit(reduced_motion="reduce").go()
    page.get("model-upload").set_input_files(path)
    playwright.expect(page.get("title")).to_have_text(
        "Entrain playground: 14 oscillators read 3 numbers"
    )
    model = entrain.load(path)
    playwright.expect(page.get("row-text")).not_to_have_value("")
    row = np.array([float(item) for item in page.get("row-text").input_value().split(", ")])
    page.eventually(lambda: page.scores() == pytest.approx(model.scores(row)[0].tolist(), abs=1e-5))
    assert "my own" in page.text("models")
    playwright.expect(page.get("lab-absent")).to_be_visible()
    content = bytearray(path.read_bytes())
    content[-3] ^= 255
    for name, wrong in (("damaged", bytes(content)), ("short", path.read_bytes()[:-50])):
        (tmp_path / f"{name}.safetensors").write_bytes(wrong)
        page.get("model-upload").set_input_files(tmp_path / f"{name}.safetensors")
        playwright.expect(page.get("message")).to_contain_text(f"This page cannot show {name}: ")
        assert name not in page.text("models")
    playwright.expect(page.get("title")).to_contain_text("14 oscillators")


def test_a_drawing_of_lines_is_read(visit: Callable[..., Visit], tmp_path: Path) -> None:
    path = tmp_path / "seven.svg"
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="100" height="100">'
        '<path d="M25 22H75L45 85" fill="none" stroke="black" stroke-width="9"/></svg>'
    )
    page = visit(reduced_motion="reduce").go()
    page.get("upload").set_input_files(path)
    playwright.expect(page.get("verdict")).to_have_text("7")
    path.write_text("<svg")
    page.get("upload").set_input_files(path)
    playwright.expect(page.get("message")).to_contain_text("could not be read")


def test_a_ring_needs_more_oscillators_than_neighbours(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    path = save_untrained(tmp_path / "tiny.safetensors", 2, ("a", "b"), inputs=2)
    page = visit(reduced_motion="reduce").go()
    page.get("model-upload").set_input_files(path)
    playwright.expect(page.get("title")).to_contain_text("4 oscillators")
    page.get("imperfections").locator("summary").click()
    page.set("graph", "ring")
    playwright.expect(page.get("message")).to_contain_text("the graph does not fit")
    assert page.get("graph").input_value() == ""


def test_drawings_and_trajectories_are_saved_to_files(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go("#v=1&d=mnist&p=direct&g=4")
    page.eventually(lambda: page.get("takeaway").count() == 1)
    page.get("takeaway").locator("summary").click()
    page.eventually(lambda: page.get("save-trajectory").count() == 1)  # the list is made late
    names = [
        each.get_attribute("data-testid")
        for each in page.get("takeaway").locator("[data-testid$=-svg]").all()
    ]
    assert {"save-traces-svg", "save-energy-svg"} <= set(names)
    for name in names:
        drawing = ET.fromstring(saved(page, name))
        width, height = int(drawing.attrib["width"]), int(drawing.attrib["height"])
        assert len(list(drawing)) > 2, name
        picture = Image.open(io.BytesIO(saved(page, name.removesuffix("svg") + "png")))
        assert picture.size == (2 * width, 2 * height), name
        assert len(np.unique(np.asarray(picture.convert("L")))) > 2, name
    header, *lines = rows(page, "save-trajectory")
    model = entrain.load("mnist-74-direct")
    tensors, _ = read_tensors(SOURCE / "public" / "gallery.safetensors", "gallery")
    pixels = tensors["mnist.images"][4].flatten().numpy()
    phases = model.network.simulate(model.inputs(pixels), record=1).phases[:, 0]
    found = np.array([[float(cell) for cell in line] for line in lines])
    assert header[:3] == ["t", "energy", "theta hidden 0"]
    assert found[:, 2:76] == pytest.approx(phases.detach().numpy(), abs=1e-4)
    picture = Image.open(io.BytesIO(saved(page, "save-picture")))
    assert np.array_equal(np.asarray(picture.convert("L")).ravel(), pixels)


def test_a_copied_link_holds_the_time(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go("#v=1&d=mnist&p=direct&g=4")
    page.set("time-slider", 50)
    page.get("copy-link").click()
    page.eventually(lambda: "t=0.25" in page.page.url)
    again = visit().go("#" + page.page.url.partition("#")[2])
    again.eventually(lambda: again.value("time-slider") == 50)
    again.page.wait_for_timeout(500)
    assert again.value("time-slider") == 50  # it stands still
