"""MkDocs hooks: what the site has beside the pages of docs/.

Pages and files elsewhere in the repository that a page links to become part of the site under
their own path (`outside`), marks such as `<!-- commands -->` are replaced by tables made from the
package and its results, formulas become MathML, and the playground is written into the built site.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import commands
import formulas
import growth
import outside
import presets
from mkdocs.structure.files import Files

_GENERATED = {
    "<!-- commands -->": commands.markdown,
    "<!-- presets -->": presets.markdown,
    "<!-- technologies -->": presets.technologies,
    "<!-- growth -->": growth.markdown,
}


def on_files(files: Files, config: Any) -> Files:
    """Add everything outside docs/ that the pages link to, directly or through each other."""
    return outside.add(files, config, Path(config.config_file_path).parent)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files outside docs/ as the site has them, and the generated tables."""
    root = Path(config.config_file_path).parent
    for mark, made in _GENERATED.items():
        if mark in markdown:
            markdown = markdown.replace(mark, made())
    return outside.rewritten(markdown, page.file, root)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Formulas as MathML, which browsers draw by themselves."""
    return formulas.as_mathml(html)


def on_post_build(config: Any) -> None:
    """The playground, as `entrain play --export` writes it, with links to the pages around it."""
    from entrain.playground import export

    folder = Path(config.site_dir) / "playground"
    shutil.rmtree(folder, ignore_errors=True)
    export(folder)
    page = folder / "index.html"
    here = '<meta name="entrain-docs" content="../"'
    page.write_text(page.read_text().replace('<meta name="entrain-docs" content=""', here))
