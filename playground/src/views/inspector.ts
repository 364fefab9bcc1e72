/** One oscillator: its input weights as a picture, its field, the other terms it has, its
 * strongest couplings. */

import { termsOf, type Shape } from "../core";
import { context, hook, make, signed } from "../dom";
import type { Shown } from "../run";
import { isCut, type Damage } from "../state";
import { dialName, shortName, type Partner } from "./dials";
import { palette } from "./theme";

export interface Inspected {
  oscillator: number;
  selected: boolean;
  model: Shown;
  field: number; // with the picture that is shown
  partners: Partner[];
  damage: Readonly<Damage>;
}

export interface InspectorEvents {
  onCut(a: number, b: number): void;
  onSilence(oscillator: number): void;
}

let empty: { model: Shown; paper: string } | null = null; // what stands where nothing is inspected

/** Where nothing is inspected: the input weights of all hidden oscillators of `model`. */
export function showInspector(
  inspected: Inspected | null,
  events: InspectorEvents,
  model: Shown,
): void {
  const root = hook("inspector");
  const paper = palette().card;
  if (inspected === null && empty?.model === model && empty.paper === paper) return;
  empty = inspected === null ? { model, paper } : null;
  const focused = (document.activeElement as HTMLElement | null)?.dataset.testid;
  root.replaceChildren(...(inspected === null ? hint(model) : parts(inspected, events)));
  if (focused !== undefined && /^(silence|cut-\d+)$/.test(focused)) {
    root.querySelector<HTMLElement>(`[data-testid="${focused}"]`)?.focus();
  }
}

function hint(model: Shown): Node[] {
  const words = make(
    "p",
    { class: "caption" },
    "Point at an oscillator to see its input weights, what pulls on it and what it pulls. Click to keep it, click a line to cut it; a double click silences.",
  );
  return [make("div", { class: "mosaic" }, words, ...mosaic(model))];
}

const MOSAIC_COLUMNS = 11;
let last: { model: Shown; paper: string; nodes: Node[] } | null = null;

/** The input weights of all hidden oscillators, in their order; of networks that read pictures. */
function mosaic(model: Shown): Node[] {
  const { preprocessing, hidden, inputs, inputWeights } = model;
  if (preprocessing.kind !== "picture") return [];
  const { card } = palette();
  if (last?.model === model && last.paper === card) return last.nodes;
  const { rows, columns } = preprocessing;
  const across = Math.min(MOSAIC_COLUMNS, hidden);
  const down = Math.ceil(hidden / across);
  const canvas = make("canvas", {
    width: String(across * (columns + 1) - 1),
    height: String(down * (rows + 1) - 1),
    role: "img",
    "aria-label": `Input weights of the ${hidden} hidden oscillators`,
  });
  const drawing = context(canvas);
  for (let i = 0; i < hidden; i++) {
    const weights = Float64Array.from(inputWeights.subarray(i * inputs, (i + 1) * inputs));
    const place = [(i % across) * (columns + 1), Math.floor(i / across) * (rows + 1)] as const;
    drawing.putImageData(asPixels(weights, preprocessing), ...place);
  }
  const title = make("p", { class: "caption" }, `Input weights of the ${hidden} hidden oscillators:`);
  last = { model, paper: card, nodes: [title, canvas] };
  return last.nodes;
}

function parts(
  { oscillator, selected, model, field, partners, damage }: Inspected,
  events: InspectorEvents,
): Node[] {
  const silenced = damage.silenced.includes(oscillator);
  const name = dialName(oscillator, model);
  const silence = make(
    "button",
    { type: "button", class: "small", "data-testid": "silence" },
    silenced ? "Restore" : "Silence",
  );
  silence.setAttribute("aria-label", `${silence.textContent} ${name}`);
  silence.addEventListener("click", () => events.onSilence(oscillator));
  const title = make(
    "h3",
    {},
    name[0].toUpperCase() + name.slice(1),
    selected ? "" : make("small", {}, " (click to keep)"),
  );
  const bias = signed(model.biases[oscillator], 2);
  const facts = make(
    "p",
    { class: "facts" },
    make("span", {}, `bias ${bias}`),
    make("span", {}, `field ${silenced ? "0" : signed(field, 2)}`),
    ...termsOf(model, oscillator).map(({ name, value, unit }) =>
      make("span", {}, `${name} ${signed(value, 2)}${unit}`),
    ),
  );
  const list = make("ul", { class: "couplings", "aria-label": "Strongest couplings" });
  for (const { other, value } of partners) {
    list.append(
      coupling(oscillator, other, value, model, isCut(damage, oscillator, other), events),
    );
  }
  const words = make(
    "div",
    { class: "inspected" },
    make("div", { class: "titled" }, title, silence),
    facts,
    pullBars(),
    list,
  );
  return oscillator < model.hidden ? [weightsOf(model, oscillator), words] : [words];
}

/** The two pulls on it, which `showPulls` moves. */
function pullBars(): HTMLElement {
  const row = (name: string, words: string): HTMLElement =>
    make(
      "div",
      { class: "pull", "data-pull": name },
      make("span", {}, words),
      make("span", { class: "track" }, make("span", { class: "amount-bar" })),
      make("span", { class: "amount", "data-testid": `pull-${name}` }),
    );
  return make("div", { class: "pulls-of" }, row("field", "picture"), row("neighbours", "neighbours"));
}

/** Pulls of now; `most` fills half the bar. Towards smaller phases is to the left. */
export function showPulls(field: number, neighbours: number, most: number): void {
  const root = hook("inspector");
  for (const [name, value] of [
    ["field", field],
    ["neighbours", neighbours],
  ] as const) {
    const row = root.querySelector(`[data-pull="${name}"]`);
    const bar = row?.querySelector<HTMLElement>(".amount-bar");
    if (!row || !bar) continue;
    const share = Math.max(-1, Math.min(1, value / most));
    bar.style.left = `${50 + Math.min(0, 50 * share)}%`;
    bar.style.width = `${50 * Math.abs(share)}%`;
    row.querySelector(".amount")!.textContent = signed(value, 1);
  }
}

function coupling(
  oscillator: number,
  other: number,
  value: number,
  model: Shown,
  cut: boolean,
  events: InspectorEvents,
): HTMLElement {
  const short = shortName(other, model);
  const word = cut ? "Restore" : "Cut";
  const button = make(
    "button",
    {
      type: "button",
      class: "small",
      "data-testid": `cut-${other}`,
      "aria-label": `${word} the coupling to ${short}`,
    },
    word,
  );
  button.addEventListener("click", () => events.onCut(oscillator, other));
  const number = make("span", { class: value > 0 ? "positive" : "negative" }, signed(value, 2));
  const item = make("li", {}, make("span", {}, short), number, button);
  item.classList.toggle("cut", cut);
  return item;
}

/** The input weights as a picture: of a network that reads pictures, pixel by pixel; else as bars. */
function weightsOf(model: Shown, oscillator: number): HTMLElement {
  const weights = Float64Array.from(
    model.inputWeights.subarray(oscillator * model.inputs, (oscillator + 1) * model.inputs),
  );
  const { preprocessing } = model;
  const picture =
    preprocessing.kind === "picture" ? asPixels(weights, preprocessing) : asBars(weights);
  const canvas = make("canvas", {
    class: preprocessing.kind === "picture" ? "pixels weights" : "pixels weights bars",
    width: String(picture.width),
    height: String(picture.height),
    role: "img",
    "aria-label": `Input weights of hidden oscillator ${oscillator}`,
  });
  context(canvas).putImageData(picture, 0, 0);
  const legend = make(
    "figcaption",
    { class: "caption" },
    make("span", { class: "positive" }, "+"),
    " up, ",
    make("span", { class: "negative" }, "−"),
    " down",
  );
  return make("figure", {}, canvas, legend);
}

/** What excites in one colour, what inhibits in the other, zero is the paper. */
function asPixels(weights: Float64Array, { rows, columns }: Shape): ImageData {
  const { positive, negative, card } = palette();
  const most = largest(weights);
  const paper = [1, 3, 5].map((at) => parseInt(card.slice(at, at + 2), 16));
  const picture = new ImageData(columns, rows);
  weights.forEach((weight, i) => {
    const share = Math.abs(weight) / most;
    const colour = weight > 0 ? positive : negative;
    for (let c = 0; c < 3; c++) picture.data[4 * i + c] = paper[c] + share * (colour[c] - paper[c]);
    picture.data[4 * i + 3] = 255;
  });
  return picture;
}

const BAR = 28; // half the bars' height, in pixels

/** A bar for each feature, in their order: up where it excites, down where it inhibits. */
function asBars(weights: Float64Array): ImageData {
  const { positive, negative } = palette();
  const most = largest(weights);
  const picture = new ImageData(weights.length, 2 * BAR);
  weights.forEach((weight, d) => {
    const length = Math.round((BAR * Math.abs(weight)) / most);
    const top = weight > 0 ? BAR - length : BAR;
    const colour = weight > 0 ? positive : negative;
    for (let y = top; y < top + length; y++) {
      picture.data.set([...colour, 255], 4 * (y * weights.length + d));
    }
  });
  return picture;
}

function largest(weights: Float64Array): number {
  return weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-12);
}
