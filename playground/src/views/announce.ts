/** What the page says: a visible line for messages, and the verdict spoken once it has settled. */

import { hook } from "../dom";

const SETTLED_MS = 900;
let timer = 0;

/** A message in the line under the pad; read aloud too. */
export function say(text: string, kind: "note" | "problem" = "note"): void {
  const line = hook("message");
  line.classList.toggle("problem", kind === "problem");
  if (line.textContent !== text) line.textContent = text;
}

/** Read aloud only, once no newer one came for a while. */
export function speakLater(text: string): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    hook("spoken").textContent = text;
  }, SETTLED_MS);
}
