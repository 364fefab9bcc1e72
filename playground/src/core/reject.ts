/** When a model should not be believed: the package's `entrain.evaluation.reject`. */

import { margin } from "./readout";
import { PIXEL_MAX } from "./picture";
import type { Given, Model, Numbers } from "./types";

export interface RejectOption {
  margin: number;
  distance: number;
  mean: Numbers; // (D)
  directions: Numbers; // e (K, D)
  variances: Numbers; // v (K)
  rest: number;
  contrast: number; // of pictures; 0 for features
}

/** d(x)^2 = sum_k (e_k . (x - mean))^2 / v_k + |rest of x - mean|^2 / rest, for x = inputs (D) over
 * their common scale. */
export function distanceOf(option: RejectOption, inputs: Float64Array, scale: number): number {
  const away = inputs.map((value, d) => value / scale - option.mean[d]!);
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
export function doubtOf(
  model: Model,
  values: Given,
  inputs: Float64Array,
  scores: Float64Array,
  answering?: Uint8Array,
): string | null {
  if (!scores.every(Number.isFinite)) return "not finite";
  const option = model.reject;
  if (option === null) return null;
  const distance = distanceOf(option, inputs, scaleOf(model, inputs));
  if (!(distance <= option.distance)) return "unlike the training data";
  if (model.preprocessing.kind === "picture" && contrastOf(values) < option.contrast) return "faint";
  return margin(scores, answering) >= option.margin ? null : "small margin";
}

/** SD of a picture's pixels as fractions, which its inputs have lost. */
function contrastOf(values: Given): number {
  const pixels = Float64Array.from(values);
  const mean = pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length;
  const squares = pixels.reduce((sum, pixel) => sum + (pixel - mean) ** 2, 0);
  return Math.sqrt(squares / pixels.length) / PIXEL_MAX;
}

/** Of a picture its length; of a row of features what standardised ones were multiplied with. */
function scaleOf({ preprocessing }: Model, inputs: Float64Array): number {
  if (preprocessing.kind === "features") return preprocessing.factor;
  return Math.sqrt(inputs.reduce((sum, value) => sum + value * value, 0));
}
