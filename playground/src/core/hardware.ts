/** A network as a device would hold it: couplings of a few bits, unequal parts, cuts and failures.
 *
 * In this order: quantised, mismatched, cut, silenced. With nothing changed the couplings are the
 * model's own, exactly. */

import { firstNormal } from "./noise";
import type { Model, PhaseModel, Physics } from "./types";

const INITIAL_PHASE = Math.PI / 2; // where an oscillator starts unless told otherwise
const MISMATCH_KEY = 0x6d69736d;

/** What acts on the phases of the changed network under local fields b (N). */
export function phaseModelOf(model: Model, fields: Float64Array, physics: Physics): PhaseModel {
  const { frequencies, injection, lag, startPhases } = model;
  return {
    fields: effectiveFields(fields, physics),
    couplings: effectiveCouplings(model, physics),
    frequencies: frequencies && effectiveFields(Float64Array.from(frequencies), physics),
    injection: injection && effectiveFields(Float64Array.from(injection), physics),
    lag,
    start: startPhases
      ? Float64Array.from(startPhases)
      : new Float64Array(fields.length).fill(INITIAL_PHASE),
  };
}

/** The couplings J (N, N), symmetric, that the changed network runs with. */
export function effectiveCouplings(model: Model, physics: Physics): Float64Array {
  const n = model.hidden + model.outputs;
  const couplings = Float64Array.from(model.couplings);
  if (physics.couplingBits !== null) quantise(couplings, physics.couplingBits);
  if (physics.mismatch !== 0) mismatch(couplings, n, physics.mismatch, physics.seed);
  for (const [i, j] of physics.cut) {
    checkOscillator(i, n);
    checkOscillator(j, n);
    couplings[i * n + j] = 0;
    couplings[j * n + i] = 0;
  }
  for (const i of physics.silenced) {
    checkOscillator(i, n);
    for (let j = 0; j < n; j++) {
      couplings[i * n + j] = 0;
      couplings[j * n + i] = 0;
    }
  }
  return couplings;
}

/** The local fields (N), or other numbers of each oscillator, that the changed network runs with:
 * 0 for silenced oscillators. */
export function effectiveFields(fields: Float64Array, physics: Physics): Float64Array {
  const found = fields.slice();
  for (const i of physics.silenced) {
    checkOscillator(i, found.length);
    found[i] = 0;
  }
  return found;
}

/** Symmetric uniform levels: L = 2^(bits - 1) - 1 on each side of zero, step = max|J| / L; halves
 * are rounded away from zero. In place. */
function quantise(couplings: Float64Array, bits: number): void {
  if (!Number.isInteger(bits) || bits < 2 || bits > 32) {
    throw new Error(`couplings must have 2 to 32 bits, got ${bits}`);
  }
  const levels = 2 ** (bits - 1) - 1;
  const largest = couplings.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return;
  const step = largest / levels;
  for (let k = 0; k < couplings.length; k++) {
    const value = couplings[k]!;
    const level = Math.floor(Math.abs(value) / step + 0.5);
    couplings[k] = level === 0 ? 0 : Math.sign(value) * level * step;
  }
}

/** J_ij (1 + spread e_ij), e_ij standard normal, one for each pair i < j. In place. */
function mismatch(couplings: Float64Array, n: number, spread: number, seed: number): void {
  if (!Number.isFinite(spread) || spread < 0) {
    throw new Error(`the mismatch must be a number from 0 on, got ${spread}`);
  }
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const value = couplings[i * n + j]!;
      if (value === 0) continue;
      const changed = value * (1 + spread * firstNormal(i, j, [seed, MISMATCH_KEY]));
      couplings[i * n + j] = changed;
      couplings[j * n + i] = changed;
    }
  }
}

function checkOscillator(i: number, n: number): void {
  if (!Number.isInteger(i) || i < 0 || i >= n) {
    throw new Error(`there is no oscillator ${i}; they are numbered 0 to ${n - 1}`);
  }
}
