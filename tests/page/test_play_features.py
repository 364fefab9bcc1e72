"""A model that reads rows of numbers, played from its file: scikit-learn's wines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from browser_page import DESKTOP, PHONE, Visit, playwright
from browser_page import browser as browser
from browser_page import visit as visit
from playground_models import save_untrained, save_wine, wine_rows

import entrain
from command_line import Refuse
from entrain.playground import export
from test_play import start


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_wine(tmp_path_factory.mktemp("models") / "my wines.safetensors")


@pytest.fixture(scope="module")
def url(wine: Path) -> Iterator[str]:
    """`entrain play my wines.safetensors`."""
    process, address = start("--no-browser", str(wine))
    yield address
    process.terminate()
    assert process.wait(60) == 0


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Visit:
    return visit(reduced_motion="reduce", color_scheme="light").go()


def row_of(page: Visit) -> np.ndarray:
    page.eventually(lambda: page.get("row-text").input_value() != "")
    return np.array([float(item) for item in page.get("row-text").input_value().split(", ")])


def expect_python(page: Visit, model: entrain.Model, row: np.ndarray) -> None:
    """The page reads the row as Python does, and shows the same scores."""
    expected = pytest.approx(model.scores(row)[0].tolist(), abs=1e-5)
    page.eventually(lambda: page.scores() == expected)
    playwright.expect(page.get("verdict")).to_have_text(
        model.class_names[int(model.predict_indices(row)[0])]
    )


def test_every_class_is_read_as_python_reads_it(page: Visit, wine: Path) -> None:
    model, rows = entrain.load(wine), wine_rows()
    for row in rows[[0, 70, 150]]:
        page.get("row-text").fill(", ".join(map(str, row)))
        page.press("Enter")
        expect_python(page, model, row)
        assert np.array_equal(row_of(page), row)
    assert set(model.predict_indices(rows[[0, 70, 150]])) == {0, 1, 2}


def test_the_page_says_the_sizes_of_the_model(page: Visit, wine: Path) -> None:
    network = entrain.load(wine).network
    assert page.text("title") == "Entrain playground: 23 oscillators read 13 numbers"
    assert "20 hidden oscillators" in page.text("summary")
    assert "3 outputs" in page.text("summary")
    assert page.text("outcome-title") == "The 3 outputs decide"
    assert page.page.locator("g.dial").count() == network.oscillators == 23
    assert page.page.locator(".feature").count() == 13
    assert "alcohol" in page.page.locator(".feature").first.inner_text()
    for absent in ("pad", "gallery-mnist-0", "upload", "compare"):
        playwright.expect(page.get(absent)).to_be_hidden()
    page.snap("wine")


def test_a_slider_and_a_number_set_one_feature(page: Visit, wine: Path) -> None:
    model = entrain.load(wine)
    mean, sd = model.preprocessing.mean, model.preprocessing.sd
    before = row_of(page)
    assert before == pytest.approx(np.array(mean), abs=max(sd) / 100)
    page.set("feature-6-slider", 1.5)
    page.eventually(lambda: row_of(page)[6] != before[6])
    row = row_of(page)
    assert row[6] == pytest.approx(mean[6] + 1.5 * sd[6], abs=sd[6] / 100)
    expect_python(page, model, row)
    page.get("feature-12").fill("1500")
    page.eventually(lambda: row_of(page)[12] == 1500)
    row[12] = 1500
    assert np.array_equal(row_of(page), row)
    expect_python(page, model, row)
    assert page.value("feature-12-slider") == pytest.approx((1500 - mean[12]) / sd[12], abs=0.05)


def test_a_random_row_is_one_that_python_reads_alike(page: Visit, wine: Path) -> None:
    model = entrain.load(wine)
    seen = [row_of(page)]
    for _ in range(4):
        page.get("row-random").click()
        page.eventually(lambda: not np.array_equal(row_of(page), seen[-1]))
        seen.append(row_of(page))
        expect_python(page, model, seen[-1])
        z = (seen[-1] - model.preprocessing.mean) / model.preprocessing.sd
        assert (np.abs(z) < 3.01).all()
    page.get("row-mean").click()
    page.eventually(lambda: np.array_equal(row_of(page), seen[0]))


def test_the_row_is_set_by_keys_alone(page: Visit) -> None:
    page.tab_to("feature-0-slider")
    before, scores = row_of(page)[0], page.scores()
    page.press("ArrowRight", "ArrowRight", "Tab")
    page.eventually(lambda: row_of(page)[0] > before and page.scores() != scores)
    assert page.page.evaluate("document.activeElement.dataset.testid") == "feature-0"
    label = page.get("feature-0-slider").get_attribute("aria-label")
    assert label == "alcohol, in standard deviations"
    assert "standard deviations" in page.get("feature-0-slider").get_attribute("aria-valuetext")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_feature_page_has_no_accessibility_violations(
    visit: Callable[..., Visit], scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for size in (DESKTOP, PHONE):
        page = visit(color_scheme=scheme, reduced_motion="reduce", viewport=size).go()
        page.get("dial-3").click()
        page.snap(f"wine-{scheme}-{size['width']}")
        found = axe.run(page.page).response["violations"]
        serious = [
            (v["id"], [n["target"] for n in v["nodes"]][:4])
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
        assert serious == []
        assert page.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_an_invalid_row_shows_a_message_and_keeps_the_last_row(page: Visit, tmp_path: Path) -> None:
    before, scores = row_of(page), page.scores()
    for text, word in (("1, 2, 3", "got 3"), ("1, 2, many", "something else"), ("", "got 0")):
        page.get("row-text").fill(text)
        page.press("Enter")
        playwright.expect(page.get("message")).to_contain_text("There must be 13 numbers")
        playwright.expect(page.get("message")).to_contain_text(word)
    page.get("feature-0").fill("1e300")  # farther than single precision reaches
    playwright.expect(page.get("message")).to_contain_text("alcohol = 1e+300 is too far")
    page.set("feature-1-slider", 1)
    page.eventually(lambda: page.scores() != scores)
    assert row_of(page)[0] == before[0]
    drop = "new DragEvent('drop', {bubbles: true, dataTransfer: t})"
    page.page.evaluate(
        "() => { const t = new DataTransfer(); t.items.add(new File(['x'], 'x.png', "
        f"{{type: 'image/png'}})); document.body.dispatchEvent({drop}); }}"
    )
    playwright.expect(page.get("message")).to_have_text("This network reads numbers, not pictures.")


def test_a_link_names_the_model_and_restores_its_row(visit: Callable[..., Visit]) -> None:
    first = visit(reduced_motion="reduce").go()
    first.get("row-random").click()
    first.set("temperature", 0.5)
    first.get("dial-2").dblclick()
    first.eventually(lambda: "off=2" in first.page.url and "T=0.5" in first.page.url)
    fragment = "#" + first.page.url.partition("#")[2]
    assert "m=my%20wines&" in fragment
    second = visit(reduced_motion="reduce").go(fragment)
    assert np.array_equal(row_of(second), row_of(first))
    assert second.scores() == first.scores()
    third = visit(reduced_motion="reduce").go("#v=1&m=beers&row=1,2")
    playwright.expect(third.get("message")).to_contain_text("beers, which is not served here")
    playwright.expect(third.get("dial-22")).to_be_visible()
    shipped = visit(reduced_motion="reduce").go("#v=1&d=fashion-mnist&p=path&g=3")
    playwright.expect(shipped.get("verdict")).to_have_text("Trouser")


def test_the_shipped_models_stay_in_the_menu(page: Visit, wine: Path) -> None:
    page.get("dial-22").click()
    page.get("model-shipped").click()
    playwright.expect(page.get("verdict")).to_have_text("0")
    assert page.text("title") == "Entrain playground: 74 oscillators read what you draw"
    assert page.page.locator("g.dial").count() == 74
    playwright.expect(page.get("row")).to_be_hidden()
    page.get("gallery-mnist-21").click()
    playwright.expect(page.get("verdict")).to_have_text("7")
    page.get("dial-73").click()
    page.get("model-0").click()
    playwright.expect(page.get("row")).to_be_visible()
    expect_python(page, entrain.load(wine), row_of(page))
    assert page.page.locator("g.dial").count() == 23


@pytest.mark.parametrize("damage", ["text", "truncated", "too large"])
def test_a_file_the_page_cannot_show_is_refused_with_a_sentence(
    visit: Callable[..., Visit], wine: Path, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "bad.safetensors"
    if damage == "too large":
        save_untrained(path, 520, ("a", "b"))
    else:
        path.write_bytes(b"hello" * 50 if damage == "text" else wine.read_bytes()[:-40])
    page = visit(reduced_motion="reduce")
    page.page.route("**/models/given.safetensors", lambda route: route.fulfill(path=path))
    page.go()
    reason = {
        "text": "not a safetensors file",
        "truncated": "may be truncated",
        "too large": "it has 522 oscillators; this page simulates 512 at most",
    }[damage]
    playwright.expect(page.get("message")).to_contain_text("This page cannot show my wines: ")
    playwright.expect(page.get("message")).to_contain_text(reason)
    playwright.expect(page.get("verdict")).to_have_text("0")  # a shipped one instead
    page.get("model-0").click()
    playwright.expect(page.get("model-shipped")).to_be_checked()


def test_the_command_refuses_what_cannot_be_played(
    refuse: Refuse, wine: Path, tmp_path: Path
) -> None:
    text, cut = tmp_path / "text.safetensors", tmp_path / "cut.safetensors"
    text.write_text("hello " * 100)
    cut.write_bytes(wine.read_bytes()[:-40])
    for more in ((), ("--export", tmp_path / "site")):
        assert "no such model file" in refuse("play", tmp_path / "none.safetensors", *more)
        assert f"{text}: not a readable model file" in refuse("play", text, *more)
        assert "truncated" in refuse("play", cut, *more)
        assert "not a run folder" in refuse("play", tmp_path, *more)
        assert "choose from" in refuse("play", "mnist-75", *more)
    assert not (tmp_path / "site").exists()
    wide = save_untrained(tmp_path / "wide.safetensors", 511, ("a", "b"))
    assert f"{wide}: the network has 513 oscillators; the page simulates 512" in refuse(
        "play", wide
    )
    slow = save_untrained(tmp_path / "slow.safetensors", 510, ("a", "b"), steps=1025)
    assert "1,025 Euler steps of 512 oscillators; the page simulates 1,024" in refuse("play", slow)


def test_an_export_shows_the_model_too(wine: Path, tmp_path: Path) -> None:
    export(tmp_path / "site", wine)
    assert json.loads((tmp_path / "site" / "models.json").read_text()) == [
        {"name": "my wines", "file": "given.safetensors"}
    ]
    served = tmp_path / "site" / "models" / "given.safetensors"
    assert served.read_bytes() == wine.read_bytes()
    export(tmp_path / "other", "mnist-74-path")
    (entry,) = json.loads((tmp_path / "other" / "models.json").read_text())
    assert entry == {"name": "mnist-74-path", "file": "mnist-74-path.safetensors"}
    assert (tmp_path / "other" / "models" / entry["file"]).is_file()
