/** Chips of a kind answer here as in the package, and what is said of them is right. */

import { describe, expect, test } from "vitest";
import { inputsOf, onChip, readGallery, simulate, unchangedPhysics } from "../src/core";
import type { Hardware } from "../src/core/hardware/hardware";
import { fieldsOn } from "../src/core/hardware/realised";
import { readingsAlong } from "../src/core/simulate";
import {
  binsOf,
  meanError,
  measureChip,
  percentile,
  shareAbove,
  summaryOf,
  unfit,
  wilson,
  type Examples,
} from "../src/core/yield";
import type { Model } from "../src/core/types";
import { Kernel } from "../src/core/wasm/kernel";
import { bytesOf, shipped } from "./world";

interface Case {
  model: string;
  name: string;
  hardware: Hardware;
  images: number;
  accuracies: number[];
  summary: Record<string, number>;
  above: number[];
  above_intervals: [number, number][];
  standard_error: number;
}

const text = new TextDecoder().decode(bytesOf("tests/vectors/yield.json"));
const known = JSON.parse(text) as {
  stride: number;
  first_seed: number;
  noise_seed: number;
  thresholds: number[];
  cases: Case[];
};
const kernel = Kernel.load()!;
const images = readGallery(bytesOf("playground/public/test-images.safetensors"));

function examplesOf(model: Model): Examples {
  const found = images.get(model.dataset)!.filter((_, k) => k % known.stride === 0);
  return {
    inputs: found.map(({ pixels }) => inputsOf(model, pixels)),
    labels: found.map(({ label }) => label),
  };
}

function trialOf(model: Model, hardware: Hardware, chip: number) {
  const { observationTime, steps } = model;
  const noiseSeed = known.noise_seed;
  return { hardware, chip, noiseSeed, observationTime, steps, places: [steps] };
}

describe.each(known.cases)("$model on $name", ({ model: name, hardware, ...expected }) => {
  const model = shipped(name);
  const examples = examplesOf(model);

  test.each([
    ["in TypeScript", null],
    ["in WebAssembly", kernel],
  ])("ten chips answer as entrain.yield_of says, %s", { timeout: 60_000 }, (_, used) => {
    expect(examples.labels.length).toBe(expected.images);
    const rights = new Int32Array(expected.images);
    const accuracies = expected.accuracies.map((_, k) => {
      const trial = trialOf(model, hardware, known.first_seed + k);
      const { correct, right, confusion } = measureChip(model, examples, trial, used);
      right.forEach((one, image) => (rights[image]! += one));
      const diagonal = Array.from({ length: model.outputs }, (_, o) => confusion[o * model.outputs + o]!);
      expect(diagonal.reduce((a, b) => a + b)).toBe(correct[0]);
      expect(confusion.reduce((a, b) => a + b)).toBe(expected.images);
      return (100 * correct[0]!) / expected.images;
    });
    // The package computes in single precision: an image at the edge may be read otherwise.
    const apart = accuracies.map((each, k) => Math.abs(each - expected.accuracies[k]!));
    expect(Math.max(...apart)).toBeLessThanOrEqual(100 / expected.images + 1e-9);
    expect(apart.filter((gap) => gap > 1e-3).length).toBeLessThanOrEqual(1);
    // The package resamples chips and images, the page adds their variances.
    const ratio = meanError(accuracies, rights) / expected.standard_error;
    expect(Math.abs(ratio - 1)).toBeLessThan(0.15);
  });

  test("the package says the same of those accuracies", () => {
    const found = summaryOf(expected.accuracies);
    for (const key of ["mean", "sd", "p5", "worst"] as const) {
      expect(found[key]).toBeCloseTo(expected.summary[key]!, 9);
    }
    expect(percentile(expected.accuracies, 1)).toBeCloseTo(expected.summary["p1"]!, 9);
    const above = known.thresholds.map((each) => shareAbove(expected.accuracies, each));
    expect(above).toEqual(expected.above);
    known.thresholds.forEach((threshold, k) => {
      const good = expected.accuracies.filter((each) => each >= threshold).length;
      const [low, high] = wilson(good, expected.accuracies.length);
      expect(low).toBeCloseTo(expected.above_intervals[k]![0], 9);
      expect(high).toBeCloseTo(expected.above_intervals[k]![1], 9);
    });
  });
});

test("a reading on the way is that of a run which ends there", () => {
  const model = shipped("mnist-74-robust");
  const hardware = model.madeFor as Hardware;
  const examples = examplesOf(model);
  const physics = { ...unchangedPhysics(model), hardware, mismatch: 0.1, temperature: 0.1, seed: 3 };
  const network = onChip(model, physics);
  const fields = fieldsOn(network, examples.inputs[17]!);
  const places = [1, 60, 200];
  const along = readingsAlong(network, fields, physics, 17, places);
  places.forEach((steps, k) => {
    const observationTime = (physics.observationTime * steps) / physics.steps;
    const shorter = { ...physics, observationTime, steps };
    const options = { replicates: 1, sample: 17, shown: 0 } as const;
    const { readings } = simulate(network, fields, shorter, options);
    expect(along[k]).toEqual(readings[0]);
  });
});

test("one chip has no spread, and lies in its own bin", () => {
  expect(summaryOf([97.5])).toEqual({ mean: 97.5, sd: 0, p5: 97.5, worst: 97.5 });
  expect(binsOf([97.5])).toEqual([{ from: 97.5, to: 98, count: 1 }]);
});

test.each([
  [[100, 100, 99.5]],
  [[0, 100, 50, 49.99]],
  [Array.from({ length: 100 }, (_, k) => 60 + (k % 37) / 2)],
])("every chip is in one bin of the histogram", (accuracies) => {
  const bins = binsOf(accuracies);
  expect(bins.length).toBeLessThanOrEqual(24);
  expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(accuracies.length);
  for (const { from, to, count } of bins) {
    expect(accuracies.filter((each) => each >= from && each < to).length).toBe(count);
  }
});

test("the standard error of a mean is over chips and over images", () => {
  expect(meanError([50, 50], [2, 2, 0, 0])).toBeCloseTo(100 * Math.sqrt(1 / 12), 12); // images differ
  expect(meanError([0, 100], [1, 1])).toBeCloseTo(50, 12); // chips differ
  expect(meanError([100], [1, 1])).toBe(0);
});

test("a network that does not fit is told why; a graph that takes couplers away is no reason", () => {
  const model = shipped("mnist-74");
  expect(unfit(model, { oscillators: 48 })).toBe("it has 48 oscillators, the network 74");
  expect(unfit(model, { wiring: { kind: "kings" } })).toBeNull();
  expect(unfit(model, { wiring: { mask: [[70, 71]] } })).toBe("its graph leaves no coupler");
  expect(unfit(model, { wiring: { kind: "random", degree: 3 } })).toContain("cannot be drawn");
});
