/** How many inputs reach an oscillator. */

import type { Hardware } from "./hardware";
import type { Realised } from "./realised";

/** The network whose hidden oscillators feel so many inputs each, those with the largest |W_ij|; of
 * two alike the first. */
export function reached(
  network: Realised,
  { inputs: count }: NonNullable<Hardware["fan_in"]>,
): Realised {
  const { hidden, inputs, inputWeights: weights } = network;
  if (count === undefined || count >= inputs) return network;
  const found = new Float64Array(hidden * inputs);
  for (let i = 0; i < hidden; i++) {
    const places = Array.from({ length: inputs }, (_, d) => i * inputs + d);
    places.sort((a, b) => Math.abs(weights[b]!) - Math.abs(weights[a]!) || a - b);
    for (const k of places.slice(0, count)) found[k] = weights[k]!;
  }
  return { ...network, inputWeights: found };
}
