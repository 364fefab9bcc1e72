/** Parts that are not alike: gains, offsets, and couplers that differ by direction. */

import type { Numbers } from "../types";
import type { Draws } from "./draws";
import type { Hardware, Mismatch, Offset } from "./hardware";
import { rmsOf, withFields, type Realised } from "./realised";

/** x (1 + sd g) of couplings, input weights, biases and fields; J_ij and J_ji have the same g. */
export function mismatched(network: Realised, sd: Mismatch, draws: Draws): Realised {
  const { couplings = 0, input_weights = 0, biases = 0, fields = 0 } = sd;
  const found = { ...network };
  const n = network.hidden + network.outputs;
  if (couplings !== 0) {
    found.couplings = each(network.couplings, n, (value, i, j) =>
      value === 0 ? 0 : value * (1 + couplings * draws.normal("mism", ...ordered(i, j))),
    );
  }
  if (input_weights !== 0) {
    found.inputWeights = each(network.inputWeights, network.inputs, (value, i, d) =>
      value * (1 + input_weights * draws.normal("misw", i, d)),
    );
  }
  if (biases !== 0) {
    found.biases = each(network.biases, 1, (value, i) =>
      value * (1 + biases * draws.normal("misb", i)),
    );
  }
  if (fields === 0) return found;
  const gains = Float64Array.from({ length: n }, (_, i) => 1 + fields * draws.normal("misf", i));
  return withFields(found, (b) => b.map((field, i) => field * gains[i]!));
}

/** x + sd rms(x) g of couplings and input weights that are not zero, and of fields, those in units of
 * the rms coupling. */
export function shifted(network: Realised, sd: Offset, draws: Draws): Realised {
  const { couplings = 0, input_weights = 0, fields = 0 } = sd;
  const found = { ...network };
  const n = network.hidden + network.outputs;
  const unit = rmsOf(network.couplings);
  if (couplings !== 0) {
    found.couplings = each(network.couplings, n, (value, i, j) =>
      value === 0 ? 0 : value + couplings * (draws.normal("offs", ...ordered(i, j)) * unit),
    );
  }
  if (input_weights !== 0) {
    const rms = rmsOf(network.inputWeights);
    found.inputWeights = each(network.inputWeights, network.inputs, (value, i, d) =>
      value === 0 ? 0 : value + input_weights * (draws.normal("offw", i, d) * rms),
    );
  }
  if (fields === 0) return found;
  const added = Float64Array.from({ length: n }, (_, i) => fields * unit * draws.normal("offf", i));
  return withFields(found, (b) => b.map((field, i) => field + added[i]!));
}

/** J_ij (1 + sd g_ij), g_ij and g_ji drawn apart. */
export function lopsided(
  network: Realised,
  { sd = 0 }: NonNullable<Hardware["asymmetry"]>,
  draws: Draws,
): Realised {
  if (sd === 0) return network;
  const n = network.hidden + network.outputs;
  const couplings = each(network.couplings, n, (value, i, j) =>
    value === 0 ? 0 : value * (1 + sd * draws.normal("asym", i, j)),
  );
  return { ...network, couplings };
}

/** A coupler's place: i < j. */
export function ordered(i: number, j: number): [number, number] {
  return i < j ? [i, j] : [j, i];
}

/** `change` of every number of a matrix with so many columns, at row i and column j. */
function each(
  numbers: Numbers,
  columns: number,
  change: (value: number, i: number, j: number) => number,
): Float64Array {
  const found = new Float64Array(numbers.length); // a loop: with `from` a chip takes twice as long
  for (let k = 0; k < found.length; k++) {
    found[k] = change(numbers[k]!, Math.floor(k / columns), k % columns);
  }
  return found;
}
