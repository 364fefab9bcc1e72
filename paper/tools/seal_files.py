"""Write committed model files and results again with the digest of their content.

    python paper/tools/seal_files.py

Model files, the gallery of the web page, and the results of `entrain reproduce` and of single
trainings. Tensors, headers and numbers do not change; a file with a valid digest keeps its bytes.
Run it after files were merged or edited on purpose.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import safe_open

from entrain.utils.files import strict_json, with_digest, write_atomically
from entrain.utils.tensor_file import pack_tensors, unpack_tensors
from entrain_paper.experiments import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]


def tensor_files() -> list[Path]:
    models = sorted((ROOT / "src" / "entrain" / "models").glob("*.safetensors"))
    return [*models, ROOT / "playground" / "public" / "gallery.safetensors"]


def result_files() -> list[Path]:
    results = ROOT / "results"
    single = sorted((results / "protocol").glob("*.json"))
    measured = (path for name in EXPERIMENTS if (path := results / f"{name}.json").exists())
    return [*measured, *single]


def seal_tensors(path: Path) -> bytes:
    """Content of the file in the current format; its old digest is not checked."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()["entrain"])
    values = {name: header[name] for name in header if name not in ("kind", "version", "digest")}
    content = pack_tensors(header["kind"], tensors, values)
    again, new = unpack_tensors(content, header["kind"], str(path))
    assert {name: new[name] for name in new if name not in ("kind", "version")} == values, path
    assert again.keys() == tensors.keys(), path
    for name, tensor in tensors.items():
        assert again[name].dtype == tensor.dtype, f"{path}: {name}"
        assert again[name].shape == tensor.shape, f"{path}: {name}"
        bits = (t.reshape(-1).view(torch.uint8) for t in (again[name], tensor))
        assert torch.equal(*bits), f"{path}: {name}"
    return content


def seal_result(path: Path) -> bytes:
    """Content of the file with its digest; all other lines are unchanged."""
    text = path.read_text()
    values = json.loads(text)
    new = with_digest(values)
    assert new == values | {"digest": new["digest"]}, path
    indent = len(text.splitlines()[1]) - len(text.splitlines()[1].lstrip())
    return (strict_json(new, indent) + text[len(text.rstrip()) :]).encode()


def main() -> None:
    for paths, seal in ((tensor_files(), seal_tensors), (result_files(), seal_result)):
        for path in paths:
            content = seal(path)
            if content != path.read_bytes():
                write_atomically(path, content)
                print(path.relative_to(ROOT))  # noqa: T201


if __name__ == "__main__":
    main()
