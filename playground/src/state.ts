/** What the visitor has chosen, and nothing that follows from it. */

import { IDEAL, UnfitChip, hardwareNamed } from "./chips";
import { withChanges, type Changes } from "./core/hardware/changes";
import { meanRow } from "./core/preprocessing";
import type { Model, Physics, Pixels } from "./core/types";
import { unfit } from "./core/yield";

export const DATASETS = ["mnist", "fashion-mnist"] as const;
export const PROTOCOLS = ["two-stage-end", "path", "direct", "robust"] as const;
export type Dataset = (typeof DATASETS)[number];
export type Protocol = (typeof PROTOCOLS)[number];

/** Which network: the one given to `entrain play` under this name, or a shipped one. */
export interface Network {
  given: string | null;
  dataset: Dataset; // of the shipped one
  protocol: Protocol; // of the shipped one
  compare: boolean; // of a shipped one: its counterpart beside it
}

/** What is read: a test image of the model's dataset, a bar where there are none, pixels of the
 * visitor's own in the model's shape, or a row of features. */
export type Picture =
  | { kind: "gallery"; index: number }
  | { kind: "bar" }
  | { kind: "drawn" | "uploaded"; pixels: Pixels }
  | { kind: "row"; values: Float64Array };

/** Physics by the name of the hardware; the time and the steps are the model's own where they are
 * null, the temperature and the mismatch the chip's. */
export type Settings = Omit<Physics, Owned | keyof Damage | "hardware"> & {
  [key in Owned]: number | null;
} & { kind: string; changes: HandChanges };
type Owned = "observationTime" | "steps" | "temperature" | "mismatch";

/** Imperfections set by hand that have no place of their own among the settings. */
export type HandChanges = Omit<Changes, "couplingBits" | "mismatch" | "temperature">;

/** What the visitor broke: it belongs to one network, and stays with it. */
export type Damage = Pick<Physics, "cut" | "silenced">;

export const WHOLE: Readonly<Damage> = { cut: [], silenced: [] };

export interface AppState extends Network {
  picture: Picture;
  physics: Settings;
  damage: Record<string, Damage>; // by `networkKey`; networks that are whole are left out
  ensemble: boolean;
  selected: number | null; // the oscillator in the inspector
}

export const ENSEMBLE = 10;
export const COUPLING_BITS = [8, 7, 6, 5, 4, 3, 2] as const;

export type Quantity = "temperature" | "observationTime" | "steps" | "mismatch" | "chip" | "seed";

/** Least and most of every number that can be set. */
export function rangesOf({
  observationTime,
  steps,
}: Pick<Model, "observationTime" | "steps">): Record<Quantity, [number, number]> {
  const short = (value: number): number => Number(value.toPrecision(9)); // as it can be typed
  return {
    temperature: [0, 2],
    observationTime: [short(observationTime / 10), short(5 * observationTime)],
    steps: [Math.ceil(steps / 10), 4 * steps],
    mismatch: [0, 0.3],
    chip: [0, 0xffffffff],
    seed: [0, 0xffffffff],
  };
}

export function freshSettings(): Settings {
  return {
    kind: IDEAL,
    chip: 0,
    temperature: null,
    observationTime: null,
    steps: null,
    couplingBits: null,
    mismatch: null,
    changes: {},
    seed: 0,
  };
}

/** The physics a model runs in; the hardware must fit it, with what was set by hand. */
export function physicsOf(
  { kind, changes, ...settings }: Settings,
  model: Model,
  { cut, silenced }: Readonly<Damage> = WHOLE,
): Physics {
  const hardware = withChanges(hardwareNamed(kind, model), changes);
  const misfit = changes.graph === undefined ? null : unfit(model, hardware);
  if (misfit !== null) throw new UnfitChip(`the graph does not fit: ${misfit}`);
  return {
    ...settings,
    cut,
    silenced,
    hardware,
    temperature: settings.temperature ?? hardware.phase_noise?.temperature ?? 0,
    mismatch: settings.mismatch ?? hardware.mismatch?.couplings ?? 0,
    observationTime: settings.observationTime ?? model.observationTime,
    steps: settings.steps ?? model.steps,
  };
}

export const FIRST_NETWORK: Readonly<Network> = {
  given: null,
  dataset: "mnist",
  protocol: "two-stage-end",
  compare: false,
};

/** A network as it is opened: its own physics, and the first picture. */
export function stateOf(network: Network, picture: Picture): AppState {
  const physics = freshSettings();
  return { ...network, picture, physics, damage: {}, ensemble: false, selected: null };
}

/** What a network is shown first: a test image, the training mean of every feature, or a bar. */
export function firstPicture({ preprocessing }: Model, tests: number): Picture {
  if (preprocessing.kind === "features") {
    return { kind: "row", values: meanRow(preprocessing) };
  }
  return tests > 0 ? { kind: "gallery", index: 0 } : { kind: "bar" };
}

const ENDINGS: Record<Protocol, string> = {
  "two-stage-end": "",
  path: "-path",
  direct: "-direct",
  robust: "-robust",
};

/** The name of a shipped network. */
export function modelName(dataset: Dataset, protocol: Protocol): string {
  return `${dataset}-74${ENDINGS[protocol]}`;
}

const COUNTERPARTS: Record<Protocol, Protocol> = {
  "two-stage-end": "path",
  path: "two-stage-end",
  direct: "robust",
  robust: "direct",
};

/** The training that a network is compared with. */
export function otherProtocol(protocol: Protocol): Protocol {
  return COUNTERPARTS[protocol];
}

/** What tells networks apart, of those a state shows: the chosen one first. */
export function networkKeys({ given, dataset, protocol, compare }: Network): string[] {
  if (given !== null) return [`given ${given}`];
  const protocols = compare ? [protocol, otherProtocol(protocol)] : [protocol];
  return protocols.map((each) => modelName(dataset, each));
}

/** The damage of the chosen network, or of the one it is compared with. */
export function damageOf(state: AppState, place = 0): Readonly<Damage> {
  return state.damage[networkKeys(state)[place]!] ?? WHOLE;
}

/** The damage of all networks with that of one changed. */
export function withDamage(
  all: AppState["damage"],
  key: string,
  damage: Readonly<Damage>,
): AppState["damage"] {
  const { [key]: _, ...others } = all;
  return damage.cut.length + damage.silenced.length === 0 ? others : { ...others, [key]: damage };
}

/** The damage of all networks without that of those shown. */
export function healed(state: AppState): AppState["damage"] {
  return networkKeys(state).reduce((all, key) => withDamage(all, key, WHOLE), state.damage);
}

export function isCut(damage: Readonly<Damage>, a: number, b: number): boolean {
  const [i, j] = ordered(a, b);
  return damage.cut.some(([p, q]) => p === i && q === j);
}

/** The damage with the coupling of `a` and `b` cut, or restored if it was. */
export function withCutToggled(damage: Readonly<Damage>, a: number, b: number): Damage {
  const [i, j] = ordered(a, b);
  const rest = damage.cut.filter(([p, q]) => p !== i || q !== j);
  return { ...damage, cut: rest.length < damage.cut.length ? rest : [...rest, [i, j]] };
}

/** The damage with the oscillator silenced, or restored if it was. */
export function withSilenceToggled(damage: Readonly<Damage>, oscillator: number): Damage {
  const rest = damage.silenced.filter((other) => other !== oscillator);
  return {
    ...damage,
    silenced: rest.length < damage.silenced.length ? rest : [...rest, oscillator],
  };
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}
