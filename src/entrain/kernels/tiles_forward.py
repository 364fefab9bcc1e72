# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Rollouts of one tile of eight samples, compiled by Numba; see `tiles` for its layout.

With h = mu dt folded into b, J and s, a step rotations (sin, cos) by the increment

    d = -(b + J cos) sin + cos J sin + noise

with short polynomials; the phase itself is the start plus the sum of the increments. Other terms
enter through the products (see `tiles_terms`). Models without any, whose `terms` are None, compile
to code that has none.
"""

from __future__ import annotations

import math

import numpy as np

from entrain.kernels.compiled import compiled, inner
from entrain.kernels.normals import normals
from entrain.kernels.tiles import HALF, ROW, add, address, clear, gather, multiply
from entrain.kernels.tiles_terms import (
    apply_terms,
    fields_at,
    gather_terms,
)
from entrain.kernels.vectors import LANES, any_above, lane, load, splat, store, with_lane
from entrain.physics.noise import STEPS_PER_BLOCK

NORMALISE_EVERY = 32
SMALL_ANGLE = np.float32(0.5)  # up to here the polynomials are exact to rounding


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
        if any_above(angle, SMALL_ANGLE):
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
def is_recorded(path, step, steps):
    """True if the phases after a step are recorded."""
    return path.size > 0 and (step + 1) % (steps // (path.shape[0] - 1)) == 0


@compiled
def forward_tile(
    run, first, scale, steps, fields, couplings, terms, start, out, path, tape, diagonals,
    workspace,
):  # fmt: skip
    """Roll out samples first .. first + 7 of a run in fields (R, B, N) to phases in `out`.

    scale: h. couplings: `Dense` or `Sparse`. terms: `Terms`, or None. start (R, B or 1, N), or
    empty. path (K / n + 1, R, B, N) receives the phases of every n-th step, unless it is empty.
    tape (S, 16 P) holds state k in slot k mod S; diagonals (K or 0, 8 P). Scratch: workspace
    (80 P + 8 T P,) for T local terms.
    """
    _, batch, n = fields.shape
    slots, rows = tape.shape[0], tape.shape[1] // 16
    states, size, half = address(tape), ROW * rows, HALF * rows
    products = address(workspace)
    twice, of_twice = products + size, products + 2 * size
    constant = of_twice + size
    moved, driven, varying = constant + half, constant + 2 * half, constant + 3 * half
    values = varying + half
    gather(fields[run], first, batch, np.float32(scale), constant, rows)
    forces = constant
    if terms is not None:
        gather_terms(terms, run, first, batch, values, rows)
        clear(driven, rows)
    set_states(states, start[run], first, batch, rows)
    clear(moved, rows)
    for step in range(steps):
        source = states + size * (step % slots)
        target = states + size * ((step + 1) % slots)
        multiply(couplings, 0, run, source, products, n)
        if terms is not None:
            space = twice, of_twice
            apply_terms(terms, couplings, run, step, products, source, values, space, rows, n)
            forces = fields_at(
                terms.scheduled_fields, terms.drive, terms, run, step, first, batch, constant,
                driven, varying, rows,
            )  # fmt: skip
        diagonal = address(diagonals) + half * step if diagonals.size else 0
        advance(source, target, products, forces, moved, diagonal, 0, rows)
        if (step + 1) % NORMALISE_EVERY == 0:
            normalise(target, rows)
        if is_recorded(path, step, steps):
            at = (step + 1) // (steps // (path.shape[0] - 1))
            scatter_phases(moved, first, start[run], path[at, run])
    scatter_phases(moved, first, start[run], out[run])


@compiled
def noisy_tile(
    first, scale, steps, key, first_step, deviations, fields, couplings, terms, start, samples,
    replicates, out, path, tape, diagonals, counters, noise, workspace,
):  # fmt: skip
    """Roll out eight of the M B pairs (replicate, sample) with noise, in all R runs.

    key: the two words of the generator; first_step: number of the first step, for the noise;
    deviations: sqrt(2 mu kT dt), constant (1,) or of every step (K,). fields (R, B, N), samples
    (B,) and replicates (M, B) uint64; out (R, M B, N), path (K / n + 1, R, M B, N) or empty. tape
    (R, S, 16 P) holds state k in slot k mod S; diagonals (R, K or 0, 8 P). Scratch: counters
    (3, 8 P) uint64, noise (5, 8 P), workspace (56 P + (24 + 8 T) R P,) for T local terms.
    """
    runs, batch, n = fields.shape
    pairs, slots, rows = out.shape[1], tape.shape[1], tape.shape[2] // 16
    size, half = ROW * rows, HALF * rows
    products = address(workspace)
    twice, of_twice = products + size, products + 2 * size
    moved = of_twice + size
    own = moved + half
    own_size = 3 * half
    if terms is not None:
        own_size += half * len(terms.values)
    clear(moved, rows)
    for run in range(runs):
        set_states(address(tape[run]), start[run], first, pairs, rows)
        constant = own + own_size * run
        gather(fields[run], first, pairs, np.float32(scale), constant, rows)
        if terms is not None:
            clear(constant + half, rows)
            gather_terms(terms, run, first, pairs, constant + 3 * half, rows)
    for i in range(rows):
        for s in range(LANES):
            pair = min(first + s, pairs - 1)
            counters[0, LANES * i + s] = i
            counters[1, LANES * i + s] = samples[pair % batch]
            counters[2, LANES * i + s] = replicates[pair // batch, pair % batch]
    for step in range(steps):
        part = (first_step + step) % STEPS_PER_BLOCK
        varies = len(deviations) > 1
        if part == 0 or step == 0:
            deviation = np.float32(1) if varies else np.float32(deviations[0])
            normals(key, (first_step + step) // STEPS_PER_BLOCK, counters, deviation, noise[:4])
        forcing = address(noise[part])
        if varies:
            forcing = address(noise[4])
            clear(forcing, rows)
            add(address(noise[part]), np.float32(deviations[step]), forcing, rows)
        for run in range(runs):
            source = address(tape[run]) + size * (step % slots)
            target = address(tape[run]) + size * ((step + 1) % slots)
            constant = own + own_size * run
            forces = constant
            multiply(couplings, 0, run, source, products, n)
            if terms is not None:
                values, space = constant + 3 * half, (twice, of_twice)
                apply_terms(terms, couplings, run, step, products, source, values, space, rows, n)
                driven, varying = constant + half, constant + 2 * half
                forces = fields_at(
                    terms.scheduled_fields, terms.drive, terms, run, step, first, pairs, constant,
                    driven, varying, rows,
                )  # fmt: skip
            diagonal = address(diagonals[run]) + half * step if diagonals.size else 0
            advance(source, target, products, forces, moved, diagonal, forcing, rows)
            if (step + 1) % NORMALISE_EVERY == 0:
                normalise(target, rows)
            if is_recorded(path, step, steps):
                at = (step + 1) // (steps // (path.shape[0] - 1))
                scatter_angles(target, first, path[at, run])
    for run in range(runs):
        scatter_angles(address(tape[run]) + size * (steps % slots), first, out[run])
