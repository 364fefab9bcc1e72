import { describe, expect, it } from "vitest";
import { MalformedLink, decode, encode } from "../src/link";
import { initialState, withCutToggled, withSilenceToggled, type AppState } from "../src/state";

function everything(): AppState {
  const state = initialState();
  return {
    ...state,
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
      cut: [
        [0, 73],
        [12, 40],
      ],
      silenced: [5, 70],
      seed: 0xffffffff,
    },
  };
}

describe("a link", () => {
  it("restores the exact state", () => {
    for (const state of [initialState(), everything()]) {
      expect(decode(`#${encode(state)}`)).toEqual(state);
    }
    const uploaded = everything();
    uploaded.picture = { kind: "uploaded", pixels: new Uint8Array(784).fill(9, 3, 80) };
    expect(decode(encode(uploaded))).toEqual(uploaded);
  });

  it("is short for what is usual", () => {
    expect(encode(initialState())).toBe("v=1&d=mnist&p=two-stage-end&g=0");
  });

  const base = "v=1&d=mnist&p=path";
  it.each([
    "",
    "x",
    "v=2",
    "d=mnist",
    `${base}&evil=1`,
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
    `${base}&o=-1`,
    `${base}&${"x".repeat(50_000)}`,
  ])("malformed is refused: %.60s", (fragment) => {
    expect(() => decode(fragment)).toThrow(MalformedLink);
  });
});

describe("cuts and silences", () => {
  it("toggle, in either order of the ends", () => {
    const { physics } = initialState();
    const cut = withCutToggled(physics, 9, 4);
    expect(cut.cut).toEqual([[4, 9]]);
    expect(withCutToggled(cut, 4, 9).cut).toEqual([]);
    expect(physics.cut).toEqual([]);
    const silenced = withSilenceToggled(physics, 7);
    expect(silenced.silenced).toEqual([7]);
    expect(withSilenceToggled(silenced, 7).silenced).toEqual([]);
  });
});
