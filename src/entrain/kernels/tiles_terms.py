# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Terms and schedules in the tiles of the CPU kernels; see `tiles` for their layout.

Local terms enter through the products, so that models with and without them share the code of a
step: what is added to h J sin and h J cos adds their torque to sin (h J cos) - cos (h J sin). The
formulas are those of `physics.terms`, compiled here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from entrain.kernels.compiled import INNER_OPTIONS, inner
from entrain.kernels.tiles import HALF, ROW, double_angle, gather, multiply, sum_in_float64
from entrain.kernels.vectors import load, splat, store
from entrain.physics.terms import LOCAL


class Terms(NamedTuple):
    """Terms beside constant fields and one matrix of couplings.

    None is what a model does not have: a kernel is compiled for the rest alone.
    """

    kinds: Any  # for each term of `LOCAL` True, or None if it is absent
    values: Any  # of the T local terms, times h or dt: (T, R, B or 1, N)
    coupling: Any  # `Coupling`; None if J alone couples, in all steps alike
    scheduled_fields: Any  # factors of every step (K,)
    scheduled_values: Any  # of local terms (T, K)
    drive: Any  # times h: (S, R, B, N)
    hold: Any  # steps of a segment of the drive
    offset: Any  # steps since the first segment began


class Coupling(NamedTuple):
    """Components of the coupling function."""

    matrices: Any  # matrix of every component (C,) int64
    multiples: Any  # its m (C,) int64
    factors: Any  # its c and d (R, C, 2)
    has_rotation: Any  # True if c and d of the first component are not 1 and 0
    scheduled: Any  # factors of the couplings in every step (K,)


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


def _present(kinds):
    """The terms of `LOCAL` whose kind is not None, given the Numba types of `Terms.kinds`."""
    pairs = zip(LOCAL.values(), kinds, strict=True)
    return [term for term, kind in pairs if not isinstance(kind, types.NoneType)]


def _one_more(term, position, before):
    """`before`, and then the term at this position among those present."""
    apply = _apply(term)

    @inner
    def apply_all(factors, step, products, state, values, rows):
        before(factors, step, products, state, values, rows)
        factor = local_factor(factors, position, step)
        apply(factor, products, state, values + HALF * rows * position, rows)

    return apply_all


def _one_more_back(term, position, before):
    """`before`, and then the adjoint of the term at this position among those present."""
    pull_back = _pull_back(term)

    @inner
    def pull_back_all(
        factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
    ):
        diagonal = before(
            factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
        )
        at = HALF * rows * position
        diagonal, by_factor = pull_back(
            local_factor(factors, position, step), adjoint, state, values + at, diagonal,
            completed, sums + at, rows,
        )  # fmt: skip
        if factors is not None:
            by_factors[position, step] -= sum_in_float64(by_factor)
        return diagonal

    return pull_back_all


@inner
def gather_terms(terms, run, first, count, target, rows):
    """Values of the local terms of a tile, as T times P vectors."""
    for t in range(len(terms.values)):
        gather(terms.values[t, run], first, count, np.float32(1), target, rows)
        target += HALF * rows


@inner
def factor_at(factors, step):
    """A factor in a step; 1 if it is not scheduled."""
    if factors is None:
        return np.float32(1)
    return factors[step]


@inner
def local_factor(factors, position, step):
    """The factor of a local term in a step; 1 if none is scheduled."""
    if factors is None:
        return np.float32(1)
    return factors[position, step]


@inner
def starts_segment(hold, offset, step):
    """True in the first step of a segment of the drive."""
    return step == 0 or (offset + step) % hold == 0


@inner
def changes(factors, step):
    """True if a factor differs from that of the step before."""
    if factors is None:
        return False
    return step == 0 or factors[step] != factors[step - 1]


@inner
def gather_drive(drive, hold, offset, run, step, first, count, driven, rows):
    """Write the drive to `driven` in the first step of a segment; True if it did."""
    if drive is None:
        return False
    if not starts_segment(hold, offset, step):
        return False
    segment = (offset + step) // hold
    gather(drive[segment, run], first, count, np.float32(1), driven, rows)
    return True


@inner
def forces_at(factors, terms, run, step, first, count, constant, driven, target, rows):
    """Address of f(k) constant + drive, in a step; `factors` are those of the fields.

    `driven` holds the drive of the present segment, `target` the forces of the step before.
    """
    is_new = gather_drive(
        terms.drive, terms.hold, terms.offset, run, step, first, count, driven, rows
    )
    if is_new or changes(factors, step):
        scale = splat(factor_at(factors, step))
        for i in range(rows):
            value = scale * load(constant + HALF * i) + load(driven + HALF * i)
            store(target + HALF * i, value)
    return target


def fields_at(factors, drive, terms, run, step, first, count, constant, driven, target, rows):
    """`forces_at`; the constant ones if neither `factors` nor a drive vary the fields."""
    raise NotImplementedError


@overload(fields_at, jit_options=INNER_OPTIONS)
def _fields_at(factors, drive, terms, run, step, first, count, constant, driven, target, rows):
    if isinstance(factors, types.NoneType) and isinstance(drive, types.NoneType):

        def unchanged(
            factors, drive, terms, run, step, first, count, constant, driven, target, rows
        ):
            return constant

        return unchanged

    def varied(factors, drive, terms, run, step, first, count, constant, driven, target, rows):
        return forces_at(factors, terms, run, step, first, count, constant, driven, target, rows)

    return varied


@inner
def rotate(products, c, d, rows):
    """[J sin | J cos] <- [c J sin - d J cos | c J cos + d J sin], in place."""
    odd, even = splat(c), splat(d)
    for i in range(rows):
        j_sin, j_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        store(products + ROW * i, odd * j_sin - even * j_cos)
        store(products + ROW * i + HALF, odd * j_cos + even * j_sin)


def apply_local(kinds, factors, step, products, state, values, rows):
    """Add the local terms to the products, in place.

    With T = sin r - cos p the products gain p and r, so that sin (J cos) - cos (J sin) gains T. The
    diagonal gains cos r + sin p; `pull_back_local` adds what the slope has beside.
    """
    raise NotImplementedError


@overload(apply_local, jit_options=INNER_OPTIONS)
def _apply_local(kinds, factors, step, products, state, values, rows):
    @inner
    def apply_all(factors, step, products, state, values, rows):
        pass

    for position, term in enumerate(_present(kinds)):
        apply_all = _one_more(term, position, apply_all)
    return lambda kinds, factors, step, products, state, values, rows: apply_all(
        factors, step, products, state, values, rows
    )


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
def rotate_first(coupling, run, step, products, rows):
    """Rotate the products by c and d of the first component."""
    if coupling is None:
        return
    factor = factor_at(coupling.scheduled, step)
    c, d = coupling.factors[run, 0, 0], coupling.factors[run, 0, 1]
    if coupling.has_rotation or factor != np.float32(1):
        rotate(products, factor * c, factor * d, rows)


@inner
def apply_components(coupling, couplings, run, step, products, state, space, rows, n):
    """Add the components of the coupling function after the first to the products."""
    if coupling is None:
        return
    twice, moved = space
    factor = factor_at(coupling.scheduled, step)
    for index in range(1, len(coupling.matrices)):
        angles, multiple = state, coupling.multiples[index]
        if multiple == 2:
            double_angle(state, twice, rows)
            angles = twice
        multiply(couplings, coupling.matrices[index], run, angles, moved, n)
        c, d = factor * coupling.factors[run, index, 0], factor * coupling.factors[run, index, 1]
        apply_component(products, state, angles, moved, c, d, multiple, rows)


@inner
def apply_terms(terms, couplings, run, step, products, state, values, space, rows, n):
    """Add everything that is in `terms`, but scheduled fields, to the products of a step.

    Scratch: two addresses of (16 P,) values.
    """
    rotate_first(terms.coupling, run, step, products, rows)
    apply_local(terms.kinds, terms.scheduled_values, step, products, state, values, rows)
    apply_components(terms.coupling, couplings, run, step, products, state, space, rows, n)


def pull_back_local(
    kinds, factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
):  # fmt: skip
    """Gradients by the local terms, and completed = diagonal + the rest of their slopes.

    Adds q dT/dv, with q = lambda, to `sums` (T times P vectors), and its product with the values to
    by_factors (T, K) if they are scheduled. Returns the address of the whole diagonal.
    """
    raise NotImplementedError


@overload(pull_back_local, jit_options=INNER_OPTIONS)
def _pull_back_local(
    kinds, factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
):
    @inner
    def pull_back_all(
        factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
    ):
        return diagonal

    for position, term in enumerate(_present(kinds)):
        pull_back_all = _one_more_back(term, position, pull_back_all)

    def pull_back(
        kinds, factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
    ):
        return pull_back_all(
            factors, step, adjoint, state, values, diagonal, completed, sums, by_factors, rows
        )

    return pull_back
