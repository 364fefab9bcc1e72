/** Rollouts of a network, as the package computes them but in double precision.
 *
 *     theta <- theta + dt f(theta) + sqrt(2 mu kT dt) eta,   theta(0) given, pi/2 by default
 *     f = w - mu ( sin (b + (J cos)_a) - cos (J sin)_a + 4 s sin cos )
 *     (J cos)_a = cos(a) J cos + sin(a) J sin,   (J sin)_a = cos(a) J sin - sin(a) J cos
 *     E = - sum b cos - 1/2 cos.J cos - 1/2 sin.J sin - sum s cos(2 theta) - sum (w / mu) theta
 *
 * E has no place for a lag a: with one, it may rise. Terms that are absent are not computed with.
 * Phases are wrapped to (-pi, pi] when kT > 0, and unwrapped at kT = 0. */

import { phaseModelOf } from "./damage";
import { isExact, needsVelocity, readingOf, type Reading } from "./hardware/readout";
import type { Realised } from "./hardware/realised";
import { normals } from "./noise";
import { decidedAt, meanOf, readOut, winnersOf } from "./readout";
import type { Model, PhaseModel, Physics, Rollout } from "./types";

const LARGEST_TEMPERATURE = 1e30; // its float32 bits are part of the noise's key

export interface SimulationOptions {
  replicates: 1 | 10; // noisy copies; at kT = 0 there is one
  sample: number; // index of the image in the thermal noise
  shown: number; // the replicate whose phases and energy are kept
}

/** The network's own physics: kT = 0 and nothing changed. */
export function unchangedPhysics(model: Model): Physics {
  return {
    temperature: 0,
    observationTime: model.observationTime,
    steps: model.steps,
    hardware: {},
    chip: 0,
    couplingBits: null,
    mismatch: 0,
    cut: [],
    silenced: [],
    seed: 0,
  };
}

/** The rollout of a network on a chip under local fields b (N), as `fieldsOn` gives them. */
export function simulate(
  model: Realised,
  fields: Float64Array,
  physics: Physics,
  options: SimulationOptions,
): Rollout {
  const n = model.hidden + model.outputs;
  checkPhysics(physics);
  if (fields.length !== n) throw new Error(`there must be ${n} fields, got ${fields.length}`);
  const { steps, temperature, seed } = physics;
  const count = temperature === 0 ? 1 : options.replicates;
  const shown = temperature === 0 ? 0 : options.shown;
  if (!Number.isInteger(shown) || shown < 0 || shown >= count) {
    throw new Error(`the trajectory shown must be one of 0 to ${count - 1}, got ${shown}`);
  }
  const dynamics: Dynamics = {
    oscillators: n,
    outputs: model.outputs,
    mobility: model.mobility,
    timeStep: physics.observationTime / steps,
    steps,
  };
  const acting = phaseModelOf(model, fields, physics);
  const scale = Math.sqrt(2 * model.mobility * temperature * dynamics.timeStep);
  const record: Record = {
    phases: new Float64Array((steps + 1) * n),
    energy: new Float64Array(steps + 1),
  };
  const replicates: Float64Array[] = [];
  const readings: Float64Array[] = [];
  for (let m = 0; m < count; m++) {
    const noise =
      temperature === 0 ? null : normals(seed, temperature, m, options.sample, n, steps);
    const run = trajectory(acting, dynamics, noise, scale, m === shown ? record : null);
    replicates.push(run.activations);
    const when = { seed, sample: options.sample, replicate: m, time: physics.observationTime };
    readings.push(read(model, run, acting, dynamics, { chip: model.chip, ...when }));
  }
  const activations = meanOf(replicates);
  const winners = winnersOf(activations, model.outputs);
  return {
    steps,
    phases: record.phases,
    activations,
    replicates,
    readings,
    energy: record.energy,
    winners,
    decidedAt: decidedAt(winners),
  };
}

/** What the chip reads (O) at the end of a trajectory. */
function read(
  { hidden, hardware: { readout } }: Realised,
  { activations, phases }: Trajectory,
  acting: PhaseModel,
  dynamics: Dynamics,
  reading: Reading,
): Float64Array {
  if (readout === undefined || isExact(readout)) {
    return activations.slice(dynamics.steps * dynamics.outputs);
  }
  const velocity = needsVelocity(readout) ? velocityOf(phases, acting, dynamics) : null;
  return readingOf(readout, phases.slice(hidden), velocity?.slice(hidden) ?? null, reading);
}

interface Trajectory {
  activations: Float64Array; // (T, O)
  phases: Float64Array; // (N) at the end
}

interface Dynamics {
  oscillators: number; // N; an array.length in its place makes the loops slower
  outputs: number; // O
  mobility: number;
  timeStep: number;
  steps: number;
}

interface Record {
  phases: Float64Array; // (T, N)
  energy: Float64Array; // (T)
}

/** One trajectory: output activations (T, O); phases and energy go into `record`.
 * `noise` (steps, N) is multiplied by `scale`, or null at kT = 0. */
function trajectory(
  { fields, couplings, frequencies, injection, lag, start }: PhaseModel,
  { oscillators: n, outputs, mobility, timeStep, steps }: Dynamics,
  noise: Float64Array | null,
  scale: number,
  record: Record | null,
): Trajectory {
  const activations = new Float64Array((steps + 1) * outputs);
  const phases = start.slice();
  const cos = new Float64Array(n);
  const sin = new Float64Array(n);
  const jCos = new Float64Array(n);
  const jSin = new Float64Array(n);
  for (let step = 0; step <= steps; step++) {
    for (let i = 0; i < n; i++) {
      cos[i] = Math.cos(phases[i]!);
      sin[i] = Math.sin(phases[i]!);
    }
    readOut(cos, outputs, activations, step);
    if (record === null && step === steps) break;
    multiply(couplings, n, cos, sin, jCos, jSin);
    if (record !== null) {
      record.phases.set(phases, step * n);
      let energy = 0;
      for (let i = 0; i < n; i++) {
        energy -= cos[i]! * (fields[i]! + 0.5 * jCos[i]!) + 0.5 * sin[i]! * jSin[i]!;
        if (injection !== null) energy -= injection[i]! * Math.cos(2 * phases[i]!);
        if (frequencies !== null) energy -= (frequencies[i]! / mobility) * phases[i]!;
      }
      record.energy[step] = energy;
    }
    if (step === steps) break;
    if (lag !== null) turn(jCos, jSin, lag);
    for (let i = 0; i < n; i++) {
      let torque = sin[i]! * (fields[i]! + jCos[i]!) - cos[i]! * jSin[i]!;
      if (injection !== null) torque += 4 * injection[i]! * sin[i]! * cos[i]!;
      let moved = phases[i]! - timeStep * mobility * torque;
      if (frequencies !== null) moved += timeStep * frequencies[i]!;
      phases[i] = noise === null ? moved : wrap(moved + scale * noise[step * n + i]!);
    }
  }
  return { activations, phases };
}

/** d theta / dt (N) at phases (N). */
function velocityOf(
  phases: Float64Array,
  { fields, couplings, frequencies, injection, lag }: PhaseModel,
  { oscillators: n, mobility }: Dynamics,
): Float64Array {
  const [cos, sin] = [phases.map(Math.cos), phases.map(Math.sin)];
  const [jCos, jSin] = [new Float64Array(n), new Float64Array(n)];
  multiply(couplings, n, cos, sin, jCos, jSin);
  if (lag !== null) turn(jCos, jSin, lag);
  return phases.map((_, i) => {
    let torque = sin[i]! * (fields[i]! + jCos[i]!) - cos[i]! * jSin[i]!;
    if (injection !== null) torque += 4 * injection[i]! * sin[i]! * cos[i]!;
    return (frequencies === null ? 0 : frequencies[i]!) - mobility * torque;
  });
}

/** J cos and J sin for J (n, n), two rows at a time: four independent sums keep the adders busy. */
function multiply(
  couplings: Float64Array,
  n: number,
  cos: Float64Array,
  sin: Float64Array,
  jCos: Float64Array,
  jSin: Float64Array,
): void {
  let i = 0;
  for (; i + 1 < n; i += 2) {
    const row = i * n;
    const next = row + n;
    let cosA = 0;
    let sinA = 0;
    let cosB = 0;
    let sinB = 0;
    for (let j = 0; j < n; j++) {
      const c = cos[j]!;
      const s = sin[j]!;
      const a = couplings[row + j]!;
      const b = couplings[next + j]!;
      cosA += a * c;
      sinA += a * s;
      cosB += b * c;
      sinB += b * s;
    }
    jCos[i] = cosA;
    jSin[i] = sinA;
    jCos[i + 1] = cosB;
    jSin[i + 1] = sinB;
  }
  if (i < n) {
    let cosA = 0;
    let sinA = 0;
    for (let j = 0; j < n; j++) {
      cosA += couplings[i * n + j]! * cos[j]!;
      sinA += couplings[i * n + j]! * sin[j]!;
    }
    jCos[i] = cosA;
    jSin[i] = sinA;
  }
}

/** J cos and J sin turned by the lag, in place. */
function turn(jCos: Float64Array, jSin: Float64Array, lag: number): void {
  const c = Math.cos(lag);
  const s = Math.sin(lag);
  for (let i = 0; i < jCos.length; i++) {
    const along = jCos[i]!;
    const across = jSin[i]!;
    jCos[i] = c * along + s * across;
    jSin[i] = c * across - s * along;
  }
}

/** The representative of a phase on the principal branch (-pi, pi]. */
function wrap(phase: number): number {
  return Math.abs(phase) > Math.PI ? Math.atan2(Math.sin(phase), Math.cos(phase)) : phase;
}

function checkPhysics({ temperature, observationTime, steps, seed }: Physics): void {
  if (!Number.isFinite(temperature) || temperature < 0 || temperature > LARGEST_TEMPERATURE) {
    throw new Error(`the temperature must be a number from 0 on, got ${temperature}`);
  }
  if (!Number.isFinite(observationTime) || observationTime <= 0) {
    throw new Error(`the observation time must be positive, got ${observationTime}`);
  }
  if (!Number.isInteger(steps) || steps < 1) {
    throw new Error(`the steps must be a positive whole number, got ${steps}`);
  }
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff) {
    throw new Error(`the seed must be a whole number from 0 to ${0xffffffff}, got ${seed}`);
  }
}
