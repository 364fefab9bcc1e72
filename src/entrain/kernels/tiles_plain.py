# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Rollout and adjoint of a tile of a plain network, without what other models need.

With d_k = h f(theta_k) the steps of order 1 and 2 are

    theta_{k+1} = theta_k + (1 + m) d_k - m d_{k-1},   m = 0 (Euler) or 1/2 (Adams-Bashforth),

with d_{-1} = d_0. The adjoint of d_k is q_k = (1 + m) lambda_{k+1} - m lambda_{k+2}, and

    lambda_k = lambda_{k+1} + (d d_k / d theta_k)^T q_k.

See `tiles` for the layout.
"""

from __future__ import annotations

import numpy as np

from entrain.kernels.compiled import inner
from entrain.kernels.tiles import HALF, ROW, address, blocks, clear, multiply_dense
from entrain.kernels.tiles_forward import (
    NORMALISE_EVERY,
    SMALL_ANGLE,
    normalise,
    rotation,
    small_rotation,
)
from entrain.kernels.tiles_pull import GRADIENT_STEPS, add_gradient, transpose_states
from entrain.kernels.tiles_split import split
from entrain.kernels.vectors import any_above, load, splat, store


@inner
def advance(source, target, products, fields, before, diagonal, memory, rows):
    """One step of P oscillators; `before` holds d_{k-1} and then d_k, see `tiles_forward`."""
    newest, last = splat(np.float32(1) + memory), splat(memory)
    for i in range(rows):
        sin, cos = load(source + ROW * i), load(source + ROW * i + HALF)
        j_sin, j_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        field = load(fields + HALF * i) + j_cos
        increment = cos * j_sin - sin * field
        store(diagonal + HALF * i, cos * field + sin * j_sin)
        angle = newest * increment - last * load(before + HALF * i)
        store(before + HALF * i, increment)
        if any_above(angle, SMALL_ANGLE):
            sine, versine = rotation(angle)
        else:
            sine, versine = small_rotation(angle)
        store(target + ROW * i, sin + (cos * sine - sin * versine))
        store(target + ROW * i + HALF, cos - (sin * sine + cos * versine))


@inner
def start(state, rows):
    """States of P oscillators at pi/2."""
    for i in range(rows):
        store(state + ROW * i, splat(np.float32(1)))
        store(state + ROW * i + HALF, splat(np.float32(0)))


@inner
def roll_out(panels, fields, tape, diagonals, workspace, memory, n):
    """Write the states of K steps from pi/2 under fields h b (P, 8).

    tape (K + 1, 16 P), diagonals (K, 8 P). Scratch: 24 P values.
    """
    steps, rows = len(diagonals), tape.shape[1] // 16
    products = address(workspace)
    before = products + ROW * rows
    start(address(tape), rows)
    for step in range(steps):
        source, target = address(tape[step]), address(tape[step + 1])
        multiply_dense(panels, source, products, n)
        m = memory
        if step == 0:
            m = np.float32(0)
        advance(source, target, products, fields, before, address(diagonals[step]), m, rows)
        if (step + 1) % NORMALISE_EVERY == 0:
            normalise(target, rows)


@inner
def combine(adjoint, later, target, newest, last, rows):
    """target = newest times lambda_{k+1} + last times lambda_{k+2}."""
    a, b = splat(newest), splat(last)
    for i in range(rows):
        store(target + HALF * i, a * load(adjoint + HALF * i) + b * load(later + HALF * i))


@inner
def retreat(adjoint, later, combined, state, products, diagonal, rows):
    """lambda_k from lambda_{k+1}, which moves to `later`, and q_k in `combined`."""
    for i in range(rows):
        value = load(adjoint + HALF * i)
        sin_part = load(state + ROW * i) * load(products + ROW * i)
        cos_part = load(state + ROW * i + HALF) * load(products + ROW * i + HALF)
        change = sin_part + cos_part - load(combined + HALF * i) * load(diagonal + HALF * i)
        store(later + HALF * i, value)
        store(adjoint + HALF * i, value + change)


def plain_workspace_size(rows: int) -> int:
    """Values of scratch of `roll_back`."""
    return 8 * rows * (4 + 2 * GRADIENT_STEPS) + GRADIENT_STEPS * 256 * ((rows + 15) // 16)


@inner
def roll_back(panels, adjoint, tape, diagonals, by_fields, by_couplings, workspace, memory, n):
    """The adjoint of `roll_out` with symmetric J, from lambda_K in `adjoint` (P, 8).

    Writes sum_k q_k sin_k, which is the gradient by fields over -h, to by_fields (P, 8), and adds
    the same for J to by_couplings (ceil(P / 16), P, 16). Scratch: `plain_workspace_size` values.
    """
    steps, rows = len(diagonals), tape.shape[1] // 16
    sixes, fours = blocks(n)
    one = np.float32(1)
    products = address(workspace)
    later = products + ROW * rows
    combined = later + HALF * rows
    left = combined + HALF * rows
    right = left + GRADIENT_STEPS * ROW * rows
    clear(by_fields, rows)
    clear(later, rows)
    buffered = 0
    for step in range(steps - 1, -1, -1):
        state, diagonal = address(tape[step]), address(diagonals[step])
        product = left + ROW * rows * buffered
        transpose_states(state, right + 16 * ROW * buffered, rows)
        combine(adjoint, later, combined, one + memory if step else one, -memory, rows)
        split(combined, state, product, by_fields, rows)
        multiply_dense(panels, product, products, n)
        retreat(adjoint, later, combined, state, products, diagonal, rows)
        buffered += 1
        if buffered == GRADIENT_STEPS or step == 0:
            add_gradient(left, right, buffered, address(by_couplings), rows, sixes, fours)
            buffered = 0
