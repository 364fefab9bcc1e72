/** Resolution: numbers that a chip can only hold as one of a few levels. */

import type { Numbers } from "../types";
import type { Levels } from "./hardware";
import { rmsOf, withFields, type Realised } from "./realised";

const RANGE = 3; // and the rule "rms", where hardware does not say

type Part = "couplings" | "inputWeights" | "biases";

/** The network with its couplings, input weights or biases at the nearest levels. */
export function levelled<T extends Pick<Realised, Part>>(network: T, levels: Levels, part: Part): T {
  const numbers = network[part];
  const unit = unitOf(levels, levels.rule === "couplings" ? network.couplings : numbers);
  return { ...network, [part]: rounded(numbers, levels, unit) };
}

/** The network whose fields are at the nearest levels. */
export function withFieldLevels(network: Realised, levels: Levels): Realised {
  const unit = unitOf(levels, network.couplings);
  return withFields(network, (fields) => rounded(fields, levels, unit));
}

/** The range r: so many times the rms of the numbers that are not zero, times the largest, or itself. */
function unitOf({ range = RANGE, rule = "rms" }: Levels, numbers: Numbers): number {
  if (rule === "absolute") return range;
  if (rule === "max") {
    let most = 0;
    for (const value of numbers) most = Math.max(most, Math.abs(value));
    return range * most;
  }
  return range * rmsOf(numbers);
}

/** Numbers at the nearest level between -unit and unit, halves away from zero; beyond, they are
 * clipped. A range of zero changes nothing. */
function rounded(numbers: Numbers, { bits, levels }: Levels, unit: number): Float64Array {
  if (unit === 0) return Float64Array.from(numbers);
  const clipped = Float64Array.from(numbers).map((value) => Math.min(Math.max(value, -unit), unit));
  if (levels !== undefined) {
    const middles = levels.slice(1).map((level, k) => (level + levels[k]!) / 2);
    return clipped.map((value) => nearest(value / unit, levels, middles) * unit);
  }
  const step = unit / (2 ** (bits! - 1) - 1);
  return clipped.map((value) => {
    const level = Math.floor(Math.abs(value) / step + 0.5);
    return level === 0 ? 0 : Math.sign(value) * level * step;
  });
}

/** The nearest of rising levels with these middles; half way between two, the one further from zero. */
function nearest(value: number, levels: number[], middles: number[]): number {
  let place = 0;
  while (place < middles.length) {
    const middle = middles[place]!;
    if (value >= 0 ? middle > value : middle >= value) break;
    place++;
  }
  return levels[place]!;
}
