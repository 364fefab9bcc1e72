"""Arrays as JSON values of a few digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor


def rounded(array: Tensor | np.ndarray, digits: int = 4) -> Any:
    """Nested lists of numbers rounded to `digits` decimals."""
    plain = array.detach().cpu().numpy() if isinstance(array, Tensor) else array
    return np.round(plain.astype(np.float64), digits).tolist()
