"""Check a built site: every internal link and asset exists, and no asset is on another host.

    python tools/docs_site/check.py site

Prints errors and exits with 1, or prints the number of checked links.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_ASSETS = {"script", "img", "iframe", "source", "video", "audio", "embed", "object", "use"}
_FETCHED = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
_CSS_URL = re.compile(r"(?:url\(|@import\s+)['\"]?([^'\")\s;]+)")


class Page(HTMLParser):
    """Ids, links and assets of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.assets: list[str] = []
        self._in_style = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids, links and assets of an element."""
        values = {name: value for name, value in attrs if value}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        self.assets += _CSS_URL.findall(values.get("style", ""))
        self._in_style = tag == "style"
        if "srcset" in values:
            self.assets += [source.split()[0] for source in values["srcset"].split(",")]
        if tag in _ASSETS:
            self.assets += [values[name] for name in ("src", "data", "href") if name in values]
        elif tag == "link" and _FETCHED & set(values.get("rel", "").split()):
            self.assets.append(values.get("href", ""))
        elif tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])

    def handle_data(self, data: str) -> None:
        """Collect the assets of a <style> element."""
        if self._in_style:
            self.assets += _CSS_URL.findall(data)
            self._in_style = False


def problems(site: Path) -> tuple[list[str], int]:
    """Errors in the folder of a site, and the number of checked links and assets."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    errors, checked = [], 0
    ids = {path.resolve(): page.ids for path, page in pages.items()}
    for path, page in pages.items():
        for target in page.assets:
            if _on_another_host(target):
                errors.append(f"{path.relative_to(site)}: loads {target} from another host")
        for target in [*page.assets, *page.links]:
            checked += 1
            if reason := _missing(target, path, site, ids):
                errors.append(f"{path.relative_to(site)}: {target}: {reason}")
    for path in sorted(site.rglob("*.css")):
        for target in _CSS_URL.findall(path.read_text()):
            checked += 1
            if _on_another_host(target) or _missing(target, path, site, ids):
                errors.append(f"{path.relative_to(site)}: loads {target}, which is not in the site")
    return errors, checked


def _on_another_host(target: str) -> bool:
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def _missing(target: str, page: Path, site: Path, ids: dict[Path, set[str]]) -> str:
    """Reason that an internal target does not exist; "" if it does."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return ""  # another host, mailto:, data:
    start = site if parts.path.startswith("/") else page.parent
    path = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page.resolve()
    path = path / "index.html" if path.is_dir() else path
    if not path.is_relative_to(site.resolve()):
        return "leaves the site"
    if not path.is_file():
        return "no such file"
    fragment = unquote(parts.fragment)
    if fragment and fragment not in ids.get(path, {fragment}):
        return "no such anchor"
    return ""


def main() -> int:
    """Check the folder on the command line; the exit code."""
    errors, checked = problems(Path(sys.argv[1]))
    for error in errors:
        print(error)  # noqa: T201
    print(f"{checked:,} links and assets checked, {len(errors)} wrong")  # noqa: T201
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
