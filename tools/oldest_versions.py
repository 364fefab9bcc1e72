"""Print pip constraints for the lowest versions that pyproject.toml admits, but for those named.

    python3 tools/oldest_versions.py >constraints.txt
    python3 tools/oldest_versions.py torch==2.13.0 >constraints.txt

`make test-oldest` installs and tests these, but for those of the page and the documentation.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
LOWEST = re.compile(r"(?P<name>[A-Za-z0-9-]+)(\[[a-z,]+\])?>=(?P<version>[0-9.]+)")
EXACT = re.compile(r"(?P<name>[A-Za-z0-9-]+)==(?P<version>[0-9.]+)")


def lowest_versions() -> dict[str, str]:
    """The lowest version of every dependency, those of the extras included, by name."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    versions: dict[str, str] = {}
    for requirements in [project["dependencies"], *project["optional-dependencies"].values()]:
        for requirement in requirements:
            match = LOWEST.fullmatch(requirement)
            if match is None:
                sys.exit(f"{PROJECT}: {requirement!r} has no lowest version")
            name, version = match["name"], match["version"]
            other = versions.setdefault(name, version)
            if other != version:
                sys.exit(f"{PROJECT}: {name} has the lowest versions {other} and {version}")
    return versions


def main() -> None:
    versions = lowest_versions()
    for argument in sys.argv[1:]:
        match = EXACT.fullmatch(argument)
        if match is None or match["name"] not in versions:
            sys.exit(f"{argument!r} is not NAME==VERSION of a dependency: {', '.join(versions)}")
        versions[match["name"]] = match["version"]
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in versions.items())


if __name__ == "__main__":
    main()
