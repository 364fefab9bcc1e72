# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""lambda sin and lambda cos of a step of the adjoint, and gradients by what varies the fields."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from entrain.kernels.compiled import INNER_OPTIONS, inner
from entrain.kernels.tiles import HALF, ROW, add, clear, scatter, sum_in_float64
from entrain.kernels.tiles_terms import starts_segment
from entrain.kernels.vectors import LANES, load, prefetch, splat, store


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
def split_varied(factors, run, tile, step, state, space, by_factors, left, rows):
    """`split`, with the gradients by the factors of the fields."""
    if factors is None:
        split(space.adjoint, state, left, space.by_drive, rows)
        return
    by_factor = split_by_factor(
        space.adjoint, state, space.constant, factors[step], left, space.by_fields,
        space.by_drive, rows,
    )  # fmt: skip
    by_factors[run, tile, step] = -by_factor


@inner
def end_segment(drive, factors, terms, run, first, scale, step, space, by_drive, rows):
    """Write the gradient by a segment of the drive in its first step."""
    if drive is None:
        if factors is None:
            add(space.by_drive, np.float32(1), space.by_fields, rows)
            clear(space.by_drive, rows)
        return
    if starts_segment(terms.hold, terms.offset, step):
        by_segment = by_drive[(terms.offset + step) // terms.hold, run]
        scatter(space.by_drive, first, np.float32(-scale), by_segment)
        if factors is None:
            add(space.by_drive, np.float32(1), space.by_fields, rows)
        clear(space.by_drive, rows)


def split_fields(
    factors, drive, terms, run, first, scale, step, state, space, gradients, left, rows
):  # fmt: skip
    """`split`, with the gradients by `factors` and drive, which vary the fields."""
    raise NotImplementedError


@overload(split_fields, jit_options=INNER_OPTIONS)
def _split_fields(
    factors, drive, terms, run, first, scale, step, state, space, gradients, left, rows
):
    if isinstance(factors, types.NoneType) and isinstance(drive, types.NoneType):

        def constant(
            factors, drive, terms, run, first, scale, step, state, space, gradients, left, rows
        ):
            split(space.adjoint, state, left, space.by_fields, rows)

        return constant

    def varied(factors, drive, terms, run, first, scale, step, state, space, gradients, left, rows):
        by_factors = gradients.scheduled_fields
        split_varied(factors, run, first // LANES, step, state, space, by_factors, left, rows)
        end_segment(drive, factors, terms, run, first, scale, step, space, gradients.drive, rows)

    return varied
