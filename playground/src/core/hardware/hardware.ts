/** Hardware as the package writes it (`Hardware.to_json`), and its check.
 *
 * Effects act in the order of `EFFECTS`. What is not there is absent, exactly; entries that are not
 * there have the package's defaults. */

import { isRecord } from "../safetensors";

export type RangeRule = "rms" | "max" | "absolute" | "couplings";
export type GraphKind =
  "all-to-all" | "layered" | "kings" | "hexagonal" | "chimera" | "ring" | "random";

export interface Wiring {
  kind?: GraphKind;
  degree?: number;
  seed?: number;
  mask?: [number, number][];
  outputs?: "last" | "spread";
}

/** Bits or levels, one of them; levels in units of the range. */
export interface Levels {
  bits?: number;
  levels?: number[];
  range?: number;
  rule?: RangeRule;
}

export interface Mismatch {
  couplings?: number;
  input_weights?: number;
  biases?: number;
  fields?: number;
}

export interface Offset {
  couplings?: number;
  input_weights?: number;
  fields?: number;
}

export interface Dead {
  couplers?: number;
  oscillators?: number;
}

/** g(phi) = sin(phi + lag) + second sin(2 phi) + second_even cos(2 phi). */
export interface CouplingFunction {
  lag?: number;
  second?: number;
  second_even?: number;
}

export interface Readout {
  bits?: number;
  noise?: number;
  offset?: number;
  jitter?: number;
  spread?: number;
}

export interface Hardware {
  name?: string;
  oscillators?: number;
  wiring?: Wiring;
  sparsity?: { kept?: number };
  fan_in?: { inputs?: number };
  coupling_levels?: Levels;
  weight_levels?: Levels;
  bias_levels?: Levels;
  mismatch?: Mismatch;
  offset?: Offset;
  asymmetry?: { sd?: number };
  field_levels?: Levels;
  dead?: Dead;
  stuck?: { oscillators?: number };
  frequency_spread?: { sd?: number };
  coupling_function?: CouplingFunction;
  phase_noise?: { temperature?: number };
  readout?: Readout;
}

export type EffectName = Exclude<keyof Hardware, "name" | "oscillators">;

/** An entry's test, and what it must be in words. */
type Rule = [(value: unknown) => boolean, string];

const between = (least: number, most: number, words: string): Rule => [
  (value) => typeof value === "number" && value >= least && value <= most,
  words,
];
const whole = (least: number, most: number): Rule => [
  (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  `a whole number from ${least} to ${most}`,
];
const oneOf = (...names: string[]): Rule => [
  (value) => names.includes(value as string),
  `one of ${names.join(", ")}`,
];
const LARGEST = Number.MAX_VALUE;
const FINITE = between(-LARGEST, LARGEST, "a number");
const SPREAD = between(0, LARGEST, "a number from 0 on");
const SHARE = between(0, 1, "a share from 0 to 1");
const TIMING = between(0, 0.5, "from 0 to 0.5 of the time of reading");
const LEVELS: Record<string, Rule> = {
  bits: whole(2, 24),
  levels: [areLevels, "two or more numbers from -1 to 1 in rising order"],
  range: between(Number.MIN_VALUE, LARGEST, "a number above 0"),
  rule: oneOf("rms", "max", "absolute", "couplings"),
};

/** Every effect in the order in which they act, with the rules of its entries. */
const RULES: Record<EffectName, Record<string, Rule>> = {
  wiring: {
    kind: oneOf("all-to-all", "layered", "kings", "hexagonal", "chimera", "ring", "random"),
    degree: whole(1, 2 ** 31),
    seed: whole(0, 2 ** 32 - 1),
    mask: [areCouplers, "couplers [i, j] with 0 <= i < j"],
    outputs: oneOf("last", "spread"),
  },
  sparsity: { kept: between(Number.MIN_VALUE, 1, "a share above 0, at most 1") },
  fan_in: { inputs: whole(1, 2 ** 31) },
  coupling_levels: LEVELS,
  weight_levels: LEVELS,
  bias_levels: LEVELS,
  mismatch: { couplings: SPREAD, input_weights: SPREAD, biases: SPREAD, fields: SPREAD },
  offset: { couplings: SPREAD, input_weights: SPREAD, fields: SPREAD },
  asymmetry: { sd: SPREAD },
  field_levels: { ...LEVELS, rule: oneOf("absolute", "couplings") },
  dead: { couplers: SHARE, oscillators: SHARE },
  stuck: { oscillators: SHARE },
  frequency_spread: { sd: SPREAD },
  coupling_function: { lag: FINITE, second: FINITE, second_even: FINITE },
  phase_noise: { temperature: between(0, 1e30, "a number from 0 on") },
  readout: {
    bits: whole(1, 24),
    noise: SPREAD,
    offset: SPREAD,
    jitter: TIMING,
    spread: TIMING,
  },
};
export const EFFECTS = Object.keys(RULES) as EffectName[];

/** `values` as hardware; throws what is unknown here by its name, since an effect must not be
 * left out in silence. */
export function checkedHardware(values: unknown): Hardware {
  if (!isRecord(values)) throw new Error("hardware must be effects by name");
  for (const [name, effect] of Object.entries(values)) {
    if (name === "name") {
      if (typeof effect !== "string") throw new Error("the name of a hardware must be text");
    } else if (name === "oscillators") {
      expect(name, effect, whole(1, 2 ** 31));
    } else checkEffect(name, effect);
  }
  return values as Hardware;
}

function checkEffect(name: string, effect: unknown): void {
  if (!Object.hasOwn(RULES, name)) throw new Error(`the effect ${name} is unknown to this page`);
  const rules = RULES[name as EffectName];
  if (!isRecord(effect)) throw new Error(`${name} must be its numbers by name`);
  for (const [entry, value] of Object.entries(effect)) {
    if (!Object.hasOwn(rules, entry)) throw new Error(`${name}.${entry} is unknown to this page`);
    expect(`${name}.${entry}`, value, rules[entry]!);
  }
  if (name.endsWith("_levels") && "bits" in effect === "levels" in effect) {
    throw new Error(`${name} must have bits or levels, one of them`);
  }
  if (name === "field_levels" && !("rule" in effect)) {
    throw new Error("field_levels.rule must be one of absolute, couplings: fields change with the input");
  }
  if (name === "wiring") checkWiring(effect as Wiring);
}

function checkWiring({ kind, degree = 2, mask }: Wiring): void {
  if (kind === "ring" && degree % 2 === 1) {
    throw new Error(`the degree of a ring must be even, got ${degree}`);
  }
  if (kind === "random" && mask === undefined) {
    throw new Error("a random wiring is drawn by the package alone: give its couplers as wiring.mask");
  }
}

function expect(place: string, value: unknown, [fits, words]: Rule): void {
  if (!fits(value)) throw new Error(`${place} must be ${words}, got ${JSON.stringify(value)}`);
}

function areLevels(value: unknown): boolean {
  if (!Array.isArray(value) || value.length < 2) return false;
  return value.every(
    (level, k) =>
      typeof level === "number" && Math.abs(level) <= 1 && (k === 0 || value[k - 1] < level),
  );
}

function areCouplers(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) =>
        Array.isArray(pair) &&
        pair.length === 2 &&
        pair.every(Number.isInteger) &&
        0 <= pair[0] &&
        pair[0] < pair[1],
    )
  );
}
