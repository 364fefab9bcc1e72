# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""The adjoint of one tile of eight samples, compiled by Numba; see `tiles` for its layout.

lambda_k = d loss / d theta_k is propagated back along the tape of the rollout. Noise does not
enter: it is added, and wrapping a phase does not change derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from entrain.kernels.tiles import (
    HALF,
    ROW,
    add,
    address,
    clear,
    compiled,
    double_angle,
    gather,
    inner,
    scatter,
    sum_in_float64,
    sum_of,
)
from entrain.kernels.tiles_pull import add_gradients, buffer_states, buffer_steps, pull
from entrain.kernels.tiles_terms import (
    coupling_factor,
    gather_terms,
    has_scheduled_fields,
    pull_back_local,
    starts_segment,
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
def split(adjoint, state, target, total, rows):
    """target = [lambda sin | lambda cos], and total += lambda sin."""
    for i in range(rows):
        # The tape is read backwards, which hardware does not predict across steps.
        prefetch(state + ROW * (i - rows))
        value = load(adjoint + HALF * i)
        along = value * load(state + ROW * i)
        store(target + ROW * i, along)
        store(target + ROW * i + HALF, value * load(state + ROW * i + HALF))
        store(total + HALF * i, load(total + HALF * i) + along)


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
def split_by_factor(adjoint, state, forces, factor, target, total, driven, rows):
    """`split` with total += f lambda sin, and driven += lambda sin; returns the gradient by f."""
    scale, by_factor = splat(factor), splat(np.float32(0))
    for i in range(rows):
        prefetch(state + ROW * (i - rows))
        value = load(adjoint + HALF * i)
        along = value * load(state + ROW * i)
        store(target + ROW * i, along)
        store(target + ROW * i + HALF, value * load(state + ROW * i + HALF))
        store(total + HALF * i, load(total + HALF * i) + scale * along)
        store(driven + HALF * i, load(driven + HALF * i) + along)
        by_factor = by_factor + along * load(forces + HALF * i)
    return sum_in_float64(by_factor)


@inner
def split_scheduled(terms, run, first, scale, step, state, space, gradients, left, rows):
    """`split`, with the gradients by what varies the fields."""
    adjoint, factors = space.adjoint, terms.scheduled_fields
    if factors.size:
        by_factor = split_by_factor(
            adjoint,
            state,
            space.constant,
            factors[step],
            left,
            space.by_fields,
            space.by_drive,
            rows,
        )
        gradients.scheduled_fields[run, first // LANES, step] = -by_factor
    else:
        split(adjoint, state, left, space.by_drive, rows)
    if terms.drive.size and starts_segment(terms, step):
        by_segment = gradients.drive[(terms.offset + step) // terms.hold, run]
        scatter(space.by_drive, first, np.float32(-scale), by_segment)
        if not factors.size:
            add(space.by_drive, np.float32(1), space.by_fields, rows)
        clear(space.by_drive, rows)


@inner
def pull_components(
    couplings, terms, run, step, state, space, buffered, by_couplings, rows, n
):  # fmt: skip
    """Add the components' part of lambda to `change`; returns the gradient by their factor."""
    clear(space.change, rows)
    factor, by_factor = coupling_factor(terms, step), 0.0
    for index in range(len(terms.matrices)):
        angles = state
        if terms.multiples[index] == 2:
            double_angle(state, space.twice, rows)
            angles = space.twice
            panel = space.right + space.right_size + 16 * ROW * buffered
            buffer_states(couplings, angles, panel, rows)
        c, d = terms.factors[run, index, 0], terms.factors[run, index, 1]
        left = space.left + index * space.left_size + ROW * rows * buffered
        if index > 0:
            multiply_adjoint(space.adjoint, angles, left, rows)
        pull(
            couplings, terms.matrices[index], run, left, angles, factor * c, factor * d,
            space.products, by_couplings, n,
        )  # fmt: skip
        total = add_component(
            angles, space.products, factor, c, d, terms.multiples[index],
            space.sums + 2 * HALF * rows * index, space.change, rows,
        )  # fmt: skip
        rotate_back(left, factor * c, factor * d, rows)
        if terms.scheduled_couplings.size:
            by_factor += sum_in_float64(total)
    return by_factor


@inner
def write_gradients(terms, run, first, space, gradients, rows):
    """Write the gradients of a tile by terms."""
    for t in range(len(terms.kinds)):
        total = space.by_values + HALF * rows * t
        scatter(total, first, np.float32(-1), gradients.values[t, run])
    for index in range(len(terms.matrices)):
        odds = space.sums + 2 * HALF * rows * index
        gradients.components[run, first // LANES, index, 0] = -sum_of(odds, rows)
        gradients.components[run, first // LANES, index, 1] = -sum_of(odds + HALF * rows, rows)


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
        space = space_of(workspace, rows, len(terms.kinds), len(terms.matrices), slots)
        gather_terms(terms, run, first, batch, space.values, rows)
        gather(fields[run], first, batch, np.float32(scale), space.constant, rows)
        clear(space.by_values, (len(terms.kinds) + 2 * len(terms.matrices)) * rows)
        local, scheduled, simple = len(terms.kinds), has_scheduled_fields(terms), terms.is_simple
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
            if scheduled:
                split_scheduled(terms, run, first, scale, step, state, space, gradients, left, rows)
            else:
                split(adjoint, state, left, space.by_fields, rows)
            if local:
                diagonal = pull_back_local(
                    terms, step, adjoint, state, space.values, diagonal, space.completed,
                    space.by_values, gradients.scheduled_values[run, tile], rows,
                )  # fmt: skip
            if simple:
                c, d = np.float32(1), np.float32(0)
                pull(couplings, 0, run, left, state, c, d, space.products, by_couplings, n)
                retreat(adjoint, state, space.products, diagonal, rows)
            else:
                by_factor = pull_components(
                    couplings, terms, run, step, state, space, buffered, by_couplings, rows, n
                )
                if terms.scheduled_couplings.size:
                    gradients.scheduled_couplings[run, tile, step] = -by_factor
                retreat_by(adjoint, space.change, diagonal, rows)
        if times > 1 and step % (steps // (times - 1)) == 0:
            at = step // (steps // (times - 1))
            gather(outer[at, run], first, batch, np.float32(1), space.products, rows)
            add(space.products, np.float32(1), adjoint, rows)
        buffered += 1
        if buffered == slots or step == 0:
            if terms is None:
                add_gradients(
                    couplings, 0, space.left, space.right, buffered, by_couplings, rows, n
                )
            else:
                for index in range(len(terms.matrices)):
                    add_gradients(
                        couplings, terms.matrices[index], space.left + index * space.left_size,
                        space.right + (terms.multiples[index] - 1) * space.right_size, buffered,
                        by_couplings, rows, n,
                    )  # fmt: skip
            buffered = 0
    scatter(space.by_fields, first, np.float32(-scale), gradients.fields[run])
    if gradients.start.size:
        scatter(adjoint, first, np.float32(1), gradients.start[run])
    if terms is not None:
        write_gradients(terms, run, first, space, gradients, rows)
