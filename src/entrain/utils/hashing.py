"""SHA-256 of texts, bytes and tensors."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def sha256(*parts: str | bytes | memoryview) -> str:
    """SHA-256 of texts (in UTF-8) and bytes, one after the other, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def sha256_of_json(value: object) -> str:
    """SHA-256 of the JSON text with sorted keys."""
    return sha256(json.dumps(value, sort_keys=True))


def tensor_bytes(tensor: Tensor) -> memoryview:
    """The content of a tensor, row by row."""
    import torch

    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
