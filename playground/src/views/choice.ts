/** Which network: one that was given, or a shipped one by its images and its training, or both
 * trainings side by side. */

import type { Model } from "../core";
import { hook, make } from "../dom";
import { DATASETS, PROTOCOLS, type Network } from "../state";
import { counted } from "../words";

export interface ChoiceView {
  show(network: Network, model: Model | null): void;
}

export function createChoice(
  given: string[],
  onChange: (choice: Partial<Network>) => void,
): ChoiceView {
  const datasets = DATASETS.map((dataset) => hook<HTMLInputElement>(`dataset-${dataset}`));
  const protocols = PROTOCOLS.map((protocol) => hook<HTMLInputElement>(`protocol-${protocol}`));
  const compare = hook<HTMLInputElement>("compare");
  datasets.forEach((button, i) =>
    button.addEventListener("change", () => onChange({ dataset: DATASETS[i] })),
  );
  protocols.forEach((button, i) =>
    button.addEventListener("change", () => onChange({ protocol: PROTOCOLS[i] })),
  );
  compare.addEventListener("change", () => onChange({ compare: compare.checked }));
  const names = [...given, null];
  const models = names.map((name, i) => {
    const button = make("input", {
      type: "radio",
      name: "model",
      "data-testid": name === null ? "model-shipped" : `model-${i}`,
    });
    button.addEventListener("change", () => onChange({ given: name }));
    hook("models").append(
      make("label", {}, button, make("span", { title: name ?? "" }, name ?? "shipped")),
    );
    return button;
  });
  hook("models").hidden = given.length === 0;
  return {
    show(network, model) {
      const shipped = network.given === null;
      models.forEach((button, i) => (button.checked = names[i] === network.given));
      datasets.forEach((button, i) => (button.checked = DATASETS[i] === network.dataset));
      protocols.forEach((button, i) => (button.checked = PROTOCOLS[i] === network.protocol));
      compare.checked = network.compare;
      hook("shipped").hidden = !shipped;
      const facts = hook("model-facts");
      facts.hidden = shipped;
      if (model !== null) facts.textContent = factsOf(model);
    },
  };
}

function factsOf(model: Model): string {
  const { protocol, dataset, hidden, outputs, inputs, preprocessing, madeFor } = model;
  const read =
    preprocessing.kind === "picture"
      ? `pictures of ${preprocessing.rows} × ${preprocessing.columns}`
      : `rows of ${counted(inputs, "number")}`;
  const chips = madeFor === null ? "" : " Trained for imperfect chips: choose one under Physics.";
  return `${protocol} on ${dataset}: ${hidden} + ${outputs} oscillators, ${read}.${chips}`;
}
