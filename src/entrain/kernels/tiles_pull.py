# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Products with M^T and gradients by M in the adjoint of a tile, for dense and sparse matrices.

See `tiles` for the layout. Dense matrices sum their gradient over `GRADIENT_STEPS` buffered steps,
sparse ones in every step, where they multiply.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from entrain.kernels.blocks import IS_WIDE, add_outer, load_block, store_block, subtract_outer
from entrain.kernels.compiled import INNER_OPTIONS, inner
from entrain.kernels.tiles import HALF, ROW, address, blocks, is_sparse, multiply_dense
from entrain.kernels.vectors import (
    load,
    splat,
    store,
    sum_lanes,
    transpose,
)

GRADIENT_STEPS = 16  # steps whose summands of the gradient of J are added together


@inner
def transpose_states(state, target, rows):
    """The states (P, 16) of one step as panels of sixteen oscillators: (8 cos | 8 sin, 16)."""
    for group in range((rows + 7) // 8):
        # The last group may read into the next slot of the tape; those columns are dropped.
        source = state + 8 * ROW * group
        place = target + (group // 2) * GRADIENT_STEPS * 16 * ROW + (group % 2) * HALF
        transpose(source + HALF, ROW, place, ROW)
        transpose(source, ROW, place + 8 * ROW, ROW)


@inner
def add_gradient(left, right, steps, gradient, rows, sixes, fours):
    """gradient += sum over steps and lanes of (lambda sin)_i cos_j - (lambda cos)_i sin_j.

    left (steps, P, 16) from `split`, right from `transpose_states`; gradient in panels (P, 16).
    """
    for panel in range((rows + 15) // 16):
        column = right + panel * GRADIENT_STEPS * 16 * ROW
        row = left
        if IS_WIDE:
            for _ in range(sixes // 2):
                upper, lower = load_block(gradient, 6), load_block(gradient + 6 * ROW, 6)
                for step in range(steps):
                    for i in range(8):
                        number = row + step * rows * ROW + 4 * i
                        vector = column + (16 * step + i) * ROW
                        upper = add_outer(upper, number, ROW, vector)
                        lower = add_outer(lower, number + 6 * ROW, ROW, vector)
                        number, vector = number + HALF, vector + 8 * ROW
                        upper = subtract_outer(upper, number, ROW, vector)
                        lower = subtract_outer(lower, number + 6 * ROW, ROW, vector)
                store_block(gradient, upper)
                store_block(gradient + 6 * ROW, lower)
                gradient += 12 * ROW
                row += 12 * ROW
        for _ in range(sixes % 2 if IS_WIDE else sixes):
            block = load_block(gradient, 6)
            for step in range(steps):
                for i in range(8):
                    number = row + step * rows * ROW + 4 * i
                    vector = column + (16 * step + i) * ROW
                    block = add_outer(block, number, ROW, vector)
                    block = subtract_outer(block, number + HALF, ROW, vector + 8 * ROW)
            store_block(gradient, block)
            gradient += 6 * ROW
            row += 6 * ROW
        for _ in range(fours):
            small = load_block(gradient, 4)
            for step in range(steps):
                for i in range(8):
                    number = row + step * rows * ROW + 4 * i
                    vector = column + (16 * step + i) * ROW
                    small = add_outer(small, number, ROW, vector)
                    small = subtract_outer(small, number + HALF, ROW, vector + 8 * ROW)
            store_block(gradient, small)
            gradient += 4 * ROW
            row += 4 * ROW


def pull(couplings, index, run, left, state, c, d, target, gradient, n):
    """target = h M^T left, for one of Q matrices.

    A sparse matrix gets its gradient here: (c, d) rotates [lambda S | lambda C] in `left`, and the
    value of edge (i, j) gains lambda'S_i C_j - lambda'C_i S_j, summed over lanes. The edges are
    those of M^T, and so is the order of the gradient (M,).
    """
    raise NotImplementedError


@overload(pull, jit_options=INNER_OPTIONS)
def _pull(couplings, index, run, left, state, c, d, target, gradient, n):
    if not is_sparse(couplings):

        def by_panels(couplings, index, run, left, state, c, d, target, gradient, n):
            multiply_dense(address(couplings.panels[index, run]), left, target, n)

        return by_panels

    def by_edges(couplings, index, run, left, state, c, d, target, gradient, n):
        values, by_values = couplings.values[index, run], gradient[index]
        odd, even = splat(c), splat(d)
        for j in range(n):
            sin, cos = load(state + ROW * j), load(state + ROW * j + HALF)
            by_along, by_across = odd * cos + even * sin, even * cos - odd * sin
            total_sin = total_cos = splat(np.float32(0))
            for edge in range(couplings.starts[j], couplings.starts[j + 1]):
                source = left + ROW * np.int64(couplings.columns[edge])
                along, across = load(source), load(source + HALF)
                value = splat(values[edge])
                total_sin = total_sin + value * along
                total_cos = total_cos + value * across
                by_values[edge] += sum_lanes(along * by_along + across * by_across)
            store(target + ROW * j, total_sin)
            store(target + ROW * j + HALF, total_cos)

    return by_edges


def buffer_steps(couplings):
    """Steps that `left` and `right` hold until `add_gradients`."""
    raise NotImplementedError


@overload(buffer_steps)
def _buffer_steps(couplings):
    steps = 1 if is_sparse(couplings) else GRADIENT_STEPS
    return lambda couplings: steps


def add_gradients(couplings, index, left, right, steps, gradient, rows, n):
    """Add the gradient of one of Q dense matrices by the buffered steps."""
    raise NotImplementedError


@overload(add_gradients, jit_options=INNER_OPTIONS)
def _add_gradients(couplings, index, left, right, steps, gradient, rows, n):
    if is_sparse(couplings):
        return lambda couplings, index, left, right, steps, gradient, rows, n: None

    def dense(couplings, index, left, right, steps, gradient, rows, n):
        sixes, fours = blocks(n)
        add_gradient(left, right, steps, address(gradient[index]), rows, sixes, fours)

    return dense


def buffer_states(couplings, state, target, rows):
    """Store the states of a step for `add_gradients`."""
    raise NotImplementedError


@overload(buffer_states, jit_options=INNER_OPTIONS)
def _buffer_states(couplings, state, target, rows):
    if is_sparse(couplings):
        return lambda couplings, state, target, rows: None
    return lambda couplings, state, target, rows: transpose_states(state, target, rows)
