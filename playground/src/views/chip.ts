/** The hardware and the chip that the network is on. */

import { IDEAL, OWN, kindsOf, type Kind } from "../chips";
import { wordsOf } from "../chipWords";
import type { Model, Physics } from "../core";
import { kindOf } from "../core/hardware/realise";
import { hook, make } from "../dom";
import { ONE_CHIP, chipsDiffer } from "../effects";
import { rangesOf, type HandChanges, type Settings } from "../state";
import { say } from "./announce";
import { term } from "./terms";
import { createImperfections } from "./imperfections";

export interface ChipView {
  /** `model` is the network itself, not as a chip holds it. */
  show(settings: Settings, physics: Physics, model: Model): void;
}

export interface ChipEvents {
  onKind(kind: string): void;
  onChip(chip: number): void;
  onChange(changes: HandChanges): void;
}

export function createChip({ onKind, onChip, onChange }: ChipEvents): ChipView {
  const kind = make("select", { id: "chip-kind", "data-testid": "chip-kind" });
  const number = make("input", {
    type: "number",
    id: "chip-number",
    "data-testid": "chip-number",
    step: "1",
    title: "The same number is the same chip, here and in Python: its parts are drawn by it",
  });
  const next = make(
    "button",
    { type: "button", "data-testid": "new-chip", title: "Another chip of the same hardware: its parts differ" },
    "New chip",
  );
  const words = make("p", { class: "caption", "data-testid": "chip-words" });
  const why = make("p", { class: "caption why", id: "chip-why", "data-testid": "chip-why" }, ONE_CHIP);
  for (const control of [number, next]) control.setAttribute("aria-describedby", "chip-why");
  hook("chip").append(
    make("span", {}, make("label", { for: "chip-kind" }, "Chip"), " ", term("chip")),
    kind,
    make("label", { for: "chip-number" }, "Chip no."),
    number,
    next,
    words,
    why,
  );
  const imperfections = createImperfections(onChange);
  let [current, least, most] = [0, 0, 0];
  let shown: Model | null = null;
  let kinds: Kind[] = [];
  const valid = (): boolean => {
    const value = Number(number.value);
    return number.value !== "" && Number.isInteger(value) && value >= least && value <= most;
  };
  kind.addEventListener("change", () => onKind(kind.value));
  number.addEventListener("input", () => {
    if (valid()) onChip(Number(number.value));
  });
  number.addEventListener("change", () => {
    if (!valid()) say(`Chips are numbered from ${least} to ${most}.`, "problem");
    number.value = String(current);
  });
  next.addEventListener("click", () => onChip(current === most ? least : current + 1));
  return {
    show(settings, physics, model) {
      [least, most] = rangesOf(model).chip;
      current = settings.chip;
      if (model !== shown) {
        kinds = kindsOf(model);
        kind.replaceChildren(...kinds.map(optionOf));
        shown = model;
      }
      kind.value = settings.kind;
      Object.assign(number, { min: String(least), max: String(most) });
      if (document.activeElement !== number || !valid()) number.value = String(current);
      const chosen = kinds.find(({ name }) => name === settings.kind);
      if (chosen !== undefined) words.textContent = sentence({ ...chosen, hardware: kindOf(physics) });
      imperfections.show(settings, physics);
      const differ = chipsDiffer(physics);
      number.disabled = next.disabled = !differ;
      why.hidden = differ;
    },
  };
}

function optionOf({ name, title, hardware, misfit }: Kind): HTMLOptionElement {
  const called = name === OWN ? `trained for it${hardware.name ? `: ${hardware.name}` : ""}` : name;
  const option = make("option", { value: name, title }, misfit === null ? called : `${called} (${misfit})`);
  option.disabled = misfit !== null;
  return option;
}

function sentence({ name, title, hardware }: Kind): string {
  const effects = wordsOf(hardware);
  if (name === IDEAL) return effects.length === 0 ? `${title}.` : `Set by hand: ${effects.join("; ")}.`;
  return `${title}. ${effects.length === 0 ? "" : `Here: ${effects.join("; ")}.`}`;
}
