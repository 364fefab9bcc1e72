/** Adam on clipped gradients, as the package's `rules.adamw` without decay, schedule and mean. */

import { PARTS, zeroWeights, type Part, type Sizes, type Weights } from "./weights";

const MOMENTS = [0.9, 0.999] as const;
const EPSILON = 1e-8;
const CLIP = 1; // largest norm of a gradient

export class Adam {
  private readonly first: Weights;
  private readonly second: Weights;
  private count = 0;

  constructor(sizes: Sizes) {
    this.first = zeroWeights(sizes);
    this.second = zeroWeights(sizes);
  }

  /** Moves the weights against a gradient, at each part's rate. */
  step(weights: Weights, gradient: Weights, rates: Record<Part, number>): void {
    const factor = Math.min(1, CLIP / (normOf(gradient) + 1e-12));
    this.count++;
    const [b1, b2] = MOMENTS.map((moment) => 1 - moment ** this.count) as [number, number];
    for (const part of PARTS) {
      const [values, slope, first, second] = [weights, gradient, this.first, this.second].map(
        (each) => each[part],
      ) as [Float64Array, Float64Array, Float64Array, Float64Array];
      for (let k = 0; k < values.length; k++) {
        const g = factor * slope[k]!;
        first[k]! += (1 - MOMENTS[0]) * (g - first[k]!);
        second[k]! += (1 - MOMENTS[1]) * (g * g - second[k]!);
        values[k]! -= (rates[part] * (first[k]! / b1)) / (Math.sqrt(second[k]! / b2) + EPSILON);
      }
    }
  }
}

export function normOf(gradient: Weights): number {
  let squares = 0;
  for (const part of PARTS) for (const value of gradient[part]) squares += value * value;
  return Math.sqrt(squares);
}
