/** Imperfections that are set by hand, on top of hardware. Each replaces the hardware's
 * own number; what is not set is as the kind has it. */

import type { GraphKind, Hardware, Levels } from "./hardware";

/** Graphs to choose from, each with what it is in words. */
export const GRAPHS = {
  layered: "every coupler of the network",
  kings: "King's graph, 8 neighbours",
  hexagonal: "hexagonal, 6 neighbours",
  chimera: "Chimera cells of 4 + 4",
  ring: "ring, 8 neighbours",
} as const satisfies Partial<Record<GraphKind, string>>;
export type Graph = keyof typeof GRAPHS;

const RING_DEGREE = 8;

/** Bits are whole numbers, spreads and shares fractions; null is as the hardware has it. */
export interface Changes {
  couplingBits?: number;
  weightBits?: number;
  mismatch?: number; // of couplings
  weightMismatch?: number;
  offset?: number; // of couplings
  frequencySpread?: number; // rad per unit of time
  lag?: number; // rad
  deadCouplers?: number;
  deadOscillators?: number;
  temperature?: number; // kT
  phaseBits?: number; // of the readout
  graph?: Graph;
}
export type Change = keyof Changes;

export const CHANGES: readonly Change[] = [
  "couplingBits",
  "weightBits",
  "mismatch",
  "weightMismatch",
  "offset",
  "frequencySpread",
  "lag",
  "deadCouplers",
  "deadOscillators",
  "temperature",
  "phaseBits",
  "graph",
];

/** Least and most of each number that can be set, and whether it must be whole. */
export const RANGES: Record<Exclude<Change, "graph">, [least: number, most: number, whole: boolean]> = {
  couplingBits: [2, 8, true],
  weightBits: [2, 8, true],
  mismatch: [0, 0.3, false],
  weightMismatch: [0, 0.5, false],
  offset: [0, 0.5, false],
  frequencySpread: [0, 20, false],
  lag: [0, 1.5, false],
  deadCouplers: [0, 0.5, false],
  deadOscillators: [0, 0.5, false],
  temperature: [0, 2, false],
  phaseBits: [1, 8, true],
};

/** Whether a number may be set so. */
export function isAllowed(change: Exclude<Change, "graph">, value: number): boolean {
  const [least, most, whole] = RANGES[change];
  return value >= least && value <= most && (!whole || Number.isInteger(value));
}

/** The hardware with these numbers in place of its own. */
export function withChanges(hardware: Hardware, changes: Changes): Hardware {
  const found = { ...hardware };
  const set = <E extends keyof Hardware>(effect: E, values: Partial<Hardware[E]>): void => {
    found[effect] = Object.assign({}, found[effect], values) as Hardware[E];
  };
  const { couplingBits, weightBits, mismatch, weightMismatch, offset, lag, graph } = changes;
  if (couplingBits !== undefined) found.coupling_levels = overFullRange(couplingBits);
  if (weightBits !== undefined) found.weight_levels = overFullRange(weightBits);
  if (mismatch !== undefined) set("mismatch", { couplings: mismatch });
  if (weightMismatch !== undefined) set("mismatch", { input_weights: weightMismatch });
  if (offset !== undefined) set("offset", { couplings: offset });
  if (changes.frequencySpread !== undefined) set("frequency_spread", { sd: changes.frequencySpread });
  if (lag !== undefined) set("coupling_function", { lag });
  if (changes.deadCouplers !== undefined) set("dead", { couplers: changes.deadCouplers });
  if (changes.deadOscillators !== undefined) set("dead", { oscillators: changes.deadOscillators });
  if (changes.temperature !== undefined) set("phase_noise", { temperature: changes.temperature });
  if (changes.phaseBits !== undefined) set("readout", { bits: changes.phaseBits });
  if (graph === "ring") found.wiring = { kind: graph, degree: RING_DEGREE };
  else if (graph !== undefined) found.wiring = { kind: graph };
  return found;
}

/** What hardware has of a number; undefined where it does not say. */
export function numberOf(hardware: Hardware, change: Change): number | undefined {
  switch (change) {
    case "couplingBits":
      return hardware.coupling_levels?.bits;
    case "weightBits":
      return hardware.weight_levels?.bits;
    case "mismatch":
      return hardware.mismatch?.couplings;
    case "weightMismatch":
      return hardware.mismatch?.input_weights;
    case "offset":
      return hardware.offset?.couplings;
    case "frequencySpread":
      return hardware.frequency_spread?.sd;
    case "lag":
      return hardware.coupling_function?.lag;
    case "deadCouplers":
      return hardware.dead?.couplers;
    case "deadOscillators":
      return hardware.dead?.oscillators;
    case "temperature":
      return hardware.phase_noise?.temperature;
    case "phaseBits":
      return hardware.readout?.bits;
    case "graph":
      return undefined;
  }
}

/** Levels between the largest number and its negative: none is clipped. */
function overFullRange(bits: number): Levels {
  return { bits, range: 1, rule: "max" };
}

/** The hardware without entries that do nothing, so that two that act alike read alike. */
export function bare(hardware: Hardware): Hardware {
  const found: Record<string, unknown> = {};
  for (const [name, effect] of Object.entries(hardware)) {
    if (typeof effect !== "object") {
      found[name] = effect;
      continue;
    }
    const entries = Object.entries(effect as object).filter(([, value]) => value !== 0);
    if (entries.length > 0) found[name] = Object.fromEntries(entries);
  }
  return found as Hardware;
}
