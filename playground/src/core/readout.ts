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

/** The class with the largest of the activations (T, O) at grid index `step`, the lowest where
 * several tie. */
export function winnerAt(activations: Float64Array, outputs: number, step: number): number {
  const row = step * outputs;
  let best = 0;
  for (let o = 1; o < outputs; o++) {
    if (activations[row + o]! > activations[row + best]!) best = o;
  }
  return best;
}

/** The winner (T) at each time of activations (T, O). */
export function winnersOf(activations: Float64Array, outputs: number): Int32Array {
  const winners = new Int32Array(activations.length / outputs);
  for (let t = 0; t < winners.length; t++) winners[t] = winnerAt(activations, outputs, t);
  return winners;
}

/** The first grid index, from 1 on, after which the winner stays: at 0 no input has acted yet. */
export function decidedAt(winners: Int32Array): number {
  let first = winners.length - 1;
  while (first > 1 && winners[first - 1] === winners[first]) first--;
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

/** The classes with the largest of the scores (O): several where they tie. */
export function highestOf(scores: Float64Array): number[] {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  return [...scores.keys()].filter((o) => scores[o] === most);
}

/** The largest score minus the second. */
export function margin(scores: Float64Array): number {
  let first = -Infinity;
  let second = -Infinity;
  for (const score of scores) {
    if (score > first) {
      second = first;
      first = score;
    } else if (score > second) {
      second = score;
    }
  }
  return first - second;
}
