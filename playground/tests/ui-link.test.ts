import { describe, expect, it } from "vitest";
import type { Model } from "../src/core";
import { MalformedLink, decode, encode, networkOf, timeOf } from "../src/link";
import {
  FIRST_NETWORK,
  WHOLE,
  damageOf,
  firstPicture,
  stateOf,
  withCutToggled,
  withDamage,
  withSilenceToggled,
  type AppState,
} from "../src/state";
import { features, shipped } from "./world";

const mnist = shipped("mnist-74");
const TESTS = 30;

function first(model: Model = mnist, tests = TESTS, given: string | null = null): AppState {
  return stateOf({ ...FIRST_NETWORK, given }, firstPicture(model, tests));
}

function everything(): AppState {
  return {
    ...first(),
    dataset: "fashion-mnist",
    protocol: "path",
    compare: true,
    ensemble: true,
    selected: 73,
    picture: { kind: "drawn", pixels: Uint8Array.from({ length: 784 }, (_, i) => (i * 37) % 256) },
    physics: {
      temperature: 0.1 + 0.2,
      observationTime: 0.02,
      steps: 800,
      couplingBits: 3,
      mismatch: 1e-7,
      seed: 0xffffffff,
      kind: "typical",
      chip: 12,
      changes: { weightBits: 4, offset: 0.05, lag: 0.1 + 0.2, deadCouplers: 1e-7, graph: "kings" },
    },
    damage: {
      "fashion-mnist-74-path": {
        cut: [
          [0, 73],
          [12, 40],
        ],
        silenced: [5, 70],
      },
      "fashion-mnist-74": { cut: [[3, 66]], silenced: [] },
    },
  };
}

describe("a link", () => {
  it("restores the exact state", () => {
    for (const state of [first(), everything()]) {
      expect(decode(`#${encode(state)}`, mnist, TESTS)).toEqual(state);
    }
    const uploaded = everything();
    uploaded.picture = { kind: "uploaded", pixels: new Uint8Array(784).fill(9, 3, 80) };
    expect(decode(encode(uploaded), mnist, TESTS)).toEqual(uploaded);
  });

  it("carries the time that is shown", () => {
    expect(timeOf(encode(first(), 0.25))).toBe(0.25);
    expect(timeOf(encode(first(), 1))).toBe(1);
    expect(timeOf(encode(first()))).toBeNull();
    expect(decode(encode(everything(), 0.3), mnist, TESTS)).toEqual(everything());
  });

  it("is short for what is usual", () => {
    expect(encode(first())).toBe("v=1&d=mnist&p=two-stage-end&g=0");
  });

  it("from before chips had a number of their own has the noise's", () => {
    expect(decode("v=1&s=7", mnist, TESTS).physics).toMatchObject({ seed: 7, chip: 7 });
    expect(decode("v=1&s=7&n=0", mnist, TESTS).physics).toMatchObject({ seed: 7, chip: 0 });
  });

  const base = "v=1&d=mnist&p=path";
  it.each([
    "",
    "x",
    "v=2",
    "d=mnist",
    `${base}&evil=1`,
    `${base}&hw=`,
    `${base}&hw=offset`,
    `${base}&hw=offset:0.6`,
    `${base}&hw=offset:0.1,offset:0.1`,
    `${base}&hw=weightBits:2.5`,
    `${base}&hw=mismatch:0.1`, // it has a place of its own
    `${base}&hw=graph:random`,
    `${base}&hw=toString:1`,
    `${base}&t=1.01`,
    `${base}&t=now`,
    `${base}&T=0&T=1`,
    "v=1&d=cifar",
    "v=1&p=constructor",
    `${base}&T=2.1`,
    `${base}&T=-1`,
    `${base}&T=NaN`,
    `${base}&T=`,
    `${base}&T=0x1`,
    `${base}&T=1e400`,
    `${base}&tf=0`,
    `${base}&k=19`,
    `${base}&k=20.5`,
    `${base}&b=1`,
    `${base}&b=`,
    `${base}&x=0.31`,
    `${base}&s=4294967296`,
    `${base}&h=nobody`,
    `${base}&h=own`, // it was made for none
    `${base}&h=lo-2023`, // 48 oscillators
    `${base}&n=1.5`,
    `${base}&n=4294967296`,
    `${base}&e=yes`,
    `${base}&g=30`,
    `${base}&g=1.5`,
    `${base}&g=3&px=AA`,
    `${base}&px=AA`,
    `${base}&px=${"A".repeat(1046)}`,
    `${base}&px=${"%".repeat(1046)}`,
    `${base}&cut=3-3`,
    `${base}&cut=5-3`,
    `${base}&cut=64-65`,
    `${base}&cut=1-2.1-2`,
    `${base}&cut=1-74`,
    `${base}&cut=1-2-3`,
    `${base}&off=74`,
    `${base}&off=1.1`,
    `${base}&off=01`,
    `${base}&cut2=3-5`, // it compares with none
    `${base}&c=1&cut2=3-3`,
    `${base}&o=-1`,
    `${base}&${"x".repeat(50_000)}`,
  ])("malformed is refused: %.60s", (fragment) => {
    expect(() => decode(fragment, mnist, TESTS)).toThrow(MalformedLink);
  });
});

describe("a link to a given model", () => {
  const model = features(3);
  const state = first(model, 0, "50 % & més/wein");

  it("names it, whatever its name", () => {
    expect(networkOf(encode(state))).toEqual({ ...FIRST_NETWORK, given: state.given });
    expect(decode(encode(state), model, 0)).toEqual(state);
    expect(() => networkOf("v=1&m=a&d=mnist")).toThrow(MalformedLink);
    expect(() => networkOf("v=1&m=%E0%A4%A")).toThrow(MalformedLink);
  });

  it("restores its row, its time and its steps to the bit", () => {
    state.picture = { kind: "row", values: Float64Array.from([0.1 + 0.2, -1e-7, 1e21]) };
    state.physics = { ...state.physics, observationTime: 7, steps: 77 };
    state.damage = { [`given ${state.given}`]: { cut: [[0, 3]], silenced: [] } };
    expect(decode(encode(state), model, 0)).toEqual(state);
  });

  it.each([
    "row=1,2",
    "row=1,2,x",
    "row=1,2,1e999",
    "row=1,2,0x3",
    "row=",
    "px=AAAA",
    "g=0",
    "tf=0.2", // a tenth of its own at least
    "k=7",
    "o=5",
    "cut=3-4", // two outputs
  ])("what does not fit it is refused: %s", (part) => {
    expect(() => decode(`v=1&m=a&${part}`, model, 0)).toThrow(MalformedLink);
  });
});

describe("cuts and silences", () => {
  it("toggle, in either order of the ends", () => {
    const cut = withCutToggled(WHOLE, 9, 4);
    expect(cut.cut).toEqual([[4, 9]]);
    expect(withCutToggled(cut, 4, 9).cut).toEqual([]);
    expect(WHOLE.cut).toEqual([]);
    const silenced = withSilenceToggled(WHOLE, 7);
    expect(silenced.silenced).toEqual([7]);
    expect(withSilenceToggled(silenced, 7).silenced).toEqual([]);
  });

  it("belong to one network, and come back with it", () => {
    const broken = { cut: [], silenced: [3] };
    const state = { ...first(), damage: withDamage({}, "mnist-74", broken) };
    expect(damageOf(state)).toEqual(broken);
    expect(damageOf({ ...state, protocol: "path" })).toEqual(WHOLE);
    expect(damageOf({ ...state, dataset: "fashion-mnist" })).toEqual(WHOLE);
    expect(damageOf({ ...state, given: "mnist-74" })).toEqual(WHOLE);
    const compared = { ...state, protocol: "path", compare: true } as const;
    expect([damageOf(compared, 0), damageOf(compared, 1)]).toEqual([WHOLE, broken]);
    expect(withDamage(state.damage, "mnist-74", WHOLE)).toEqual({});
  });
});
