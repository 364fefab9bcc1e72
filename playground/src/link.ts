/** The state as the fragment of a link, and back. What comes back is never trusted: every field is
 * checked for its kind and range, and one that fails makes the whole link malformed. */

import {
  COUPLING_BITS,
  DATASETS,
  DEFAULT_PHYSICS,
  GALLERY_SIZE,
  HIDDEN,
  OSCILLATORS,
  PIXELS,
  PROTOCOLS,
  RANGES,
  initialState,
  type AppState,
  type Picture,
} from "./state";

const VERSION = "1";
const LONGEST = 40_000; // characters; every coupling cut needs fewer
const KEYS = [
  "v",
  "d",
  "p",
  "c",
  "g",
  "px",
  "up",
  "T",
  "tf",
  "k",
  "b",
  "x",
  "s",
  "e",
  "cut",
  "off",
  "o",
];

/** Thrown by `decode`; its message is for the visitor. */
export class MalformedLink extends Error {}

export function encode(state: AppState): string {
  const { physics, picture } = state;
  const fields: [string, string][] = [
    ["v", VERSION],
    ["d", state.dataset],
    ["p", state.protocol],
  ];
  if (state.compare) fields.push(["c", "1"]);
  if (picture.kind === "gallery") fields.push(["g", String(picture.index)]);
  else fields.push([picture.kind === "drawn" ? "px" : "up", toBase64Url(picture.pixels)]);
  const number = (key: string, value: number, usual: number): void => {
    if (value !== usual) fields.push([key, String(value)]);
  };
  number("T", physics.temperature, DEFAULT_PHYSICS.temperature);
  number("tf", physics.observationTime, DEFAULT_PHYSICS.observationTime);
  number("k", physics.steps, DEFAULT_PHYSICS.steps);
  if (physics.couplingBits !== null) fields.push(["b", String(physics.couplingBits)]);
  number("x", physics.mismatch, DEFAULT_PHYSICS.mismatch);
  number("s", physics.seed, DEFAULT_PHYSICS.seed);
  if (state.ensemble) fields.push(["e", "1"]);
  if (physics.cut.length) fields.push(["cut", physics.cut.map((pair) => pair.join("-")).join(".")]);
  if (physics.silenced.length) fields.push(["off", physics.silenced.join(".")]);
  if (state.selected !== null) fields.push(["o", String(state.selected)]);
  return fields.map(([key, value]) => `${key}=${value}`).join("&");
}

/** The state of a fragment (with or without its #); throws MalformedLink. */
export function decode(fragment: string): AppState {
  const text = fragment.replace(/^#/, "");
  if (text.length > LONGEST) throw new MalformedLink("it is too long");
  const fields = split(text);
  if (fields.get("v") !== VERSION) throw new MalformedLink("its version is unknown");
  const state = initialState();
  const { physics } = state;
  state.dataset = oneOf(fields, "d", DATASETS, state.dataset);
  state.protocol = oneOf(fields, "p", PROTOCOLS, state.protocol);
  state.compare = oneOf(fields, "c", ["0", "1"], "0") === "1";
  state.ensemble = oneOf(fields, "e", ["0", "1"], "0") === "1";
  state.picture = picture(fields);
  physics.temperature = number(fields, "T", RANGES.temperature, physics.temperature);
  physics.observationTime = number(fields, "tf", RANGES.observationTime, physics.observationTime);
  physics.steps = whole(fields, "k", RANGES.steps, physics.steps);
  physics.mismatch = number(fields, "x", RANGES.mismatch, physics.mismatch);
  physics.seed = whole(fields, "s", RANGES.seed, physics.seed);
  if (fields.has("b")) {
    physics.couplingBits = Number(oneOf(fields, "b", COUPLING_BITS.map(String), ""));
  }
  physics.cut = list(fields, "cut").map(pair);
  physics.silenced = list(fields, "off").map((item) => oscillator(item, "off"));
  if (fields.has("o")) state.selected = oscillator(fields.get("o") as string, "o");
  return state;
}

function split(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of text.split("&")) {
    const at = part.indexOf("=");
    const key = part.slice(0, at);
    if (at < 1 || !KEYS.includes(key)) throw new MalformedLink("a part of it is unknown");
    if (fields.has(key)) throw new MalformedLink(`${key} is given twice`);
    fields.set(key, part.slice(at + 1));
  }
  return fields;
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

function number(
  fields: Map<string, string>,
  key: string,
  [least, most]: readonly [number, number],
  usual: number,
): number {
  const text = fields.get(key);
  if (text === undefined) return usual;
  const value = Number(text);
  if (!/^\d+(\.\d+)?(e-\d+)?$/.test(text) || !(value >= least && value <= most)) {
    throw new MalformedLink(`${key} is not a number from ${least} to ${most}`);
  }
  return value;
}

function whole(
  fields: Map<string, string>,
  key: string,
  range: readonly [number, number],
  usual: number,
): number {
  const value = number(fields, key, range, usual);
  if (!Number.isInteger(value)) throw new MalformedLink(`${key} is not a whole number`);
  return value;
}

/** The distinct items of a list separated by dots. */
function list(fields: Map<string, string>, key: string): string[] {
  const text = fields.get(key);
  if (text === undefined) return [];
  const items = text.split(".");
  if (new Set(items).size < items.length) throw new MalformedLink(`${key} repeats itself`);
  return items;
}

function oscillator(text: string, key: string): number {
  if (!/^(0|[1-9]\d?)$/.test(text) || Number(text) >= OSCILLATORS) {
    throw new MalformedLink(`${key} names no oscillator`);
  }
  return Number(text);
}

/** A coupling i < j; outputs are not coupled with each other. */
function pair(text: string): [number, number] {
  const ends = text.split("-").map((end) => oscillator(end, "cut"));
  if (ends.length !== 2 || ends[0] >= ends[1] || ends[0] >= HIDDEN) {
    throw new MalformedLink("cut names no coupling");
  }
  return [ends[0], ends[1]];
}

function picture(fields: Map<string, string>): Picture {
  if (["g", "px", "up"].filter((key) => fields.has(key)).length > 1) {
    throw new MalformedLink("it holds two pictures");
  }
  for (const [key, kind] of [
    ["px", "drawn"],
    ["up", "uploaded"],
  ] as const) {
    const text = fields.get(key);
    if (text !== undefined) return { kind, pixels: fromBase64Url(text) };
  }
  return { kind: "gallery", index: whole(fields, "g", [0, GALLERY_SIZE - 1], 0) };
}

function toBase64Url(pixels: Uint8Array): string {
  const text = btoa(String.fromCharCode(...pixels));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array {
  if (!/^[\w-]+$/.test(text) || text.length !== Math.ceil((PIXELS * 4) / 3)) {
    throw new MalformedLink("its picture has the wrong size");
  }
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const pixels = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
  if (pixels.every((value) => value === pixels[0])) throw new MalformedLink("its picture is empty");
  return pixels;
}
