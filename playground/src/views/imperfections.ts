/** Imperfections set by hand, on top of the hardware: each control shows what the chip has. */

import type { Physics } from "../core";
import { GRAPHS, RANGES, isAllowed, numberOf, type Graph } from "../core/hardware/changes";
import { hook, make } from "../dom";
import type { HandChanges, Settings } from "../state";
import { counted } from "../words";
import { say } from "./announce";

export interface ImperfectionsView {
  show(settings: Settings, physics: Physics): void;
}

type Numeric = Exclude<keyof HandChanges, "graph">;

interface Control {
  key: Numeric;
  name: string; // of its hook
  label: string;
  scale: number; // what is shown is the number times this
  step: number; // of what is shown
  title: string;
}

const BITS: { key: Numeric; name: string; label: string; title: string }[] = [
  {
    key: "weightBits",
    name: "weight-bits",
    label: "Weight bits",
    title: "Levels over the full range of the input weights, in place of the chip's",
  },
  {
    key: "phaseBits",
    name: "phase-bits",
    label: "Phase bits",
    title: "The output phases are read at 2 to the power of so many places of the circle",
  },
];

const CONTROLS: Control[] = [
  {
    key: "weightMismatch",
    name: "weight-mismatch",
    label: "Weight mismatch %",
    scale: 100,
    step: 1,
    title: "Standard deviation of each input weight's gain",
  },
  {
    key: "offset",
    name: "offset",
    label: "Offset %",
    scale: 100,
    step: 1,
    title: "Added to each coupling, in percent of their root mean square",
  },
  {
    key: "frequencySpread",
    name: "frequency-spread",
    label: "Frequency spread",
    scale: 1,
    step: 0.1,
    title: "Standard deviation of the natural frequencies, rad per unit of time",
  },
  {
    key: "lag",
    name: "lag-angle",
    label: "Lag, rad",
    scale: 1,
    step: 0.05,
    title: "Each coupling acts as if the phase difference were larger by this",
  },
  {
    key: "deadCouplers",
    name: "dead-couplers",
    label: "Dead couplers %",
    scale: 100,
    step: 1,
    title: "Each coupler is missing with this probability",
  },
  {
    key: "deadOscillators",
    name: "dead-oscillators",
    label: "Dead oscillators %",
    scale: 100,
    step: 1,
    title: "Each oscillator is missing with this probability",
  },
];

export function createImperfections(onChange: (changes: HandChanges) => void): ImperfectionsView {
  let changes: HandChanges = {};
  const set = (key: keyof HandChanges, value: number | Graph | undefined): void => {
    const { [key]: _, ...rest } = changes;
    changes = value === undefined ? rest : { ...rest, [key]: value }; // the next may come before the run
    onChange(changes);
  };
  const numbers = CONTROLS.map((control) => numberControl(control, set));
  const bits = BITS.map(({ key, name, label, title }) => {
    const [least, most] = RANGES[key];
    const values = Array.from({ length: most - least + 1 }, (_, k) => String(most - k));
    return selectControl(name, label, title, values, (n) => counted(Number(n), "bit"), (value) =>
      set(key, value === "" ? undefined : Number(value)),
    );
  });
  const graph = selectControl(
    "graph",
    "Graph",
    "Which couplers the chip has; a network keeps those of its own that are there",
    Object.keys(GRAPHS),
    (name) => GRAPHS[name as Graph],
    (value) => set("graph", value === "" ? undefined : (value as Graph)),
  );
  const count = make("span", { class: "caption", "data-testid": "imperfections-set" });
  const box = make(
    "details",
    { class: "imperfections", "data-testid": "imperfections" },
    make("summary", {}, "More imperfections ", count),
    make(
      "div",
      { class: "imperfection-grid" },
      ...[...bits, graph].map(({ root }) => root),
      ...numbers.map(({ root }) => root),
    ),
  );
  hook("chip").append(box);
  return {
    show(settings, { hardware }) {
      changes = settings.changes;
      const many = Object.keys(changes).length;
      count.textContent = many === 0 ? "" : `(${many} set by hand)`;
      numbers.forEach((control, k) => control.show(numberOf(hardware, CONTROLS[k]!.key) ?? 0));
      bits.forEach((control, k) => {
        const { key } = BITS[k]!;
        const own = numberOf(hardware, key);
        control.show(changes[key] === undefined ? "" : String(changes[key]), asChip(own !== undefined));
      });
      graph.show(changes.graph ?? "", asChip(hardware.wiring !== undefined));
    },
  };
}

function asChip(has: boolean): string {
  return has ? "as the chip" : "off";
}

function numberControl(
  { key, name, label, scale, step, title }: Control,
  set: (key: Numeric, value: number) => void,
): { root: HTMLElement; show(value: number): void } {
  const [least, most] = RANGES[key];
  const input = make("input", {
    type: "number",
    id: name,
    "data-testid": name,
    min: String(least * scale),
    max: String(most * scale),
    step: String(step),
    title,
  });
  const shown = (value: number): string => String(Number((value * scale).toPrecision(9)));
  let current = 0;
  const typed = (): number => Number((Number(input.value) / scale).toPrecision(9));
  const valid = (): boolean => input.value !== "" && isAllowed(key, typed());
  input.addEventListener("input", () => {
    if (valid()) set(key, typed());
  });
  input.addEventListener("change", () => {
    if (!valid()) say(`${label} goes from ${least * scale} to ${most * scale}.`, "problem");
    input.value = shown(current);
  });
  return {
    root: make("div", { class: "quantity" }, make("label", { for: name }, label), input),
    show(value) {
      current = value;
      if (document.activeElement !== input || typed() !== value) input.value = shown(value);
    },
  };
}

/** A <select> whose first option, "", leaves it to the hardware. */
function selectControl(
  name: string,
  label: string,
  title: string,
  values: string[],
  words: (value: string) => string,
  onChange: (value: string) => void,
): { root: HTMLElement; show(value: string, without: string): void } {
  const none = make("option", { value: "" });
  const select = make("select", { id: name, "data-testid": name, title });
  select.append(none, ...values.map((value) => make("option", { value }, words(value))));
  select.addEventListener("change", () => onChange(select.value));
  return {
    root: make("div", { class: "quantity" }, make("label", { for: name }, label), select),
    show(value, without) {
      none.textContent = without;
      select.value = value;
    },
  };
}
