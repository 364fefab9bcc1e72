/** What is read off a rollout: cos(theta) of the output oscillators, and the class it names. */

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

/** Output activations (O) at the end of a rollout; of an ensemble, their mean. */
export function scoresOf(rollout: Rollout): Float64Array {
  const outputs = rollout.activations.length / (rollout.steps + 1);
  return rollout.activations.slice(rollout.steps * outputs);
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
