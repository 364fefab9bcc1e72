/** Which network: its images, its training, or both trainings side by side. */

import { hook } from "../dom";
import { DATASETS, PROTOCOLS, type AppState } from "../state";

export type Choice = Partial<Pick<AppState, "dataset" | "protocol" | "compare">>;

export interface ChoiceView {
  show(state: AppState): void;
}

export function createChoice(onChange: (choice: Choice) => void): ChoiceView {
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
  return {
    show(state) {
      datasets.forEach((button, i) => (button.checked = DATASETS[i] === state.dataset));
      protocols.forEach((button, i) => (button.checked = PROTOCOLS[i] === state.protocol));
      compare.checked = state.compare;
    },
  };
}
