/** What can be changed about the physics. */

import type { Model, Physics } from "../core";
import { hook, make } from "../dom";
import { NO_ENSEMBLE, NO_NOISE, runsDiffer } from "../effects";
import { COUPLING_BITS, ENSEMBLE, rangesOf, type Settings } from "../state";
import { say } from "./announce";
import { term } from "./terms";

export interface PhysicsView {
  show(physics: Physics, ensemble: boolean, model: Model): void;
}

export interface PhysicsEvents {
  onChange(change: Partial<Settings>): void;
  onEnsemble(ensemble: boolean): void;
  onNoise(seed: number): void;
  onReset(): void;
}

interface Quantity {
  key: "temperature" | "observationTime" | "steps" | "mismatch";
  name: string; // of its hooks
  label: string;
  term: string; // of the glossary
  scale: number; // what is shown is the state's number times this
  /** Of the number and of the slider. */
  step(model: Model): [number, number];
}

const QUANTITIES: Quantity[] = [
  {
    key: "temperature",
    name: "temperature",
    term: "temperature",
    label: "Temperature",
    scale: 1,
    step: () => [0.01, 0.05],
  },
  {
    key: "observationTime",
    name: "observation-time",
    term: "time",
    label: "Read at t_f",
    scale: 1,
    step: ({ observationTime }) => [observationTime / 20, observationTime / 10],
  },
  {
    key: "steps",
    name: "steps",
    term: "steps",
    label: "Euler steps",
    scale: 1,
    step: ({ steps }) => [1, Math.ceil(steps / 10)],
  },
  {
    key: "mismatch",
    name: "mismatch",
    term: "mismatch",
    label: "Mismatch %",
    scale: 100,
    step: () => [0.5, 1],
  },
];

export function createPhysics(events: PhysicsEvents): PhysicsView {
  const root = hook("settings");
  const quantities = QUANTITIES.map((quantity) => makeQuantity(quantity, events));
  const bits = make("select", {
    id: "coupling-bits",
    "data-testid": "coupling-bits",
    title: "Levels over the full range of the couplings, in place of the chip's",
  });
  const off = make("option", { value: "off" }, "off");
  bits.append(
    off,
    ...COUPLING_BITS.map((n) => make("option", { value: String(n) }, `${n} bits`)),
  );
  bits.addEventListener("change", () => {
    events.onChange({ couplingBits: bits.value === "off" ? null : Number(bits.value) });
  });
  const ensemble = make("input", { type: "checkbox", "data-testid": "ensemble" });
  ensemble.addEventListener("change", () => events.onEnsemble(ensemble.checked));
  const noise = make(
    "button",
    { type: "button", "data-testid": "new-noise", title: "Another run of the same chip" },
    "New noise",
  );
  noise.addEventListener("click", () => {
    events.onNoise(crypto.getRandomValues(new Uint32Array(1))[0]!);
  });
  const reset = make("button", { type: "button", "data-testid": "reset-physics" }, "Reset");
  reset.addEventListener("click", () => events.onReset());
  const why = make("p", { class: "caption why", id: "noise-why", "data-testid": "noise-why" });
  for (const control of [noise, ensemble]) control.setAttribute("aria-describedby", "noise-why");
  root.append(
    ...quantities.map(({ element }) => element),
    make(
      "div",
      { class: "quantity" },
      make("span", {}, make("label", { for: "coupling-bits" }, "Coupling bits"), " ", term("bits")),
      bits,
    ),
    make(
      "div",
      { class: "actions" },
      make(
        "span",
        {},
        make("label", { class: "check" }, ensemble, ` Ensemble of ${ENSEMBLE}`),
        " ",
        term("ensemble"),
      ),
      make("div", {}, noise, reset),
    ),
    why,
  );

  return {
    show(physics, ensembleOn, model) {
      for (const { show } of quantities) show(physics, model);
      bits.value = physics.couplingBits === null ? "off" : String(physics.couplingBits);
      off.textContent = physics.hardware.coupling_levels ? "as the chip" : "off";
      ensemble.checked = ensembleOn;
      noise.disabled = !runsDiffer(physics);
      ensemble.disabled = physics.temperature === 0;
      why.textContent = [noise.disabled && NO_NOISE, ensemble.disabled && NO_ENSEMBLE]
        .filter((words) => typeof words === "string")
        .join(" ");
      why.hidden = why.textContent === "";
      hook("changes").textContent = changes(physics);
    },
  };
}

function makeQuantity(
  { key, name, label, term: word, scale, step }: Quantity,
  { onChange }: PhysicsEvents,
): { element: HTMLElement; show(physics: Physics, model: Model): void } {
  const number = make("input", { type: "number", id: name, "data-testid": name });
  const slider = make("input", {
    type: "range",
    "data-testid": `${name}-slider`,
    "aria-label": `${label}, slider`,
  });
  let [least, most, current] = [0, 0, 0];
  const valid = (text: string): boolean => {
    const value = Number(text);
    return (
      text !== "" && value >= least && value <= most && (key !== "steps" || Number.isInteger(value))
    );
  };
  const set = (text: string): void => {
    if (valid(text)) onChange({ [key]: Number(text) / scale });
  };
  number.addEventListener("input", () => set(number.value));
  number.addEventListener("change", () => {
    if (!valid(number.value)) say(`${label} goes from ${rounded(least)} to ${rounded(most)}.`, "problem");
    number.value = rounded(current);
  });
  slider.addEventListener("input", () => set(slider.value));
  return {
    element: make(
      "div",
      { class: "quantity" },
      make("span", {}, make("label", { for: name }, label), " ", term(word)),
      number,
      slider,
    ),
    show(physics, model) {
      [least, most] = rangesOf(model)[key].map((value) => value * scale) as [number, number];
      current = physics[key] * scale;
      const [fine, coarse] = step(model);
      for (const [input, by] of [
        [number, fine],
        [slider, coarse],
      ] as const) {
        Object.assign(input, { min: rounded(least), max: rounded(most), step: rounded(by) });
      }
      slider.value = String(current);
      if (document.activeElement !== number || Number(number.value) !== Number(rounded(current))) {
        number.value = rounded(current);
      }
    },
  };
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(9)));
}

function changes({ cut, silenced }: Physics): string {
  const words: string[] = [];
  if (cut.length) words.push(`${cut.length} cut`);
  if (silenced.length) words.push(`${silenced.length} silenced`);
  return words.join(", ");
}
