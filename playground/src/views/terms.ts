/** Small buttons beside words, each with an explanation: by pointer, by focus or by click; Escape
 * closes it. Buttons are made of elements with data-term. */

import { make } from "../dom";
import { GLOSSARY } from "../glossary";

export function startTerms(): void {
  const text = make("span", {});
  const more = make("a", { target: "_blank", rel: "noopener" }, "More");
  const box = make(
    "div",
    { class: "explained", id: "explained", role: "note", "data-testid": "explained" },
    text,
    " ",
    more,
  );
  box.hidden = true;
  document.querySelector("main")!.append(box);
  const docs = document.querySelector<HTMLMetaElement>('meta[name="entrain-docs"]')?.content ?? "";
  let owner: HTMLElement | null = null;
  let timer = 0;

  const close = (): void => {
    owner?.setAttribute("aria-expanded", "false");
    owner = null;
    box.hidden = true;
  };
  const open = (button: HTMLElement): void => {
    clearTimeout(timer);
    const entry = GLOSSARY[button.dataset.term ?? ""];
    if (entry === undefined || owner === button) return;
    close();
    owner = button;
    text.textContent = entry.words;
    more.hidden = docs === "";
    more.href = `${docs}${entry.page}`;
    button.setAttribute("aria-expanded", "true");
    box.hidden = false;
    place(box, button);
  };
  const leave = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (!box.matches(":hover, :focus-within") && document.activeElement !== owner) close();
    }, 250);
  };
  for (const slot of document.querySelectorAll<HTMLElement>("[data-term]")) {
    const button = slot as HTMLButtonElement;
    button.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") open(button);
    });
    button.addEventListener("pointerleave", leave);
    button.addEventListener("focus", () => {
      if (button.matches(":focus-visible")) open(button);
    });
    button.addEventListener("blur", leave);
    button.addEventListener("click", () => open(button));
  }
  box.addEventListener("pointerleave", leave);
  box.addEventListener("focusout", leave);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && owner !== null) close();
  });
  document.addEventListener("pointerdown", (event) => {
    const target = event.target as Node;
    if (owner !== null && !box.contains(target) && !owner.contains(target)) close();
  });
  addEventListener("scroll", () => owner !== null && place(box, owner), { passive: true });
}

/** A button that explains a word. */
export function term(name: string): HTMLButtonElement {
  return make(
    "button",
    {
      type: "button",
      class: "term",
      "data-term": name,
      "aria-label": `What is meant: ${name}`,
      "aria-expanded": "false",
      "aria-controls": "explained",
    },
    "?",
  );
}

/** Below the button, or above it where there is no room; within the window. */
function place(box: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(8, Math.min(at.left - 20, innerWidth - width - 8));
  const below = at.bottom + 6;
  const top = below + height < innerHeight - 8 ? below : Math.max(8, at.top - height - 6);
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}
