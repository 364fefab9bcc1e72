"""Model files changed on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from entrain.utils.tensor_file import header_with_digest


def rewritten(
    source: Path,
    target: Path,
    tensors: dict[str, Tensor | None] | None = None,
    header: dict[str, Any] | None = None,
    digest: bool = True,
) -> Path:
    """`source` with tensors (None: left out) and header entries (...: left out) replaced, and
    the `digest` that belongs to them."""
    with safe_open(source, framework="pt") as file:
        found = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        text = json.loads(file.metadata()["entrain"])
    found |= tensors or {}
    text |= header or {}
    kept = {name: tensor for name, tensor in found.items() if tensor is not None}
    text = {name: value for name, value in text.items() if value is not ... and name != "digest"}
    new = json.dumps(text)
    save_file(kept, target, {"entrain": header_with_digest(new, kept) if digest else new})
    return target
