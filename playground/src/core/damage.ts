/** What a visitor breaks on a chip: couplings that are cut, oscillators that are silenced. */

import { INITIAL_PHASE, type NetworkParameters, type PhaseModel, type Physics } from "./types";

/** What acts on the phases of the damaged network under its local fields b (N). */
export function phaseModelOf(
  network: NetworkParameters,
  fields: Float64Array,
  physics: Readonly<Pick<Physics, "cut" | "silenced">>,
): PhaseModel {
  const { frequencies, injection, lag, harmonic, startPhases } = network;
  return {
    fields: effectiveFields(fields, physics),
    couplings: effectiveCouplings(network, physics),
    frequencies: frequencies && effectiveFields(Float64Array.from(frequencies), physics),
    injection: injection && effectiveFields(Float64Array.from(injection), physics),
    lag,
    harmonic,
    start: startPhases
      ? Float64Array.from(startPhases)
      : new Float64Array(fields.length).fill(INITIAL_PHASE),
  };
}

/** The couplings J (N, N) that the damaged network runs with. */
export function effectiveCouplings(
  network: NetworkParameters,
  physics: Readonly<Pick<Physics, "cut" | "silenced">>,
): Float64Array {
  const n = network.hidden + network.outputs;
  const couplings = Float64Array.from(network.couplings);
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

/** The local fields (N), or other numbers of each oscillator, that the damaged network runs with:
 * 0 for silenced oscillators. */
export function effectiveFields(
  fields: Float64Array,
  physics: Pick<Physics, "silenced">,
): Float64Array {
  const found = fields.slice();
  for (const i of physics.silenced) {
    checkOscillator(i, found.length);
    found[i] = 0;
  }
  return found;
}

function checkOscillator(i: number, n: number): void {
  if (!Number.isInteger(i) || i < 0 || i >= n) {
    throw new Error(`there is no oscillator ${i}; they are numbered 0 to ${n - 1}`);
  }
}
