"""The documentation site: it builds strictly, is whole, and asks no other host for anything."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

import entrain
from entrain.cli import app

pytest.importorskip("mkdocs", reason="MkDocs is not installed (pip install '.[docs]')")

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands
PACKAGE = ROOT / "src" / "entrain"
PRESETS = sorted([*PACKAGE.glob("*/presets/*.toml"), PACKAGE / "cost" / "common.toml"])


def tool(name: str) -> ModuleType:
    """A module of tools/docs_site, imported as MkDocs imports its hooks."""
    folder = str(ROOT / "tools" / "docs_site")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


def text_of(page: Path) -> str:
    """What a page shows, without tags."""
    return " ".join(re.sub(r"<[^>]*>", "", page.read_text()).split())


def test_every_link_and_asset_of_the_site_is_in_it(site: Path) -> None:
    found, checked = tool("check").problems(site)
    assert found == []
    assert checked > 5_000


def test_the_site_has_the_playground_the_results_and_the_search(site: Path) -> None:
    for name in (
        "playground/index.html",
        "results/REPRODUCTION.html",
        "results/figures/records.png",
        "search/search_index.json",
        "reference/python/networks.html",
    ):
        assert (site / name).stat().st_size > 1_000


def test_guides_rank_above_the_reference_in_the_search(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    boosts = {page["location"]: page.get("boost", 1) for page in index}
    assert all(boost < 1 for name, boost in boosts.items() if name.startswith("reference/"))
    assert boosts["hardware.html"] == boosts["solving.html"] == 2


def test_the_reference_shows_results_and_examples(site: Path) -> None:
    pages = [path.read_text() for path in (site / "reference" / "python").glob("*.html")]
    assert sum(page.count("Returns:") for page in pages) > 260
    assert sum(page.count("Examples:") for page in pages) > 60


def test_notebooks_are_pages_with_figures(site: Path) -> None:
    for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        page = (site / "notebooks" / f"{path.stem}.html").read_text()
        assert f'href="{path.stem}.ipynb"' in page
        assert f'src="{path.stem}-1.png"' in page
        assert (site / "notebooks" / path.name).exists()


def test_formulas_are_mathml(site: Path) -> None:
    pages = [path.read_text() for path in site.rglob("*.html")]
    assert sum(page.count("<math ") for page in pages) > 50
    assert not any('class="arithmatex"' in page for page in pages)


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ('<a href="other.html">', "no such file"),
        ('<a href="#nowhere">', "no such anchor"),
        ('<a href="../../etc/passwd">', "leaves the site"),
        ('<img src="missing.png">', "no such file"),
        ('<script src="https://example.org/a.js">', "another host"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "another host"),
        ('<p style="background: url(https://example.org/a.png)">', "another host"),
        ("<style>@import 'https://example.org/a.css';</style>", "another host"),
    ],
)
def test_the_link_checker_finds(html: str, reason: str, tmp_path: Path) -> None:
    check = tool("check")
    page = tmp_path / "index.html"
    page.write_text('<h1 id="top">x</h1><a href="#top">up</a><a href="https://example.org">y</a>')
    assert check.problems(tmp_path)[0] == []
    page.write_text(page.read_text() + html)
    (problem,) = check.problems(tmp_path)[0]
    assert reason in problem


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_every_option_of_a_command_with_its_help(name: str, site: Path) -> None:
    text = tool("commands").markdown()
    section = text.split(f"## entrain {name}\n")[1].split("\n## entrain ")[0]
    shown = text_of(site / "reference" / "commands.html")
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    for parameter in (each for each in COMMANDS[name].params if not each.hidden):
        assert parameter.help, f"{name}: {parameter.name} has no help text"
        names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
        for each in (*names, *parameter.secondary_opts):
            (row,) = [row for row in rows if re.match(rf"\| [^|]*[` ]{re.escape(each)}[` ,]", row)]
            assert " ".join(parameter.help.split()) in row.replace("`", "")
            assert each in shown


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_every_number_of_a_preset_is_shown_with_its_source(path: Path, site: Path) -> None:
    chip = tomllib.loads(path.read_text())
    presets = tool("presets")
    sections = f"{presets.markdown()}\n\n{presets.technologies()}"
    section = re.split(rf"^##+ {path.stem}\n", sections, flags=re.MULTILINE)[1].split("\n##")[0]
    rows = {line.split("|")[1].strip(" `"): line for line in section.splitlines() if "`" in line}
    shown = text_of(site / "reference" / "presets.html")
    numbers = 0
    for name, entries in chip.items():
        for entry, given in entries.items() if isinstance(entries, dict) else ():
            values = numbers_of(given)
            if not values:
                continue
            numbers += 1
            assert given["source"], f"{path.name}: {name}.{entry} has no source"
            row = rows[f"{name}.{entry}"]
            assert given["source"] in row
            assert all(f"{value:g}" in row for value in values)
            assert f"{name}.{entry}" in shown
    assert numbers >= 1


def numbers_of(given: Any) -> list[float]:
    """The numbers of an entry: one, the ends of a list, or a typical value and its range."""
    if not isinstance(given, dict):
        return []
    found = [given[key] for key in ("value", "low", "typical", "high") if key in given]
    found = [*found[0][:: len(found[0]) - 1]] if isinstance(found[0], list) else found
    return [value for value in found if not isinstance(value, str)]


def test_every_public_name_is_in_the_reference() -> None:
    pages = (ROOT / "docs" / "reference" / "python").glob("*.md")
    named = {name for page in pages for name in re.findall(r"^::: (\S+)", page.read_text(), re.M)}
    objects = {name: getattr(entrain, name) for name in entrain.__all__}
    public = {f"entrain.{name}" for name, value in objects.items() if not inspect.ismodule(value)}
    public -= {"entrain.InputError"}
    assert public <= named
    assert "entrain.utils.errors.InputError" in named
    for name in named:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_the_site_sends_no_request_to_another_host(site: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    asked: list[str] = []
    failed: list[str] = []
    with server, playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        for name in ("index.html", "how-it-works/physics.html", "reference/commands.html"):
            page.goto(home + name)
        found = page.locator(".md-search-result__item").first
        for _ in range(12):  # what is typed before the page's script listens is lost to it
            page.get_by_placeholder("Search").fill("")
            page.get_by_placeholder("Search").press_sequentially("yield")
            with contextlib.suppress(playwright.TimeoutError):
                found.wait_for(timeout=5000)
                break
        playwright.expect(found).to_be_visible()
        chromium.close()
        server.shutdown()
    assert failed == []
    assert any("search_index" in url for url in asked)
    assert all(url.startswith((home, "data:", "blob:")) for url in asked)
