/** What the visitor has chosen, and nothing that follows from it. */

import type { Physics, Pixels } from "./core/types";

export const DATASETS = ["mnist", "fashion-mnist"] as const;
export const PROTOCOLS = ["two-stage-end", "path"] as const;
export type Dataset = (typeof DATASETS)[number];
export type Protocol = (typeof PROTOCOLS)[number];

/** A test image of the state's dataset, or 28 x 28 pixels of the visitor's own. */
export type Picture =
  { kind: "gallery"; index: number } | { kind: "drawn" | "uploaded"; pixels: Pixels };

export interface AppState {
  dataset: Dataset;
  protocol: Protocol;
  compare: boolean;
  picture: Picture;
  physics: Physics;
  ensemble: boolean;
  selected: number | null; // the oscillator in the inspector
}

export const OSCILLATORS = 74;
export const HIDDEN = 64;
export const GALLERY_SIZE = 30;
export const PIXELS = 28 * 28;
export const ENSEMBLE = 10;
export const COUPLING_BITS = [8, 7, 6, 5, 4, 3, 2] as const;

/** Least and most of every number that can be set. */
export const RANGES = {
  temperature: [0, 2],
  observationTime: [0.02, 1],
  steps: [20, 800],
  mismatch: [0, 0.3],
  seed: [0, 0xffffffff],
} as const;

export const DEFAULT_PHYSICS: Readonly<Physics> = {
  temperature: 0,
  observationTime: 0.2,
  steps: 200,
  couplingBits: null,
  mismatch: 0,
  cut: [],
  silenced: [],
  seed: 0,
};

export function freshPhysics(): Physics {
  return { ...DEFAULT_PHYSICS, cut: [], silenced: [] };
}

export function initialState(): AppState {
  return {
    dataset: "mnist",
    protocol: "two-stage-end",
    compare: false,
    picture: { kind: "gallery", index: 0 },
    physics: freshPhysics(),
    ensemble: false,
    selected: null,
  };
}

export function modelName(dataset: Dataset, protocol: Protocol): string {
  return protocol === "path" ? `${dataset}-74-path` : `${dataset}-74`;
}

export function otherProtocol(protocol: Protocol): Protocol {
  return protocol === "path" ? "two-stage-end" : "path";
}

export function protocolTitle(protocol: Protocol): string {
  return protocol === "path" ? "PATH" : "TWO-STAGE-END";
}

export function isCut(physics: Physics, a: number, b: number): boolean {
  const [i, j] = ordered(a, b);
  return physics.cut.some(([p, q]) => p === i && q === j);
}

/** The physics with the coupling of `a` and `b` cut, or restored if it was. */
export function withCutToggled(physics: Physics, a: number, b: number): Physics {
  const [i, j] = ordered(a, b);
  const rest = physics.cut.filter(([p, q]) => p !== i || q !== j);
  return { ...physics, cut: rest.length < physics.cut.length ? rest : [...rest, [i, j]] };
}

/** The physics with the oscillator silenced, or restored if it was. */
export function withSilenceToggled(physics: Physics, oscillator: number): Physics {
  const rest = physics.silenced.filter((other) => other !== oscillator);
  return {
    ...physics,
    silenced: rest.length < physics.silenced.length ? rest : [...rest, oscillator],
  };
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}
