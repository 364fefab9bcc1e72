# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""Training steps of a plain network without a return to Python, compiled by Numba.

A step on a batch of B examples is that of `rules.direct_training`:

    b = [W u + c_hidden ; c_output],  a = cos theta_out(t_f),  loss of a and targets, its adjoint,
    dW, dc, dJ + dJ^T on the graph,  clipping,  AdamW,  running mean.

The threads of a team take parts of a batch, some tiles of eight examples each. Whoever finishes the
last part steps the tensors, and the next batch begins; no part waits for a thread that has none.
The order of every sum is independent of the number of threads. See `tiles` for the layout of a
tile.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from entrain.kernels.compiled import compiled, inner
from entrain.kernels.counters import add_one, wait_for
from entrain.kernels.tiles import (
    HALF,
    add,
    address,
    blocks,
    clear,
    copy,
    scatter,
    sum_in_float64,
)
from entrain.kernels.tiles_adamw import clip_factor, moment_biases, update_row
from entrain.kernels.tiles_plain import roll_back, roll_out
from entrain.kernels.vectors import LANES, load, splat, store, transpose


class Examples(NamedTuple):
    """Examples, float32."""

    inputs: Any  # u, and zeros up to E columns, a multiple of eight: (M, E)
    targets: Any  # probabilities of classes, or numbers (M, O)
    weights: Any  # in the loss (M,), or empty


class Batches(NamedTuple):
    """Examples of S steps."""

    rows: Any  # examples in order (R, n) int64
    starts: Any  # position of the first row of each step, and n: (S + 1,) int64
    schedule: Any  # factor of the rates (S,) float32


class Settings(NamedTuple):
    """Settings of the runs (R,), float32, and of all runs."""

    input_rate: Any
    coupling_rate: Any
    decay: Any
    gain: Any
    smoothing: Any
    clip: Any  # largest norm of the gradient
    averaging: Any  # largest decay of the running mean
    is_squared: Any  # True for the squared error, False for the cross-entropy
    scale: Any  # h
    steps: Any  # K
    memory: Any  # m of the steps, see `tiles_plain`


class Network(NamedTuple):
    """The trained tensors, each a `Parameter`."""

    input_weights: Any  # (R, H, D)
    biases: Any  # (R, 1, N)
    couplings: Any  # (R, N, N)
    graph: Any  # 1 where two oscillators are coupled, else 0: (N, N) float32
    count: Any  # steps of AdamW so far (R, 1) float32


class Batch(NamedTuple):
    """Memory of the threads that train a run: a batch of B rounded up to eight, 0 at first."""

    inputs: Any  # (B, E)
    slopes: Any  # gradient by fields, over -h (B, N)
    panels: Any  # h J, see `tiles` (N P,)
    partial: Any  # sums of the gradient of J, over -h: (parts, ceil(P / 16), P, 16)
    by_weights: Any  # gradient by W (H, E)
    by_biases: Any  # by c (1, N)
    by_couplings: Any  # by J (N, N rounded up to eight)
    squares: Any  # of the gradient, by oscillator (N,) float64
    losses: Any  # of the examples of each part, over all steps: (parts,) float64


class Counters(NamedTuple):
    """Counters that the threads of a run share, all 0 at first: (S,) int64."""

    taken: Any  # parts of each step that a thread has begun
    done: Any  # parts of each step that are finished
    ready: Any  # the first one: steps whose parts may begin


class Tile(NamedTuple):
    """Memory of a thread."""

    tape: Any  # (K + 1, 16 P)
    diagonals: Any  # (K, 8 P)
    inputs: Any  # (E, 8)
    fields: Any  # h b (P, 8)
    adjoint: Any  # (P, 8)
    slopes: Any  # (P, 8)
    workspace: Any  # see `roll_back`
    outputs: Any  # of a sample, float64: activations and gradient by them (2, O)


@inner
def gather_inputs(examples, rows, first, batch, tile):
    """Copy the inputs of rows first .. first + 7, and write them as E vectors."""
    columns = batch.inputs.shape[1]
    source, target = address(batch.inputs[first]), address(tile.inputs)
    for s in range(LANES):
        place = source + 4 * columns * s
        if first + s < len(rows):
            copy(address(examples.inputs[rows[first + s]]), place, columns // LANES)
        else:
            clear(place, columns // LANES)
    for i in range(0, columns, LANES):
        transpose(source + 4 * i, 4 * columns, target + HALF * i, HALF)


@inner
def write_fields(network, run, scale, tile):
    """Fields h b of eight samples from their inputs."""
    weights, biases = network.input_weights.raw[run], network.biases.raw[run, 0]
    hidden, inputs = weights.shape
    source, target, factor = address(tile.inputs), address(tile.fields), splat(np.float32(scale))
    for i in range(0, hidden, 4):  # four sums hide the latency of one
        i1, i2, i3 = min(i + 1, hidden - 1), min(i + 2, hidden - 1), min(i + 3, hidden - 1)
        sum0, sum1 = splat(biases[i]), splat(biases[i1])
        sum2, sum3 = splat(biases[i2]), splat(biases[i3])
        for d in range(inputs):
            value = load(source + HALF * d)
            sum0 = sum0 + splat(weights[i, d]) * value
            sum1 = sum1 + splat(weights[i1, d]) * value
            sum2 = sum2 + splat(weights[i2, d]) * value
            sum3 = sum3 + splat(weights[i3, d]) * value
        store(target + HALF * i, factor * sum0)
        store(target + HALF * i1, factor * sum1)
        store(target + HALF * i2, factor * sum2)
        store(target + HALF * i3, factor * sum3)
    for i in range(hidden, len(biases)):
        store(target + HALF * i, factor * splat(biases[i]))


@inner
def cross_entropy(activations, targets, smoothing, gain, slopes):
    """Cross-entropy of softmax(gain a) with smoothed probabilities; writes its gradient by a."""
    outputs = len(activations)
    largest = activations[0]
    for o in range(1, outputs):
        largest = max(largest, activations[o])
    total = 0.0
    for o in range(outputs):
        total += math.exp(gain * (activations[o] - largest))
    log_total, loss = math.log(total), 0.0
    for o in range(outputs):
        logarithm = gain * (activations[o] - largest) - log_total
        target = targets[o] * (1.0 - smoothing) + smoothing / outputs
        loss -= target * logarithm
        slopes[o] = gain * (math.exp(logarithm) - target)
    return loss


@inner
def squared_error(activations, targets, slopes):
    """Mean over the outputs of (a - z)^2; writes its gradient by a."""
    outputs, loss = len(activations), 0.0
    for o in range(outputs):
        error = np.float64(activations[o]) - targets[o]
        loss += error * error / outputs
        slopes[o] = 2.0 * error / outputs
    return loss


@inner
def write_loss(examples, settings, run, rows, first, hidden, tile):
    """Write the gradient of the mean loss by the phases; returns the losses of eight rows."""
    outputs = examples.targets.shape[1]
    final, adjoint = tile.tape[settings.steps], tile.adjoint
    activations, slopes = tile.outputs[0], tile.outputs[1]
    clear(address(adjoint), len(adjoint))
    total = 0.0
    for s in range(min(LANES, len(rows) - first)):
        row = rows[first + s]
        for o in range(outputs):
            activations[o] = final[16 * (hidden + o) + LANES + s]
        if settings.is_squared:
            loss = squared_error(activations, examples.targets[row], slopes)
        else:
            gain, smoothing = settings.gain[run], settings.smoothing[run]
            loss = cross_entropy(activations, examples.targets[row], smoothing, gain, slopes)
        weight = np.float64(examples.weights[row]) if examples.weights.size else 1.0
        total += weight * loss
        for o in range(outputs):
            sine = np.float64(final[16 * (hidden + o) + s])
            adjoint[hidden + o, s] = -sine * slopes[o] * weight / len(rows)
    return total


@inner
def add_part(network, run, examples, settings, rows, part, share, batch, tile):
    """The gradient by fields of a part of a batch, and its sum of that by J."""
    hidden, n = network.input_weights.raw.shape[1], len(batch.squares)
    tiles = (len(rows) + LANES - 1) // LANES
    panels, memory, partial = address(batch.panels), settings.memory, batch.partial[part]
    fields, adjoint, slopes = address(tile.fields), address(tile.adjoint), address(tile.slopes)
    clear(address(partial), partial.size // LANES)
    for number in range(part * share, min(tiles, (part + 1) * share)):
        first = LANES * number
        gather_inputs(examples, rows, first, batch, tile)
        write_fields(network, run, settings.scale, tile)
        roll_out(panels, fields, tile.tape, tile.diagonals, tile.workspace, memory, n)
        batch.losses[part] += write_loss(examples, settings, run, rows, first, hidden, tile)
        roll_back(
            panels, adjoint, tile.tape, tile.diagonals, slopes, partial, tile.workspace, memory, n
        )
        scatter(slopes, first, np.float32(1), batch.slopes)


@inner
def add_parts(batch, parts):
    """Add the partial sums of the gradient of J to the first of them."""
    total, vectors = address(batch.partial[0]), batch.partial[0].size // LANES
    for part in range(1, parts):
        add(address(batch.partial[part]), np.float32(1), total, vectors)


@inner
def sum_of_squares(row):
    """The sum of the squares of a multiple of eight values."""
    total = splat(np.float32(0))
    for i in range(0, len(row), LANES):
        value = load(address(row) + 4 * i)
        total = total + value * value
    return sum_in_float64(total)


@inner
def write_gradients(network, scale, count, batch):
    """The gradients of J, W and c, and their squares, from `count` samples."""
    hidden = network.input_weights.raw.shape[1]
    by_fields, total = batch.slopes, batch.partial[0]
    factor, vectors = np.float32(-scale), batch.inputs.shape[1] // LANES
    for i in range(len(network.graph)):
        row, graph = network.couplings.gradient[i], network.graph[i]
        column = total[i // 16, :, i % 16]
        for panel in range(len(total)):
            values = total[panel, i]
            for j in range(16 * panel, min(16 * panel + 16, len(graph))):
                row[j] = graph[j] * (values[j - 16 * panel] + column[j]) * factor
        by_bias = np.float32(0)
        for s in range(count):
            by_bias += by_fields[s, i] * factor
        network.biases.gradient[0, i] = by_bias
        squares = sum_of_squares(row) + np.float64(by_bias) * by_bias
        if i < hidden:
            weights = network.input_weights.gradient[i]
            clear(address(weights), vectors)
            for s in range(count):
                add(address(batch.inputs[s]), by_fields[s, i] * factor, address(weights), vectors)
            squares += sum_of_squares(weights)
        batch.squares[i] = squares


@inner
def update(network, run, settings, factor, count, batch):
    """One step of AdamW, with the rates times `factor`."""
    one = np.float32(1)
    clip = clip_factor(batch.squares, settings.clip)
    biases = moment_biases(count)
    weight = np.float32(1.0 - min((1.0 + count) / (10.0 + count), settings.averaging))
    rate = settings.input_rate[run] * factor
    decay = one - rate * settings.decay[run]
    for i in range(network.input_weights.raw.shape[1]):
        update_row(network.input_weights, run, i, clip, rate, decay, biases, weight)
    rate = settings.coupling_rate[run] * factor
    for i in range(len(network.graph)):
        update_row(network.couplings, run, i, clip, rate, one, biases, weight)
    update_row(network.biases, run, 0, clip, rate, one, biases, weight)
    pack(network, run, settings.scale, batch)


@inner
def pack(network, run, scale, batch):
    """The symmetric J, times h, as panels; see `tiles`."""
    couplings, panels = network.couplings.raw[run], batch.panels
    n = len(couplings)
    sixes, _ = blocks(n)
    for i in range(n):
        first, width = i - i % 6, 6
        if i >= 6 * sixes:
            first, width = i - (i - 6 * sixes) % 4, 4
        for j in range(n):
            panels[first * n + width * j + i - first] = couplings[i, j] * np.float32(scale)


@compiled
def train_run(run, thread, network, examples, batches, settings, batch, tile, counters):
    """All steps of a run, with the other threads of a team: thread 0 begins."""
    ready, count = address(counters.ready), np.float64(network.count[run, 0])
    if thread == 0:
        pack(network, run, settings.scale, batch)
        add_one(ready)
    for step in range(len(batches.schedule)):
        rows = batches.rows[run, batches.starts[step] : batches.starts[step + 1]]
        tiles = (len(rows) + LANES - 1) // LANES
        share = (tiles + len(batch.partial) - 1) // len(batch.partial)
        parts = (tiles + share - 1) // share
        taken, done = address(counters.taken) + 8 * step, address(counters.done) + 8 * step
        wait_for(ready, step + 1)
        part = add_one(taken)
        while part < parts:
            add_part(network, run, examples, settings, rows, part, share, batch, tile)
            if add_one(done) == parts - 1:
                add_parts(batch, parts)
                write_gradients(network, settings.scale, len(rows), batch)
                factor = batches.schedule[step]
                update(network, run, settings, factor, count + step + 1.0, batch)
                add_one(ready)
            part = add_one(taken)
    wait_for(ready, len(batches.schedule) + 1)
    if thread == 0:
        network.count[run, 0] = np.float32(count + len(batches.schedule))
