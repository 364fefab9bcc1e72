"""Mutants that are well-formed and lie about what they hold: digests, checksums and archives fit,
so that what is checked behind them is reached."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

from entrain.utils.files import with_digest
from entrain.utils.tensor_file import header_with_digest
from fuzzing.mutations import HUGE, mutated, number

NESTED: Any = []
for _ in range(50):
    NESTED = [NESTED]

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 2**31, 2**63, 10**9, 10**400, -(10**400), 0.0, -0.5, 1e-320,
    1e-300, 1e300, float("nan"), float("inf"), "", "nan", "5", "x" * 10_000, "\x1b[31m\x07",
    "\u202e", "../../etc", [], [[]], [0], [1, 2, 3], [None], ["a", "b", "c"], [1e300] * 3,
    {}, {"a": 1}, {"": {}}, NESTED,
)  # fmt: skip


def header_changed(values: Any, dice: random.Random) -> Any:
    """JSON values with one to three places replaced, removed, doubled or made strange."""
    values = json.loads(json.dumps(values))
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        _change(values, dice)
    return values


def _change(values: Any, dice: random.Random) -> None:
    if not (holders := _holders(values)):
        return
    holder = dice.choice(holders)
    key = dice.choice(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
    match dice.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[dice.choice(("", "extra", "digest", "x" * 1000, "\x1b", str(key) + "s"))] = 1
        case 1:
            holder.extend(holder * dice.choice((1, 100)))
        case 2:
            holder[key] = copy.deepcopy(dice.choice(holders))
        case 3 if isinstance(holder[key], int | float):
            holder[key] *= dice.choice((-1, 0, 2, 10**6, 10**30))
        case 4 if isinstance(holder[key], float):
            holder[key] *= dice.choice((0.5, 1e6, 1e-200))
        case _:
            holder[key] = copy.deepcopy(dice.choice(STRANGE))


def _holders(values: Any) -> list[Any]:
    """Every object and list that is not empty, the outermost first."""
    if not isinstance(values, dict | list) or not values:
        return []
    inner = values.values() if isinstance(values, dict) else values
    return [values, *(found for each in inner for found in _holders(each))]


def json_file(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """A result with a right digest, or now and then without one."""
    values = header_changed(json.loads(content), dice)
    if isinstance(values, dict):
        values.pop("digest", None)
        if dice.random() < 0.8:
            values = with_digest(values)
    return json.dumps(values).encode()


def unsealed_json(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    return json.dumps(header_changed(json.loads(content), dice)).encode()


def tensor_file(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """A model or a checkpoint with a right digest: header, tensors or both are changed."""
    length = int.from_bytes(content[:8], "little")
    text = json.loads(content[8 : 8 + length])["__metadata__"]["entrain"]
    header, tensors = json.loads(text), load(content)
    header.pop("digest")
    what = dice.randrange(4)
    if what < 3:
        header = header_changed(header, dice)
    new = json.dumps(header)
    if dice.random() < 0.15:
        raw = bytearray(new.encode())
        number(raw, others, dice)
        new = raw.decode()
    if what >= 2:
        tensors = _tensors_changed(tensors, dice)
    seal = new.endswith("}") and dice.random() < 0.95
    return save(tensors, metadata={"entrain": header_with_digest(new, tensors) if seal else new})


def _tensors_changed(tensors: dict[str, Tensor], dice: random.Random) -> dict[str, Tensor]:
    name = dice.choice(sorted(tensors))
    tensor = tensors.pop(name)
    changes: list[Callable[[], Tensor]] = [
        lambda: tensor * float("nan"),
        lambda: tensor * 1e38,
        lambda: tensor * 1e-45,
        lambda: tensor.to(dice.choice((torch.int64, torch.uint8, torch.float16, torch.bfloat16))),
        lambda: tensor.double() * dice.choice((1.0, 1e300, 1e-310)),
        lambda: tensor.bool(),
        lambda: tensor.to(torch.float8_e4m3fn),
        lambda: tensor.to(torch.complex64),
        lambda: tensor[:0] if tensor.ndim else torch.zeros(0),
        lambda: tensor[:1] if tensor.ndim else tensor[None],
        lambda: tensor[None],
        lambda: tensor.flatten(),
        lambda: torch.zeros(0, 2**40),
        lambda: torch.cat([tensor, tensor]) if tensor.ndim else tensor[None].repeat(3),
        lambda: tensor.T.contiguous() if tensor.ndim == 2 else tensor.reshape(*tensor.shape, 1),
        lambda: torch.zeros(()),
        lambda: torch.zeros(300, 300),
    ]  # fmt: skip
    if dice.random() < 0.85:
        tensors[name] = dice.choice(changes)().contiguous()
    elif dice.random() < 0.5:
        tensors[dice.choice(("extra", "", "graph", "lag", "current.", "history.x", "\x1b"))] = (
            tensor
        )
    return tensors


def idx_file(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """A whole gzip file of a damaged idx file, or of very many zeros."""
    if dice.random() < 0.1:
        return gzip.compress(bytes(dice.choice((10, 70)) * 2**20), 1, mtime=0)
    plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    return gzip.compress(mutated(plain, [plain], dice), 1, mtime=0)


KINDS = ("<f8", ">f2", "|O", "<U0", "<U1000000", "|S0", "<c16", "<M8[s]", "|V8", "|b1")


def npz_file(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """An archive with right checksums and a damaged array, or one that claims what it has not."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(file, "w") as target:
        chosen = dice.choice(source.namelist())
        for name in source.namelist():
            array = source.read(name)
            if name == chosen:
                array = _array_changed(array, dice)
            packed = dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
            target.writestr(zipfile.ZipInfo(name), array, packed)  # without the time of day
        if dice.random() < 0.1:
            extra = dice.choice(("X_test.npy", "x_more.npy", "X2.npy", "..", "\x1b"))
            target.writestr(zipfile.ZipInfo(extra), b"x")
    return file.getvalue()


def _array_changed(array: bytes, dice: random.Random) -> bytes:
    match dice.randrange(4):
        case 0:
            return mutated(array, [array], dice)
        case 1:  # a shape and a type it has not
            found = np.lib.format.read_array(io.BytesIO(array))
            sides = (0, 1, 3, 39, 40, 2**20, 2**40, 2**63 - 1, -1)
            shape = tuple(dice.choice(sides) for _ in range(dice.randrange(5)))
            header = {"descr": dice.choice(KINDS), "fortran_order": False, "shape": shape}
            text = f"{header!r}".ljust(117) + "\n"
            front = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text))
            return front + text.encode() + bytes(found)
        case 2:  # many zeros in little space
            file = io.BytesIO()
            np.save(file, np.zeros((dice.choice((10, 2_000_000)), 3)))
            return file.getvalue()
        case _:  # numbers that are hard to compute with
            found = np.lib.format.read_array(io.BytesIO(array))
            file = io.BytesIO()
            if found.dtype.kind == "f":
                kind = dice.choice((np.float64, np.float16, np.longdouble, np.complex128))
                with np.errstate(all="ignore"):
                    found = found * dice.choice((np.nan, np.inf, 1e308, 1e-308, 0.0))
                    found = found.astype(kind)
            np.save(file, found)
            return file.getvalue()


CELLS = ("", "nan", "inf", "1e308", "-1e308", "1e-320", "1_0", "9" * 400, "1,5", '"', "\x00", " ",
         "٣", "\ud7ff", "0x1p3", "\x1b[2J", "True")  # fmt: skip


def table_file(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """A table with strange cells, columns, rows or encodings."""
    text = content.decode("utf-16") if content[:2] == b"\xff\xfe" else content.decode("latin-1")
    delimiter = "\t" if "\t" in text else ","
    rows = [line.split(delimiter) for line in text.splitlines()]
    for _ in range(dice.choice((1, 1, 3, 40))):
        row = dice.choice(rows)
        match dice.randrange(5):
            case 0:
                row[dice.randrange(len(row))] = dice.choice((*CELLS, "x" * 140_000))
            case 1:
                column = dice.randrange(len(rows[0]))
                cell = dice.choice(CELLS)
                for each in rows[1:]:
                    each[min(column, len(each) - 1)] = cell
            case 2:
                row.extend(row * dice.choice((1, 1000)) if len("".join(row)) < 100 else [])
            case 3:
                rows.extend(list(each) for each in rows[1 : dice.choice((2, 30))])
            case 4 if len(row) > 1:
                row.pop()
    delimiter = dice.choice((delimiter, delimiter, ";", "\t", ",", "|"))
    text = dice.choice(("\n", "\r\n", "\r")).join(delimiter.join(row) for row in rows)
    encoding = dice.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"))
    return text.encode(encoding, "replace")[:HUGE]


def _large_png(dice: random.Random) -> bytes:
    """A whole picture of up to 60 million pixels in little space: black but for a corner."""
    width, height = dice.choice(((6000, 7000), (7000, 7000), (8000, 8000), (30_000, 1600)))
    depth, kind, channels = dice.choice(((8, 0, 1), (8, 6, 4), (16, 0, 2)))
    row = bytes(width * channels + 1)
    packer = zlib.compressobj(1)
    parts = [packer.compress(b"\x00" + b"\xff" * (width * channels))]
    parts += [packer.compress(row * 50) for _ in range((height - 1) // 50)]
    parts += [packer.compress(row * ((height - 1) % 50)), packer.flush()]
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return _png([(b"IHDR", head), (b"IDAT", b"".join(parts)), (b"IEND", b"")])


def _png(chunks: Iterable[Sequence[bytes]]) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def picture_file(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """A PNG whose checksums fit a size or a chunk it has not; other formats: their bytes."""
    if dice.random() < 0.03:
        return _large_png(dice)
    if not content.startswith(b"\x89PNG"):
        return mutated(content, others, dice)
    chunks = []
    place = 8
    while place < len(content):
        (size,) = struct.unpack_from(">I", content, place)
        chunks.append([content[place + 4 : place + 8], content[place + 8 : place + 8 + size]])
        place += 12 + size
    if dice.random() < 0.5:
        sides = (0, 1, 3, 6000, 7000, 20_000, 2**31 - 1, 2**32 - 1)
        head = bytearray(chunks[0][1])
        struct.pack_into(">II", head, 0, dice.choice(sides), dice.choice(sides))
        if dice.random() < 0.3:
            head[dice.randrange(8, 13)] = dice.randrange(256)
        chunks[0][1] = bytes(head)
        if dice.random() < 0.3:
            chunks[-2] = [b"IDAT", zlib.compress(bytes(30_000_000), 1)]
    else:
        chunk = dice.choice(chunks)
        chunk[1] = mutated(chunk[1], [chunk[1]], dice)
        if dice.random() < 0.2:
            text = b"Comment\x00\x00" + zlib.compress(bytes(dice.choice((100, 50_000_000))), 1)
            chunks.insert(1, [b"zTXt", text])
    return _png(chunks)
