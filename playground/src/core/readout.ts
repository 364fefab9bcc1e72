/** What is read off a rollout: cos(theta) of the output oscillators, and the class it names. How a
 * chip reads them is `hardware/readout`. */

import type { Rollout } from "./types";

/** The last `outputs` of the cosines (N), as row `step` of the activations (T, O). */
export function readOut(
  cos: Float64Array,
  outputs: number,
  activations: Float64Array,
  step: number,
): void {
  const hidden = cos.length - outputs;
  for (let o = 0; o < outputs; o++) activations[step * outputs + o] = cos[hidden + o]!;
}

/** A lead that is a decision: of the first output over the second, in cos(theta). */
export const DECISIVE_LEAD = 0.1;

/** 1 for outputs (O) that can answer: neither silenced nor dead on the chip. */
export function answeringOf(
  hidden: number,
  outputs: number,
  silenced: number[],
  dead: Uint8Array | null = null,
): Uint8Array {
  return Uint8Array.from({ length: outputs }, (_, o) =>
    silenced.includes(hidden + o) || dead?.[hidden + o] === 1 ? 0 : 1,
  );
}

/** Who leads the activations (T, O) at each time (T), and by how much over the second. No output
 * leads (-1) where two are alike or none answers; one that is alone leads by Infinity. */
export function leadersOf(
  activations: Float64Array,
  answering: Uint8Array,
): { leaders: Int32Array; leads: Float64Array } {
  const outputs = answering.length;
  const leaders = new Int32Array(activations.length / outputs);
  const leads = new Float64Array(leaders.length);
  for (let t = 0; t < leaders.length; t++) {
    let [leader, first, second] = [-1, -Infinity, -Infinity];
    for (let o = 0; o < outputs; o++) {
      const value = activations[t * outputs + o]!;
      if (answering[o] === 0 || !(value > second)) continue;
      if (value > first) [leader, second, first] = [o, first, value];
      else second = value;
    }
    leads[t] = leader === -1 ? 0 : first - second;
    leaders[t] = leads[t]! > 0 ? leader : -1;
  }
  return { leaders, leads };
}

/** The first grid index from which on one output leads by the decisive lead, to the end; null where
 * none does at the end. */
export function decidedAt(leaders: Int32Array, leads: Float64Array): number | null {
  const last = leaders.length - 1;
  const decisive = (t: number): boolean =>
    leaders[t] === leaders[last] && leads[t]! >= DECISIVE_LEAD;
  if (leaders[last] === -1 || !decisive(last)) return null;
  let first = last;
  while (first > 0 && decisive(first - 1)) first--;
  return first;
}

/** What is read (O) at the end of a rollout; of an ensemble, the mean. */
export function scoresOf({ readings }: Rollout): Float64Array {
  return meanOf(readings);
}

/** The mean of equally long arrays. */
export function meanOf(arrays: Float64Array[]): Float64Array {
  const mean = new Float64Array(arrays[0]!.length);
  for (const array of arrays) {
    for (let k = 0; k < mean.length; k++) mean[k]! += array[k]!;
  }
  return arrays.length === 1 ? mean : mean.map((sum) => sum / arrays.length);
}

/** The answering classes with the largest of the scores (O): several where they tie, none where none
 * answers or a score is no number. */
export function highestOf(scores: Float64Array, answering?: Uint8Array): number[] {
  const able = [...scores.keys()].filter((o) => answering === undefined || answering[o] === 1);
  const most = able.reduce((best, o) => Math.max(best, scores[o]!), -Infinity);
  return able.filter((o) => scores[o] === most);
}

/** The largest score minus the second, of those that answer; Infinity of one alone. */
export function margin(scores: Float64Array, answering?: Uint8Array): number {
  let first = -Infinity;
  let second = -Infinity;
  scores.forEach((score, o) => {
    if (answering !== undefined && answering[o] === 0) return;
    if (score > first) {
      second = first;
      first = score;
    } else if (score > second) {
      second = score;
    }
  });
  return first - second;
}
