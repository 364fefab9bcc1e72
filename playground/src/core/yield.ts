/** A network on many chips: what each answers, and how many of them answer well. The numbers are the
 * package's `entrain.yield_of`. */

import { chipNoiseSeed } from "./hardware/draws";
import { misfitOf, realise } from "./hardware/realise";
import { fieldsOn } from "./hardware/realised";
import type { Hardware } from "./hardware/hardware";
import { readingsAlong, readingsOfFour, unchangedPhysics } from "./simulate";
import type { Model, Physics } from "./types";
import { LANES, type Kernel } from "./wasm/kernel";

/** Inputs u (D) of test images, and the class of each. */
export interface Examples {
  inputs: Float64Array[];
  labels: number[];
}

/** One chip, and how it is run. */
export interface Trial {
  hardware: Hardware; // its thermal noise included
  chip: number; // its seed
  noiseSeed: number;
  observationTime: number;
  steps: number;
  places: number[]; // grid indices, from 1 on, at which it is read
}

export interface ChipResult {
  correct: number[]; // examples read as their class, at each place
  right: Uint8Array; // 1 for each example read as its class at the last place
  confusion: Int32Array; // (O, O) at the last place: row the class, column the answer
}

/** How a network reads examples on one chip, four at a time where there is a kernel. Example k has the
 * chip's noise of sample k, as in the package; of outputs that are read alike the first is the answer. */
export function measureChip(
  model: Model,
  examples: Examples,
  trial: Trial,
  kernel: Kernel | null = null,
): ChipResult {
  const { hardware, chip, places } = trial;
  const physics: Physics = {
    ...unchangedPhysics(model),
    observationTime: trial.observationTime,
    steps: trial.steps,
    temperature: hardware.phase_noise?.temperature ?? 0,
    seed: chipNoiseSeed(trial.noiseSeed, chip),
  };
  const network = realise(model, hardware, chip);
  const correct = places.map(() => 0);
  const right = new Uint8Array(examples.labels.length);
  const confusion = new Int32Array(model.outputs ** 2);
  const fields = examples.inputs.map((inputs) => fieldsOn(network, inputs));
  for (let sample = 0; sample < fields.length; sample += LANES) {
    const four = fields.slice(sample, sample + LANES);
    const readings =
      kernel === null
        ? four.map((each, k) => readingsAlong(network, each, physics, sample + k, places))
        : readingsOfFour(kernel, network, four, physics, sample, places);
    readings.forEach((scores, k) => count(sample + k, scores.map(firstHighest)));
  }
  return { correct, right, confusion };

  function count(sample: number, answers: number[]): void {
    const label = examples.labels[sample]!;
    answers.forEach((answer, k) => {
      if (answer === label) correct[k]! += 1;
    });
    right[sample] = Number(answers.at(-1) === label);
    confusion[label * model.outputs + answers.at(-1)!]! += 1;
  }
}

/** The class with the largest score. A dead output counts as any other, as it does in the package. */
function firstHighest(scores: Float64Array): number {
  return scores.reduce((best, score, o) => (score > scores[best]! ? o : best), 0);
}

/** Why a network cannot be measured on such chips, null where it can. Couplers that a graph lacks
 * are no reason: the network runs without them. */
export function unfit(model: Model, hardware: Hardware): string | null {
  const { wiring, ...rest } = hardware;
  const small = misfitOf(model, rest);
  if (small !== null || wiring === undefined) return small;
  try {
    const { couplings } = realise(model, { wiring }, 0);
    return couplings.some((value) => value !== 0) ? null : "its graph leaves no coupler";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Accuracies in percent of chips of one kind: what tables show of them. */
export interface YieldSummary {
  mean: number;
  sd: number; // from chip to chip (n - 1); 0 for one chip
  p5: number;
  worst: number;
}

export function summaryOf(accuracies: number[]): YieldSummary {
  const mean = meanOf(accuracies);
  const squares = accuracies.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return {
    mean,
    sd: accuracies.length > 1 ? Math.sqrt(squares / (accuracies.length - 1)) : 0,
    p5: percentile(accuracies, 5),
    worst: Math.min(...accuracies),
  };
}

export function meanOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The value below which `share` percent lie, between two of them linearly, as NumPy has it. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * share) / 100;
  const below = Math.floor(place);
  const rest = place - below;
  const value = sorted[below]!;
  return rest === 0 ? value : value + rest * (sorted[below + 1]! - value);
}

/** The percentage of chips with at least this accuracy. */
export function shareAbove(accuracies: number[], threshold: number): number {
  return (100 * accuracies.filter((each) => each >= threshold).length) / accuracies.length;
}

export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** Counts in equal bins between the lowest and the highest value, whose edges are whole multiples of
 * a width of 0.5, 1, 2, 5 or 10; every value is in one bin, from <= value < to. */
export function binsOf(values: number[], most = 24): Bin[] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const width = [0.5, 1, 2, 5, 10].find((each) => (high - low) / each < most - 1) ?? 10;
  const first = Math.floor(low / width);
  const count = Math.floor(high / width) - first + 1;
  const bins = Array.from({ length: count }, (_, k) => ({
    from: (first + k) * width,
    to: (first + k + 1) * width,
    count: 0,
  }));
  for (const value of values) bins[Math.floor(value / width) - first]!.count += 1;
  return bins;
}

/** The standard error of the mean accuracy, in percentage points, over chips, each with its noise, and
 * over images, which all chips share: sqrt(var of chips / C + var of images / M). `accuracies` are those
 * of the C chips in percent, `rights` the chips that read each of the M images as its class. */
export function meanError(accuracies: number[], rights: ArrayLike<number>): number {
  const ofImages = Array.from(rights, (count) => (100 * count) / accuracies.length);
  return Math.sqrt(varianceOfMean(accuracies) + varianceOfMean(ofImages));
}

function varianceOfMean(values: number[]): number {
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return values.length > 1 ? squares / (values.length - 1) / values.length : 0;
}

export const NORMAL_95 = 1.959963984540054; // standard errors to either side of a 95 % interval

/** Wilson's 95 % interval, in percent, of a probability: so many successes in so many trials. */
export function wilson(count: number, trials: number): [number, number] {
  const share = count / trials;
  const square = NORMAL_95 ** 2 / trials;
  const centre = share + square / 2;
  const half = Math.sqrt(share * (1 - share) * square + square ** 2 / 4);
  const low = (100 * (centre - half)) / (1 + square);
  const high = (100 * (centre + half)) / (1 + square);
  return [count === 0 ? 0 : low, count === trials ? 100 : high];
}
