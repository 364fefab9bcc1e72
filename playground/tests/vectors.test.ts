/** What the page computes is what the package computes. */

import { describe, expect, test } from "vitest";
import {
  distanceOf,
  doubtOf,
  fieldsOf,
  framed,
  fromRgba,
  inputsOf,
  margin,
  normals,
  philox,
  preparePicture,
  scoresOf,
  unchangedPhysics,
} from "../src/core";
import { couplingsIn, farthest, gallery, photographs, run, shipped, vectors } from "./world";

const known = vectors();
const images = gallery();
const TOLERANCE = 1e-9;
const shape = { rows: 28, columns: 28 };

test.each(known.philox)("Philox words of counter $counter and key $key", (entry) => {
  const words = new Uint32Array(4);
  const [c0, c1, c2, c3] = entry.counter as [number, number, number, number];
  const [k0, k1] = entry.key as [number, number];
  philox(c0, c1, c2, c3, k0, k1, words);
  expect([...words]).toEqual(entry.words);
});

test.each(known.normals)("the increment of seed $seed, step $step", (at) => {
  const n = at.oscillator + 2;
  const found = normals(at.seed, at.temperature, at.replicate, at.sample, n, at.step + 1);
  expect(found.length).toBe((at.step + 1) * n);
  expect(Math.abs(found[at.step * n + at.oscillator]! - at.value)).toBeLessThan(1e-12);
});

test.each(known.pictures)("a picture of $rows x $columns", ({ rows, columns, rgba, pixels }) => {
  const grey = fromRgba(new Uint8ClampedArray(Buffer.from(rgba, "hex")), columns, rows);
  const found = preparePicture(grey, rows, columns, shape);
  expect(Buffer.from(found!).toString("hex")).toBe(pixels);
});

const seen = photographs();

test.each(seen.photographs)("a photograph: $name", (photograph) => {
  const { rows, columns } = photograph;
  const grey = Float64Array.from(Buffer.from(photograph.grey, "hex"), (level) => level / 255);
  expect(farthest(framed(grey, rows, columns, shape), photograph.levels)).toBeLessThan(1e-6);
  const model = shipped(seen.model);
  const pixels = preparePicture(grey, rows, columns, shape)!;
  const inputs = inputsOf(model, pixels);
  const rollout = run(model, fieldsOf(model, inputs), unchangedPhysics(model), {
    replicates: 1,
    sample: 0,
    shown: 0,
  });
  const scores = scoresOf(rollout);
  const length = Math.hypot(...inputs);
  expect(Math.abs(distanceOf(model.reject!, inputs, length) - photograph.distance)).toBeLessThan(1e-6);
  expect(Math.abs(margin(scores) - photograph.margin)).toBeLessThan(1e-4);
  expect(doubtOf(model, pixels, inputs, scores)).toBe(photograph.doubt);
  const dark = pixels.map((level) => level / 40);
  const unlike = "unlike the training data";
  expect(doubtOf(model, dark, inputs, scores)).toBe(photograph.doubt === unlike ? unlike : "faint");
});

describe.each(Object.keys(known.models))("%s", (name) => {
  const model = shipped(name);
  const own = unchangedPhysics(model);

  test("unchanged physics is exactly the network's own couplings", () => {
    expect(couplingsIn(model, own)).toEqual(Float64Array.from(model.couplings));
  });

  describe.each(known.models[name]!)("test image $index", (example) => {
    const image = images.get(model.dataset)![example.place]!;
    const inputs = inputsOf(model, image.pixels);
    const fields = fieldsOf(model, inputs);
    const once = { replicates: 1, sample: example.index, shown: 0 } as const;

    test("inputs and fields", () => {
      expect(image.index).toBe(example.index);
      const sum = inputs.reduce((total, value) => total + value, 0);
      const moment = inputs.reduce((total, value, d) => total + value * (d + 1), 0);
      expect(Math.abs(sum - example.inputs_sum)).toBeLessThan(TOLERANCE);
      expect(Math.abs(moment / example.inputs_moment - 1)).toBeLessThan(TOLERANCE);
      const some = fields.filter((_, i) => i % 8 === 0);
      expect(farthest(some, example.fields)).toBeLessThan(TOLERANCE);
    });

    test("deterministic scores, energies and trajectory", () => {
      const rollout = run(model, fields, own, once);
      expect(farthest(scoresOf(rollout), example.scores)).toBeLessThan(TOLERANCE);
      const energies = rollout.energy.filter((_, t) => t % known.stride === 0);
      expect(farthest(energies, example.energies)).toBeLessThan(TOLERANCE);
      example.trajectory?.forEach((outputs, k) => {
        const from = k * known.stride * model.outputs;
        const found = rollout.activations.subarray(from, from + model.outputs);
        expect(farthest(found, outputs)).toBeLessThan(TOLERANCE);
      });
    });

    test.each(Object.entries(example.noisy))("scores at kT = %s", (kT, expected) => {
      const physics = { ...own, temperature: Number(kT), seed: known.seed };
      const rollout = run(model, fields, physics, { ...once, replicates: 10, shown: 2 });
      expect(rollout.replicates.length).toBe(10);
      expected.forEach((scores, m) => {
        const found = rollout.replicates[m]!.subarray(model.steps * model.outputs);
        expect(farthest(found, scores)).toBeLessThan(TOLERANCE);
      });
    });

    if (example.coarse === undefined) return;
    const coarse = example.coarse;
    test("scores of fewer steps", () => {
      const physics = { ...own, temperature: 1, seed: known.seed, steps: known.coarse };
      const rollout = run(model, fields, physics, once);
      expect(farthest(scoresOf(rollout), coarse)).toBeLessThan(TOLERANCE);
    });
  });
});
