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
    address,
    blocks,
    clear,
    compiled,
    double_angle,
    gather,
    inner,
    multiply,
    scatter,
)
from entrain.kernels.vectors import (
    LANES,
    add_outer,
    lane,
    load,
    load_block,
    prefetch,
    splat,
    store,
    store_block,
    subtract_outer,
    transpose,
)

GRADIENT_STEPS = 16  # steps whose summands of the gradient of J are added together


class Gradients(NamedTuple):
    """Gradients of all terms but J, as float32 arrays; those of absent terms are empty."""

    fields: Any  # (R, B, N)
    frequencies: Any  # (R, B, N)
    injection: Any  # (R, B, N)
    lag: Any  # (R, tiles), a summand of each tile, float64
    start: Any  # (R, B, N)
    harmonic: Any  # (R, tiles, 2), summands of each tile for c and d, float64


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
        for _ in range(sixes):
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


@inner
def rotate_back(left, cos_lag, sin_lag, rows):
    """[lambda sin | lambda cos] <- [lambda sin(theta + a) | lambda cos(theta + a)].

    With c and d instead of cos(a) and sin(a) for a second harmonic.
    """
    cos_a, sin_a = splat(cos_lag), splat(sin_lag)
    for i in range(rows):
        along, across = load(left + ROW * i), load(left + ROW * i + HALF)
        store(left + ROW * i, cos_a * along + sin_a * across)
        store(left + ROW * i + HALF, cos_a * across - sin_a * along)


@inner
def add_lag(state, products, total, rows):
    """total += sin h J^T (lambda sin_a) + cos h J^T (lambda cos_a).

    Summed over oscillators these are h lambda_i J_ij cos(theta_i - theta_j + a), summed over i, j.
    """
    for i in range(rows):
        sin_part = load(state + ROW * i) * load(products + ROW * i)
        cos_part = load(state + ROW * i + HALF) * load(products + ROW * i + HALF)
        store(total + HALF * i, load(total + HALF * i) + (sin_part + cos_part))


@inner
def multiply_adjoint(adjoint, state, target, rows):
    """target = [lambda sin | lambda cos] of P states."""
    for i in range(rows):
        value = load(adjoint + HALF * i)
        store(target + ROW * i, value * load(state + ROW * i))
        store(target + ROW * i + HALF, value * load(state + ROW * i + HALF))


@inner
def retreat_second(adjoint, twice, products, harmonic, odds, evens, rows):
    """Add 2 (c even - d odd) to lambda_k of `retreat`, and odd and even to their sums,

        odd = C h J^T (lambda S) - S h J^T (lambda C),
        even = C h J^T (lambda C) + S h J^T (lambda S),

    with S and C, sin and cos of 2 theta, in `twice`. Summed over oscillators odd and even are
    h lambda_i J_ij times sin and cos of 2 (theta_i - theta_j), summed over i, j.
    """
    c, d = splat(harmonic[0]), splat(harmonic[1])
    for i in range(rows):
        sin, cos = load(twice + ROW * i), load(twice + ROW * i + HALF)
        along, across = load(products + ROW * i), load(products + ROW * i + HALF)
        odd, even = cos * along - sin * across, cos * across + sin * along
        store(odds + HALF * i, load(odds + HALF * i) + odd)
        store(evens + HALF * i, load(evens + HALF * i) + even)
        change = c * even - d * odd
        store(adjoint + HALF * i, load(adjoint + HALF * i) + (change + change))


@inner
def add_injection(adjoint, state, injection, total, diagonal, completed, rows):
    """total += lambda sin cos; completed = diagonal + 2 h s cos(2 theta), the missing half."""
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        strength = load(injection + HALF * i)
        second = (strength + strength) * (cos * cos - sin * sin)
        store(completed + HALF * i, load(diagonal + HALF * i) + second)
        store(total + HALF * i, load(total + HALF * i) + load(adjoint + HALF * i) * (sin * cos))


@inner
def add(vectors, total, rows):
    """total += P vectors."""
    for i in range(rows):
        store(total + HALF * i, load(total + HALF * i) + load(vectors + HALF * i))


@inner
def sum_of(vectors, rows):
    """The sum of P vectors, in float64."""
    total = 0.0
    for i in range(rows):
        value = load(vectors + HALF * i)
        for s in range(LANES):
            total += np.float64(lane(value, s))
    return total


@compiled
def backward_tile(
    run, first, scale, time_step, outer, panels, terms, tape, diagonals, gradients, by_couplings,
    workspace,
):  # fmt: skip
    """The adjoint of a rollout, lambda propagated back from outer (1 or K + 1, R, B, N).

    outer is the gradient of the loss with respect to the last phases, or to those of every time.
    panels (R, N P) are those of J^T. Writes the tile's part of `gradients`, and adds its summand of
    the gradient of J, without the factor -h, to by_couplings (ceil(P / 16), P, 16). Scratch:
    workspace of (72 + 16 S) P + 256 S ceil(P / 16) values, S = GRADIENT_STEPS; with a second
    harmonic (120 + 32 S) P + 512 S ceil(P / 16).
    """
    times, _, batch, n = outer.shape
    steps = diagonals.shape[0]
    rows = tape.shape[1] // 16
    size, half = ROW * rows, HALF * rows
    sixes, fours = blocks(n)
    products = address(workspace)
    adjoint = products + size
    by_fields = adjoint + half
    by_frequencies = by_fields + half
    by_injection = by_frequencies + half
    by_lag = by_injection + half
    injection = by_lag + half
    completed = injection + half
    left = completed + half
    right = left + GRADIENT_STEPS * size
    odds = right + GRADIENT_STEPS * 16 * ROW * ((rows + 15) // 16)  # from here: second harmonic
    evens = odds + half
    twice = evens + half
    of_twice = twice + size
    second_left = of_twice + size
    second_right = second_left + GRADIENT_STEPS * size
    if terms.harmonic.size:
        clear(odds, 2 * rows)
    gather(terms.injection[run], first, batch, np.float32(scale), injection, rows)
    gather(outer[times - 1, run], first, batch, np.float32(1), adjoint, rows)
    clear(by_fields, 4 * rows)
    buffered = 0
    for step in range(steps - 1, -1, -1):
        state = address(tape) + size * step
        diagonal = address(diagonals) + half * step
        split(adjoint, state, left + size * buffered, by_fields, rows)
        transpose_states(state, right + 16 * ROW * buffered, rows)
        if terms.frequencies.size:
            add(adjoint, by_frequencies, rows)
        if terms.injection.size:
            add_injection(adjoint, state, injection, by_injection, diagonal, completed, rows)
            diagonal = completed
        if terms.rotations.size:
            rotate_back(
                left + size * buffered, terms.rotations[run, 0], terms.rotations[run, 1], rows
            )
        multiply(address(panels[run]), left + size * buffered, products, n)
        if terms.rotations.size:
            add_lag(state, products, by_lag, rows)
        if terms.harmonic.size:
            double_angle(state, twice, rows)
            multiply_adjoint(adjoint, twice, second_left + size * buffered, rows)
            transpose_states(twice, second_right + 16 * ROW * buffered, rows)
            multiply(address(panels[run]), second_left + size * buffered, of_twice, n)
        retreat(adjoint, state, products, diagonal, rows)
        if terms.harmonic.size:
            c, d = terms.harmonic[run]
            retreat_second(adjoint, twice, of_twice, terms.harmonic[run], odds, evens, rows)
            rotate_back(second_left + size * buffered, c, d, rows)
        if times > 1:
            gather(outer[step, run], first, batch, np.float32(1), products, rows)
            add(products, adjoint, rows)
        buffered += 1
        if buffered == GRADIENT_STEPS or step == 0:
            add_gradient(left, right, buffered, address(by_couplings), rows, sixes, fours)
            if terms.harmonic.size:
                seconds = second_left, second_right
                add_gradient(*seconds, buffered, address(by_couplings), rows, sixes, fours)
            buffered = 0
    scatter(by_fields, first, np.float32(-scale), gradients.fields[run])
    if terms.frequencies.size:
        scatter(by_frequencies, first, np.float32(time_step), gradients.frequencies[run])
    if terms.injection.size:
        scatter(by_injection, first, np.float32(-4.0 * scale), gradients.injection[run])
    if terms.rotations.size:
        gradients.lag[run, first // LANES] = -sum_of(by_lag, rows)
    if terms.harmonic.size:
        gradients.harmonic[run, first // LANES, 0] = -sum_of(odds, rows)
        gradients.harmonic[run, first // LANES, 1] = -sum_of(evens, rows)
    if terms.start.size:
        scatter(adjoint, first, np.float32(1), gradients.start[run])
