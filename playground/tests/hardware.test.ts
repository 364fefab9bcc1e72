/** Chips on the page are the package's: the same effects, the same numbers. */

import { describe, expect, test } from "vitest";
import { wordsOf } from "../src/chipWords";
import { hardwareNamed, kindsOf } from "../src/chips";
import {
  EFFECTS,
  checkedHardware,
  fieldsOn,
  graphOf,
  inputsOf,
  misfitOf,
  readModel,
  realise,
  scoresOf,
  simulate,
  unchangedPhysics,
  type Hardware,
  type Model,
  type Realised,
} from "../src/core";
import { chipNoiseSeed } from "../src/core/hardware/draws";
import {
  chips,
  couplingsIn,
  farthest,
  features,
  gallery,
  modelFile,
  run,
  shipped,
  type ChipCase,
  type ChipNumbers,
  type Nested,
} from "./world";

const known = chips();
const { small } = known;
const TOLERANCE = 1e-12;
const TERMS = ["frequencies", "start_phases", "injection", "lag", "harmonic"];

function network(terms: boolean): Model {
  const header = {
    kind: "model",
    version: 2,
    dataset: "mine",
    protocol: "DIRECT",
    class_names: ["a", "b", "c"],
    dynamics: small.dynamics,
    preprocessing: { image_shape: [1, 5], pixel_max: 1, mean: 0, sd: 1, test_norm: 1 },
  };
  const numbers = Object.entries(small.numbers).filter(([name]) => terms || !TERMS.includes(name));
  return readModel("mine", modelFile(Object.fromEntries(numbers) as Record<string, Nested>, header));
}

/** The scores of some inputs, numbered from 0, as a chip reads them. */
function scores(found: Realised, inputs: Float64Array, sample: number): Float64Array {
  const physics = {
    ...unchangedPhysics(found),
    temperature: found.hardware.phase_noise?.temperature ?? 0,
    seed: chipNoiseSeed(known.noise_seed, found.chip),
  };
  const fields = fieldsOn(found, inputs);
  return scoresOf(simulate(found, fields, physics, { replicates: 1, sample, shown: 0 }));
}

function thinned(numbers: ArrayLike<number>, stride: number): number[] {
  return Array.from(numbers).filter((_, k) => k % stride === 0);
}

/** Selections and levels of a given range are exact; a range by the rms is a sum, and a chip's
 * numbers take logarithms and cosines. */
const EXACT = [
  "wiring",
  "wiring, mask",
  "sparsity",
  "sparsity, down",
  "fan_in",
  "coupling_levels, max",
  "coupling_levels, list",
  "bias_levels, halves of steps",
  "bias_levels, between levels",
];

function compare(model: Model, { name, hardware }: ChipCase, chip: ChipNumbers): void {
  const found = realise(model, checkedHardware(hardware), chip.seed);
  const close = (numbers: ArrayLike<number>, expected: ArrayLike<number>): void =>
    expect(farthest(numbers, expected)).toBeLessThanOrEqual(EXACT.includes(name) ? 0 : TOLERANCE);
  close(found.couplings, chip.couplings ?? model.couplings);
  close(found.inputWeights, chip.input_weights ?? model.inputWeights);
  close(found.biases, chip.biases ?? model.biases);
  close(found.frequencies ?? [], chip.frequencies ?? model.frequencies ?? []);
  close(found.startPhases ?? [], chip.start_phases ?? model.startPhases ?? []);
  close(found.injection ?? [], chip.injection ?? model.injection ?? []);
  expect(found.lag ?? 0).toBeCloseTo(chip.lag?.[0] ?? model.lag ?? 0, 14);
  close(found.harmonic ?? [], chip.harmonic ?? model.harmonic ?? []);
  small.inputs.forEach((row, sample) => {
    const inputs = Float64Array.from(row);
    if (sample === 0) expect(farthest(fieldsOn(found, inputs), chip.fields)).toBeLessThan(TOLERANCE);
    expect(farthest(scores(found, inputs, sample), chip.scores[sample]!)).toBeLessThan(TOLERANCE);
  });
}

describe.each([
  [false, small.cases],
  [true, small.with_terms],
] as const)("a small network, with terms: %s", (terms, cases) => {
  const model = network(terms);
  const all = cases.flatMap((each) => each.chips.map((chip) => ({ each, chip })));
  test.each(all)("$each.name, chip $chip.seed", ({ each, chip }) => compare(model, each, chip));
});

test.each(small.cases)("$name is told in words", ({ hardware }) => {
  const effects = EFFECTS.filter((name) => name in hardware);
  const words = wordsOf(hardware);
  const everywhere = hardware.wiring?.kind === "all-to-all" ? 1 : 0; // nothing to say
  expect(words.length).toBeGreaterThanOrEqual(effects.length - everywhere);
  expect(words.join()).not.toMatch(/undefined|NaN/);
  expect(wordsOf({ wiring: {}, sparsity: {}, mismatch: {}, dead: {}, readout: {} })).toEqual([]);
});

test("the small network meets every effect alone", () => {
  const alone = small.cases.map(({ hardware }) => Object.keys(hardware));
  for (const effect of EFFECTS) {
    expect(alone.some((names) => names.length === 1 && names[0] === effect)).toBe(true);
  }
});

describe("a shipped network", () => {
  const model = shipped(known.shipped.model);
  const image = gallery().get(model.dataset)![known.shipped.place]!;
  const inputs = inputsOf(model, image.pixels);
  const { couplings_stride, stride, cases } = known.shipped;

  test.each(cases)("on $name", (each) => {
    const kind = kindsOf(model).find(({ name }) => name === each.name)!;
    if ("refused" in each) {
      expect(kind.misfit).toMatch(/it has 48 oscillators, the network 74/);
      expect(() => hardwareNamed(each.name, model)).toThrow(/48/);
      expect(() => realise(model, kind.hardware, 0)).toThrow(/48/);
      return;
    }
    expect(kind.hardware).toEqual(each.hardware);
    for (const chip of each.chips) {
      const found = realise(model, kind.hardware, chip.seed);
      const couplings = thinned(found.couplings, couplings_stride);
      expect(farthest(couplings, chip.couplings!)).toBeLessThan(TOLERANCE);
      expect(farthest(thinned(fieldsOn(found, inputs), stride), chip.fields)).toBeLessThan(1e-11);
      const frequencies = thinned(found.frequencies ?? [], stride);
      expect(farthest(frequencies, chip.frequencies ?? [])).toBeLessThan(TOLERANCE);
      expect(farthest(scores(found, inputs, 0), chip.scores[0]!)).toBeLessThan(1e-11);
    }
  });

  test("a chip without couplers that the network uses is not offered", () => {
    const reasons = new Map(kindsOf(model).map(({ name, misfit }) => [name, misfit]));
    expect(reasons.get("ideal")).toBeNull();
    expect(reasons.get("typical")).toBeNull();
    expect(reasons.get("moy-2022")).toMatch(/it lacks \d+ of the network's 2656 couplers/);
    expect(misfitOf(features(3), { wiring: { kind: "ring", degree: 4 } })).toBeNull();
  });
});

test.each(known.graphs)("couplers of $wiring among $oscillators", (each) => {
  const n = each.oscillators;
  const graph = graphOf(each.wiring, n - each.outputs, each.outputs);
  const found: number[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      expect(graph[i * n + j]).toBe(graph[j * n + i]);
      if (graph[i * n + j] === 1) found.push(i, j);
    }
  }
  expect(found).toEqual(each.couplers);
});

describe("off is absent", () => {
  const model = network(true);
  test.each<Hardware>([
    {},
    { wiring: { kind: "all-to-all" } },
    { sparsity: {} },
    { fan_in: {} },
    { fan_in: { inputs: 5 } }, // as many as there are
    { mismatch: {}, offset: {}, asymmetry: {} },
    { dead: {}, stuck: {}, frequency_spread: {}, coupling_function: {} },
    { coupling_function: { lag: 0, second: 0, second_even: 0 } },
    { phase_noise: {}, readout: {} },
    { oscillators: 12, name: "large enough" },
  ])("%o", (hardware) => {
    const found = realise(model, hardware, 5);
    expect(found).toEqual({ ...model, hardware, chip: 5, fieldChanges: [], moving: null, dead: null });
    expect(found.couplings).toBe(model.couplings);
  });
});

describe("what was set by hand", () => {
  const model = network(false);
  const own = unchangedPhysics(model);

  test("bits and mismatch stand in for the chip's", () => {
    const hardware = { coupling_levels: { bits: 5 }, mismatch: { couplings: 0.2 } };
    const physics = { ...own, hardware, chip: 3, couplingBits: 3, mismatch: 0.1 };
    const coupling_levels = { bits: 3, range: 1, rule: "max" as const };
    const expected = { coupling_levels, mismatch: { couplings: 0.1 } };
    expect(couplingsIn(model, physics)).toEqual(realise(model, expected, 3).couplings);
    const none = { ...physics, couplingBits: null, mismatch: 0 };
    expect(couplingsIn(model, none)).toEqual(
      realise(model, { coupling_levels: { bits: 5 } }, 3).couplings,
    );
  });

  test("noise of the readout differs from replicate to replicate, the first is the package's", () => {
    const physics = { ...own, hardware: { readout: { noise: 0.1 } }, temperature: 0.5, seed: 2 };
    const fields = new Float64Array(12).fill(1);
    const all = run(model, fields, physics, { replicates: 10, sample: 4, shown: 0 });
    const one = run(model, fields, physics, { replicates: 1, sample: 4, shown: 0 });
    expect(all.readings[0]).toEqual(one.readings[0]);
    const noise = all.readings.map((reading, m) => reading[0]! - all.replicates[m]!.at(-3)!);
    expect(new Set(noise.map((value) => value.toFixed(9))).size).toBe(10);
  });
});

describe("what hardware must be", () => {
  test.each<[unknown, RegExp]>([
    [null, /effects by name/],
    [{ delay: { time: 1 } }, /the effect delay is unknown to this page/],
    [{ constructor: {} }, /the effect constructor is unknown/],
    [{ coupling_function: { third: 0.1 } }, /coupling_function.third is unknown/],
    [{ coupling_function: { second: "0.1" } }, /coupling_function.second must be a number, got "0.1"/],
    [{ coupling_function: { second_even: Infinity } }, /second_even must be a number/],
    [{ fan_in: { inputs: 0 } }, /fan_in.inputs must be a whole number from 1/],
    [{ fan_in: { inputs: 2.5 } }, /whole number.*got 2.5/],
    [{ mismatch: { couplings: -0.1 } }, /mismatch.couplings must be a number from 0 on, got -0.1/],
    [{ mismatch: 0.1 }, /mismatch must be its numbers by name/],
    [{ dead: { couplers: 1.5 } }, /share from 0 to 1, got 1.5/],
    [{ sparsity: { kept: 0 } }, /above 0/],
    [{ coupling_levels: {} }, /bits or levels, one of them/],
    [{ coupling_levels: { bits: 3, levels: [0, 1] } }, /one of them/],
    [{ coupling_levels: { bits: 1 } }, /from 2 to 24/],
    [{ coupling_levels: { levels: [1, 0] } }, /rising/],
    [{ coupling_levels: { levels: [0, 2] } }, /from -1 to 1/],
    [{ coupling_levels: { bits: 3, rule: "mean" } }, /one of rms, max/],
    [{ field_levels: { bits: 3 } }, /change with the input/],
    [{ field_levels: { bits: 3, rule: "rms" } }, /one of absolute, couplings/],
    [{ wiring: { kind: "star" } }, /one of all-to-all/],
    [{ wiring: { kind: "ring", degree: 3 } }, /even/],
    [{ wiring: { kind: "random" } }, /drawn by the package alone: give its couplers/],
    [{ wiring: { mask: [[2, 1]] } }, /i < j/],
    [{ wiring: { outputs: "first" } }, /one of last, spread/],
    [{ readout: { bits: 0 } }, /whole number/],
    [{ readout: { jitter: 0.6 } }, /0.5 of the time/],
    [{ oscillators: 0 }, /whole number/],
  ])("%j is refused", (values, reason) => {
    expect(() => checkedHardware(values)).toThrow(reason);
  });

  test("places that a network does not have are refused", () => {
    expect(() => graphOf({ kind: "ring", degree: 12 }, 9, 3)).toThrow(/below the 12/);
    expect(() => graphOf({ mask: [[0, 12]] }, 9, 3)).toThrow(/\(0, 12\)/);
  });

  test("a network made for a chip that is unknown here says so", () => {
    const model = { ...shipped("mnist-74"), madeFor: { delay: { time: 1 } } };
    const own = kindsOf(model).at(-1)!;
    expect(own).toMatchObject({ name: "own", misfit: "the effect delay is unknown to this page" });
    expect(() => hardwareNamed("own", model)).toThrow(/delay/);
    const madeFor = { readout: { bits: 4 } };
    expect(hardwareNamed("own", { ...model, madeFor })).toEqual(madeFor);
  });
});
