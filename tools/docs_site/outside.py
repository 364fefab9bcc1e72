r"""Links from the documentation to the rest of the repository.

In the repository, `../results/README.md` is a file; the root of the site is docs/. On the site, a
file outside docs/ has its path in the repository: results/REPRODUCTION.md is the page
`results/REPRODUCTION.html`, results/soak.json is a file.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

# A README would become the index of its section, which is another page.
_RENAMED = {"results/README.md": "results/measured.md"}
# Pages of the navigation outside docs/; other files are added through links.
_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "results/README.md", "results/REPRODUCTION.md")
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


def add(files: Files, config: Any, root: Path) -> Files:
    """`files`, the pages above, and all files outside docs/ that they link to."""
    waiting = [root / "docs" / page.src_uri for page in files.documentation_pages()]
    waiting += [root / page for page in _PAGES]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        source = path.relative_to(root).as_posix()
        if not source.startswith("docs/"):
            level = InclusionLevel.INCLUDED if source in _PAGES else InclusionLevel.NOT_IN_NAV
            name = _RENAMED.get(source, source)
            files.append(File.generated(config, name, abs_src_path=str(path), inclusion=level))
        if path.suffix == ".md":
            linked = {root / target for target in targets(path.read_text(), source)}
            new = {file for file in linked if file.is_file()} - seen
            waiting += sorted(file for file in new if root / "docs" not in file.parents)
            seen |= new
    return files


def targets(markdown: str, source: str) -> list[str]:
    """Targets of the links of the page `source`, as paths in the repository."""
    text = _CODE.sub("", markdown)
    return [_resolve(target, source) for _, target, _ in _LINK.findall(text)]


def rewrite(markdown: str, file: File, root: Path) -> str:
    """`markdown` with the links into and out of docs/ as the site needs them."""
    inside = file.generated_by is None
    original = {name: path for path, name in _RENAMED.items()}
    source = f"docs/{file.src_uri}" if inside else original.get(file.src_uri, file.src_uri)

    def link(match: re.Match[str]) -> str:
        path = _resolve(match[2], source)
        same_tree = path.startswith("docs/") == inside and path not in _RENAMED
        if same_tree or not (root / path).is_file():
            return match[0]  # unchanged within one tree; MkDocs reports broken links
        on_site = _RENAMED.get(path, path).removeprefix("docs/")
        start = posixpath.dirname(file.src_uri) or "."
        return f"{match[1]}{posixpath.relpath(on_site, start)}{match[3]}"

    pieces, end = [], 0
    for code in _CODE.finditer(markdown):
        pieces += [_LINK.sub(link, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _LINK.sub(link, markdown[end:])])


def _resolve(target: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
