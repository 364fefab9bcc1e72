# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Terms and schedules in the tiles of the CPU kernels; see `tiles` for their layout.

Local terms enter through the products, so that models with and without them share the code of a
step: what is added to h J sin and h J cos adds their torque to sin (h J cos) - cos (h J sin). The
formulas are those of `physics.terms`, compiled here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from entrain.kernels.tiles import (
    HALF,
    ROW,
    double_angle,
    gather,
    inner,
    multiply,
    sum_in_float64,
)
from entrain.kernels.vectors import load, splat, store
from entrain.physics.terms import LOCAL


class Terms(NamedTuple):
    """What acts beside constant fields and one matrix of couplings; an empty array is absent."""

    kinds: Any  # positions of the local terms in `LOCAL` (T,) int64
    values: Any  # theirs, times h or dt: (T, R, B or 1, N)
    matrices: Any  # matrix of every component of the coupling function (C,) int64
    multiples: Any  # its m (C,) int64
    factors: Any  # its c and d (R, C, 2)
    has_rotation: Any  # True if c and d of the first component are not 1 and 0
    is_simple: Any  # True if J alone couples, without c and d and in all steps alike
    scheduled_fields: Any  # factors of every step (K,)
    scheduled_couplings: Any  # (K,)
    scheduled_values: Any  # of local terms (T, K)
    drive: Any  # times h: (S, R, B, N)
    hold: Any  # steps of a segment of the drive
    offset: Any  # steps since the first segment began


def _split(term):
    """p and r with T = sin r - cos p: those of the term, or of T and its slope."""
    if term.split is not None:
        return inner(term.split)
    torque = inner(term.torque)
    if term.slope is None:

        @inner
        def by_torque(sin, cos, value):
            force = torque(sin, cos, value)
            return -(force * cos), force * sin

        return by_torque
    slope = inner(term.slope)

    @inner
    def by_torque_and_slope(sin, cos, value):
        force, rate = torque(sin, cos, value), slope(sin, cos, value)
        return rate * sin - force * cos, force * sin + rate * cos

    return by_torque_and_slope


def _apply(term):
    """Adds a local term to the products of P oscillators."""
    split = _split(term)

    @inner
    def apply(factor, products, state, values, rows):
        scale = splat(factor)
        for i in range(rows):
            sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
            p, r = split(sin, cos, scale * load(values + HALF * i))
            store(products + ROW * i, load(products + ROW * i) + p)
            store(products + ROW * i + HALF, load(products + ROW * i + HALF) + r)

    return apply


def _pull_back(term):
    """Adds q dT/dv of P oscillators to `sums`, and the rest of the slope to `diagonal`.

    Returns the address of the whole diagonal, and the sum of q T / f in every lane.
    """
    gradient_of, has_rest = inner(term.gradient), term.rest is not None
    rest_of = inner(term.rest or _no_rest)

    @inner
    def pull_back(factor, adjoint, state, values, diagonal, completed, sums, rows):
        scale, by_factor = splat(factor), splat(np.float32(0))
        for i in range(rows):
            sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
            value = load(values + HALF * i)
            gradient = gradient_of(sin, cos, load(adjoint + HALF * i))
            by_factor = by_factor + gradient * value
            store(sums + HALF * i, load(sums + HALF * i) + scale * gradient)
            if has_rest:
                rest = rest_of(sin, cos, scale * value)
                store(completed + HALF * i, load(diagonal + HALF * i) + rest)
        return completed if has_rest else diagonal, by_factor

    return pull_back


def _no_rest(sin, cos, value):
    return value


def _first_of(kind, function, others):
    """A function of (kind, ...) that calls `function` for one kind."""

    @inner
    def choose(number, *arguments):
        if number == kind:
            return function(*arguments)
        return others(number, *arguments)

    return choose


def _by_kind(functions):
    """A function (kind, ...) that calls the kind-th function: each has a loop of its own."""
    last = functions[-1]

    @inner
    def choose(number, *arguments):
        return last(*arguments)

    for kind in range(len(functions) - 2, -1, -1):
        choose = _first_of(kind, functions[kind], choose)
    return choose


_apply_kind = _by_kind([_apply(term) for term in LOCAL.values()])
_pull_back_kind = _by_kind([_pull_back(term) for term in LOCAL.values()])


@inner
def gather_terms(terms, run, first, count, target, rows):
    """Values of the local terms of a tile, as T times P vectors."""
    for t in range(len(terms.kinds)):
        gather(terms.values[t, run], first, count, np.float32(1), target, rows)
        target += HALF * rows


@inner
def coupling_factor(terms, step):
    """The factor of the couplings in a step."""
    if terms.scheduled_couplings.size:
        return terms.scheduled_couplings[step]
    return np.float32(1)


@inner
def local_factor(terms, t, step):
    """The factor of a local term in a step."""
    if terms.scheduled_values.size:
        return terms.scheduled_values[t, step]
    return np.float32(1)


@inner
def field_factor(terms, step):
    """The factor of the fields in a step."""
    if terms.scheduled_fields.size:
        return terms.scheduled_fields[step]
    return np.float32(1)


@inner
def starts_segment(terms, step):
    """True in the first step of a segment of the drive."""
    return step == 0 or (terms.offset + step) % terms.hold == 0


@inner
def has_scheduled_fields(terms):
    """True if the fields vary in time."""
    return terms.scheduled_fields.size + terms.drive.size > 0


@inner
def fields_change(factors, drives, hold, offset, step):
    """True if the fields of a step differ from those of the step before."""
    if drives and (step == 0 or (offset + step) % hold == 0):
        return True
    return factors.size > 0 and (step == 0 or factors[step] != factors[step - 1])


@inner
def fields_at(terms, run, step, first, count, forces, driven, target, rows):
    """target = f(k) forces + drive, in a step; `driven` holds the drive of the present segment."""
    if terms.drive.size and starts_segment(terms, step):
        segment = (terms.offset + step) // terms.hold
        gather(terms.drive[segment, run], first, count, np.float32(1), driven, rows)
    scale = splat(field_factor(terms, step))
    for i in range(rows):
        value = scale * load(forces + HALF * i) + load(driven + HALF * i)
        store(target + HALF * i, value)


@inner
def rotate(products, c, d, rows):
    """[J sin | J cos] <- [c J sin - d J cos | c J cos + d J sin], in place."""
    odd, even = splat(c), splat(d)
    for i in range(rows):
        j_sin, j_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        store(products + ROW * i, odd * j_sin - even * j_cos)
        store(products + ROW * i + HALF, odd * j_cos + even * j_sin)


@inner
def apply_local(terms, step, products, state, values, rows):
    """Add the local terms to the products, in place.

    With T = sin r - cos p the products gain p and r, so that sin (J cos) - cos (J sin) gains T. The
    diagonal gains cos r + sin p; `pull_back_local` adds what the slope has beside.
    """
    for t in range(len(terms.kinds)):
        own = values + HALF * rows * t
        _apply_kind(terms.kinds[t], local_factor(terms, t, step), products, state, own, rows)


@inner
def apply_component(products, state, angles, moved, c, d, multiple, rows):
    """Add a further component of the coupling function to the products, in place.

    From S and C, sin and cos of m theta, in `angles` and h M S and h M C in `moved`: with
    (M S)' = c M S - d M C and (M C)' = c M C + d M S the torque and its derivative are

        T = S (M C)' - C (M S)',   D = m [ C (M C)' + S (M S)' ],
        J sin <- J sin + D sin - T cos,   J cos <- J cos + D cos + T sin,

    so that sin (J cos) - cos (J sin) gains T, and the diagonal D.
    """
    odd, even, factor = splat(c), splat(d), splat(np.float32(multiple))
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        s, c_m = load(angles + ROW * i), load(angles + ROW * i + HALF)
        m_sin, m_cos = load(moved + ROW * i), load(moved + ROW * i + HALF)
        rotated_sin, rotated_cos = odd * m_sin - even * m_cos, odd * m_cos + even * m_sin
        torque = s * rotated_cos - c_m * rotated_sin
        slope = factor * (c_m * rotated_cos + s * rotated_sin)
        first_sin, first_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        store(products + ROW * i, first_sin + (slope * sin - torque * cos))
        store(products + ROW * i + HALF, first_cos + (slope * cos + torque * sin))


@inner
def apply_terms(terms, couplings, run, step, products, state, values, space, rows, n):
    """Add everything that is in `terms`, but scheduled fields, to the products of a step.

    Scratch: two addresses of (16 P,) values.
    """
    twice, moved = space
    factor = coupling_factor(terms, step)
    if terms.has_rotation or terms.scheduled_couplings.size:
        rotate(products, factor * terms.factors[run, 0, 0], factor * terms.factors[run, 0, 1], rows)
    if len(terms.kinds):
        apply_local(terms, step, products, state, values, rows)
    for index in range(1, len(terms.matrices)):
        angles, multiple = state, terms.multiples[index]
        if multiple == 2:
            double_angle(state, twice, rows)
            angles = twice
        multiply(couplings, terms.matrices[index], run, angles, moved, n)
        c, d = factor * terms.factors[run, index, 0], factor * terms.factors[run, index, 1]
        apply_component(products, state, angles, moved, c, d, multiple, rows)


@inner
def pull_back_local(
    terms, step, adjoint, state, values, diagonal, completed, sums, factors, rows
):  # fmt: skip
    """Gradients by the local terms, and completed = diagonal + the rest of their slopes.

    Adds q dT/dv, with q = lambda, to `sums` (T times P vectors), and its product with the values to
    factors (T, K) if they are scheduled. Returns the address of the whole diagonal.
    """
    for t in range(len(terms.kinds)):
        own, total = values + HALF * rows * t, sums + HALF * rows * t
        factor = local_factor(terms, t, step)
        diagonal, by_factor = _pull_back_kind(
            terms.kinds[t], factor, adjoint, state, own, diagonal, completed, total, rows
        )
        if terms.scheduled_values.size:
            factors[t, step] -= sum_in_float64(by_factor)
    return diagonal
