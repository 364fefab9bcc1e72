/** Rollouts of a network, as the package computes them but in double precision.
 *
 *     theta(0) = pi/2
 *     theta <- theta + dt f(theta) + sqrt(2 mu kT dt) eta
 *     f = -mu ( sin (b + J cos) - cos (J sin) )
 *     E = - sum b cos - 1/2 cos.J cos - 1/2 sin.J sin
 *
 * Phases are wrapped to (-pi, pi] when kT > 0, and unwrapped at kT = 0. */

import { effectiveCouplings, effectiveFields } from "./hardware";
import { normals } from "./noise";
import type { Model, Physics, Rollout } from "./types";

export interface SimulationOptions {
  replicates: 1 | 10; // noisy copies; at kT = 0 there is one
  sample: number; // index of the image in the thermal noise
  shown: number; // the replicate whose phases and energy are kept
}

/** The network's own physics: kT = 0 and nothing changed. */
export function unchangedPhysics(model: Model): Physics {
  return {
    temperature: 0,
    observationTime: model.observationTime,
    steps: model.steps,
    couplingBits: null,
    mismatch: 0,
    cut: [],
    silenced: [],
    seed: 0,
  };
}

/** The rollout of local fields b (N), as `fieldsOf` gives them, under `physics`. */
export function simulate(
  model: Model,
  fields: Float64Array,
  physics: Physics,
  options: SimulationOptions,
): Rollout {
  throw new Error(`not implemented ${model.name} ${fields.length} ${physics.seed} ${options.sample}` + normals.name + effectiveCouplings.name + effectiveFields.name);
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
