"""What a command has left in its folder: what it wrote last, and all of it without the times."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from pathlib import Path
from typing import Any

# Where a kill hit


def last_write(out: Path, began: float) -> str:
    """What a process that is gone wrote last, after the time `began`."""
    files = {path: path.stat().st_mtime for path in out.rglob("*") if _is_output(path)}
    files = {path: when for path, when in files.items() if when >= began}
    if not files:
        return "before its first write"
    path = max(files, key=files.__getitem__)
    if path.name.startswith("."):
        return f"writing {_plain_name(path.name[1:].rpartition('.')[0].rpartition('.')[0])}"
    epoch = _metadata(path).get("epoch") if path.parent.name in ("state", "stages") else None
    return f"after {_plain_name(path.name)}" + ("" if epoch is None else f", epoch {epoch}")


def _plain_name(name: str) -> str:
    """A file's name without the key of a stage."""
    return re.sub(r"-[0-9a-f]{16}\b", "", name)


def kind_of(place: str) -> str:
    """A place without its file and epoch, for a count."""
    if "epoch" in place or place in ("after run.json", "after found.journal"):
        return "after a checkpoint"
    kind = place.split()[0]
    return {"after": "after a result", "writing": "in the middle of a write"}.get(kind, place)


# What a run ends with


def contents(out: Path) -> dict[str, str]:
    """A digest of every file, without the times in it."""
    return {
        str(path.relative_to(out)): hashlib.sha256(_timeless(path)).hexdigest()
        for path in sorted(out.rglob("*"))
        if _is_output(path)
    }


def differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """What is missing, changed or too much, sorted."""
    return [
        f"{name} is {'missing' if name not in found else 'too much'}"
        if (name in found) != (name in expected)
        else f"{name} differs"
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]


def _is_output(path: Path) -> bool:
    return path.is_file() and path.suffix != ".lock"


def _timeless(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".json":
        return json.dumps(without_times(json.loads(content)), sort_keys=True).encode()
    if path.suffix == ".safetensors":
        header, tensors = _safetensors(content)
        metadata = {name: _parsed(text) for name, text in header.pop("__metadata__").items()}
        parts = without_times(metadata), header
        return json.dumps(parts, sort_keys=True).encode() + tensors
    if path.suffix == ".md":
        return re.sub(rb"[0-9.]+ minutes on", b"", content)
    return content


def without_times(value: dict[str, Any]) -> dict[str, Any]:
    """JSON values without seconds and dates, and then without digests, which are of them too."""
    timeless = _without(value, lambda name, each: _is_time(name, each))
    if timeless != value:
        timeless = _without(timeless, lambda name, _: name == "digest")
    return timeless


def _is_time(name: str, value: Any) -> bool:
    return name == "seconds" or (name == "finished" and isinstance(value, str))


def _without(value: Any, unwanted: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, unwanted) for k, v in value.items() if not unwanted(k, v)}
    return [_without(each, unwanted) for each in value] if isinstance(value, list) else value


def _metadata(path: Path) -> dict[str, Any]:
    header, _ = _safetensors(path.read_bytes())
    found: dict[str, Any] = json.loads(header["__metadata__"]["entrain"])
    return found


def _safetensors(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a safetensors file, and the bytes of its tensors."""
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def _parsed(text: str) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(text)
    return text
