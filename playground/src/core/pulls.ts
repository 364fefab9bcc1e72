/** What pulls on each oscillator at a moment: its field, and its neighbours. */

import { couple, torqueOf, wavesOf } from "./simulate";
import type { PhaseModel } from "./types";

/** Parts (N) of d theta / dt over the mobility:
 *
 *     field_i = - b_i sin theta_i,   neighbours_i = - sum_j J_ij g(theta_i - theta_j) */
export interface Pulls {
  field: Float64Array;
  neighbours: Float64Array;
}

export function pullsOf(acting: PhaseModel, phases: Float64Array): Pulls {
  const n = phases.length;
  const first = { ...wavesOf(n), cos: phases.map(Math.cos), sin: phases.map(Math.sin) };
  const second = acting.harmonic === null ? null : wavesOf(n);
  const torque = new Float64Array(n);
  couple(acting.couplings, n, first, second);
  torqueOf({ ...acting, fields: new Float64Array(n), injection: null }, first, second, torque);
  return {
    field: phases.map((phase, i) => -acting.fields[i]! * Math.sin(phase)),
    neighbours: torque.map((value) => -value),
  };
}

/** R and psi of the order parameter R exp(i psi) = mean of exp(i theta): R is 1 where all phases are
 * one, and near 0 where they are spread over the circle. */
export function orderParameter(phases: Float64Array): { size: number; angle: number } {
  let [cos, sin] = [0, 0];
  for (const phase of phases) {
    cos += Math.cos(phase) / phases.length;
    sin += Math.sin(phase) / phases.length;
  }
  return { size: Math.hypot(cos, sin), angle: Math.atan2(sin, cos) };
}
