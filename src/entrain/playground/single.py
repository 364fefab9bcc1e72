"""The page as one HTML file that a browser opens from disk, without a server.

Scripts and styles are inline; models and images are base64 blocks, which the page reads in place of
requests (playground/src/inlined.ts). The content security policy names the digests of the script
and the style and allows nothing else, so that a changed file does not run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from entrain.playground.files import Content, content_of, page_files
from entrain.utils.errors import InputError
from entrain.utils.files import write_atomically
from entrain.utils.new_files import new_files

SUFFIXES = (".html", ".htm")

_STYLE = re.compile(r'<link rel="stylesheet"[^>]*href="\./([^"]+)"[^>]*>')
_SCRIPT = re.compile(r'<script type="module"[^>]*src="\./([^"]+)"[^>]*></script>')
_POLICY = re.compile(r'(http-equiv="Content-Security-Policy"\s+content=")[^"]*(")')


def export_file(path: Path, model: Path | str | None = None) -> Path:
    """Write the page with all its models to one new HTML file."""
    with new_files(path) as parts:
        write_atomically(parts[path], single_file(page_files(model)).encode())
    return path


def single_file(files: Mapping[str, Content]) -> str:
    """The page of these files as one HTML document."""
    page = content_of(files["index.html"]).decode()
    style_file, script_file = _one(_STYLE, page), _one(_SCRIPT, page)
    style = content_of(files[style_file]).decode()
    script = _as_text(content_of(files[script_file]).decode())
    inline = {"index.html", "build.json", style_file, script_file}
    data = "\n".join(
        _data(name, content_of(content)) for name, content in files.items() if name not in inline
    )
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}' 'wasm-unsafe-eval'; "
        f"style-src '{_digest(style)}'; img-src blob: data:; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    # Functions, since sub would interpret a backslash in a string.
    page = _POLICY.sub(lambda match: f"{match[1]}{policy}{match[2]}", page)
    page = _STYLE.sub(lambda _: f"<style>{style}</style>", page)
    page = _SCRIPT.sub("", page)
    blocks = f'{data}\n<script type="module">{script}</script>\n'
    return page.replace("</body>", f"{blocks}</body>")


def _one(pattern: re.Pattern[str], page: str) -> str:
    """The only file of a pattern."""
    names: list[str] = pattern.findall(page)
    if len(names) != 1:
        raise InputError(f"the built page has {len(names)} files for one; in a clone: make page")
    return names[0]


def _as_text(script: str) -> str:
    """A script without the tags that would end it, which only its strings contain."""
    return re.sub(r"<(/script|!--)", r"\\x3c\1", script, flags=re.IGNORECASE)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _data(name: str, content: bytes) -> str:
    """A file as base64; browsers ignore a script of this type."""
    text = base64.b64encode(content).decode()
    return f'<script type="application/octet-stream" data-file="{name}">{text}</script>'
