/** Small controls of the lab. */

import { make } from "../../dom";

let made = 0;

/** A labelled <select> of these options, the first chosen. */
export function chooser(
  name: string,
  label: string,
  options: [value: string, words: string][],
  onChange: (value: string) => void,
): { root: HTMLElement; select: HTMLSelectElement } {
  const id = `lab-control-${made++}`;
  const select = make("select", { id, "data-testid": name });
  setOptions(select, options);
  select.addEventListener("change", () => onChange(select.value));
  const root = make("div", { class: "choice" }, make("label", { for: id }, label), select);
  return { root, select };
}

/** New options; what was chosen stays chosen where it is still there. */
export function setOptions(select: HTMLSelectElement, options: [string, string, boolean?][]): void {
  const before = select.value;
  select.replaceChildren(
    ...options.map(([value, words, disabled]) => {
      const option = make("option", { value }, words);
      option.disabled = disabled === true;
      return option;
    }),
  );
  if (options.some(([value]) => value === before)) select.value = before;
}

export function button(
  name: string,
  words: string,
  onClick: () => void,
  attributes: Record<string, string> = {},
): HTMLButtonElement {
  const made = make("button", { type: "button", "data-testid": name, ...attributes }, words);
  made.addEventListener("click", onClick);
  return made;
}
