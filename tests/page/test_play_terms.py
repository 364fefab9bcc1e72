"""The page shows and simulates what a model file holds beside fields and couplings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from browser_page import Visit, playwright
from browser_page import browser as browser
from browser_page import url as url
from browser_page import visit as visit

import entrain
from entrain.data import load_test_split
from entrain.models.model import read_model
from model_files import rewritten

TERMS = ("frequency", "injection", "start phase")


@pytest.fixture
def with_terms(tmp_path: Path) -> Path:
    """mnist-74 with every optional term, and two outputs coupled."""
    network = entrain.load("mnist-74").network
    waves = torch.arange(network.oscillators).sin()
    graph, couplings = network.graph.to(torch.uint8), network.couplings.detach().clone()
    for i, j in ((64, 70), (70, 64)):
        graph[i, j], couplings[i, j] = 1, 9.0
    changed: dict[str, Any] = {
        "graph": graph,
        "couplings": couplings,
        "frequencies": 2 * waves,
        "injection": waves,
        "start_phases": 1.5 + 0.25 * waves,
        "lag": torch.tensor(0.25),
        "harmonic": torch.tensor([0.5, 0.75]),
    }
    source = Path(entrain.__file__).parent / "models" / "mnist-74.safetensors"
    return rewritten(source, tmp_path / "model.safetensors", changed)


def test_a_model_with_terms_is_simulated_and_inspected(
    visit: Callable[..., Visit], with_terms: Path
) -> None:
    page = visit(reduced_motion="reduce")
    page.page.route("**/models/mnist-74.safetensors", lambda route: route.fulfill(path=with_terms))
    page.go()
    test = load_test_split("mnist")
    model = read_model(with_terms)
    inputs = model.inputs(test.features[np.flatnonzero(test.labels == 0)[0]])
    scores = model.network.double()(inputs.double())  # as the page computes
    assert page.scores() == pytest.approx(scores[0].tolist(), abs=1e-5)
    playwright.expect(page.get("lag")).to_have_text(
        "couplings lag by 0.25 rad, the coupling function has 0.75 cos 2φ: the energy may rise"
    )
    page.get("dial-70").hover()  # sin 70 = 0.774
    inspector = page.get("inspector")
    playwright.expect(inspector).to_contain_text("frequency 1.55")
    playwright.expect(inspector).to_contain_text("injection 0.77")
    playwright.expect(inspector).to_contain_text("start phase 1.69 rad")
    playwright.expect(inspector.locator("li").first).to_contain_text("output 0")
    page.snap("terms")


def test_a_model_without_terms_shows_none(visit: Callable[..., Visit]) -> None:
    page = visit(reduced_motion="reduce").go()
    page.get("dial-70").hover()
    playwright.expect(page.get("inspector")).to_contain_text("bias")
    assert not any(term in page.text("inspector") for term in TERMS)
    playwright.expect(page.get("lag")).to_be_hidden()
