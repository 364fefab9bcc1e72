r"""Links from the documentation to the rest of the repository.

A page is read in two places: in the repository, where `../results/README.md` is a file, and on the
site, whose root is docs/. On the site a file outside docs/ has its path in the repository:
results/REPRODUCTION.md is the page `results/REPRODUCTION.html`, results/soak.json is a file.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

# A README would be the index of its section, which another page is.
_RENAMED = {"results/README.md": "results/measured.md"}
# Pages of the navigation that lie outside docs/. Others are found through links.
_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "results/README.md", "results/REPRODUCTION.md")
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


def add(files: Files, config: Any, root: Path) -> Files:
    """`files` and everything that they and the pages above link to outside docs/."""
    waiting = [root / "docs" / each.src_uri for each in files.documentation_pages()]
    waiting += [root / page for page in _PAGES]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        place = path.relative_to(root).as_posix()
        if not place.startswith("docs/"):
            level = InclusionLevel.INCLUDED if place in _PAGES else InclusionLevel.NOT_IN_NAV
            name = _RENAMED.get(place, place)
            files.append(File.generated(config, name, abs_src_path=str(path), inclusion=level))
        if path.suffix == ".md":
            found = {root / each for each in targets(path.read_text(), place)}
            new = {each for each in found if each.is_file()} - seen
            waiting += sorted(each for each in new if root / "docs" not in each.parents)
            seen |= new
    return files


def targets(markdown: str, place: str) -> list[str]:
    """Where the links of the page at `place` lead, as paths in the repository."""
    text = _CODE.sub("", markdown)
    return [_resolved(target, place) for _, target, _ in _LINK.findall(text)]


def rewritten(markdown: str, file: File, root: Path) -> str:
    """`markdown` with the links that cross the edge of docs/ as the site needs them."""
    inside = file.generated_by is None
    original = {name: place for place, name in _RENAMED.items()}
    place = f"docs/{file.src_uri}" if inside else original.get(file.src_uri, file.src_uri)

    def link(found: re.Match[str]) -> str:
        path = _resolved(found[2], place)
        same_tree = path.startswith("docs/") == inside and path not in _RENAMED
        if same_tree or not (root / path).is_file():
            return found[0]  # within one tree a link needs no change; MkDocs reports a broken one
        on_site = _RENAMED.get(path, path).removeprefix("docs/")
        start = posixpath.dirname(file.src_uri) or "."
        return f"{found[1]}{posixpath.relpath(on_site, start)}{found[3]}"

    pieces, end = [], 0
    for code in _CODE.finditer(markdown):
        pieces += [_LINK.sub(link, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _LINK.sub(link, markdown[end:])])


def _resolved(target: str, place: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
