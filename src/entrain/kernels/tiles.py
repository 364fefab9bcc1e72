# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Tiles of eight samples and products with J, for the compiled rollout and its adjoint.

Lanes are samples: the state of an oscillator is a row [sin x 8 | cos x 8] of sixteen numbers, so
that one pass over a row of J serves both products and each J_ij, once broadcast, is used twice.
A tile runs through all K steps while J and its state stay in the nearest caches.

P is N rounded up to even, at least 4: P = 6 a + 4 b rows of J are taken six or four at a time.
`panels` holds J for that: for each such block of w rows, (N, w) numbers h J^T[:, block], h = mu dt.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from entrain.kernels.blocks import IS_WIDE, add_outer, store_block, zero_block
from entrain.kernels.compiled import INNER_OPTIONS, inner
from entrain.kernels.vectors import (
    LANES,
    lane,
    load,
    splat,
    store,
    transpose,
    with_lane,
)

ROW = 64  # bytes of one oscillator's [sin x 8 | cos x 8]
HALF = 32


class Dense(NamedTuple):
    """Q matrices of couplings, times h."""

    panels: Any  # (Q, R, N P)


class Sparse(NamedTuple):
    """Q matrices of couplings on one graph, times h; its edges (i, j) are sorted by i."""

    values: Any  # (Q, R, M)
    starts: Any  # of the edges of each row, and M: (N + 1,) int64
    columns: Any  # j of each edge (M,) int32


@inner
def address(array):
    """Address of an array; signed, since Numba adds int64 to uint64 in float64."""
    return np.int64(array.ctypes.data)


@inner
def blocks(n):
    """The numbers of six-row and of four-row blocks in P >= n rows."""
    rows = max(4, n + n % 2)
    fours = rows % 6 // 2 * 2 % 3
    return (rows - 4 * fours) // 6, fours


@inner
def multiply_dense(panels, rows, target, n):
    """target_i = h sum_j J_ij rows_j, for P rows of sixteen values."""
    sixes, fours = blocks(n)
    if IS_WIDE:  # six rows alone would wait for the latency of the sums
        for _ in range(sixes // 2):
            left = right = zero_block(6)
            for j in range(n):
                left = add_outer(left, panels + 24 * j, 4, rows + ROW * j)
                right = add_outer(right, panels + 24 * (n + j), 4, rows + ROW * j)
            store_block(target, left)
            store_block(target + 6 * ROW, right)
            panels += 48 * n
            target += 12 * ROW
        sixes %= 2
    for _ in range(sixes):
        block = zero_block(6)
        for j in range(n):
            block = add_outer(block, panels + 24 * j, 4, rows + ROW * j)
        store_block(target, block)
        panels += 24 * n
        target += 6 * ROW
    if IS_WIDE and fours == 2:
        upper = lower = zero_block(4)
        for j in range(n):
            upper = add_outer(upper, panels + 16 * j, 4, rows + ROW * j)
            lower = add_outer(lower, panels + 16 * (n + j), 4, rows + ROW * j)
        store_block(target, upper)
        store_block(target + 4 * ROW, lower)
        return
    for _ in range(fours):
        small = zero_block(4)
        for j in range(n):
            small = add_outer(small, panels + 16 * j, 4, rows + ROW * j)
        store_block(target, small)
        panels += 16 * n
        target += 4 * ROW


@inner
def multiply_sparse(values, starts, columns, rows, target):
    """target_i = h sum over the edges (i, j) of J_ij rows_j, for N rows of sixteen values."""
    for i in range(len(starts) - 1):
        left = right = splat(np.float32(0))
        for edge in range(starts[i], starts[i + 1]):
            source = rows + ROW * np.int64(columns[edge])
            value = splat(values[edge])
            left = left + value * load(source)
            right = right + value * load(source + HALF)
        store(target + ROW * i, left)
        store(target + ROW * i + HALF, right)


def multiply(couplings, matrix, run, rows, target, n):
    """target_i = h sum_j J_ij rows_j by one of Q matrices, dense or sparse."""
    raise NotImplementedError


@overload(multiply, jit_options=INNER_OPTIONS)
def _multiply(couplings, matrix, run, rows, target, n):
    if is_sparse(couplings):

        def by_edges(couplings, matrix, run, rows, target, n):
            values = couplings.values[matrix, run]
            multiply_sparse(values, couplings.starts, couplings.columns, rows, target)

        return by_edges

    def by_panels(couplings, matrix, run, rows, target, n):
        multiply_dense(address(couplings.panels[matrix, run]), rows, target, n)

    return by_panels


def is_sparse(couplings: Any) -> bool:
    """True if a Numba type is that of `Sparse`."""
    return isinstance(couplings, types.NamedTuple) and couplings.instance_class is Sparse


@inner
def double_angle(state, target, rows):
    """[sin 2 theta | cos 2 theta] of P states."""
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        store(target + ROW * i, (sin + sin) * cos)
        store(target + ROW * i + HALF, cos * cos - sin * sin)


@inner
def gather(values, first, count, scale, target, rows):
    """Rows first .. first + 7 of values (B, N), scaled, as P vectors.

    Rows are taken modulo B: further ones are those of the next replicate, and one row (1, N) serves
    all samples. Lanes of rows >= `count` are 0, and all lanes of an empty array (0, 0).
    """
    batch, n = values.shape
    begin, factor = 0, splat(scale)
    if batch and first + LANES <= count and first % batch + LANES <= batch:
        begin = n - n % LANES
        source = address(values) + 4 * n * (first % batch)
        for i in range(0, begin, LANES):
            transpose(source + 4 * i, 4 * n, target + HALF * i, HALF)
        for i in range(begin):
            store(target + HALF * i, load(target + HALF * i) * factor)
    for i in range(begin, rows):
        value = splat(np.float32(0))
        if i < n:
            for s in range(min(LANES, count - first)):
                value = with_lane(value, s, values[(first + s) % batch, i] * scale)
        store(target + HALF * i, value)


@inner
def scatter(source, first, scale, values):
    """Write P vectors times `scale` as rows first .. first + 7 of values (B, N)."""
    batch, n = values.shape
    begin, factor, zero = 0, splat(scale), splat(np.float32(0))
    if first + LANES <= batch:
        begin = n - n % LANES
        target = address(values) + 4 * n * first
        for i in range(0, begin, LANES):
            transpose(source + HALF * i, HALF, target + 4 * i, 4 * n)
        for s in range(LANES):
            for i in range(0, begin, LANES):
                place = target + 4 * (n * s + i)
                store(place, load(place) * factor + zero)  # adding 0 makes every zero positive
    for i in range(begin, n):
        value = load(source + HALF * i)
        for s in range(min(LANES, batch - first)):
            values[first + s, i] = lane(value, s) * scale + np.float32(0)


@inner
def clear(vectors, rows):
    """P zero vectors."""
    for i in range(rows):
        store(vectors + HALF * i, splat(np.float32(0)))


@inner
def copy(source, target, vectors):
    """Copy vectors to another address."""
    for i in range(vectors):
        store(target + HALF * i, load(source + HALF * i))


@inner
def add(vectors, factor, total, rows):
    """total += factor times P vectors."""
    scale = splat(factor)
    for i in range(rows):
        store(total + HALF * i, load(total + HALF * i) + scale * load(vectors + HALF * i))


@inner
def sum_in_float64(vector):
    """The sum of the lanes, in float64."""
    total = 0.0
    for s in range(LANES):
        total += np.float64(lane(vector, s))
    return total


@inner
def sum_of(vectors, rows):
    """The sum of P vectors over lanes, in float64."""
    total = 0.0
    for i in range(rows):
        total += sum_in_float64(load(vectors + HALF * i))
    return total
