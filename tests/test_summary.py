"""Results are one line in a console and a table in a notebook."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_wine

import entrain
from entrain.tasks import Classification

X, y = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def trained() -> entrain.Trained:
    return entrain.train(X, y, network=8, epochs=2)


def summaries(trained: entrain.Trained) -> dict[str, object]:
    model = trained.model
    return {
        "trained": trained,
        "model": model,
        "state": trained.states["DIRECT"],
        "data": trained.data,
        "images": entrain.load_dataset("digits"),
        "split": trained.test,
        "scaling": model.preprocessing,
        "reject": model.reject,
        "report": model.report(X, y),
        "yield": entrain.yield_of(model, "typical", trained.test, chips=3),
        "teacher": entrain.load("mnist-74").teacher,
    }


def test_every_result_is_one_short_line_and_a_table(trained: entrain.Trained) -> None:
    for name, value in summaries(trained).items():
        assert "\n" not in repr(value), name
        assert len(repr(value)) < 250, name
        html = value._repr_html_()  # type: ignore[attr-defined]
        assert html.startswith(f"<b>{type(value).__name__}</b><table><tr>"), name


def test_names_of_files_cannot_write_html_or_control_codes(trained: entrain.Trained) -> None:
    model = replace(
        trained.model, dataset="<script>\x1b[2J", task=Classification(("<b>", "\x1b", "c"))
    )
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(model._repr_html_())
    assert set(tags) == {"b", "table", "tr", "th", "td"}
    assert "\x1b" not in repr(model) + model._repr_html_()


def test_a_report_prints_a_line_for_each_class(trained: entrain.Trained) -> None:
    report = trained.model.report(X, y)
    lines = str(report).splitlines()
    assert [line.split()[0] for line in lines] == ["class", "0", "1", "2"]
    assert np.array_equal([line.split()[5:] for line in lines[1:]], report.confusion.astype(str))
