"""Notebooks of docs/notebooks as pages: their cells as Markdown, their figures as files.

Markdown pages link to `notebooks/NAME.ipynb`, which exists in the repository; on the site the link
leads to the page.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_LINK = re.compile(r"(\]\((?:[^)#:\s]*/)?[^)#:\s/]+)\.ipynb\)")


def add(files: Files, config: Any, root: Path) -> Files:
    """`files`, and a page with its pictures for each notebook."""
    for path in sorted((root / "docs" / "notebooks").glob("*.ipynb")):
        text, pictures = markdown(json.loads(path.read_text()), path.stem)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def markdown(notebook: dict[str, Any], stem: str) -> tuple[str, dict[str, bytes]]:
    """The page of a notebook, and its pictures by file name."""
    parts, pictures = list[str](), dict[str, bytes]()
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if "text" in output:
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            if "image/png" in output.get("data", {}):
                name = f"{stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(output["data"]["image/png"])
                parts.append(f"![Figure of the cell above]({name})")
    title, *rest = parts
    download = f'<a href="{stem}.ipynb" download>Download this page as a notebook</a>'
    return "\n\n".join([title, download, *rest]) + "\n", pictures


def rewrite(markdown: str) -> str:
    """`markdown` with links to notebooks as links to their pages."""
    return _LINK.sub(r"\1.md)", markdown)
