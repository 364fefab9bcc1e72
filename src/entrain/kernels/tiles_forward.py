# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Rollouts of one tile of eight samples, compiled by Numba; see `tiles` for its layout.

With h = mu dt folded into b, J and s, a step rotations (sin, cos) by the increment

    d = -(b + J cos) sin + cos J sin + noise

with short polynomials; the phase itself is the start plus the sum of the increments. Other terms
enter through the products (see `apply_terms`), so that models with and without them share the code
of a step.
"""

from __future__ import annotations

import math

import numpy as np

from entrain.kernels.normals import normals
from entrain.kernels.tiles import (
    HALF,
    ROW,
    address,
    clear,
    compiled,
    double_angle,
    gather,
    inner,
    multiply,
)
from entrain.kernels.vectors import LANES, any_above, lane, load, splat, store, with_lane
from entrain.physics.noise import STEPS_PER_BLOCK

_NORMALISE_EVERY = 32
_SMALL_ANGLE = np.float32(0.5)  # up to here the polynomials are exact to rounding


@inner
def rotation(angle):
    """sin and 1 - cos of any angles."""
    sine = versine = angle
    for i in range(LANES):
        x = np.float64(lane(angle, i))
        sine = with_lane(sine, i, np.float32(math.sin(x)))
        versine = with_lane(versine, i, np.float32(1.0 - math.cos(x)))
    return sine, versine


@inner
def small_rotation(angle):
    """sin and 1 - cos of angles up to 1/2."""
    square = angle * angle
    odd = splat(np.float32(1 / 120)) - square * splat(np.float32(1 / 5040))
    odd = square * odd - splat(np.float32(1 / 6))
    even = splat(np.float32(1 / 720)) - square * splat(np.float32(1 / 40320))
    even = square * even - splat(np.float32(1 / 24))
    return angle + angle * square * odd, square * (splat(np.float32(0.5)) + square * even)


@inner
def advance(source, target, products, fields, moved, diagonal, noise, rows):
    """One step of P oscillators: rotate the states, add the increments to `moved`.

    `diagonal` and `noise` are addresses, or 0. Writes h (cos (b + J cos) + sin J sin) to
    `diagonal`, and adds `noise` to the increments.
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
        if any_above(angle, _SMALL_ANGLE):
            sine, versine = rotation(angle)
        else:
            sine, versine = small_rotation(angle)
        store(target + ROW * i, sin + (cos * sine - sin * versine))
        store(target + ROW * i + HALF, cos - (sin * sine + cos * versine))


@inner
def normalise(state, rows):
    """Restore sin^2 + cos^2 = 1 by a Newton step: rounding lets the radius drift."""
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        factor = splat(np.float32(1.5)) - splat(np.float32(0.5)) * (sin * sin + cos * cos)
        store(state + ROW * i, sin * factor)
        store(state + ROW * i + HALF, cos * factor)


@inner
def apply_terms(products, state, drift, injection, cos_lag, sin_lag, rows):
    """Add lag a, frequencies w and injection s to the products, in place:

        J sin <- cos(a) J sin - sin(a) J cos + dt w cos - 2 s sin,
        J cos <- cos(a) J cos + sin(a) J sin - dt w sin + 2 s cos.

    With sin^2 + cos^2 = 1, cos J sin - sin (b + J cos) gains dt w - 4 s sin cos, the terms of the
    model. The diagonal gains 2 s cos(2 theta), half of the true term: the adjoint adds the rest.
    """
    cos_a, sin_a = splat(cos_lag), splat(sin_lag)
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        j_sin, j_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        turn, strength = load(drift + HALF * i), load(injection + HALF * i)
        twice = strength + strength
        turned_sin = cos_a * j_sin - sin_a * j_cos
        turned_cos = cos_a * j_cos + sin_a * j_sin
        store(products + ROW * i, turned_sin + (turn * cos - twice * sin))
        store(products + ROW * i + HALF, turned_cos - (turn * sin - twice * cos))


@inner
def apply_harmonic(products, state, twice, of_twice, harmonic, rows):
    """Add the second harmonic (c, d) to the products, in place.

    From S and C, sin and cos of 2 theta, in `twice` and h J S and h J C in `of_twice`: with
    (J S)_h = c J S - d J C and (J C)_h = c J C + d J S the torque and its derivative are

        T = S (J C)_h - C (J S)_h,   D = 2 [ C (J C)_h + S (J S)_h ],
        J sin <- J sin + D sin - T cos,   J cos <- J cos + D cos + T sin,

    so that sin (J cos) - cos (J sin) gains T, and the diagonal D.
    """
    c, d = splat(harmonic[0]), splat(harmonic[1])
    for i in range(rows):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        sin_2, cos_2 = load(twice + ROW * i), load(twice + ROW * i + HALF)
        j_sin, j_cos = load(of_twice + ROW * i), load(of_twice + ROW * i + HALF)
        turned_sin, turned_cos = c * j_sin - d * j_cos, c * j_cos + d * j_sin
        torque = sin_2 * turned_cos - cos_2 * turned_sin
        half = cos_2 * turned_cos + sin_2 * turned_sin
        slope = half + half
        first_sin, first_cos = load(products + ROW * i), load(products + ROW * i + HALF)
        store(products + ROW * i, first_sin + (slope * sin - torque * cos))
        store(products + ROW * i + HALF, first_cos + (slope * cos + torque * sin))


@inner
def set_states(state, phases, first, count, rows):
    """The states of rows first .. first + 7 of phases (B or 1, N); of pi/2 if empty."""
    batch, n = phases.shape
    for i in range(rows):
        sin, cos = splat(np.float32(1)), splat(np.float32(0))
        if i < n:
            for s in range(min(LANES, count - first)):
                phase = np.float64(phases[(first + s) % batch, i])
                sin = with_lane(sin, s, np.float32(math.sin(phase)))
                cos = with_lane(cos, s, np.float32(math.cos(phase)))
        store(state + ROW * i, sin)
        store(state + ROW * i + HALF, cos)


@inner
def scatter_phases(moved, first, start, phases):
    """Write start (B or 1, N), or pi/2, plus increments as rows first .. first + 7 of (B, N)."""
    batch, n = phases.shape
    if start.size:
        for i in range(n):
            value = load(moved + HALF * i)
            for s in range(min(LANES, batch - first)):
                begin = np.float64(start[(first + s) % start.shape[0], i])
                phases[first + s, i] = np.float64(lane(value, s)) + begin
        return
    for i in range(n):
        value = load(moved + HALF * i)
        for s in range(min(LANES, batch - first)):
            phases[first + s, i] = np.float64(lane(value, s)) + 0.5 * math.pi


@inner
def scatter_angles(state, first, phases):
    """Write atan2(sin, cos) of the states as rows first .. first + 7 of phases (B, N)."""
    batch, n = phases.shape
    for i in range(n):
        sin, cos = load(state + ROW * i), load(state + ROW * i + HALF)
        for s in range(min(LANES, batch - first)):
            angle = math.atan2(np.float64(lane(sin, s)), np.float64(lane(cos, s)))
            phases[first + s, i] = angle


@inner
def lag_rotation(rotations, run):
    """cos and sin of a run's lag."""
    if rotations.size:
        return rotations[run, 0], rotations[run, 1]
    return np.float32(1), np.float32(0)


@compiled
def forward_tile(
    run, first, scale, time_step, steps, fields, panels, terms, out, path, tape, diagonals,
    workspace,
):  # fmt: skip
    """Roll out samples first .. first + 7 of a run in fields (R, B, N) to phases in `out`.

    scale: h. panels (R, N P). path (K + 1, R, B, N) receives the phases of steps 1 .. K, unless it
    is empty. tape (S, 16 P) holds state k in slot k mod S; diagonals (K or 0, 8 P). Scratch:
    workspace (80 P,).
    """
    _, batch, n = fields.shape
    slots, rows = tape.shape[0], tape.shape[1] // 16
    states, size = address(tape), ROW * rows
    products = address(workspace)
    forces = products + size
    moved = forces + HALF * rows
    injection = moved + HALF * rows
    drift = injection + HALF * rows
    twice = drift + HALF * rows
    of_twice = twice + size
    has_terms = terms.rotations.size + terms.frequencies.size + terms.injection.size > 0
    cos_lag, sin_lag = lag_rotation(terms.rotations, run)
    gather(fields[run], first, batch, np.float32(scale), forces, rows)
    gather(terms.injection[run], first, batch, np.float32(scale), injection, rows)
    gather(terms.frequencies[run], first, batch, np.float32(time_step), drift, rows)
    set_states(states, terms.start[run], first, batch, rows)
    clear(moved, rows)
    for step in range(steps):
        source = states + size * (step % slots)
        target = states + size * ((step + 1) % slots)
        multiply(address(panels[run]), source, products, n)
        if has_terms:
            apply_terms(products, source, drift, injection, cos_lag, sin_lag, rows)
        if terms.harmonic.size:
            double_angle(source, twice, rows)
            multiply(address(panels[run]), twice, of_twice, n)
            apply_harmonic(products, source, twice, of_twice, terms.harmonic[run], rows)
        diagonal = address(diagonals) + HALF * rows * step if diagonals.size else 0
        advance(source, target, products, forces, moved, diagonal, 0, rows)
        if (step + 1) % _NORMALISE_EVERY == 0:
            normalise(target, rows)
        if path.size:
            scatter_phases(moved, first, terms.start[run], path[step + 1, run])
    scatter_phases(moved, first, terms.start[run], out[run])


@compiled
def noisy_tile(
    first, scale, time_step, steps, key, deviation, fields, panels, terms, samples, replicates,
    out, path, tape, diagonals, counters, noise, workspace,
):  # fmt: skip
    """Roll out eight of the M B pairs (replicate, sample) with noise, in all R runs.

    key: the two words of the generator; deviation: sqrt(2 mu kT dt). fields (R, B, N), panels
    (R, N P), samples (B,) and replicates (M,) uint64; out (R, M B, N), path (K + 1, R, M B, N) or
    empty. tape (R, S, 16 P) holds state k in slot k mod S; diagonals (R, K or 0, 8 P). Scratch:
    counters (3, 8 P) uint64, noise (4, 8 P), workspace (56 P + 24 R P,).
    """
    runs, batch, n = fields.shape
    pairs, slots, rows = out.shape[1], tape.shape[1], tape.shape[2] // 16
    size, half = ROW * rows, HALF * rows
    products = address(workspace)
    twice = products + size
    of_twice = twice + size
    moved = of_twice + size
    forces = moved + half
    injections = forces + half * runs
    drifts = injections + half * runs
    has_terms = terms.rotations.size + terms.frequencies.size + terms.injection.size > 0
    clear(moved, rows)
    for run in range(runs):
        set_states(address(tape[run]), terms.start[run], first, pairs, rows)
        gather(fields[run], first, pairs, np.float32(scale), forces + half * run, rows)
        injection, drift = injections + half * run, drifts + half * run
        gather(terms.injection[run], first, pairs, np.float32(scale), injection, rows)
        gather(terms.frequencies[run], first, pairs, np.float32(time_step), drift, rows)
    for i in range(rows):
        for s in range(LANES):
            pair = min(first + s, pairs - 1)
            counters[0, LANES * i + s] = i
            counters[1, LANES * i + s] = samples[pair % batch]
            counters[2, LANES * i + s] = replicates[pair // batch]
    for step in range(steps):
        part = step % STEPS_PER_BLOCK
        if part == 0:
            normals(key, step // STEPS_PER_BLOCK, counters, np.float32(deviation), noise)
        for run in range(runs):
            source = address(tape[run]) + size * (step % slots)
            target = address(tape[run]) + size * ((step + 1) % slots)
            multiply(address(panels[run]), source, products, n)
            if has_terms:
                cos_lag, sin_lag = lag_rotation(terms.rotations, run)
                drift, injection = drifts + half * run, injections + half * run
                apply_terms(products, source, drift, injection, cos_lag, sin_lag, rows)
            if terms.harmonic.size:
                double_angle(source, twice, rows)
                multiply(address(panels[run]), twice, of_twice, n)
                apply_harmonic(products, source, twice, of_twice, terms.harmonic[run], rows)
            force, forcing = forces + half * run, address(noise[part])
            diagonal = address(diagonals[run]) + half * step if diagonals.size else 0
            advance(source, target, products, force, moved, diagonal, forcing, rows)
            if (step + 1) % _NORMALISE_EVERY == 0:
                normalise(target, rows)
            if path.size:
                scatter_angles(target, first, path[step + 1, run])
    for run in range(runs):
        scatter_angles(address(tape[run]) + size * (steps % slots), first, out[run])
