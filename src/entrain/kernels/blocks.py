# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, attr-defined"
"""Blocks of rows of sixteen float32 values, which stay in registers if there are enough.

A row is two vectors of eight lanes, or one of sixteen where that is faster: processors with AVX-512
multiply and add sixteen at once, but some of them slow down. The width is measured once, and stored
beside the machine code. It changes no bit: every value is the same sum in the same order.
"""

from __future__ import annotations

import contextlib
import math
import time
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types

from entrain.kernels.compiled import kernel_folder
from entrain.kernels.vectors import (
    FLOAT,
    FUSE,
    LANES,
    VectorType,
    intrinsic,
    load_at,
    pointer_to,
    splat_of,
)
from entrain.utils.errors import InputError
from entrain.utils.files import file_lock, write_atomically

ROW_LANES = 2 * LANES
_GAIN = 1.15  # by which wide vectors must be faster
_TURNS = 9  # of some tenths of a millisecond for each width
_FILE = "block-lanes"


class Operations:
    """Operations on blocks whose rows are vectors of a number of lanes."""

    def __init__(self, lanes: int) -> None:
        self.parts, self._bytes = ROW_LANES // lanes, 4 * lanes
        self.part, self.code = VectorType(lanes), ir.VectorType(FLOAT, lanes)
        self.zero_block, self.load_block = self._zero(), self._load()
        self.store_block = self._store()
        self.add_outer, self.subtract_outer = self._outer(+1), self._outer(-1)

    def _type(self, rows: Any) -> types.UniTuple:
        return types.UniTuple(self.part, self.parts * rows.literal_value)

    def _pack(self, builder: Any, parts: list[Any]) -> Any:
        block = ir.Constant(ir.ArrayType(self.code, len(parts)), ir.Undefined)
        for i, part in enumerate(parts):
            block = builder.insert_value(block, part, i)
        return block

    def _loaded(self, builder: Any, address: Any, count: int) -> list[Any]:
        offsets = range(0, self._bytes * count, self._bytes)
        return [load_at(builder, address, offset, self.code) for offset in offsets]

    def _zero(self) -> Any:
        @intrinsic(prefer_literal=True)
        def zero_block(typing_context, rows):
            """A block of zeros."""
            return self._type(rows)(rows), lambda context, builder, sig, args: ir.Constant(
                context.get_value_type(sig.return_type), None
            )

        return zero_block

    def _load(self) -> Any:
        @intrinsic(prefer_literal=True)
        def load_block(typing_context, address, rows):
            """Consecutive rows as a block."""

            def generate(context, builder, sig, args):
                parts = self._loaded(builder, args[0], sig.return_type.count)
                return self._pack(builder, parts)

            return self._type(rows)(types.int64, rows), generate

        return load_block

    def _store(self) -> Any:
        @intrinsic
        def store_block(typing_context, address, block):
            """Write a block as consecutive rows."""

            def generate(context, builder, sig, args):
                for i in range(args[1].type.count):
                    part = builder.extract_value(args[1], i)
                    place = pointer_to(builder, args[0], self._bytes * i, self.code)
                    builder.store(part, place, align=4)
                return context.get_dummy_value()

            return types.void(types.int64, block), generate

        return store_block

    def _outer(self, sign: int) -> Any:
        @intrinsic(prefer_literal=True)
        def outer(typing_context, block, column, stride, row):
            """block + or - (column of values, `stride` bytes apart) x (row)."""

            def generate(context, builder, sig, args):
                sums = [builder.extract_value(args[0], i) for i in range(args[0].type.count)]
                row_parts = self._loaded(builder, args[3], self.parts)
                for i in range(len(sums) // self.parts):
                    offset = ir.Constant(args[1].type, i * stride.literal_value)
                    pointer = builder.inttoptr(builder.add(args[1], offset), FLOAT.as_pointer())
                    value = builder.load(pointer, align=4, typ=FLOAT)
                    value = builder.fneg(value) if sign < 0 else value
                    factor = splat_of(builder, value, self.code)
                    for at, part in enumerate(row_parts, self.parts * i):
                        product = builder.fmul(factor, part, flags=FUSE)
                        sums[at] = builder.fadd(sums[at], product, flags=FUSE)
                return self._pack(builder, sums)

            return block(block, types.int64, stride, types.int64), generate

        return outer


def block_lanes() -> int:
    """Lanes of the faster vectors: measured in this process, or once for `kernel_folder`."""
    folder = kernel_folder()
    if not binding.get_host_cpu_features().get("avx512f"):
        return LANES
    if folder is None:
        return _faster()
    with contextlib.suppress(OSError, InputError), file_lock(folder / f"{_FILE}.lock", wait=True):
        with contextlib.suppress(OSError, ValueError):
            if (lanes := int((folder / _FILE).read_text())) in (LANES, ROW_LANES):
                return lanes
        lanes = _faster()
        write_atomically(folder / _FILE, str(lanes).encode())
        return lanes
    return _faster()


def _faster() -> int:
    """Lanes of the vectors whose products take less time, by more than `_GAIN`."""
    products = {lanes: _product(Operations(lanes)) for lanes in (LANES, ROW_LANES)}
    buffer = np.zeros(4096, dtype=np.float32)
    begin = buffer.ctypes.data + -buffer.ctypes.data % 64
    best = dict.fromkeys(products, math.inf)
    for _ in range(_TURNS):
        for lanes, product in products.items():
            start = time.perf_counter()
            product(begin, begin + 4096, begin + 8192, 64, 100 * ROW_LANES // lanes)
            best[lanes] = min(best[lanes], time.perf_counter() - start)
    return ROW_LANES if _GAIN * best[ROW_LANES] < best[LANES] else LANES


def _product(operations: Operations) -> Any:
    """A function that multiplies as `tiles` does: six rows at a time, or twelve wide ones."""
    zero_block, store_block = operations.zero_block, operations.store_block
    add_outer, is_wide = operations.add_outer, operations.parts == 1

    @njit(error_model="numpy")
    def product(values, rows, target, n, times):
        for _ in range(times):
            left = right = zero_block(6)
            for j in range(n):
                left = add_outer(left, values + 24 * (j % 8), 4, rows + 64 * (j % 8))
                if is_wide:
                    right = add_outer(right, values + 24 * (8 + j % 8), 4, rows + 64 * (j % 8))
            store_block(target, left)
            store_block(target + 384, right)

    product(0, 0, 0, 0, 0)
    return product


BLOCK_LANES = block_lanes()
IS_WIDE = BLOCK_LANES == ROW_LANES
_operations = Operations(BLOCK_LANES)
zero_block, load_block = _operations.zero_block, _operations.load_block
store_block = _operations.store_block
add_outer, subtract_outer = _operations.add_outer, _operations.subtract_outer
