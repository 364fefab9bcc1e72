/** What the page says: a visible line for messages, and the verdict spoken once it has settled. */

import { hook } from "../dom";

const SETTLED_MS = 900;
const AFAR_MS = 8000; // a problem stays over the page where its line is out of view
let timer = 0;
let leaving = 0;

/** A message in the line under the pad; read aloud too. */
export function say(text: string, kind: "note" | "problem" = "note"): void {
  const line = hook("message");
  line.classList.toggle("problem", kind === "problem");
  line.classList.remove("afar");
  if (line.textContent !== text) line.textContent = text;
  clearTimeout(leaving);
  if (kind !== "problem" || inView(line)) return;
  line.classList.add("afar");
  leaving = window.setTimeout(() => line.classList.remove("afar"), AFAR_MS);
}

function inView(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

/** Read aloud only, once no newer one came for a while. */
export function speakLater(text: string): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    hook("spoken").textContent = text;
  }, SETTLED_MS);
}
