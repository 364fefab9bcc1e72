"""The folder of the user's cache: downloads and compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """The folder of the cache, or None if no home folder is known."""
    if cache := os.environ.get("ENTRAIN_CACHE"):
        return Path(os.path.expanduser(cache))
    if os.path.isabs(shared := os.environ.get("XDG_CACHE_HOME", "")):
        return Path(shared, "entrain")
    default = os.path.expanduser("~/.cache/entrain")
    return Path(default) if os.path.isabs(default) else None
