/** The weights as a chip holds them: rounded couplings, each with a gain of its own. The gradient
 * passes unchanged through rounding, as in the package's training on chips. */

import type { Hardware } from "../core/hardware/hardware";
import { Draws } from "../core/hardware/draws";
import { levelled } from "../core/hardware/levels";
import type { Weights } from "./weights";

export interface Chip {
  bits: number | null; // of the couplings; null: any value
  mismatch: number; // relative standard deviation of the couplings
  seed: number;
}

export const IDEAL_CHIP: Readonly<Chip> = { bits: null, mismatch: 0, seed: 0 };

/** The chip as hardware of the package. */
export function hardwareOf({ bits, mismatch }: Chip): Hardware {
  return {
    ...(bits === null ? {} : { coupling_levels: { bits, range: 1, rule: "max" } }),
    ...(mismatch === 0 ? {} : { mismatch: { couplings: mismatch } }),
  };
}

/** Gains (N, N) of the couplers, 1 + mismatch g. */
export function gainsOf({ mismatch, seed }: Chip, n: number): Float64Array {
  const gains = new Float64Array(n * n).fill(1);
  if (mismatch === 0) return gains;
  const draws = new Draws(seed);
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      gains[i * n + j] = gains[j * n + i] = 1 + mismatch * draws.normal("mism", i, j);
    }
  }
  return gains;
}

/** Couplings (N, N) of the weights on the chip. */
export function couplingsOn({ bits }: Chip, gains: Float64Array, weights: Weights): Float64Array {
  const levels = { bits: bits ?? 2, range: 1, rule: "max" } as const;
  const { couplings } = bits === null ? weights : levelled(weights, levels, "couplings");
  return gains.map((gain, k) => gain * couplings[k]!);
}
