/** Which network: one that was given or dropped, or a shipped one by its images and its training, or
 * two trainings side by side. */

import { cardWords } from "../core/card";
import type { Model } from "../core";
import { hook, make } from "../dom";
import networks from "../networks.json"; // from the package, by tools/playground_chips.py
import {
  DATASETS,
  PROTOCOLS,
  modelName,
  otherProtocol,
  type Dataset,
  type Network,
  type Protocol,
} from "../state";
import { counted, trainingName } from "../words";

export interface ChoiceView {
  show(network: Network, model: Model | null): void;
  /** The networks that are chosen by name. */
  list(given: string[]): void;
}

/** What a training is, and the name that the paper or the package has for it. */
const TRAININGS: Record<Protocol, [words: string, name: string]> = {
  "two-stage-end": ["in two stages", "TWO-STAGE-END"],
  path: ["in one stage", "PATH"],
  direct: ["on labels alone", "DIRECT"],
  robust: ["for imperfect chips", "DIRECT on chips"],
};

export function createChoice(
  given: string[],
  onChange: (choice: Partial<Network>) => void,
): ChoiceView {
  const datasets = DATASETS.map((dataset) => hook<HTMLInputElement>(`dataset-${dataset}`));
  datasets.forEach((button, i) =>
    button.addEventListener("change", () => onChange({ dataset: DATASETS[i] })),
  );
  const trainings = PROTOCOLS.map((protocol) => trainingChoice(protocol, onChange));
  hook("trainings").append(...trainings.map(({ root }) => root));
  const compare = hook<HTMLInputElement>("compare");
  compare.addEventListener("change", () => onChange({ compare: compare.checked }));
  let names: (string | null)[] = [];
  let models: HTMLInputElement[] = [];
  const list = (named: string[]): void => {
    names = [...named, null];
    models = names.map((name, i) => modelButton(name, i, onChange));
    const [legend] = hook("models").children;
    hook("models").replaceChildren(legend!, ...models.map((button) => button.parentElement!));
    hook("models").hidden = false;
  };
  list(given);
  return {
    list,
    show(network, model) {
      const { given: chosen, dataset, protocol } = network;
      models.forEach((button, i) => (button.checked = names[i] === chosen));
      datasets.forEach((button, i) => (button.checked = DATASETS[i] === dataset));
      trainings.forEach(({ show }) => show(protocol, dataset));
      compare.checked = network.compare;
      hook("compare-words").textContent = `Compare with ${TRAININGS[otherProtocol(protocol)][1]}`;
      hook("shipped").hidden = chosen !== null;
      const facts = hook("model-facts");
      facts.hidden = false;
      if (model !== null) facts.textContent = factsOf(model);
    },
  };
}

function trainingChoice(
  protocol: Protocol,
  onChange: (choice: Partial<Network>) => void,
): { root: HTMLElement; show(chosen: Protocol, dataset: Dataset): void } {
  const button = make("input", {
    type: "radio",
    name: "protocol",
    value: protocol,
    "data-testid": `protocol-${protocol}`,
  });
  button.addEventListener("change", () => onChange({ protocol }));
  const [words, name] = TRAININGS[protocol];
  const accuracy = make("span", { class: "accuracy" });
  const root = make(
    "label",
    { class: "training" },
    button,
    make("span", {}, words, " ", make("small", {}, name)),
    accuracy,
  );
  return {
    root,
    show(chosen, dataset) {
      button.checked = protocol === chosen;
      const { test } = networks[modelName(dataset, protocol) as keyof typeof networks];
      accuracy.textContent = `${test.toFixed(1)} %`;
      accuracy.title = "Test images read right, as the ideal network";
    },
  };
}

function modelButton(
  name: string | null,
  i: number,
  onChange: (choice: Partial<Network>) => void,
): HTMLInputElement {
  const button = make("input", {
    type: "radio",
    name: "model",
    "data-testid": name === null ? "model-shipped" : `model-${i}`,
  });
  button.addEventListener("change", () => onChange({ given: name }));
  make("label", {}, button, make("span", { title: name ?? "" }, name ?? "mnist-74 family"));
  return button;
}

function factsOf(model: Model): string {
  const { protocol, dataset, hidden, outputs, inputs, preprocessing, madeFor, card } = model;
  const read =
    preprocessing.kind === "picture"
      ? `pictures of ${preprocessing.rows} × ${preprocessing.columns}`
      : `rows of ${counted(inputs, "number")}`;
  const chips = madeFor === null ? "" : " Trained for imperfect chips: choose one under Physics.";
  const measured = cardWords(card);
  const quality = measured === "" ? "" : ` Accuracy: ${measured}.`;
  const trained = trainingName(model) === protocol ? `trained by ${protocol}` : trainingName(model);
  const sizes = `${counted(hidden, "hidden oscillator")} and ${counted(outputs, "output")}`;
  return `${sizes}; ${dataset}, ${read}; ${trained}.${quality}${chips}`;
}
