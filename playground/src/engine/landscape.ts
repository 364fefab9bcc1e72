/** Where a network's trajectories lead: a plane to see them in, where those of the test images end, and
 * an order of the oscillators. Of the ideal network at kT = 0, so that it stays when the physics changes. */

import {
  couplingOrder,
  fieldsOn,
  inputsOf,
  onChip,
  placeIn,
  planeOf,
  projectedState,
  simulate,
  unchangedPhysics,
  type Model,
  type Plane,
} from "../core";
import type { Input } from "../run";

export interface Landscape {
  plane: Plane;
  ends: { label: number; place: [number, number] }[]; // of the inputs whose class is known
  order: Int32Array; // (N), for the map of the couplings
}

const TIMES = 8; // states of each trajectory that the plane is fitted to, beside the start

/** One trajectory at each `next`, so that other work can come between; the landscape at the end. */
export function* explore(model: Model, inputs: Input[]): Generator<void, Landscape> {
  const physics = unchangedPhysics(model);
  const network = onChip(model, physics);
  const n = model.hidden + model.outputs;
  const states: Float64Array[] = [];
  const ends: { label: number; phases: Float64Array }[] = [];
  for (const { values, truth } of inputs) {
    const fields = fieldsOn(network, inputsOf(model, values));
    const { phases } = simulate(network, fields, physics, { replicates: 1, sample: 0, shown: 0 });
    for (let k = states.length === 0 ? 0 : 1; k <= TIMES; k++) {
      const at = Math.round((k / TIMES) * model.steps);
      states.push(projectedState(phases.slice(at * n, (at + 1) * n)));
    }
    if (truth !== null) ends.push({ label: truth, phases: phases.slice(model.steps * n) });
    yield;
  }
  const plane = planeOf(states);
  yield;
  return {
    plane,
    ends: ends.map(({ label, phases }) => ({ label, place: placeIn(plane, phases) })),
    order: couplingOrder(model),
  };
}
