"""Arrays of scipy.sparse, which takes long to load and is seldom used."""

from __future__ import annotations

import sys
from typing import Any


def is_scipy_sparse(value: Any) -> bool:
    """True for an array or matrix of scipy.sparse.

    Args:
        value: Anything. If scipy.sparse is not loaded, this is no array of it.
    """
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(value))
