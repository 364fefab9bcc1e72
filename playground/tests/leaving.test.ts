/** What leaves the page: tables, commands, hardware as files. */

import { describe, expect, test } from "vitest";
import { bare, numberOf, withChanges } from "../src/core/hardware/changes";
import { csvOf, trajectoryCsv } from "../src/core/csv";
import { fieldsOf, inputsOf, unchangedPhysics } from "../src/core";
import { tomlOf } from "../src/core/hardware/toml";
import { evaluateCommand, quoted, yieldCommand } from "../src/lab/commands";
import { gallery, run, shipped } from "./world";

test("a table quotes what it must, and no name is a formula", () => {
  const text = csvOf(["a", "b,c"], [[1.5, 'say "x"'], [NaN, "=1+1"], [-2, "two\nlines"]]);
  expect(text).toBe('a,"b,c"\r\n1.5,"say ""x"""\r\n,\'=1+1\r\n-2,"two\nlines"\r\n');
});

test("a trajectory has a line for each time, and says what was computed", () => {
  const model = shipped("mnist-74");
  const image = gallery().get("mnist")![4]!;
  const fields = fieldsOf(model, inputsOf(model, image.pixels));
  const rollout = run(model, fields, unchangedPhysics(model), { replicates: 1, sample: 0, shown: 0 });
  const lines = trajectoryCsv(rollout, model, model.observationTime).trimEnd().split("\r\n");
  expect(lines.length).toBe(model.steps + 2);
  const [header, first, ...rest] = lines.map((line) => line.split(","));
  expect(header!.length).toBe(2 + 74 + 10);
  expect(first!.slice(2, 76).map(Number)).toEqual(Array(74).fill(Math.PI / 2));
  const last = rest.at(-1)!.map(Number);
  expect(last[0]).toBe(model.observationTime);
  expect(last[1]).toBe(rollout.energy.at(-1));
  last.slice(76).forEach((value, o) => expect(Math.cos(last[66 + o]!)).toBeCloseTo(value, 12));
});

describe("imperfections set by hand", () => {
  test("none leave hardware as it is", () => {
    const kind = { mismatch: { couplings: 0.1, input_weights: 0.2 }, readout: { bits: 4 } };
    expect(withChanges(kind, {})).toEqual(kind);
  });

  test("each stands in place of the kind's own, and what is beside it stays", () => {
    const kind = { mismatch: { couplings: 0.1, input_weights: 0.2 }, readout: { bits: 4, noise: 0.1 } };
    const changed = withChanges(kind, { weightMismatch: 0.3, phaseBits: 5, lag: 0.2 });
    expect(changed.mismatch).toEqual({ couplings: 0.1, input_weights: 0.3 });
    expect(changed.readout).toEqual({ bits: 5, noise: 0.1 });
    expect(numberOf(changed, "lag")).toBe(0.2);
    expect(kind.readout.bits).toBe(4); // itself unchanged
  });

  test("what does nothing is not written", () => {
    expect(bare({ mismatch: { couplings: 0 }, dead: { couplers: 0.1, oscillators: 0 } })).toEqual({
      dead: { couplers: 0.1 },
    });
    expect(tomlOf({ mismatch: { couplings: 0 } })).toBe("");
  });
});

describe("commands", () => {
  const typical = shipped("mnist-74-robust").madeFor as object;

  test("a network's own hardware needs no name, a preset one word, any other a file", () => {
    const robust = { model: "mnist-74-robust", madeFor: typical, hardware: typical, noiseSeed: 0 };
    expect(yieldCommand(robust, 100, 0, 97)).toBe(
      "entrain yield mnist-74-robust --chips 100 --threshold 97",
    );
    const plain = { ...robust, model: "mnist-74", madeFor: null };
    expect(yieldCommand(plain, 10, 3, 95)).toBe(
      "entrain yield mnist-74 --hardware typical --chips 10 --seed 3 --threshold 95",
    );
    const other = { ...plain, hardware: { ...typical, dead: { couplers: 0.05 } } };
    const lines = yieldCommand(other, 10, 0, 95).split("\n");
    expect(lines[0]).toBe("cat > chip.toml <<'END'");
    expect(lines).toContain("couplers = 0.05");
    expect(lines.at(-1)).toContain("--hardware chip.toml ");
  });

  test("the ideal network is evaluated, with its temperature", () => {
    const ideal = { model: "mnist-74", madeFor: null, hardware: {}, noiseSeed: 5 };
    expect(evaluateCommand(ideal, 9)).toBe("entrain evaluate mnist-74");
    const warm = { ...ideal, hardware: { phase_noise: { temperature: 0.5 } } };
    expect(evaluateCommand(warm, 9)).toBe(
      "entrain evaluate mnist-74 --temperature 0.5 --replicates 1 --seed 5",
    );
  });

  test("a name is one word, whatever it holds", () => {
    expect(quoted("mnist-74")).toBe("mnist-74");
    expect(quoted("my own; rm x")).toBe("'my own; rm x'");
    expect(quoted("it's")).toBe("'it'\\''s'");
    expect(quoted("--help")).toBe("./--help");
  });
});
