"""Escaped text reads as itself in every format, whatever it contains."""

from __future__ import annotations

import html
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from entrain.utils import escape

HOSTILE = (
    "a | b `c` **d** _e_ [f](g) ![h](i) ~~j~~ \\",
    "<script>alert(1)</script> &lt; <b>",
    "# title",
    "- item",
    "- - -",
    "T32_16_16 x_i",
    "$x^$ {%} \\$ 5$",
    "\x1b[2J\u202eevil\n\udcff",
    "\u65e5\u672c \u0645 \U0001f600",
)


@pytest.mark.parametrize("cell", ["=1+1", "+a", "-a", "@a", "\t=1", "\r=1", " =1", "\uff1d1+1"])
def test_a_formula_has_an_apostrophe_in_csv(cell: str) -> None:
    assert escape.csv_cell(cell) == "'" + escape.terminal(cell)


@pytest.mark.parametrize("cell", ["", "a=1", "-", "-1", "+1.5e-3", "-.5", "x-1", "'=1", "1-2"])
def test_other_text_and_numbers_stay_in_csv(cell: str) -> None:
    assert escape.csv_cell(cell) == cell


def text_of(page: str) -> tuple[str, set[str]]:
    """The text of an HTML page and its tags."""
    parts: list[str] = []
    tags: set[str] = set()
    parser = HTMLParser()
    parser.handle_data = parts.append  # type: ignore[method-assign]
    parser.handle_starttag = lambda tag, _: tags.add(tag)  # type: ignore[method-assign]
    parser.feed(page)
    parser.close()
    return "".join(parts), tags


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_the_text_in_a_line_and_in_a_table(text: str) -> None:
    renderer = MarkdownIt().enable(["table", "strikethrough"])
    expected = " ".join(escape.terminal(text).split())
    escaped = escape.markdown(text)
    assert text_of(renderer.render(escaped)) == (f"{expected}\n", {"p"})
    page, tags = text_of(renderer.render(f"|a|b|\n|---|---|\n| {escaped} | x |"))
    assert expected in page
    assert tags == {"table", "thead", "tr", "th", "tbody", "td"}


@given(st.text(max_size=30))
@settings(max_examples=60)
def test_markdown_has_no_markup_of_any_text(text: str) -> None:
    page = MarkdownIt().enable(["table", "strikethrough"]).render("x " + escape.markdown(text))
    shown, tags = text_of(page)
    assert tags == {"p"}
    assert shown.split() == ["x", *escape.terminal(text).split()]


@pytest.mark.parametrize("text", HOSTILE)
def test_html_has_no_tag(text: str) -> None:
    assert html.unescape(escape.html(text)) == escape.terminal(text)
    assert not set("<>\"'") & set(escape.html(text))


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("text", HOSTILE)
def test_matplotlib_draws_the_text_and_no_formula(text: str) -> None:
    figure = Figure()
    label = figure.text(0.5, 0.5, escape.mathtext(text))
    plain = figure.text(0.5, 0.5, escape.terminal(text), parse_math=False)
    figure.draw_without_rendering()
    assert label.get_window_extent().width == plain.get_window_extent().width
