/** Who answers, and when it is decided. */

import { describe, expect, test } from "vitest";
import { DECISIVE_LEAD, fieldsOf, highestOf, inputsOf, margin, unchangedPhysics } from "../src/core";
import { answeringOf, decidedAt, leadersOf } from "../src/core/readout";
import { runAll } from "../src/run";
import { FIRST_NETWORK, stateOf, withDamage } from "../src/state";
import { gallery, run, shipped } from "./world";

const model = shipped("mnist-74");
const images = gallery().get("mnist")!;
const once = { replicates: 1, sample: 0, shown: 0 } as const;

function outcomeOf(place: number, silenced: number[]) {
  const image = images[place]!;
  const damage = withDamage({}, "mnist-74", { cut: [], silenced });
  const state = { ...stateOf(FIRST_NETWORK, { kind: "gallery", index: place }), damage };
  const input = { values: image.pixels, truth: image.label, sample: image.index };
  return runAll(state, [model], input)[0]!;
}

describe("a silenced output", () => {
  test("never answers, on any image", () => {
    images.forEach(({ label }, place) => {
      const { answer, rollout } = outcomeOf(place, [model.hidden + label]);
      expect(answer).not.toBe(label);
      expect(rollout.leaders.includes(label)).toBe(false);
    });
  });

  test("leaves no answer where it was the last", () => {
    const all = model.classNames.map((_, o) => model.hidden + o);
    const { answer, tied, rollout } = outcomeOf(0, all);
    expect([answer, tied, rollout.decidedAt]).toEqual([null, [], null]);
    const last = outcomeOf(0, all.slice(1));
    expect(last.answer).toBe(0);
  });

  test("is one that the chip lost, too", () => {
    const dead = Uint8Array.from({ length: 5 }, (_, i) => Number(i === 3));
    expect([...answeringOf(2, 3, [4], dead)]).toEqual([1, 0, 0]);
  });
});

describe("a tie", () => {
  test("is no answer", () => {
    expect(highestOf(Float64Array.from([0.5, 0.5, 0]))).toEqual([0, 1]);
    expect(highestOf(Float64Array.from([0.5, 0.5, 0]), Uint8Array.from([1, 0, 1]))).toEqual([0]);
    expect(margin(Float64Array.from([0.5, 0.5, 0]), Uint8Array.from([1, 0, 1]))).toBe(0.5);
    const { leaders, leads } = leadersOf(Float64Array.from([0.5, 0.5]), Uint8Array.from([1, 1]));
    expect([leaders[0], leads[0]]).toEqual([-1, 0]);
  });
});

describe("a decision", () => {
  const at = (...rows: [number, number][]): number | null => {
    const { leaders, leads } = leadersOf(Float64Array.from(rows.flat()), Uint8Array.from([1, 1]));
    return decidedAt(leaders, leads);
  };

  test("is made when the lead passes the threshold and stays above it", () => {
    expect(at([0, 0], [0.05, 0], [0.2, 0], [0.3, 0])).toBe(2);
    expect(at([0, 0], [0.2, 0], [0.09, 0], [0.3, 0])).toBe(3); // it fell back
    expect(at([0, 0.5], [0, 0.5], [0.2, 0], [0.3, 0])).toBe(2); // the other led
    expect(at([0.3, 0], [0.09, 0])).toBeNull();
    expect(at([0, 0], [0, 0])).toBeNull();
  });

  test("of every test image leads from then on, and not just before", () => {
    for (const { pixels } of images) {
      const fields = fieldsOf(model, inputsOf(model, pixels));
      const { decidedAt: first, leaders, leads, steps } = run(model, fields, unchangedPhysics(model), once);
      if (first === null) continue;
      for (let t = first; t <= steps; t++) {
        expect(leaders[t]).toBe(leaders[steps]);
        expect(leads[t]).toBeGreaterThanOrEqual(DECISIVE_LEAD);
      }
      expect(leaders[first - 1] !== leaders[steps] || leads[first - 1]! < DECISIVE_LEAD).toBe(true);
    }
  });
});
