/** The kernel in WebAssembly computes what `readingsAlong` does. */

import { expect, test } from "vitest";
import { inputsOf, readGallery, unchangedPhysics } from "../src/core";
import type { Hardware } from "../src/core/hardware/hardware";
import { realise } from "../src/core/hardware/realise";
import { fieldsOn } from "../src/core/hardware/realised";
import { readingsAlong, readingsOfFour } from "../src/core/simulate";
import { Kernel } from "../src/core/wasm/kernel";
import rollout from "../src/core/wasm/rollout.json";
import presets from "../src/presets.json";
import { compiled } from "../scripts/kernel.mjs";
import { bytesOf, farthest, shipped } from "./world";

const kernel = Kernel.load()!;
const model = shipped("mnist-74-robust");
const images = readGallery(bytesOf("playground/public/test-images.safetensors")).get("mnist")!;
const n = model.hidden + model.outputs;
const spread = (size: number): Float64Array => Float64Array.from({ length: n }, (_, i) => size * Math.sin(7 * i));

/** The largest difference of three examples' readings. */
function difference(network: typeof model, hardware: Hardware, temperature: number): number {
  const places = [1, 7, 8, 120, 200];
  const physics = { ...unchangedPhysics(network), temperature, seed: 0xfffffffe };
  const chip = realise(network, hardware, 3);
  const fields = images.slice(0, 3).map(({ pixels }) => fieldsOn(chip, inputsOf(network, pixels)));
  const found = readingsOfFour(kernel, chip, fields, physics, 5, places);
  expect(found.length).toBe(3);
  const gaps = found.flatMap((readings, k) => {
    const expected = readingsAlong(chip, fields[k]!, physics, 5 + k, places);
    return readings.map((scores, p) => farthest(scores, expected[p]!));
  });
  return Math.max(...gaps);
}

const fitting = presets.filter(({ hardware }) => {
  const { oscillators = Infinity } = hardware as Hardware;
  return oscillators >= n;
});

test.each(fitting)("on $name chips, cold and warm", { timeout: 60_000 }, ({ hardware }) => {
  expect(difference(model, hardware as Hardware, 0)).toBeLessThan(1e-9);
  expect(difference(model, hardware as Hardware, 0.3)).toBeLessThan(1e-9);
});

test.each([
  ["injection", { injection: spread(0.4) }],
  ["a lag", { lag: 0.3 }],
  ["a second harmonic", { harmonic: [0.2, -0.1] as [number, number] }],
  ["all of them", { injection: spread(1), frequencies: spread(2), startPhases: spread(3), lag: -0.4, harmonic: [-0.3, 0.2] as [number, number] }],
])("with %s", (_, terms) => {
  const changed = { ...model, ...terms };
  expect(difference(changed, {}, 0)).toBeLessThan(1e-9);
  expect(difference(changed, { readout: { jitter: 0.1, spread: 0.05, noise: 0.02 } }, 1)).toBeLessThan(1e-9);
});

test("the committed module is what its source compiles to", { timeout: 60_000 }, async () => {
  expect((await compiled()).toString("base64")).toBe(rollout.wasm);
});
