"""MkDocs hooks for the parts of the site that are not pages of docs/.

Linked files elsewhere in the repository become part of the site (`outside`), notebooks become
pages, marks such as `<!-- commands -->` are replaced by tables made from the package and its
results, formulas become MathML, and the playground is written into the built site.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import commands
import first_use
import formulas
import growth
import notebooks
import oscillator_scale
import outside
import presets
import terms
from mkdocs.structure.files import Files

# A figure alone in its paragraph; many are larger than the column.
_FIGURE = re.compile(r'<p>(<img[^>]* src="([^":]+\.png)"[^>]*>)</p>')
# Guides come first in the search; material's boost multiplies the score of a page.
_BOOSTS = {"reference/": 0.3, "results/": 0.5, "CHANGELOG": 0.2, "CONTRIBUTING": 0.5}
_BOOSTS |= {"tutorials/": 1, "notebooks/": 1, "how-it-works/": 1, "": 2}
_GENERATED = {
    "<!-- commands -->": commands.markdown,
    "<!-- presets -->": presets.markdown,
    "<!-- technologies -->": presets.technologies,
    "<!-- first-use -->": first_use.markdown,
    "<!-- growth -->": growth.markdown,
    "<!-- oscillator-scale -->": oscillator_scale.markdown,
    "<!-- terms -->": terms.markdown,
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of notebooks, and files outside docs/ that the pages link to."""
    root = Path(config.config_file_path).parent
    return notebooks.add(outside.add(files, config, root), config, root)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links to files outside docs/, insert the generated tables, rank the page."""
    root = Path(config.config_file_path).parent
    for mark, table in _GENERATED.items():
        if mark in markdown:
            markdown = markdown.replace(mark, table())
    boosts = (boost for start, boost in _BOOSTS.items() if page.file.src_uri.startswith(start))
    page.meta["search"] = {"boost": next(boosts, 1)}
    return outside.rewrite(notebooks.rewrite(markdown), page.file, root)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Convert formulas to MathML, which browsers draw without scripts, and open figures in full."""
    linked = r'<p><a href="\2" title="Open in full size">\1</a></p>'
    return _FIGURE.sub(linked, formulas.as_mathml(html))


def on_post_build(config: Any) -> None:
    """Write the playground, as `entrain play --export`, with links to the documentation."""
    from entrain.playground import export

    folder = Path(config.site_dir) / "playground"
    shutil.rmtree(folder, ignore_errors=True)
    export(folder)
    page = folder / "index.html"
    docs_link = '<meta name="entrain-docs" content="../"'
    page.write_text(page.read_text().replace('<meta name="entrain-docs" content=""', docs_link))
