# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""The adjoint of one tile of eight samples, compiled by Numba; see `tiles` for its layout.

lambda_k = d loss / d theta_k is propagated back along the tape of the rollout. Noise does not
enter: it is added, and wrapping a phase does not change derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from entrain.kernels.compiled import compiled, inner
from entrain.kernels.tiles import (
    HALF,
    ROW,
    add,
    address,
    clear,
    double_angle,
    gather,
    scatter,
    sum_in_float64,
    sum_of,
)
from entrain.kernels.tiles_pull import add_gradients, buffer_states, buffer_steps, pull
from entrain.kernels.tiles_split import split, split_fields
from entrain.kernels.tiles_terms import (
    factor_at,
    gather_terms,
    pull_back_local,
)
from entrain.kernels.vectors import (
    LANES,
    load,
    prefetch,
    splat,
    store,
)


class Gradients(NamedTuple):
    """Gradients of all tensors but J's, float32; those of absent terms are empty.

    Those by factors are summands of each tile, float64.
    """

    fields: Any  # (R, B, N)
    start: Any  # (R, B, N)
    values: Any  # of local terms (T, R, B, N)
    drive: Any  # (S, R, B, N)
    components: Any  # by c and d of every component of the coupling function (R, tiles, C, 2)
    scheduled_fields: Any  # (R, tiles, K)
    scheduled_couplings: Any  # (R, tiles, K)
    scheduled_values: Any  # (R, tiles, T, K)


@inner
def retreat(adjoint, state, products, diagonal, rows):
    """lambda_k = lambda - lambda diagonal + sin h J^T (lambda sin_a) + cos h J^T (lambda cos_a)."""
    for i in range(rows):
        prefetch(diagonal + HALF * (i - rows))
        value = load(adjoint + HALF * i)
        sin_part = load(state + ROW * i) * load(products + ROW * i)
        cos_part = load(state + ROW * i + HALF) * load(products + ROW * i + HALF)
        change = sin_part + cos_part - value * load(diagonal + HALF * i)
        store(adjoint + HALF * i, value + change)


@inner
def rotate_back(left, c, d, rows):
    """[lambda S | lambda C] <- [lambda (c S + d C) | lambda (c C - d S)]."""
    odd, even = splat(c), splat(d)
    for i in range(rows):
        along, across = load(left + ROW * i), load(left + ROW * i + HALF)
        store(left + ROW * i, odd * along + even * across)
        store(left + ROW * i + HALF, odd * across - even * along)


@inner
def multiply_adjoint(adjoint, state, target, rows):
    """target = [lambda S | lambda C] of P states."""
    for i in range(rows):
        value = load(adjoint + HALF * i)
        store(target + ROW * i, value * load(state + ROW * i))
        store(target + ROW * i + HALF, value * load(state + ROW * i + HALF))


@inner
def add_component(state, products, factor, c, d, multiple, sums, change, rows):
    """change += f m (c even - d odd), and sums += f odd and f even, for a component with

        odd = C h M^T (lambda S) - S h M^T (lambda C),
        even = C h M^T (lambda C) + S h M^T (lambda S),

    S and C sin and cos of m theta, in `state`. Summed over oscillators odd and even are
    h lambda_i M_ij times sin and cos of m (theta_i - theta_j), summed over i and j. Returns the sum
    of c odd + d even in every lane.
    """
    scale, by_odd, by_even = splat(factor), splat(d), splat(c)
    multiples = splat(factor * np.float32(multiple))
    total = splat(np.float32(0))
    evens = sums + HALF * rows
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        along, across = load(products + ROW * i), load(products + ROW * i + HALF)
        odd, even = cos * along - sin * across, sin * along + cos * across
        store(sums + HALF * i, load(sums + HALF * i) + scale * odd)
        store(evens + HALF * i, load(evens + HALF * i) + scale * even)
        value = load(change + HALF * i)
        store(change + HALF * i, value + multiples * (by_even * even - by_odd * odd))
        total = total + (by_even * odd + by_odd * even)
    return total


@inner
def retreat_by(adjoint, change, diagonal, rows):
    """lambda_k = lambda - lambda diagonal + change."""
    for i in range(rows):
        value = load(adjoint + HALF * i)
        difference = load(change + HALF * i) - value * load(diagonal + HALF * i)
        store(adjoint + HALF * i, value + difference)


class Space(NamedTuple):
    """Addresses of the scratch of a tile: P vectors each, 2 P where it says states."""

    products: Any  # states
    twice: Any  # states
    adjoint: Any  # lambda
    by_fields: Any
    by_drive: Any  # of the present segment
    constant: Any  # h b
    completed: Any  # the whole diagonal
    change: Any  # of lambda by couplings
    values: Any  # of T local terms
    by_values: Any
    sums: Any  # states for each of C components
    left: Any  # states for each of C components and S buffered steps
    right: Any  # transposed states of S buffered steps, for each multiple
    left_size: Any  # bytes of `left` of one component
    right_size: Any  # bytes of `right` of one multiple


@inner
def space_of(workspace, rows, kinds, components, slots):
    """The parts of a workspace."""
    half, base = HALF * rows, address(workspace)
    values = base + 10 * half
    sums = values + 2 * kinds * half
    left = sums + 2 * components * half
    left_size = slots * 2 * half
    right_size = slots * 16 * ROW * ((rows + 15) // 16)
    right = left + components * left_size
    return Space(
        base, base + 2 * half, base + 4 * half, base + 5 * half, base + 6 * half, base + 7 * half,
        base + 8 * half, base + 9 * half, values, values + kinds * half, sums,
        left, right, left_size, right_size,
    )  # fmt: skip


def workspace_size(rows: int, kinds: int, components: int, slots: int) -> int:
    """Values of scratch of `backward_tile`."""
    states = 10 + 2 * kinds + 2 * components + 2 * slots * components
    return 8 * rows * states + min(components, 2) * slots * 256 * ((rows + 15) // 16)


@inner
def pull_components(
    couplings, coupling, run, step, state, space, buffered, by_couplings, rows, n
):  # fmt: skip
    """Add the components' part of lambda to `change`; returns the gradient by their factor."""
    clear(space.change, rows)
    factor, by_factor = factor_at(coupling.scheduled, step), 0.0
    for index in range(len(coupling.matrices)):
        angles = state
        if coupling.multiples[index] == 2:
            double_angle(state, space.twice, rows)
            angles = space.twice
            panel = space.right + space.right_size + 16 * ROW * buffered
            buffer_states(couplings, angles, panel, rows)
        c, d = coupling.factors[run, index, 0], coupling.factors[run, index, 1]
        left = space.left + index * space.left_size + ROW * rows * buffered
        if index > 0:
            multiply_adjoint(space.adjoint, angles, left, rows)
        pull(
            couplings, coupling.matrices[index], run, left, angles, factor * c, factor * d,
            space.products, by_couplings, n,
        )  # fmt: skip
        total = add_component(
            angles, space.products, factor, c, d, coupling.multiples[index],
            space.sums + 2 * HALF * rows * index, space.change, rows,
        )  # fmt: skip
        rotate_back(left, factor * c, factor * d, rows)
        by_factor += sum_in_float64(total)
    return by_factor


@inner
def store_at(values, run, tile, step, value):
    """Store a gradient by the factor of a step, if there are factors."""
    if values.size:
        values[run, tile, step] = value


@inner
def retreat_step(
    coupling, couplings, run, tile, step, state, diagonal, left, space, buffered, by_scheduled,
    by_couplings, rows, n,
):  # fmt: skip
    """lambda of the step before; by_scheduled (R, tiles, K or 0) are gradients by factors."""
    if coupling is None:
        c, d = np.float32(1), np.float32(0)
        pull(couplings, 0, run, left, state, c, d, space.products, by_couplings, n)
        retreat(space.adjoint, state, space.products, diagonal, rows)
        return
    by_factor = pull_components(
        couplings, coupling, run, step, state, space, buffered, by_couplings, rows, n
    )
    store_at(by_scheduled, run, tile, step, -by_factor)
    retreat_by(space.adjoint, space.change, diagonal, rows)


@inner
def add_all_gradients(coupling, couplings, space, steps, by_couplings, rows, n):
    """Add the gradients by all matrices of the buffered steps."""
    if coupling is None:
        add_gradients(couplings, 0, space.left, space.right, steps, by_couplings, rows, n)
        return
    for index in range(len(coupling.matrices)):
        add_gradients(
            couplings, coupling.matrices[index], space.left + index * space.left_size,
            space.right + (coupling.multiples[index] - 1) * space.right_size, steps,
            by_couplings, rows, n,
        )  # fmt: skip


@inner
def components_of(coupling):
    """C."""
    if coupling is None:
        return 1
    return len(coupling.matrices)


@inner
def write_gradients(terms, run, first, space, gradients, rows):
    """Write the gradients of a tile by terms."""
    for t in range(len(terms.values)):
        total = space.by_values + HALF * rows * t
        scatter(total, first, np.float32(-1), gradients.values[t, run])
    write_components(terms.coupling, run, first // LANES, space, gradients.components, rows)


@inner
def write_components(coupling, run, tile, space, by_components, rows):
    """Write the gradients of a tile by the factors c and d of components."""
    if coupling is None:
        return
    for index in range(len(coupling.matrices)):
        odds = space.sums + 2 * HALF * rows * index
        by_components[run, tile, index, 0] = -sum_of(odds, rows)
        by_components[run, tile, index, 1] = -sum_of(odds + HALF * rows, rows)


@compiled
def backward_tile(
    run, first, scale, outer, couplings, terms, fields, tape, diagonals, gradients, by_couplings,
    workspace,
):  # fmt: skip
    """The adjoint of a rollout, lambda propagated back from outer (1 or K / n + 1, R, B, N).

    outer is the gradient of the loss with respect to the last phases, or to those of every n-th
    step. couplings: M^T of all matrices M. Writes the tile's part of `gradients`, and adds its
    summand of the gradient of M to by_couplings, without the factor -h: (Q, ceil(P / 16), P, 16),
    or (Q, M) sparse. Scratch: `workspace_size` values.
    """
    times, _, batch, n = outer.shape
    steps, tile = diagonals.shape[0], first // LANES
    rows, slots = tape.shape[1] // 16, buffer_steps(couplings)
    if terms is None:
        space = space_of(workspace, rows, 0, 1, slots)
    else:
        local, components = len(terms.values), components_of(terms.coupling)
        space = space_of(workspace, rows, local, components, slots)
        gather_terms(terms, run, first, batch, space.values, rows)
        gather(fields[run], first, batch, np.float32(scale), space.constant, rows)
        clear(space.by_values, (local + 2 * components) * rows)
    adjoint = space.adjoint
    gather(outer[times - 1, run], first, batch, np.float32(1), adjoint, rows)
    clear(space.by_fields, 2 * rows)
    buffered = 0
    for step in range(steps - 1, -1, -1):
        state, diagonal = address(tape) + ROW * rows * step, address(diagonals) + HALF * rows * step
        left = space.left + ROW * rows * buffered
        buffer_states(couplings, state, space.right + 16 * ROW * buffered, rows)
        if terms is None:
            split(adjoint, state, left, space.by_fields, rows)
            c, d = np.float32(1), np.float32(0)
            pull(couplings, 0, run, left, state, c, d, space.products, by_couplings, n)
            retreat(adjoint, state, space.products, diagonal, rows)
        else:
            split_fields(
                terms.scheduled_fields, terms.drive, terms, run, first, scale, step, state, space,
                gradients, left, rows,
            )  # fmt: skip
            diagonal = pull_back_local(
                terms.kinds, terms.scheduled_values, step, adjoint, state, space.values, diagonal,
                space.completed, space.by_values, gradients.scheduled_values[run, tile], rows,
            )  # fmt: skip
            retreat_step(
                terms.coupling, couplings, run, tile, step, state, diagonal, left, space, buffered,
                gradients.scheduled_couplings, by_couplings, rows, n,
            )  # fmt: skip
        if times > 1 and step % (steps // (times - 1)) == 0:
            at = step // (steps // (times - 1))
            gather(outer[at, run], first, batch, np.float32(1), space.products, rows)
            add(space.products, np.float32(1), adjoint, rows)
        buffered += 1
        if buffered == slots or step == 0:
            if terms is None:
                add_all_gradients(None, couplings, space, buffered, by_couplings, rows, n)
            else:
                add_all_gradients(terms.coupling, couplings, space, buffered, by_couplings, rows, n)
            buffered = 0
    scatter(space.by_fields, first, np.float32(-scale), gradients.fields[run])
    if gradients.start.size:
        scatter(adjoint, first, np.float32(1), gradients.start[run])
    if terms is not None:
        write_gradients(terms, run, first, space, gradients, rows)
