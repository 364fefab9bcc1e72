/** The page's training is the package's: same seed, same weights; and its gradient is the loss's own. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkDigest, readModel } from "../src/core";
import { collapseOf } from "../src/training/collapse";
import { courseOfPoints } from "../src/training/lessons";
import { modelFile } from "../src/training/modelFile";
import { CLASSES, SETS, pointsOf } from "../src/training/sets";
import { Trainer, type TrainingRule, type TrainingSettings } from "../src/training/trainer";
import { PARTS } from "../src/training/weights";
import { farthest } from "./world";

interface Case {
  rule: TrainingRule;
  temperature: number;
  bits: number | null;
  mismatch: number;
  chip: number;
  losses: number[];
  input_weights: number[];
  biases: number[];
  couplings: number[];
}

const path = fileURLToPath(new URL("../../tests/vectors/training.json", import.meta.url));
const known: {
  hidden: number;
  steps: number;
  batch: number;
  seed: number;
  rate: number;
  rows: number[][];
  labels: number[];
  cases: Record<string, Case>;
} = JSON.parse(readFileSync(path, "utf8"));
const sizes = { inputs: 2, hidden: known.hidden, outputs: 3 };
const examples = {
  rows: Float64Array.from(known.rows.flat()),
  labels: Uint8Array.from(known.labels),
};

function trainerOf({ rule, temperature, bits, mismatch, chip }: Case): Trainer {
  const { rate, batch, seed } = known;
  const settings = { rule, rate, temperature, batch, seed, chip: { bits, mismatch, seed: chip } };
  return new Trainer(sizes, settings, examples);
}

test.each(Object.keys(known.cases))("%s: the package's weights after 50 steps", (name) => {
  const kept = known.cases[name]!;
  const trainer = trainerOf(kept);
  const losses = Array.from({ length: known.steps }, () => trainer.train());
  const every = losses.filter((_, k) => k % (known.steps / 5) === 0);
  expect(farthest(every, kept.losses)).toBeLessThan(1e-7);
  expect(farthest(trainer.weights.inputWeights, kept.input_weights)).toBeLessThan(1e-6);
  expect(farthest(trainer.weights.biases, kept.biases)).toBeLessThan(1e-6);
  expect(farthest(trainer.weights.couplings, kept.couplings)).toBeLessThan(1e-6);
});

const plain: TrainingSettings = {
  rule: "gradient",
  rate: 0.03,
  temperature: 0,
  chip: { bits: null, mismatch: 0.1, seed: 1 },
  batch: 8,
  seed: 2,
};

test.each(PARTS)("the gradient of %s is the quotient of small differences", (part) => {
  const trainer = new Trainer(sizes, plain, examples);
  const batch = [0, 3, 7, 11];
  const { gradient } = trainer.lossAndGradient(batch);
  const n = sizes.hidden + sizes.outputs;
  const [i, j] = [1, 4];
  const places = part === "couplings" ? [i * n + j, j * n + i] : [3];
  const lossAt = (change: number): number => {
    for (const k of places) trainer.weights[part][k]! += change;
    const { loss } = trainer.lossAndGradient(batch);
    for (const k of places) trainer.weights[part][k]! -= change;
    return loss;
  };
  const step = 1e-5;
  const quotient = (lossAt(step) - lossAt(-step)) / (2 * step);
  expect(Math.abs(gradient[part][places[0]!]! - quotient)).toBeLessThan(1e-8);
});

describe.each(SETS)("%s", (name) => {
  const points = pointsOf(name, 0);

  test("is the same for the same seed, within the plane", () => {
    expect(pointsOf(name, 0).rows).toEqual(points.rows);
    expect(pointsOf(name, 1).rows).not.toEqual(points.rows);
    expect(points.rows.every((value) => Math.abs(value) < 1.25)).toBe(true);
    expect(Math.max(...points.labels)).toBe(CLASSES[name] - 1);
  });

  test("is learnt to 95 % within 300 steps", () => {
    const learnt = { rows: points.rows.map((value) => 5 * value), labels: points.labels };
    const settings = { ...plain, batch: 32, chip: { bits: null, mismatch: 0, seed: 0 }, seed: 0 };
    const trainer = new Trainer({ inputs: 2, hidden: 14, outputs: CLASSES[name] }, settings, learnt);
    let best = 0;
    while (trainer.step < 300 && best < 0.95) {
      for (let k = 0; k < 20; k++) trainer.train();
      const classes = trainer.classes(learnt.rows);
      const right = classes.filter((each, k) => each === learnt.labels[k]).length;
      best = Math.max(best, right / classes.length);
    }
    expect(best).toBeGreaterThanOrEqual(0.95);
  });
});

test("training without noise on an ideal chip is exactly that without either", () => {
  const [one, other] = [plain, { ...plain, chip: { bits: null, mismatch: 0, seed: 9 } }].map(
    (settings) => new Trainer(sizes, { ...settings, chip: { ...settings.chip, mismatch: 0 } }, examples),
  ) as [Trainer, Trainer];
  for (let k = 0; k < 5; k++) expect(one.train()).toBe(other.train());
});

test("equilibrium propagation points along the gradient", () => {
  const settings = { ...plain, rule: "equilibrium" as const, chip: { ...plain.chip, mismatch: 0 } };
  const trainer = new Trainer(sizes, settings, examples);
  for (let k = 0; k < 40; k++) trainer.train();
  expect(trainer.agreement([...known.labels.keys()])).toBeGreaterThan(0.5);
});

test("what was learnt is a model file that the page reads back", async () => {
  const trainer = new Trainer(sizes, plain, examples);
  trainer.train();
  const { preprocessing } = courseOfPoints({ rows: new Float64Array(2), labels: new Uint8Array(1) }, 3);
  const content = await modelFile({
    dataset: "drawn",
    classNames: ["A", "B", "C"],
    preprocessing,
    protocol: "DIRECT",
    weights: trainer.weights,
    dynamics: trainer.dynamics,
    chip: plain.chip,
    details: { seed: 2 },
  });
  await checkDigest("drawn", content);
  const model = readModel("drawn", content);
  expect(Float64Array.from(model.couplings)).toEqual(trainer.weights.couplings);
  expect(model.preprocessing).toEqual(preprocessing);
  expect(model.madeFor).toEqual({ mismatch: { couplings: 0.1 } });
});

test.each([
  [{ step: 100, accuracy: 0.5, commonest: 0.99, losses: [1] }, "one class"],
  [{ step: 100, accuracy: 0.6, commonest: 0.5, losses: [1] }, "fell from 95 % to 60 %"],
  [{ step: 1, accuracy: 0.5, commonest: 0.5, losses: [NaN] }, "no number"],
])("a collapse is seen in %o", (progress, words) => {
  expect(collapseOf(progress, 0.95)).toContain(words);
});

test("a training that has only begun has not collapsed", () => {
  expect(collapseOf({ step: 10, accuracy: 0.5, commonest: 1, losses: [1] }, 0.5)).toBeNull();
  expect(collapseOf({ step: 200, accuracy: 0.9, commonest: 0.5, losses: [1] }, 0.95)).toBeNull();
});
