/** The physics that can be changed, and what holds whatever is changed. */

import { describe, expect, test } from "vitest";
import {
  effectiveFields,
  fieldsOf,
  inputsOf,
  margin,
  philox,
  scoresOf,
  strongest,
  UnfitInput,
  unchangedPhysics,
} from "../src/core";
import { couplingsIn, gallery, run, shipped } from "./world";

const model = shipped("mnist-74");
const own = unchangedPhysics(model);
const n = model.hidden + model.outputs;
const image = gallery().get("mnist")![4]!;
const fields = fieldsOf(model, inputsOf(model, image.pixels));
const once = { replicates: 1, sample: 0, shown: 0 } as const;
const ensemble = { replicates: 10, sample: 0, shown: 3 } as const;

function symmetric(couplings: Float64Array): boolean {
  return couplings.every((value, k) => value === couplings[(k % n) * n + Math.floor(k / n)]);
}

describe("rollouts", () => {
  test("the energy never rises at kT = 0", () => {
    for (const observationTime of [0.2, 2]) {
      const physics = { ...own, observationTime, steps: observationTime * 5000 };
      const { energy } = run(model, fields, physics, once);
      const rise = energy.subarray(1).map((value, t) => value - energy[t]!);
      expect(Math.max(...rise)).toBeLessThanOrEqual(1e-9);
    }
  });

  test("shapes, start and leaders", () => {
    const rollout = run(model, fields, { ...own, temperature: 1 }, ensemble);
    const T = model.steps + 1;
    expect(rollout.phases.length).toBe(T * n);
    expect(rollout.phases.subarray(0, n).every((phase) => phase === Math.PI / 2)).toBe(true);
    expect(rollout.activations.length).toBe(T * model.outputs);
    expect(rollout.leaders.length).toBe(T);
    expect(rollout.leaders[0]).toBe(-1); // all outputs start alike
    const scores = scoresOf(rollout);
    expect(rollout.leaders[T - 1]).toBe(scores.indexOf(Math.max(...scores)));
    expect(margin(scores)).toBeGreaterThan(0);
    const mean = rollout.replicates.reduce((sum, each) => sum + each[each.length - 1]!, 0) / 10;
    expect(rollout.activations.at(-1)).toBeCloseTo(mean, 12);
  });

  test("the phases shown are those of the replicate shown, wrapped under noise", () => {
    const physics = { ...own, temperature: 5, observationTime: 2 };
    const { phases, replicates } = run(model, fields, physics, ensemble);
    const last = phases.subarray(own.steps * n + model.hidden).map(Math.cos);
    expect(last).toEqual(replicates[3]!.subarray(own.steps * model.outputs));
    expect(phases.every((phase) => Math.abs(phase) <= Math.PI)).toBe(true);
  });

  test("at kT = 0 an ensemble is one trajectory", () => {
    const rollout = run(model, fields, own, ensemble);
    expect(rollout.replicates.length).toBe(1);
    expect(rollout).toEqual(run(model, fields, { ...own, seed: 9 }, once));
  });

  test.each([
    { temperature: -1 },
    { temperature: NaN },
    { steps: 0 },
    { steps: 1.5 },
    { observationTime: 0 },
    { seed: -1 },
    { couplingBits: 1 },
    { mismatch: -0.1 },
    { silenced: [74] },
    { cut: [[0, 99] as [number, number]] },
  ])("%o is refused", (change) => {
    expect(() => run(model, fields, { ...own, ...change }, once)).toThrow(/got|oscillator/);
  });

  test("a constant image is empty", () => {
    expect(() => inputsOf(model, new Uint8Array(784).fill(9))).toThrow(UnfitInput);
  });
});

describe("hardware", () => {
  test.each([2, 3, 4, 8])("%i bits leave 2^bits - 1 levels at most, half a step away", (bits) => {
    const found = couplingsIn(model, { ...own, couplingBits: bits });
    const most = Math.max(...model.couplings.map(Math.abs));
    const levels = 2 ** (bits - 1) - 1;
    const step = most / levels;
    expect(symmetric(found)).toBe(true);
    expect(new Set(found).size).toBeLessThanOrEqual(2 * levels + 1);
    expect(Math.max(...found.map(Math.abs))).toBeCloseTo(most, 12);
    found.forEach((value, k) => {
      expect(Math.abs(value / step - Math.round(value / step))).toBeLessThan(1e-9);
      expect(Math.abs(value - model.couplings[k]!)).toBeLessThanOrEqual(step / 2 + 1e-12);
    });
  });

  test("halves are rounded away from zero", () => {
    const couplings = new Float32Array(n * n);
    [3, 1.5, -1.5, 0.5, -0.5, 1.25].forEach((value, k) => {
      couplings[k + 1] = value;
      couplings[(k + 1) * n] = value;
    });
    const found = couplingsIn({ ...model, couplings }, { ...own, couplingBits: 3 });
    expect([...found.subarray(1, 7)]).toEqual([3, 2, -2, 1, -1, 1]);
  });

  test("mismatch is symmetric, relative and fixed by its seed", () => {
    const found = couplingsIn(model, { ...own, mismatch: 0.1, chip: 7 });
    expect(symmetric(found)).toBe(true);
    expect(couplingsIn(model, { ...own, mismatch: 0.1, chip: 7 })).toEqual(found);
    expect(couplingsIn(model, { ...own, mismatch: 0.1, chip: 8 })).not.toEqual(found);
    const words = new Uint32Array(4);
    philox(3, 70, 0, 0, 7, 0x6d69736d, words);
    const [u, v] = [(words[0]! + 0.5) / 2 ** 32, (words[1]! + 0.5) / 2 ** 32];
    const normal = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
    expect(found[3 * n + 70]).toBeCloseTo(model.couplings[3 * n + 70]! * (1 + 0.1 * normal), 12);
    const ratios = [...found].flatMap((value, k) => {
      const before = model.couplings[k]!;
      return before === 0 ? [] : [(value / before - 1) / 0.1];
    });
    const square = ratios.reduce((sum, ratio) => sum + ratio * ratio, 0) / ratios.length;
    expect(Math.sqrt(square)).toBeGreaterThan(0.9);
    expect(Math.sqrt(square)).toBeLessThan(1.1);
    expect(found.every((value, k) => (value === 0) === (model.couplings[k] === 0))).toBe(true);
  });

  test("a cut takes one coupling away and no other", () => {
    const found = couplingsIn(model, { ...own, cut: [[2, 5]] });
    const changed = [...found.keys()].filter((k) => found[k] !== model.couplings[k]);
    expect(changed).toEqual([2 * n + 5, 5 * n + 2]);
    expect(changed.map((k) => found[k])).toEqual([0, 0]);
  });

  test("a silenced oscillator has neither couplings nor field, and stays where it starts", () => {
    const physics = { ...own, silenced: [6] };
    const found = couplingsIn(model, physics);
    expect(symmetric(found)).toBe(true);
    expect(found.subarray(6 * n, 7 * n).every((value) => value === 0)).toBe(true);
    expect(effectiveFields(fields, physics)[6]).toBe(0);
    expect(effectiveFields(fields, physics)[5]).toBe(fields[5]);
    const { phases } = run(model, fields, physics, once);
    expect(phases[own.steps * n + 6]).toBe(Math.PI / 2);
  });
});

test("the strongest couplings come first", () => {
  const couplings = couplingsIn(model, own);
  const found = strongest(couplings, n, 70, 5);
  expect(found.length).toBe(5);
  const row = [...couplings.subarray(70 * n, 71 * n)].map(Math.abs).sort((a, b) => b - a);
  expect(found.map(({ value }) => Math.abs(value))).toEqual(row.slice(0, 5));
  expect(found.every(({ other, value }) => couplings[70 * n + other] === value)).toBe(true);
  expect(strongest(couplings, n, 70, 99).length).toBe(model.hidden);
});
