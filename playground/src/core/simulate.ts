/** Rollouts of a network, as the package computes them but in double precision.
 *
 *     theta <- theta + dt f(theta) + sqrt(2 mu kT dt) eta,   theta(0) given, pi/2 by default
 *     f = w - mu ( sin (b + (J cos)_a) - cos (J sin)_a + sin2 (J cos2)_cd - cos2 (J sin2)_cd
 *                  + 4 s sin cos ),   sin2 = sin(2 theta), cos2 = cos(2 theta)
 *     (J cos)_a = cos(a) J cos + sin(a) J sin,   (J sin)_a = cos(a) J sin - sin(a) J cos
 *     (J cos2)_cd = c J cos2 + d J sin2,         (J sin2)_cd = c J sin2 - d J cos2
 *     E = - sum b cos - 1/2 cos.J cos - 1/2 sin.J sin - c/4 cos2.J cos2 - c/4 sin2.J sin2
 *         - sum s cos2 - sum (w / mu) theta
 *
 * E has no place for a lag a and for d: with one, it may rise. Absent terms are not computed with.
 * Phases are wrapped to (-pi, pi] when kT > 0, and unwrapped at kT = 0. */

import { effectiveFields, phaseModelOf } from "./damage";
import { isExact, needsVelocity, readingOf, type Reading } from "./hardware/readout";
import type { Realised } from "./hardware/realised";
import { normals } from "./noise";
import { answeringOf, decidedAt, leadersOf, meanOf, readOut } from "./readout";
import type { Model, PhaseModel, Physics, Rollout } from "./types";
import type { Kernel } from "./wasm/kernel";

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
  const energy = new Float64Array(steps + 1);
  const record: Record = { phases: new Float64Array((steps + 1) * n), energy };
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
  const answering = answeringOf(model.hidden, model.outputs, physics.silenced, model.dead);
  const { leaders, leads } = leadersOf(activations, answering);
  return {
    steps,
    phases: record.phases,
    activations,
    replicates,
    readings,
    energy,
    answering,
    leaders,
    leads,
    decidedAt: decidedAt(leaders, leads),
  };
}

/** What the chip reads (O) in one run, at each of some grid indices: as `simulate` of a shorter time
 * would at its end, since neither the phases nor the noise depend on what follows. */
export function readingsAlong(
  model: Realised,
  fields: Float64Array,
  physics: Physics,
  sample: number,
  places: number[],
): Float64Array[] {
  checkPhysics(physics);
  const { steps, temperature, seed, observationTime } = physics;
  const n = model.hidden + model.outputs;
  const timeStep = observationTime / steps;
  const acting = phaseModelOf(model, fields, physics);
  const { outputs, mobility } = model;
  const noise = temperature === 0 ? null : normals(seed, temperature, 0, sample, n, steps);
  const scale = Math.sqrt(2 * mobility * temperature * timeStep);
  const kept = places.every((place) => place === steps);
  const record = kept ? null : { phases: new Float64Array((steps + 1) * n), energy: null };
  const whole: Dynamics = { oscillators: n, outputs, mobility, timeStep, steps };
  const run = trajectory(acting, whole, noise, scale, record);
  return places.map((place) => {
    const phases = record?.phases.slice(place * n, (place + 1) * n) ?? run.phases;
    const time = (observationTime * place) / steps;
    const reading = { chip: model.chip, seed, sample, replicate: 0, time };
    const until = { activations: run.activations, phases };
    return read(model, until, acting, { ...whole, steps: place }, reading);
  });
}

/** What the chip reads, as `readingsAlong`, of at most four examples [example][place] with these fields
 * (N): example k has the noise of sample `sample + k`. */
export function readingsOfFour(
  kernel: Kernel,
  model: Realised,
  fields: Float64Array[],
  physics: Physics,
  sample: number,
  places: number[],
): Float64Array[][] {
  checkPhysics(physics);
  const { outputs, mobility, hidden } = model;
  const timeStep = physics.observationTime / physics.steps;
  const shared = phaseModelOf(model, fields[0]!, physics);
  const acting = fields.map((each) => ({ ...shared, fields: effectiveFields(each, physics) }));
  const fieldsActing = acting.map((each) => each.fields);
  const phases = kernel.phasesAlong(shared, fieldsActing, mobility, physics, sample, places);
  const dynamics = { oscillators: hidden + outputs, outputs, mobility, timeStep, steps: 0 };
  return phases.map((rows, k) =>
    rows.map((row, p) => {
      const time = (physics.observationTime * places[p]!) / physics.steps;
      const when = { chip: model.chip, seed: physics.seed, sample: sample + k, replicate: 0, time };
      const end = { activations: row.subarray(hidden).map(Math.cos), phases: row };
      return read(model, end, acting[k]!, dynamics, when);
    }),
  );
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
    const row = dynamics.steps * dynamics.outputs;
    return activations.slice(row, row + dynamics.outputs);
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
  energy: Float64Array | null; // (T), where it is asked for
}

/** Sines and cosines (N) of phases, or of twice the phases, and J times them. */
export interface Waves {
  cos: Float64Array;
  sin: Float64Array;
  jCos: Float64Array;
  jSin: Float64Array;
}

export function wavesOf(n: number): Waves {
  const zeros = (): Float64Array => new Float64Array(n);
  return { cos: zeros(), sin: zeros(), jCos: zeros(), jSin: zeros() };
}

/** One trajectory: output activations (T, O); phases and energy go into `record`.
 * `noise` (steps, N) is multiplied by `scale`, or null at kT = 0. */
function trajectory(
  acting: PhaseModel,
  { oscillators: n, outputs, mobility, timeStep, steps }: Dynamics,
  noise: Float64Array | null,
  scale: number,
  record: Record | null,
): Trajectory {
  const { couplings, frequencies, start } = acting;
  const activations = new Float64Array((steps + 1) * outputs);
  const phases = start.slice();
  const torque = new Float64Array(n);
  const first = wavesOf(n);
  const second = acting.harmonic === null ? null : wavesOf(n);
  for (let step = 0; step <= steps; step++) {
    for (let i = 0; i < n; i++) {
      first.cos[i] = Math.cos(phases[i]!);
      first.sin[i] = Math.sin(phases[i]!);
    }
    readOut(first.cos, outputs, activations, step);
    if (record === null && step === steps) break;
    couple(couplings, n, first, second);
    if (record !== null) {
      record.phases.set(phases, step * n);
      if (record.energy !== null) {
        record.energy[step] = energyOf(phases, acting, mobility, first, second);
      }
    }
    if (step === steps) break;
    torqueOf(acting, first, second, torque);
    for (let i = 0; i < n; i++) {
      let moved = phases[i]! - timeStep * mobility * torque[i]!;
      if (frequencies !== null) moved += timeStep * frequencies[i]!;
      phases[i] = noise === null ? moved : wrap(moved + scale * noise[step * n + i]!);
    }
  }
  return { activations, phases };
}

/** d theta / dt (N) at phases (N). */
function velocityOf(
  phases: Float64Array,
  acting: PhaseModel,
  { oscillators: n, mobility }: Dynamics,
): Float64Array {
  const first = { ...wavesOf(n), cos: phases.map(Math.cos), sin: phases.map(Math.sin) };
  const second = acting.harmonic === null ? null : wavesOf(n);
  const torque = new Float64Array(n);
  couple(acting.couplings, n, first, second);
  torqueOf(acting, first, second, torque);
  return torque.map((value, i) => (acting.frequencies?.[i] ?? 0) - mobility * value);
}

/** E at phases (N), from what `couple` made of them. */
function energyOf(
  phases: Float64Array,
  { fields, frequencies, injection, harmonic }: PhaseModel,
  mobility: number,
  { cos, sin, jCos, jSin }: Waves,
  second: Waves | null,
): number {
  let energy = 0;
  for (let i = 0; i < phases.length; i++) {
    energy -= cos[i]! * (fields[i]! + 0.5 * jCos[i]!) + 0.5 * sin[i]! * jSin[i]!;
    if (injection !== null) energy -= injection[i]! * Math.cos(2 * phases[i]!);
    if (frequencies !== null) energy -= (frequencies[i]! / mobility) * phases[i]!;
    if (second !== null) {
      const pairs = second.cos[i]! * second.jCos[i]! + second.sin[i]! * second.jSin[i]!;
      energy -= 0.25 * harmonic![0] * pairs;
    }
  }
  return energy;
}

/** The bracket of f (N), from what `couple` made of the phases; J cos and J sin are turned. */
export function torqueOf(
  { fields, injection, lag, harmonic }: PhaseModel,
  { cos, sin, jCos, jSin }: Waves,
  second: Waves | null,
  torque: Float64Array,
): void {
  if (lag !== null) turn(jCos, jSin, Math.cos(lag), Math.sin(lag));
  if (second !== null) turn(second.jCos, second.jSin, ...harmonic!);
  for (let i = 0; i < torque.length; i++) {
    let found = sin[i]! * (fields[i]! + jCos[i]!) - cos[i]! * jSin[i]!;
    if (injection !== null) found += 4 * injection[i]! * sin[i]! * cos[i]!;
    if (second !== null) found += second.sin[i]! * second.jCos[i]! - second.cos[i]! * second.jSin[i]!;
    torque[i] = found;
  }
}

/** J cos and J sin of the phases and, where there is a second harmonic, of twice the phases. */
export function couple(couplings: Float64Array, n: number, first: Waves, second: Waves | null): void {
  multiply(couplings, n, first);
  if (second === null) return;
  for (let i = 0; i < n; i++) {
    const [c, s] = [first.cos[i]!, first.sin[i]!];
    second.cos[i] = c * c - s * s;
    second.sin[i] = 2 * s * c;
  }
  multiply(couplings, n, second);
}

/** J cos and J sin for J (n, n), two rows at a time: four independent sums keep the adders busy. */
function multiply(couplings: Float64Array, n: number, { cos, sin, jCos, jSin }: Waves): void {
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

/** J cos and J sin turned in place, by an angle with this cosine and sine, or by (c, d). */
function turn(jCos: Float64Array, jSin: Float64Array, c: number, s: number): void {
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
