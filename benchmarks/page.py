"""Frames and seconds of the web page in Chromium, as one JSON file.

    python benchmarks/page.py results/page.json

Frames while it trains on moons at 1440 x 900: the median gap of 300 frames, and the share of gaps
over 25 ms. Seconds until 95 % of the examples are read right, by set. Seconds of 100 typical chips
on 100 images, two networks, with and without WebAssembly. Needs Playwright and Chromium, which
`make test-page` installs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from entrain.playground import PageServer, page_files

SIZE = {"width": 1440, "height": 900}
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
FRAMES = """async () => {
  const gaps = []; let last = performance.now();
  await new Promise(done => requestAnimationFrame(function next(now) {
    gaps.push(now - last); last = now;
    if (gaps.length < 301) requestAnimationFrame(next); else done();
  }));
  return gaps.slice(1);
}"""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with PageServer(page_files()) as server, sync_playwright() as running:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = running.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(viewport=SIZE)
        result = {
            "browser": browser.version,
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "training": training(page, server.url),
            "chips": chips(browser, server.url),
        }
        browser.close()
        server.shutdown()
    options.out.write_text(json.dumps(result, indent=1) + "\n")


def training(page: Any, url: str) -> dict[str, Any]:
    """Frames, and seconds to 95 % by set."""
    page.goto(f"{url}#learn")
    facts = page.get_by_test_id("learn-facts")
    page.get_by_test_id("learn-play").click()
    page.wait_for_timeout(1000)
    gaps = sorted(page.evaluate(FRAMES))
    page.get_by_test_id("learn-play").click()
    seconds = {}
    for name in ("moons", "circles", "spirals", "blobs", "digits"):
        page.get_by_test_id("learn-set").select_option(name)
        page.wait_for_function(STARTS, arg=None)
        begin = time.monotonic()
        page.get_by_test_id("learn-play").click()
        while share(facts.inner_text()) < 95 and time.monotonic() - begin < 120:
            page.wait_for_timeout(20)
        seconds[name] = round(time.monotonic() - begin, 2)
        page.get_by_test_id("learn-play").click()
    return {
        "frames_per_second": round(1000 / gaps[len(gaps) // 2], 1),
        "slow_frames": sum(gap > 25 for gap in gaps) / len(gaps),
        "seconds_to_95_percent": seconds,
    }


STARTS = (
    """() => document.querySelector("[data-testid=learn-facts]").textContent.startsWith("step 0")"""
)


def share(facts: str) -> float:
    """Percentage of the examples that are read right."""
    found = re.search(r"([\d.]+) % of the examples", facts)
    return float(found[1]) if found else 0.0


def chips(browser: Any, url: str) -> dict[str, Any]:
    """Seconds of 100 chips, each with 100 images on two networks: twice with WebAssembly and twice
    without, in turn."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for compiled in (True, False, True, False):
        page = browser.new_page(viewport=SIZE)
        if not compiled:
            page.route(lambda asked: asked.startswith(url), without_webassembly)
        page.goto(f"{url}#v=1&d=mnist&p=robust&g=0&h=typical")
        begin = time.monotonic()
        page.get_by_test_id("make-chips").click()
        note = page.get_by_test_id("yield-note")
        while not note.text_content().startswith("100 chips"):
            page.wait_for_timeout(100)
        seconds[compiled].append(round(time.monotonic() - begin, 1))
        words = note.text_content()
        workers = page.evaluate(
            "Math.min(12, Math.max(1, (navigator.hardwareConcurrency || 2) - 1))"
        )
        page.close()
    return {
        "seconds": seconds[True],
        "seconds_without_webassembly": seconds[False],
        "workers": workers,
        "note": words,
    }


def without_webassembly(route: Any) -> None:
    """The page with a policy that forbids WebAssembly."""
    response = route.fetch()
    allowed = " 'wasm-unsafe-eval'"
    headers = {name: value.replace(allowed, "") for name, value in response.headers.items()}
    route.fulfill(headers=headers, body=response.body().replace(allowed.encode(), b""))


if __name__ == "__main__":
    main()
