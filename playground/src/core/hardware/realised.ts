/** A network as a chip holds it. */

import { fieldsOf } from "../model";
import type { Model, Numbers } from "../types";
import type { Hardware } from "./hardware";

/** Fields b (N) to fields. */
export type FieldChange = (fields: Float64Array) => Float64Array;

/** The model with the chip's numbers in place of its own. Couplings need not be symmetric: row i is
 * what acts on oscillator i. */
export interface Realised extends Model {
  hardware: Hardware;
  chip: number; // its seed
  fieldChanges: FieldChange[]; // in their order
  moving: Uint8Array | null; // (N) 0 for oscillators that stand still; null if all move
  dead: Uint8Array | null; // (N) 1 for oscillators that are missing; null if none is
}

/** Local fields b(u) (N) of inputs (D) on the chip. */
export function fieldsOn(network: Realised, inputs: Float64Array): Float64Array {
  return network.fieldChanges.reduce((fields, change) => change(fields), fieldsOf(network, inputs));
}

export function withFields(network: Realised, change: FieldChange): Realised {
  return { ...network, fieldChanges: [...network.fieldChanges, change] };
}

/** The network with some oscillators (N) standing still: nothing of their own moves them. */
export function stopped(network: Realised, moving: Uint8Array): Realised {
  const still = (values: Numbers | null): Float64Array | null =>
    values && Float64Array.from(values, (value, i) => value * moving[i]!);
  const found = withFields(network, (fields) => fields.map((field, i) => field * moving[i]!));
  return {
    ...found,
    frequencies: still(network.frequencies),
    injection: still(network.injection),
    moving: moving.map((each, i) => each & (network.moving?.[i] ?? 1)),
  };
}

/** sqrt(sum x^2 / count) over numbers that are not zero; 0 where there are none. */
export function rmsOf(numbers: Numbers): number {
  let sum = 0;
  let count = 0;
  for (const value of numbers) {
    sum += value * value;
    if (value !== 0) count++;
  }
  return Math.sqrt(sum / Math.max(count, 1));
}
