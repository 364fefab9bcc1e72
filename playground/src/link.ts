/** The state as the fragment of a link, and back. What comes back is never trusted: every field is
 * checked for its kind, its range and the model it is for, and one that fails makes the whole link malformed. */

import { kindsOf } from "./chips";
import { CHANGES, GRAPHS, isAllowed, type Change, type Graph } from "./core/hardware/changes";
import type { Model } from "./core";
import {
  COUPLING_BITS,
  DATASETS,
  FIRST_NETWORK,
  PROTOCOLS,
  damageOf,
  firstPicture,
  freshSettings,
  networkKeys,
  rangesOf,
  stateOf,
  withDamage,
  type AppState,
  type HandChanges,
  type Network,
  type Picture,
} from "./state";

const VERSION = "1";
const LONGEST = 1_900_000; // characters; browsers take two million
const KEYS = [
  "v",
  "m",
  "d",
  "p",
  "c",
  "g",
  "px",
  "up",
  "row",
  "T",
  "tf",
  "k",
  "h",
  "n",
  "b",
  "x",
  "s",
  "e",
  "cut",
  "off",
  "cut2", // of the network it is compared with
  "off2",
  "o",
  "hw", // imperfections set by hand
  "t", // the time that is shown, as a share of the run
];

/** Thrown by `decode`; its message is for the visitor. */
export class MalformedLink extends Error {}

/** `time` is the share of the run that is shown; without it a link opens as a picture does. */
export function encode(state: AppState, time: number | null = null): string {
  const { physics, picture } = state;
  const usual = freshSettings();
  const fields: [string, string][] = [["v", VERSION]];
  if (state.given !== null) fields.push(["m", encodeURIComponent(state.given)]);
  else {
    fields.push(["d", state.dataset], ["p", state.protocol]);
    if (state.compare) fields.push(["c", "1"]);
  }
  if (picture.kind === "gallery") fields.push(["g", String(picture.index)]);
  else if (picture.kind === "row") fields.push(["row", Array.from(picture.values, String).join(",")]);
  else if (picture.kind !== "bar")
    fields.push([picture.kind === "drawn" ? "px" : "up", toBase64Url(picture.pixels)]);
  const number = (key: string, value: number | null, expected: number | null): void => {
    if (value !== expected) fields.push([key, String(value)]);
  };
  number("T", physics.temperature, usual.temperature);
  number("tf", physics.observationTime, usual.observationTime);
  number("k", physics.steps, usual.steps);
  if (physics.kind !== usual.kind) fields.push(["h", physics.kind]);
  number("n", physics.chip, physics.seed); // links from before had one seed for both
  number("b", physics.couplingBits, usual.couplingBits);
  number("x", physics.mismatch, usual.mismatch);
  number("s", physics.seed, usual.seed);
  const changes = Object.entries(physics.changes).map(([name, value]) => `${name}:${value}`);
  if (changes.length) fields.push(["hw", changes.join(",")]);
  if (state.ensemble) fields.push(["e", "1"]);
  networkKeys(state).forEach((_, place) => {
    const { cut, silenced } = damageOf(state, place);
    const suffix = place === 0 ? "" : "2";
    if (cut.length) fields.push([`cut${suffix}`, cut.map((pair) => pair.join("-")).join(".")]);
    if (silenced.length) fields.push([`off${suffix}`, silenced.join(".")]);
  });
  if (state.selected !== null) fields.push(["o", String(state.selected)]);
  if (time !== null) fields.push(["t", String(Number(time.toFixed(4)))]);
  return fields.map(([key, value]) => `${key}=${value}`).join("&");
}

/** The network of a fragment (with or without its #); throws MalformedLink. */
export function networkOf(fragment: string): Network {
  const fields = split(fragment);
  const named = fields.get("m");
  if (named !== undefined) {
    if (["d", "p", "c"].some((key) => fields.has(key))) {
      throw new MalformedLink("it names two networks");
    }
    return { ...FIRST_NETWORK, given: decodedName(named) };
  }
  return {
    given: null,
    dataset: oneOf(fields, "d", DATASETS, FIRST_NETWORK.dataset),
    protocol: oneOf(fields, "p", PROTOCOLS, FIRST_NETWORK.protocol),
    compare: oneOf(fields, "c", ["0", "1"], "0") === "1",
  };
}

/** The state of a fragment whose network is `model`, which has so many test images; throws
 * MalformedLink. */
export function decode(fragment: string, model: Model, tests: number): AppState {
  const fields = split(fragment);
  const state = stateOf(networkOf(fragment), pictureOf(fields, model, tests));
  const { physics } = state;
  const ranges = rangesOf(model);
  state.ensemble = oneOf(fields, "e", ["0", "1"], "0") === "1";
  physics.temperature = number(fields, "T", ranges.temperature, physics.temperature);
  physics.observationTime = number(fields, "tf", ranges.observationTime, physics.observationTime);
  physics.steps = whole(fields, "k", ranges.steps, physics.steps);
  physics.mismatch = number(fields, "x", ranges.mismatch, physics.mismatch);
  physics.seed = whole(fields, "s", ranges.seed, physics.seed);
  physics.chip = whole(fields, "n", ranges.chip, physics.seed);
  physics.kind = kind(fields, physics.kind, model);
  physics.changes = changesOf(fields.get("hw"));
  timeOf(fragment); // malformed here as well
  if (fields.has("b")) {
    physics.couplingBits = Number(oneOf(fields, "b", COUPLING_BITS.map(String), ""));
  }
  if (!state.compare && ["cut2", "off2"].some((key) => fields.has(key))) {
    throw new MalformedLink("it compares with no network");
  }
  networkKeys(state).forEach((key, place) => {
    const suffix = place === 0 ? "" : "2"; // networks that are compared have one graph
    const cut = list(fields, `cut${suffix}`).map((item) => pair(item, model));
    const silenced = list(fields, `off${suffix}`).map((item) => oscillator(item, "off", model));
    state.damage = withDamage(state.damage, key, { cut, silenced });
  });
  if (fields.has("o")) state.selected = oscillator(fields.get("o") as string, "o", model);
  return state;
}

/** The share of the run that a fragment shows, from 0 to 1; null where it does not say. */
export function timeOf(fragment: string): number | null {
  return number<number | null>(split(fragment), "t", [0, 1], null);
}

const BY_HAND = CHANGES.filter(
  (change) => !["couplingBits", "mismatch", "temperature"].includes(change),
) as (keyof HandChanges)[];

/** Imperfections as "weightBits:4,graph:kings". */
function changesOf(text: string | undefined): HandChanges {
  const found: Record<string, number | Graph> = {};
  for (const item of text?.split(",") ?? []) {
    const [name = "", value = ""] = item.split(":", 2);
    const change = BY_HAND.find((each) => each === name);
    if (change === undefined || change in found) throw new MalformedLink("hw is not understood");
    if (change === "graph") {
      if (!Object.hasOwn(GRAPHS, value)) throw new MalformedLink("hw names no graph");
      found[change] = value as Graph;
    } else {
      if (!/^\d+(\.\d+)?(e-\d+)?$/.test(value) || !isAllowed(change as Exclude<Change, "graph">, Number(value))) {
        throw new MalformedLink(`hw has no such ${change}`);
      }
      found[change] = Number(value);
    }
  }
  return found as HandChanges;
}

function split(fragment: string): Map<string, string> {
  const text = fragment.replace(/^#/, "");
  if (text.length > LONGEST) throw new MalformedLink("it is too long");
  const fields = new Map<string, string>();
  for (const part of text.split("&")) {
    const at = part.indexOf("=");
    const key = part.slice(0, at);
    if (at < 1 || !KEYS.includes(key)) throw new MalformedLink("a part of it is unknown");
    if (fields.has(key)) throw new MalformedLink(`${key} is given twice`);
    fields.set(key, part.slice(at + 1));
  }
  if (fields.get("v") !== VERSION) throw new MalformedLink("its version is unknown");
  return fields;
}

function decodedName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new MalformedLink("its model has no name");
  }
}

function oneOf<T extends string>(
  fields: Map<string, string>,
  key: string,
  choices: readonly T[],
  usual: T,
): T {
  const value = fields.get(key);
  if (value === undefined) return usual;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new MalformedLink(`${key} is not a known choice`);
  return found;
}

function number<T extends number | null>(
  fields: Map<string, string>,
  key: string,
  [least, most]: readonly [number, number],
  usual: T,
): T | number {
  const text = fields.get(key);
  if (text === undefined) return usual;
  const value = Number(text);
  if (!/^\d+(\.\d+)?(e-\d+)?$/.test(text) || !(value >= least && value <= most)) {
    throw new MalformedLink(`${key} is not a number from ${least} to ${most}`);
  }
  return value;
}

function whole<T extends number | null>(
  fields: Map<string, string>,
  key: string,
  range: readonly [number, number],
  usual: T,
): T | number {
  const value = number(fields, key, range, usual);
  if (value !== null && !Number.isInteger(value)) throw new MalformedLink(`${key} is not a whole number`);
  return value;
}

/** The name of hardware that fits the model. */
function kind(fields: Map<string, string>, usual: string, model: Model): string {
  const kinds = kindsOf(model);
  const name = oneOf(fields, "h", kinds.map((each) => each.name), usual);
  const misfit = kinds.find((each) => each.name === name)?.misfit ?? null;
  if (misfit !== null) throw new MalformedLink(`its chip does not fit: ${misfit}`);
  return name;
}

/** The distinct items of a list separated by dots. */
function list(fields: Map<string, string>, key: string): string[] {
  const text = fields.get(key);
  if (text === undefined) return [];
  const items = text.split(".");
  if (new Set(items).size < items.length) throw new MalformedLink(`${key} repeats itself`);
  return items;
}

function oscillator(text: string, key: string, { hidden, outputs }: Model): number {
  if (!/^(0|[1-9]\d{0,3})$/.test(text) || Number(text) >= hidden + outputs) {
    throw new MalformedLink(`${key} names no oscillator`);
  }
  return Number(text);
}

/** A coupling i < j of the model's graph. */
function pair(text: string, model: Model): [number, number] {
  const ends = text.split("-").map((end) => oscillator(end, "cut", model));
  const [i, j] = ends as [number, number];
  const n = model.hidden + model.outputs;
  if (ends.length !== 2 || i >= j || model.graph[i * n + j] !== 1) {
    throw new MalformedLink("cut names no coupling");
  }
  return [i, j];
}

function pictureOf(fields: Map<string, string>, model: Model, tests: number): Picture {
  const keys = ["g", "px", "up", "row"].filter((key) => fields.has(key));
  if (keys.length > 1) throw new MalformedLink("it holds two pictures");
  const [key] = keys;
  if (key === undefined) return firstPicture(model, tests);
  const text = fields.get(key)!;
  if ((key === "row") !== (model.preprocessing.kind === "features")) {
    throw new MalformedLink("its picture is not for this network");
  }
  if (key === "row") return { kind: "row", values: rowOf(text, model.inputs) };
  if (key !== "g") {
    const pixels = fromBase64Url(text, model.inputs);
    return { kind: key === "px" ? "drawn" : "uploaded", pixels };
  }
  if (tests === 0) throw new MalformedLink("there are no test images for this network");
  return { kind: "gallery", index: whole(fields, "g", [0, tests - 1], 0) };
}

function rowOf(text: string, count: number): Float64Array {
  const items = text.split(",");
  if (!items.every((item) => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(item))) {
    throw new MalformedLink("its row holds something else than numbers");
  }
  const values = Float64Array.from(items, Number);
  if (values.length !== count || !values.every(Number.isFinite)) {
    throw new MalformedLink(`its row must hold ${count} numbers`);
  }
  return values;
}

function toBase64Url(pixels: Uint8Array): string {
  const text = btoa(Array.from(pixels, (pixel) => String.fromCharCode(pixel)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string, count: number): Uint8Array {
  if (!/^[\w-]+$/.test(text) || text.length !== Math.ceil((count * 4) / 3)) {
    throw new MalformedLink("its picture has the wrong size");
  }
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const pixels = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
  if (pixels.every((value) => value === pixels[0])) throw new MalformedLink("its picture is empty");
  return pixels;
}
