/** When a model should not be believed: the package's `entrain.evaluation.reject`. */

import { margin } from "./readout";
import type { Model } from "./types";

export interface RejectOption {
  margin: number;
  distance: number;
  mean: Float32Array; // (D)
  directions: Float32Array; // e (K, D)
  variances: Float32Array; // v (K)
  rest: number;
}

/** d(x)^2 = sum_k (e_k . (x - mean))^2 / v_k + |rest of x - mean|^2 / rest, for inputs (D) made
 * 1 long. */
export function distanceOf(option: RejectOption, inputs: Float64Array): number {
  const length = Math.sqrt(inputs.reduce((sum, value) => sum + value * value, 0));
  const away = inputs.map((value, d) => value / length - option.mean[d]!);
  let beyond = away.reduce((sum, value) => sum + value * value, 0);
  let total = 0;
  option.variances.forEach((variance, k) => {
    let along = 0;
    for (let d = 0; d < away.length; d++) along += away[d]! * option.directions[k * away.length + d]!;
    beyond -= along * along;
    total += (along * along) / variance;
  });
  return Math.sqrt(total + Math.max(beyond, 0) / option.rest);
}

/** Why an answer is unsure, null where it is sure or where the model cannot tell. */
export function doubtOf(model: Model, inputs: Float64Array, scores: Float64Array): string | null {
  if (!scores.every(Number.isFinite)) return "not finite";
  const option = model.reject;
  if (option === null) return null;
  if (!(distanceOf(option, inputs) <= option.distance)) return "unlike the training data";
  return margin(scores) >= option.margin ? null : "small margin";
}
