/** The numbers that a training changes: input weights, biases and couplings of a layered network. */

import { Draws } from "../core/hardware/draws";

export interface Sizes {
  inputs: number; // D
  hidden: number; // H
  outputs: number; // O
}

export interface Weights extends Sizes {
  inputWeights: Float64Array; // W (H, D)
  biases: Float64Array; // c (N)
  couplings: Float64Array; // J (N, N), symmetric, 0 between outputs
}

export type Part = "inputWeights" | "biases" | "couplings";
export const PARTS: readonly Part[] = ["inputWeights", "biases", "couplings"];

const INITIAL = 0.3; // standard deviation; of input weights over the root of D

export function zeroWeights({ inputs, hidden, outputs }: Sizes): Weights {
  const n = hidden + outputs;
  return {
    inputs,
    hidden,
    outputs,
    inputWeights: new Float64Array(hidden * inputs),
    biases: new Float64Array(n),
    couplings: new Float64Array(n * n),
  };
}

/** Small normal input weights and couplings, drawn by a seed as chips are; biases of zero. */
export function initialWeights(sizes: Sizes, seed: number): Weights {
  const weights = zeroWeights(sizes);
  const { inputs, hidden, outputs, inputWeights } = weights;
  const draws = new Draws(seed);
  const scale = INITIAL / Math.sqrt(inputs);
  for (let i = 0; i < hidden; i++) {
    for (let d = 0; d < inputs; d++) inputWeights[i * inputs + d] = scale * draws.normal("lrnw", i, d);
  }
  fillCouplings(weights, (i, j) => INITIAL * draws.normal("lrnj", i, j), hidden + outputs);
  return weights;
}

/** Every coupling i < j of the layered graph set to `value`, both ways. */
function fillCouplings(
  { couplings, hidden }: Weights,
  value: (i: number, j: number) => number,
  n: number,
): void {
  for (let i = 0; i < hidden; i++) {
    for (let j = i + 1; j < n; j++) couplings[i * n + j] = couplings[j * n + i] = value(i, j);
  }
}

/** Fields b (N) of inputs u, those of one row (D). */
export function writeFields(weights: Weights, rows: Float64Array, row: number, fields: Float64Array): void {
  const { inputs, hidden, inputWeights, biases } = weights;
  fields.set(biases);
  const from = row * inputs;
  for (let i = 0; i < hidden; i++) {
    let sum = 0;
    for (let d = 0; d < inputs; d++) sum += inputWeights[i * inputs + d]! * rows[from + d]!;
    fields[i]! += sum;
  }
}

/** Adds one example's d loss / d b (N) to the gradient of input weights and biases. */
export function addFieldGradient(gradient: Weights, slope: Float64Array, rows: Float64Array, row: number): void {
  const { inputs, hidden, inputWeights, biases } = gradient;
  const from = row * inputs;
  for (let i = 0; i < slope.length; i++) biases[i]! += slope[i]!;
  for (let i = 0; i < hidden; i++) {
    for (let d = 0; d < inputs; d++) inputWeights[i * inputs + d]! += slope[i]! * rows[from + d]!;
  }
}

/** The gradient (N, N) of couplings that were summed apart for J_ij and J_ji, which are one number;
 * zero between outputs. */
export function symmetrise({ couplings, hidden, outputs }: Weights): void {
  const n = hidden + outputs;
  for (let i = 0; i < n; i++) {
    couplings[i * n + i] = 0;
    for (let j = i + 1; j < n; j++) {
      const sum = i < hidden ? couplings[i * n + j]! + couplings[j * n + i]! : 0;
      couplings[i * n + j] = couplings[j * n + i] = sum;
    }
  }
}

/** Multiplies every number. */
export function scaleWeights(weights: Weights, factor: number): void {
  for (const part of PARTS) weights[part].forEach((_, k, values) => (values[k]! *= factor));
}
