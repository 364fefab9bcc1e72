/** Networks with a graph, frequencies, start phases, injection, lag and second harmonic: files and
 * rollouts. */

import { describe, expect, test } from "vitest";
import {
  fieldsOf,
  readModel,
  strongest,
  termsOf,
  unchangedPhysics,
  type Model,
} from "../src/core";
import { couplingsIn, farthest, modelFile, run, shipped, terms, type Nested } from "./world";

const known = terms();
const { numbers } = known;
const n = 6;
const hidden = 4;
const TOLERANCE = 1e-12;
const EVERY = ["frequencies", "start_phases", "injection", "lag", "harmonic", "graph"];
const once = { replicates: 1, sample: known.sample, shown: 0 } as const;

/** The network of the vectors with some of its terms, then with tensors changed, as a file. */
function file(names: string[], changed: Record<string, Nested> = {}, gain?: unknown): ArrayBuffer {
  const graph = numbers["graph"] as number[][];
  const coupled = (i: number, j: number): boolean =>
    names.includes("graph") ? graph[i]![j] === 1 : i < hidden || j < hidden;
  const couplings = (numbers["couplings"] as number[][]).map((row, i) =>
    row.map((value, j) => (coupled(i, j) ? value : 0)),
  );
  const { input_weights, biases } = numbers as { input_weights: Nested; biases: Nested };
  const chosen = Object.fromEntries(names.map((name) => [name, numbers[name]!]));
  const header = {
    kind: "model",
    version: 1,
    dataset: "mine",
    protocol: "direct",
    class_names: ["a", "b"],
    dynamics: known.dynamics,
    preprocessing: { image_shape: [1, 3], pixel_max: 1, mean: 0, sd: 1, test_norm: 1 },
    gain,
  };
  return modelFile({ input_weights, biases, couplings, ...chosen, ...changed }, header);
}

function network(names: string[]): Model {
  return readModel("mine", file(names));
}

const fields = fieldsOf(network([]), Float64Array.from(known.inputs));

/** `rows` (list of numbers) with one of them changed at both of its places. */
function pair(rows: Nested, i: number, j: number, value: number): Nested {
  const changed = (rows as number[][]).map((row) => [...row]);
  changed[i]![j] = value;
  changed[j]![i] = value;
  return changed;
}

describe.each(known.cases)("with $terms", ({ terms: names, phases, energies, noisy }) => {
  const model = network(names);
  const own = unchangedPhysics(model);

  test("the package's phases and energies", () => {
    const found = run(model, fields, own, once);
    expect(farthest(found.phases.subarray(own.steps * n), phases)).toBeLessThan(TOLERANCE);
    const some = found.energy.filter((_, t) => t % known.stride === 0);
    expect(farthest(some, energies)).toBeLessThan(TOLERANCE);
  });

  test.each([0, 1])("noisy replicate %i of the package", (shown) => {
    const physics = { ...own, temperature: known.temperature, seed: known.seed };
    const found = run(model, fields, physics, { ...once, replicates: 10, shown });
    const last = found.phases.subarray(own.steps * n);
    expect(farthest(last, noisy.phases[shown]!)).toBeLessThan(TOLERANCE);
    const some = found.energy.filter((_, t) => t % known.stride === 0);
    expect(farthest(some, noisy.energies[shown]!)).toBeLessThan(TOLERANCE);
    const outputs = found.replicates[shown]!.subarray(own.steps * model.outputs);
    expect(farthest(outputs, noisy.phases[shown]!.slice(hidden).map(Math.cos))).toBeLessThan(
      TOLERANCE,
    );
  });
});

describe("rollouts", () => {
  test("the energy rises with an even part of the coupling function alone", () => {
    const rise = (names: string[], changed: Record<string, Nested> = {}): number => {
      const model = readModel("mine", file(names, changed));
      const physics = { ...unchangedPhysics(model), observationTime: 2, steps: 4000 };
      const { energy } = run(model, fields, physics, once);
      return Math.max(...energy.subarray(1).map((value, t) => value - energy[t]!));
    };
    for (const name of ["frequencies", "start_phases", "injection", "graph"]) {
      expect(rise([name])).toBeLessThanOrEqual(1e-9);
    }
    expect(rise([], { harmonic: [-0.75, 0] })).toBeLessThanOrEqual(1e-9);
    expect(rise(["lag"])).toBeGreaterThan(1e-5);
    expect(rise([], { harmonic: [0, 0.3125] })).toBeGreaterThan(1e-5);
  });

  test("terms of zero change nothing, and a lag or a harmonic of zero is none", () => {
    const zero = Array.from({ length: n }, () => 0);
    const none = { frequencies: zero, injection: zero, lag: 0, harmonic: [0, 0] };
    const model = readModel("mine", file([], none));
    expect([model.lag, model.harmonic]).toEqual([null, null]);
    const plain = network([]);
    const own = unchangedPhysics(plain);
    expect(run(model, fields, own, once)).toEqual(run(plain, fields, own, once));
  });

  test("a silenced oscillator stays where it starts, whatever acts on it", () => {
    const model = network(EVERY);
    const own = unchangedPhysics(model);
    const { phases } = run(model, fields, { ...own, silenced: [1, 5] }, once);
    for (const i of [1, 5]) expect(phases[own.steps * n + i]).toBe(model.startPhases![i]);
    expect(phases[own.steps * n + 2]).not.toBe(model.startPhases![2]);
  });

  test("cuts, bits and mismatch reach the coupling of two outputs", () => {
    const model = network(EVERY);
    const own = unchangedPhysics(model);
    const at = hidden * n + hidden + 1;
    expect(couplingsIn(model, own)[at]).toBe(2);
    expect(couplingsIn(model, { ...own, cut: [[4, 5]] })[at]).toBe(0);
    expect(couplingsIn(model, { ...own, mismatch: 0.1 })[at]).not.toBe(2);
    const coarse = couplingsIn(model, { ...own, couplingBits: 2 });
    expect(new Set(coarse.map(Math.abs))).toEqual(new Set([0, 2]));
    expect(strongest(model.couplings, n, 4, 1)).toEqual([{ other: 5, value: 2 }]);
  });
});

describe("files", () => {
  test("a shipped model has none of the terms, and no coupler between outputs", () => {
    const model = shipped("mnist-74-direct");
    const { frequencies, startPhases, injection, lag, harmonic } = model;
    expect([frequencies, startPhases, injection, lag, harmonic]).toEqual(Array(5).fill(null));
    expect(model.graph.reduce((sum, there) => sum + there, 0)).toBe(74 * 73 - 10 * 9);
    expect(termsOf(model, 3)).toEqual([]);
  });

  test("terms are read as they are in the file", () => {
    const model = readModel("mine", file(EVERY, {}, 3.5));
    expect([...model.frequencies!]).toEqual(numbers["frequencies"]);
    expect([...model.startPhases!]).toEqual(numbers["start_phases"]);
    expect([...model.injection!]).toEqual(numbers["injection"]);
    expect(model.lag).toBe(numbers["lag"]);
    expect(model.harmonic).toEqual(numbers["harmonic"]);
    expect([...model.graph]).toEqual((numbers["graph"] as number[][]).flat());
    expect(termsOf(model, 0)).toEqual([
      { name: "frequency", value: -0.03125, unit: "" },
      { name: "injection", value: -1.984375, unit: "" },
      { name: "start phase", value: -5.3125, unit: " rad" },
    ]);
    expect(termsOf(network(["injection"]), 5)).toEqual([
      { name: "injection", value: -1.9375, unit: "" },
    ]);
  });

  const graph = numbers["graph"]!;
  const couplings = numbers["couplings"]!;
  const lopsided = (graph as number[][]).map((row) => [...row]);
  lopsided[0]![1] = 0;
  test.each<[string, ArrayBuffer, RegExp]>([
    ["five frequencies", file([], { frequencies: [1, 2, 3, 4, 5] }), /frequencies must hold 6/],
    ["a matrix of injection", file([], { injection: [[1, 2, 3, 4, 5, 6]] }), /have 1 axes/],
    ["no start phases", file([], { start_phases: [] }), /start_phases must have 1 axes/],
    ["an infinite phase", file([], { start_phases: [0, 0, 0, 0, 0, Infinity] }), /be finite/],
    ["a lag of one place", file([], { lag: [0.1] }), /lag must be one number, got 1/],
    ["a lag that is none", file([], { lag: NaN }), /lag must be finite/],
    ["a harmonic of one number", file([], { harmonic: [0.1] }), /harmonic must hold 2 numbers, got 1/],
    ["a harmonic of two rows", file([], { harmonic: [[0.1, 0.2]] }), /harmonic must have 1 axes/],
    ["a harmonic that is none", file([], { harmonic: [0.1, NaN] }), /harmonic must be finite/],
    ["a graph of one row", file([], { graph: [[0, 1, 1, 1, 1, 1]] }), /graph must be 6 x 6/],
    ["a lopsided graph", file(["graph"], { graph: lopsided }), /symmetric; it is not at 0 and 1/],
    ["a graph of twos", file(["graph"], { graph: pair(graph, 0, 1, 2) }), /0 and 1, got 2/],
    ["a self-coupler", file(["graph"], { graph: pair(graph, 3, 3, 1) }), /couples oscillator 3/],
    ["a coupling off the graph", file(["graph"], { couplings }), /0 and 2 must not be coupled/],
    ["coupled outputs without a graph", file([], { couplings }), /4 and 5 must not be coupled/],
    ["a term unknown here", file([], { masses: [1, 1, 1, 1, 1, 1] }), /masses is unknown/],
  ])("%s is refused", (_, buffer, reason) => {
    expect(() => readModel("mine", buffer)).toThrow(reason);
  });
});
