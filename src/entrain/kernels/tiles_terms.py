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
    scheduled_fields: Any  # factors of every step (K,)
    scheduled_couplings: Any  # (K,)
    scheduled_values: Any  # of local terms (T, K)
    drive: Any  # times h: (S, R, B, N)
    hold: Any  # steps of a segment of the drive
    begun: Any  # steps since the first segment began


def _choice(functions, default):
    """A compiled function (kind, sin, cos, value) that calls the kind-th function."""

    @inner
    def choose(kind, sin, cos, value):
        return default(sin)

    for index in range(len(functions) - 1, -1, -1):
        if functions[index] is not None:
            choose = _branch(index, inner(functions[index]), choose)
    return choose


def _branch(index, function, others):
    @inner
    def choose(kind, sin, cos, value):
        if kind == index:
            return function(sin, cos, value)
        return others(kind, sin, cos, value)

    return choose


@inner
def _zero(vector):
    return splat(np.float32(0))


@inner
def _zeros(vector):
    return splat(np.float32(0)), splat(np.float32(0))


def _split(term):
    """p and r with T = sin r - cos p: those of the term, or of T and its slope."""
    if term.split is not None:
        return term.split
    torque = inner(term.torque)
    if term.slope is None:

        def by_torque(sin, cos, value):
            force = torque(sin, cos, value)
            return -(force * cos), force * sin

        return by_torque
    slope = inner(term.slope)

    def by_torque_and_slope(sin, cos, value):
        force, rate = torque(sin, cos, value), slope(sin, cos, value)
        return rate * sin - force * cos, force * sin + rate * cos

    return by_torque_and_slope


_split_of = _choice([_split(term) for term in LOCAL.values()], _zeros)
_rest_of = _choice([term.rest for term in LOCAL.values()], _zero)
_gradient_of = _choice([term.gradient for term in LOCAL.values()], _zero)
_HAS_REST = np.array([term.rest is not None for term in LOCAL.values()])


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
    return step == 0 or (terms.begun + step) % terms.hold == 0


@inner
def has_scheduled_fields(terms):
    """True if the fields vary in time."""
    return terms.scheduled_fields.size + terms.drive.size > 0


@inner
def fields_at(terms, run, step, first, count, forces, driven, target, rows):
    """target = f(k) forces + drive, in a step; `driven` holds the drive of the present segment."""
    if terms.drive.size and starts_segment(terms, step):
        segment = (terms.begun + step) // terms.hold
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
    diagonal gains cos r + sin p; `add_rest` adds what the slope has beside.
    """
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        p = r = splat(np.float32(0))
        for t in range(len(terms.kinds)):
            value = load(values + HALF * (rows * t + i))
            value = splat(local_factor(terms, t, step)) * value
            more_p, more_r = _split_of(terms.kinds[t], sin, cos, value)
            p = p + more_p
            r = r + more_r
        store(products + ROW * i, load(products + ROW * i) + p)
        store(products + ROW * i + HALF, load(products + ROW * i + HALF) + r)


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
def add_rest(terms, step, adjoint, state, values, diagonal, completed, sums, factors, rows):
    """Gradients by the local terms, and completed = diagonal + the rest of their slopes.

    Adds q dT/dv, with q = lambda, to `sums` (T times P vectors), and its product with the values to
    factors (T, K) if they are scheduled. Returns the address of the whole diagonal.
    """
    for t in range(len(terms.kinds)):
        kind, total, own = terms.kinds[t], sums + HALF * rows * t, values + HALF * rows * t
        scheduled = splat(local_factor(terms, t, step))
        by_factor = splat(np.float32(0))
        source = diagonal
        for i in range(rows):
            sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
            value = load(own + HALF * i)
            gradient = _gradient_of(kind, sin, cos, load(adjoint + HALF * i))
            by_factor = by_factor + gradient * value
            store(total + HALF * i, load(total + HALF * i) + scheduled * gradient)
            if _HAS_REST[kind]:
                rest = _rest_of(kind, sin, cos, scheduled * value)
                store(completed + HALF * i, load(source + HALF * i) + rest)
        if _HAS_REST[kind]:
            diagonal = completed
        if terms.scheduled_values.size:
            factors[t, step] -= sum_in_float64(by_factor)
    return diagonal
