"""Print pip constraints for the lowest versions that pyproject.toml admits.

    python3 tools/oldest_versions.py > constraints.txt

`make test-oldest` installs and tests these.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
LOWEST = re.compile(r"(?P<name>[A-Za-z0-9-]+)(\[[a-z,]+\])?>=(?P<version>[0-9.]+)")


def main() -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    extras = project["optional-dependencies"]
    pins: dict[str, str] = {}
    for requirement in [*project["dependencies"], *extras["dev"]]:
        match = LOWEST.fullmatch(requirement)
        if match is None:
            sys.exit(f"{PROJECT}: {requirement!r} has no lowest version")
        pins[match["name"]] = match["version"]
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in pins.items())


if __name__ == "__main__":
    main()
