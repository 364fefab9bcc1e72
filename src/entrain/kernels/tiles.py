# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Rollouts and adjoints of one tile of eight samples, compiled by Numba.

Lanes are samples: the state of an oscillator is a row [sin x 8 | cos x 8] of sixteen numbers, so
that one pass over a row of J serves both products and each J_ij, once broadcast, is used twice.
A tile runs through all K steps while J and its state stay in the nearest caches.

A step turns (sin, cos) by the increment d = -h (b + J cos) sin + h cos J sin, h = mu dt, with
short polynomials; the phase itself is the sum of the increments. h is folded into b and J.

P is N rounded up to even, at least 4: P = 6 a + 4 b rows of J are taken six or four at a time.
`panels` holds J for that: for each such block of w rows, (N, w) numbers h J[:, block].
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from entrain.kernels.normals import normals
from entrain.kernels.vectors import (
    LANES,
    add_outer,
    any_above,
    lane,
    load,
    load_block,
    prefetch,
    splat,
    store,
    store_block,
    subtract_outer,
    transpose,
    with_lane,
    zero_block,
)
from entrain.physics.noise import STEPS_PER_BLOCK

ROW = 64  # bytes of one oscillator's [sin x 8 | cos x 8]
HALF = 32
GRADIENT_STEPS = 16  # steps whose share of the gradient of J is added at a time
_NORMALISE_EVERY = 32
_SMALL_TURN = np.float32(0.5)  # up to here the polynomials are exact to a rounding


def compiled(function):
    """Compile with the result kept on disk where some cache folder can be written."""
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:
        return njit(nogil=True, error_model="numpy")(function)


inner = njit(nogil=True, error_model="numpy")


@inner
def address(array):
    """Where an array begins; signed, since Numba adds int64 to uint64 in float64."""
    return np.int64(array.ctypes.data)


@inner
def blocks(n):
    """The number of six-row and of four-row blocks that make up P >= n rows."""
    rows = max(4, n + n % 2)
    fours = rows % 6 // 2 * 2 % 3
    return (rows - 4 * fours) // 6, fours


@inner
def multiply(panels, rows, target, n):
    """target_i = h sum_j J_ij rows_j, for P rows of sixteen numbers."""
    sixes, fours = blocks(n)
    for _ in range(sixes):
        block = zero_block(6)
        for j in range(n):
            block = add_outer(block, panels + 24 * j, 4, rows + ROW * j)
        store_block(target, block)
        panels += 24 * n
        target += 6 * ROW
    for _ in range(fours):
        small = zero_block(4)
        for j in range(n):
            small = add_outer(small, panels + 16 * j, 4, rows + ROW * j)
        store_block(target, small)
        panels += 16 * n
        target += 4 * ROW


@inner
def full_turn(angle):
    """sin and 1 - cos of any angles."""
    sine = versine = angle
    for i in range(LANES):
        x = np.float64(lane(angle, i))
        sine = with_lane(sine, i, np.float32(math.sin(x)))
        versine = with_lane(versine, i, np.float32(1.0 - math.cos(x)))
    return sine, versine


@inner
def small_turn(angle):
    """sin and 1 - cos of angles up to 1/2."""
    square = angle * angle
    odd = splat(np.float32(1 / 120)) - square * splat(np.float32(1 / 5040))
    odd = square * odd - splat(np.float32(1 / 6))
    even = splat(np.float32(1 / 720)) - square * splat(np.float32(1 / 40320))
    even = square * even - splat(np.float32(1 / 24))
    return angle + angle * square * odd, square * (splat(np.float32(0.5)) + square * even)


@inner
def advance(source, target, products, fields, moved, diagonal, noise, rows):
    """One step of P oscillators: turn the states, add the increments to `moved`.

    Where `diagonal` is an address it receives h (cos (b + J cos) + sin J sin); where `noise` is
    one, its numbers are added to the increments.
    """
    for i in range(rows):
        sin, cos = load(source + ROW * i), load(source + ROW * i + HALF)
        j_sin, j_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        field = load(fields + HALF * i) + j_cos
        angle = cos * j_sin - sin * field
        if diagonal:
            store(diagonal + HALF * i, cos * field + sin * j_sin)
        if noise:
            angle = angle + load(noise + HALF * i)
        store(moved + HALF * i, load(moved + HALF * i) + angle)
        if any_above(angle, _SMALL_TURN):
            sine, versine = full_turn(angle)
        else:
            sine, versine = small_turn(angle)
        store(target + ROW * i, sin + (cos * sine - sin * versine))
        store(target + ROW * i + HALF, cos - (sin * sine + cos * versine))


@inner
def normalise(state, rows):
    """Bring sin^2 + cos^2 back to 1: rounding lets the radius drift, a Newton step undoes it."""
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        factor = splat(np.float32(1.5)) - splat(np.float32(0.5)) * (sin * sin + cos * cos)
        store(state + ROW * i, sin * factor)
        store(state + ROW * i + HALF, cos * factor)


@inner
def start(state, rows):
    """All phases pi/2."""
    for i in range(rows):
        store(state + ROW * i, splat(np.float32(1)))
        store(state + ROW * i + HALF, splat(np.float32(0)))


@inner
def gather(numbers, first, count, scale, target, rows):
    """Rows first .. first + 7 (below count, modulo B) of (B, N) numbers as P vectors, else 0."""
    batch, n = numbers.shape
    for i in range(rows):
        value = splat(np.float32(0))
        if i < n:
            for s in range(min(LANES, count - first)):
                value = with_lane(value, s, numbers[(first + s) % batch, i] * scale)
        store(target + HALF * i, value)


@inner
def scatter(source, first, offset, numbers):
    """Write P vectors plus an offset as rows first .. first + 7 of (B, N) numbers."""
    batch, n = numbers.shape
    for i in range(n):
        value = load(source + HALF * i)
        for s in range(min(LANES, batch - first)):
            numbers[first + s, i] = np.float64(lane(value, s)) + offset


@inner
def scatter_angles(state, first, numbers):
    """Write atan2(sin, cos) of the states as rows first .. first + 7 of (B, N) numbers."""
    batch, n = numbers.shape
    for i in range(n):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        for s in range(min(LANES, batch - first)):
            angle = math.atan2(np.float64(lane(sin, s)), np.float64(lane(cos, s)))
            numbers[first + s, i] = angle


@inner
def clear(vectors, rows):
    """P zero vectors."""
    for i in range(rows):
        store(vectors + HALF * i, splat(np.float32(0)))


@compiled
def forward_tile(run, first, scale, steps, fields, panels, out, path, tape, diagonals, workspace):
    """Roll out samples first .. first + 7 of a run in fields (R, B, N) to phases in `out`.

    panels (R, N P). path (K + 1, R, B, N) receives the phases of steps 1 .. K, unless it is empty.
    tape (S, 16 P) holds state k in slot k mod S; diagonals (K or 0, 8 P).
    """
    _, batch, n = fields.shape
    slots, rows = tape.shape[0], tape.shape[1] // 16
    states, size = address(tape), ROW * rows
    products = address(workspace)
    forces = products + size
    moved = forces + HALF * rows
    start(states, rows)
    gather(fields[run], first, batch, np.float32(scale), forces, rows)
    clear(moved, rows)
    for step in range(steps):
        source = states + size * (step % slots)
        target = states + size * ((step + 1) % slots)
        multiply(address(panels[run]), source, products, n)
        diagonal = address(diagonals) + HALF * rows * step if diagonals.size else 0
        advance(source, target, products, forces, moved, diagonal, 0, rows)
        if (step + 1) % _NORMALISE_EVERY == 0:
            normalise(target, rows)
        if path.size:
            scatter(moved, first, 0.5 * math.pi, path[step + 1, run])
    scatter(moved, first, 0.5 * math.pi, out[run])


@compiled
def noisy_tile(
    first, scale, steps, key, deviation, fields, panels, samples, replicates, out, path, tape,
    counters, noise, workspace,
):  # fmt: skip
    """Roll out eight of the M B pairs (replicate, sample) with noise, in all R runs at once.

    key: the two words of the generator; deviation: sqrt(2 mu kT dt). fields (R, B, N), panels
    (R, N P), samples (B,) and replicates (M,) uint64; out (R, M B, N), path (K + 1, R, M B, N) or
    empty. Scratch: tape (2, R, 16 P), counters (3, 8 P) uint64, noise (4, 8 P), and workspace for
    24 P + 8 R P numbers.
    """
    runs, batch, n = fields.shape
    pairs, rows = out.shape[1], tape.shape[2] // 16
    size = ROW * rows
    products = address(workspace)
    moved = products + size
    forces = moved + HALF * rows
    clear(moved, rows)
    for run in range(runs):
        start(address(tape[0, run]), rows)
        gather(fields[run], first, pairs, np.float32(scale), forces + HALF * rows * run, rows)
    for i in range(rows):
        for s in range(LANES):
            pair = min(first + s, pairs - 1)
            counters[0, LANES * i + s] = i
            counters[1, LANES * i + s] = samples[pair % batch]
            counters[2, LANES * i + s] = replicates[pair // batch]
    for step in range(steps):
        place = step % STEPS_PER_BLOCK
        if place == 0:
            normals(key, step // STEPS_PER_BLOCK, counters, np.float32(deviation), noise)
        for run in range(runs):
            source, target = address(tape[step % 2, run]), address(tape[(step + 1) % 2, run])
            force = forces + HALF * rows * run
            multiply(address(panels[run]), source, products, n)
            advance(source, target, products, force, moved, 0, address(noise[place]), rows)
            if (step + 1) % _NORMALISE_EVERY == 0:
                normalise(target, rows)
            if path.size:
                scatter_angles(target, first, path[step + 1, run])
    for run in range(runs):
        scatter_angles(address(tape[steps % 2, run]), first, out[run])


@inner
def split(adjoint, state, target, total, rows):
    """target = [lambda sin | lambda cos], and total += lambda sin."""
    for i in range(rows):
        # The tape is read backwards, which no hardware foresees across steps.
        prefetch(state + ROW * (i - rows))
        value = load(adjoint + HALF * i)
        along = value * load(state + ROW * i)
        store(target + ROW * i, along)
        store(target + ROW * i + HALF, value * load(state + ROW * i + HALF))
        store(total + HALF * i, load(total + HALF * i) + along)


@inner
def retreat(adjoint, state, products, diagonal, rows):
    """lambda_k = lambda - lambda diagonal + sin h J (lambda sin) + cos h J (lambda cos)."""
    for i in range(rows):
        prefetch(diagonal + HALF * (i - rows))
        value = load(adjoint + HALF * i)
        sin_part = load(state + ROW * i) * load(products + ROW * i)
        cos_part = load(state + ROW * i + HALF) * load(products + ROW * i + HALF)
        change = sin_part + cos_part - value * load(diagonal + HALF * i)
        store(adjoint + HALF * i, value + change)


@inner
def turn_over(state, target, rows):
    """The states (P, 16) of one step as panels of sixteen oscillators: (8 cos | 8 sin, 16)."""
    for group in range((rows + 7) // 8):
        # The last group may read on into the next slot of the tape; those columns are dropped.
        source = state + 8 * ROW * group
        place = target + (group // 2) * GRADIENT_STEPS * 16 * ROW + (group % 2) * HALF
        transpose(source + HALF, ROW, place, ROW)
        transpose(source, ROW, place + 8 * ROW, ROW)


@inner
def add_gradient(left, right, steps, gradient, rows, sixes, fours):
    """gradient += sum over steps and lanes of (lambda sin)_i cos_j - (lambda cos)_i sin_j.

    left (steps, P, 16) from `split`, right from `turn_over`; gradient is in panels (P, 16).
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


@compiled
def backward_tile(
    run, first, scale, final_gradient, panels, fields_gradient, tape, diagonals, gradient, workspace
):
    """The adjoint of `forward_tile`, lambda carried back from final_gradient (R, B, N).

    Writes the tile's part of fields_gradient (R, B, N) and adds its part of the gradient of J,
    without the factor -h, to gradient (ceil(P / 16), P, 16).
    """
    _, batch, n = final_gradient.shape
    steps = diagonals.shape[0]
    rows = tape.shape[1] // 16
    size = ROW * rows
    sixes, fours = blocks(n)
    products = address(workspace)
    adjoint = products + size
    total = adjoint + HALF * rows
    left = total + HALF * rows
    right = left + GRADIENT_STEPS * size
    gather(final_gradient[run], first, batch, np.float32(1), adjoint, rows)
    clear(total, rows)
    held = 0
    for step in range(steps - 1, -1, -1):
        state = address(tape) + size * step
        split(adjoint, state, left + size * held, total, rows)
        turn_over(state, right + 16 * ROW * held, rows)
        multiply(address(panels[run]), left + size * held, products, n)
        retreat(adjoint, state, products, address(diagonals) + HALF * rows * step, rows)
        held += 1
        if held == GRADIENT_STEPS or step == 0:
            add_gradient(left, right, held, address(gradient), rows, sixes, fours)
            held = 0
    for i in range(rows):
        store(total + HALF * i, load(total + HALF * i) * splat(np.float32(-scale)))
    scatter(total, first, 0.0, fields_gradient[run])
