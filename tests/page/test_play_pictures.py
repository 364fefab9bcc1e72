"""A model of small pictures, played from its run folder: scikit-learn's digits, 8 x 8."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import SEVEN, Visit, playwright
from browser_page import browser as browser
from browser_page import visit as visit
from PIL import Image
from playground_models import save_untrained

import entrain
from command_line import Run
from entrain.data import load_test_split
from entrain.data.pictures import read_picture
from entrain.playground import page_files
from entrain.playground.files import content_of
from test_play import start


@pytest.fixture(scope="module")
def url(tiny_run: Run) -> Iterator[str]:
    """`entrain play RUN_FOLDER`."""
    process, address = start("--no-browser", str(tiny_run.folder))
    yield address
    process.terminate()
    assert process.wait(60) == 0


@pytest.fixture(scope="module")
def model(tiny_run: Run) -> entrain.Model:
    return entrain.load(tiny_run.folder)


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Visit:
    return visit(reduced_motion="reduce", color_scheme="light").go()


def seen(page: Visit) -> np.ndarray:
    """What the network sees, (8, 8) from 0 to 255."""
    return page.picture(page.get("input-preview"))[..., 0]


def expect_python(page: Visit, model: entrain.Model, pixels: np.ndarray) -> None:
    """The page reads pixels (8, 8) from 0 to 255 as Python reads fractions."""
    scores = model.scores(pixels / 255.0)[0]
    expected = pytest.approx(scores.tolist(), abs=1e-5)
    page.eventually(lambda: page.scores() == expected)
    playwright.expect(page.get("verdict")).to_have_text(model.class_names[int(scores.argmax())])


def test_the_page_opens_with_a_bar_since_the_file_has_no_images(
    page: Visit, model: entrain.Model
) -> None:
    count = model.network.oscillators
    assert page.text("title") == f"Entrain playground: {count} oscillators read what you draw"
    assert page.page.locator("g.dial").count() == count == 20
    assert "pictures of 8 \u00d7 8" in page.text("model-facts")
    assert page.text("message") == "A bar, for want of test images. Draw a digit to begin."
    for absent in ("row", "gallery-mnist-0", "gallery-fashion-mnist-0", "compare"):
        playwright.expect(page.get(absent)).to_be_hidden()
    assert seen(page).shape == (8, 8)
    expect_python(page, model, seen(page))
    page.snap("digits")


def test_a_picture_of_its_own_size_is_read_as_python_reads_it(
    page: Visit, model: entrain.Model, tmp_path: Path
) -> None:
    test = load_test_split("digits")
    read = set()
    for i in (0, 1, 2, 3):
        pixels = np.round(test.features[i].reshape(8, 8) * (255 / 16)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{i}.png")
        page.get("upload").set_input_files(tmp_path / f"{i}.png")
        page.eventually(lambda pixels=pixels: np.array_equal(seen(page), pixels))
        expect_python(page, model, pixels)
        read.add(page.text("verdict"))
    assert len(read) > 1


def test_any_other_picture_is_prepared_as_python_prepares_it(
    page: Visit, model: entrain.Model, tmp_path: Path
) -> None:
    photo = np.full((90, 120), 230, dtype=np.uint8)
    photo[20:75, 50:64], photo[62:75, 40:80] = 20, 30
    Image.fromarray(photo).save(tmp_path / "photo.png")
    page.get("upload").set_input_files(tmp_path / "photo.png")
    pixels = np.floor(read_picture(tmp_path / "photo.png", (8, 8), 255.0) + 0.5)
    page.eventually(lambda: np.array_equal(seen(page), pixels))
    expect_python(page, model, pixels)


def test_a_drawing_is_read_cell_by_cell_unless_it_is_centred(
    page: Visit, model: entrain.Model, tmp_path: Path
) -> None:
    page.get("pad-clear").click()
    page.stroke([(0.2, 0.3), (0.2, 0.85)])
    playwright.expect(page.get("message")).to_have_text("Your drawing.")
    drawn = page.picture(page.get("pad"))[..., 0]
    assert drawn.shape == (280, 280)
    cells = drawn.reshape(8, 35, 8, 35).mean((1, 3))
    assert np.abs(seen(page) - cells).max() <= 0.5
    assert seen(page)[:, 4:].max() == 0  # where it was drawn: on the left
    expect_python(page, model, seen(page))
    page.get("pad-centre").click()
    page.eventually(lambda: seen(page)[:, 3:5].max() > 0)
    Image.fromarray(drawn.astype(np.uint8)).save(tmp_path / "pad.png")
    prepared = read_picture(tmp_path / "pad.png", (8, 8), 255.0, "light-on-dark")
    assert np.array_equal(seen(page), np.floor(prepared + 0.5))
    expect_python(page, model, seen(page))


def settled(page: Visit) -> bool:
    """Whether the address holds the whole stroke: it is written now and then while one draws."""
    before = page.page.url
    page.page.wait_for_timeout(1000)
    return page.page.url == before


def test_a_link_restores_the_drawing(visit: Callable[..., Visit]) -> None:
    first = visit(reduced_motion="reduce").go()
    first.get("pad-clear").click()
    first.stroke(SEVEN)
    first.shown()
    first.eventually(lambda: "px=" in first.page.url and settled(first))
    second = visit(reduced_motion="reduce").go("#" + first.page.url.partition("#")[2])
    assert "m=run&" in second.page.url
    second.eventually(lambda: np.array_equal(seen(second), seen(first)))
    assert second.scores() == first.scores()


def test_the_input_can_be_edited_on_the_pad(page: Visit) -> None:
    before = seen(page)
    page.get("pad-edit").click()
    page.get("pad-eraser").click()
    page.stroke([(0.3, 0.2), (0.7, 0.2)])
    page.eventually(lambda: not np.array_equal(seen(page), before))
    assert np.array_equal(seen(page)[4:], before[4:])


def play(visit: Callable[..., Visit], path: Path, **options: object) -> Visit:
    """A page to which the files of `entrain play PATH` are served."""

    def answer(route: Any) -> None:
        route.fulfill(body=content_of(files[route.request.url.removeprefix(page.url)]))

    page, files = visit(reduced_motion="reduce", **options), page_files(path)
    for name in ("models.json", "models/given.safetensors"):
        page.page.route(f"**/{name}", answer)
    return page.go()


def test_the_largest_network_that_is_played(visit: Callable[..., Visit], tmp_path: Path) -> None:
    names = tuple(f"<i>class</i> {i}, with a name far too long" for i in range(150))
    path = save_untrained(tmp_path / "large.safetensors", 362, names, inputs=600)
    page = play(visit, path, viewport={"width": 360, "height": 740})
    assert page.page.locator("g.dial").count() == 512
    assert page.page.locator("i").count() == 0  # names are words, whatever they hold
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.page.locator(".feature").count() == 500
    assert "the first 500 numbers" in page.text("row-note")
    model = entrain.load(path)
    page.eventually(lambda: page.get("row-text").input_value() != "")
    row = np.array([float(item) for item in page.get("row-text").input_value().split(", ")])
    winner = int(model.predict_indices(row)[0])
    playwright.expect(page.get("verdict")).to_have_text(model.class_names[winner])
    times = []
    for _ in range(3):
        page.get("row-random").click()
        page.shown()
        times.append(float(re.findall(r"[\d.]+", page.text("run-time"))[0]))
    assert min(times) < 1000  # of three: other work on the machine only adds


def test_the_smallest_network_that_is_played(visit: Callable[..., Visit], tmp_path: Path) -> None:
    page = play(visit, save_untrained(tmp_path / "small.safetensors", 1, ("only",), inputs=1))
    assert page.text("title") == "Entrain playground: 2 oscillators read 1 number"
    playwright.expect(page.get("verdict")).to_have_text("only")
    assert page.text("margin") == ""
    page.get("dial-1").click()
    assert "Output only" in page.text("inspector")
    assert page.value("observation-time") == 1.5
