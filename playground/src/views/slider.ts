/** A slider with its label and its value in words. */

import { make } from "../dom";

interface SliderOptions {
  words?: (value: number) => string;
  onInput?: () => void;
  onChange?: () => void;
}

export function slider(
  name: string,
  label: string,
  least: number,
  most: number,
  step: number,
  { words = String, onInput, onChange }: SliderOptions,
): { root: HTMLElement; value: number } {
  const attributes = { min: String(least), max: String(most), step: String(step), value: String(least) };
  const input = make("input", { type: "range", id: name, "data-testid": name, ...attributes });
  const output = make("output", { for: name });
  const say = (): void => {
    output.textContent = words(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    onInput?.();
  });
  if (onChange !== undefined) input.addEventListener("change", onChange);
  say();
  const head = make("span", { class: "slider-head" }, make("label", { for: name }, label), output);
  return {
    root: make("div", { class: "choice" }, head, input),
    get value() {
      return Number(input.value);
    },
    set value(value: number) {
      input.value = String(value);
      say();
    },
  };
}
