/** Controls that would change nothing are known, and no others: the claim against the computation. */

import { describe, expect, test } from "vitest";
import { realise, unchangedPhysics, type Hardware } from "../src/core";
import { readingOf } from "../src/core/hardware/readout";
import { chipsDiffer, runsDiffer } from "../src/effects";
import { chips, shipped } from "./world";

const model = shipped("mnist-74");
const own = unchangedPhysics(model);

/** What two chips, or two runs, make of the network and of its outputs. */
function numbersOf(hardware: Hardware, chip: number, seed: number): unknown {
  const { fieldChanges, chip: _, ...numbers } = realise(model, hardware, chip);
  const ones: Float64Array = new Float64Array(74).fill(1);
  const fields = fieldChanges.reduce((found, change) => change(found), ones);
  const phases = Float64Array.from([0.3, 1]);
  const reading = { chip, seed, sample: 0, replicate: 0, time: 1 };
  const read = readingOf(hardware.readout ?? {}, phases, phases, reading);
  return [numbers, [...fields], [...read]];
}

const kinds: [string, Hardware][] = [
  ["ideal", {}],
  ["mismatch of 0", { mismatch: { couplings: 0 } }],
  ...chips()
    .small.cases.filter(({ hardware }) => !hardware.wiring && !hardware.fan_in)
    .map(({ name, hardware }): [string, Hardware] => [name, hardware]),
];

describe("of each hardware", () => {
  test.each(kinds)("%s: whether chips differ, and whether runs do", (_, hardware) => {
    const physics = { ...own, hardware, mismatch: hardware.mismatch?.couplings ?? 0 };
    const [one, chip, run] = [[0, 0], [1, 0], [0, 1]].map(([c, s]) =>
      JSON.stringify(numbersOf(hardware, c!, s!)),
    );
    expect(chipsDiffer(physics)).toBe(chip !== one);
    expect(runsDiffer(physics)).toBe(run !== one);
  });
});

test("a temperature makes runs differ", () => {
  expect(runsDiffer(own)).toBe(false);
  expect(runsDiffer({ ...own, temperature: 0.1 })).toBe(true);
});
