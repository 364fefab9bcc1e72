/** Equilibrium propagation: the gradient from two nudged relaxations, as the package's rule EP.
 *
 *     d C / d b_i  = ( cos theta_i^-  -  cos theta_i^+ ) / (2 beta)
 *     d C / d J_ij = ( cos(theta_i - theta_j)^-  -  cos(theta_i - theta_j)^+ ) / (2 beta)
 *
 * at rest with +beta C and -beta C added to the energy, for a pair i < j. */

import { crossEntropy } from "./loss";
import type { Rollout } from "./rollout";

const BETA = 0.1;

/** Adds the estimates to `slope` (N) and, for i < j alone, to `byCouplings` (N, N), from the phases at
 * which the rollout rests freely. */
export function contrast(
  rollout: Rollout,
  fields: Float64Array,
  couplings: Float64Array,
  h: number,
  label: number,
  gain: number,
  push: Float64Array,
  slope: Float64Array,
  byCouplings: Float64Array,
): void {
  const { phases } = rollout;
  const [n, hidden] = [phases.length, phases.length - push.length];
  const free = phases.slice();
  for (const sign of [1, -1]) {
    phases.set(free);
    const nudged = fields.slice();
    for (let k = 0; k < rollout.steps / 2; k++) {
      crossEntropy(phases, label, gain, push);
      push.forEach((by, o) => (nudged[hidden + o] = fields[hidden + o]! - sign * BETA * by));
      rollout.proceed(nudged, couplings, h, 1);
    }
    const factor = -sign / (2 * BETA);
    for (let i = 0; i < n; i++) {
      slope[i]! += factor * Math.cos(phases[i]!);
      for (let j = i + 1; j < n; j++) {
        byCouplings[i * n + j]! += factor * Math.cos(phases[i]! - phases[j]!);
      }
    }
  }
}
