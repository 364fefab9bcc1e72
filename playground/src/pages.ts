/** The pages, one of which is shown: its name is the fragment of the address, that of the reader is its
 * state. Each is made when it is first shown. */

import { hook } from "./dom";

export const PAGES = ["read", "learn", "understand", "cut"] as const;
export type PageName = (typeof PAGES)[number];

/** Parts of the frame that belong to the reader. */
const READER_PARTS = ["stage", "title-read", "summary", "tour-start", "copy-link"];

export interface Page {
  /** New colours. */
  redraw(): void;
  /** Another page is shown. */
  pause(): void;
  /** It is shown again. */
  resume(): void;
}

/** The page that a fragment names: the reader where it names none. */
export function pageOf(fragment: string): PageName {
  return PAGES.find((name) => fragment === `#${name}`) ?? "read";
}

export class Pages {
  private readonly made = new Map<PageName, Page>();

  /** `makers` fill the place of each page but the reader; `toReader` puts its state into the address. */
  constructor(
    private readonly makers: Record<Exclude<PageName, "read">, (root: HTMLElement) => Page>,
    private readonly toReader: () => void,
  ) {
    for (const name of PAGES) hook(`to-${name}`).addEventListener("click", () => this.go(name));
  }

  /** To a page, as a step of the history. */
  go(name: PageName): void {
    if (name === "read") this.toReader();
    else if (pageOf(location.hash) !== name) history.pushState(history.state, "", `#${name}`);
    this.show(name);
  }

  show(shown: PageName): void {
    for (const name of PAGES) {
      hook(`to-${name}`).setAttribute("aria-current", name === shown ? "page" : "false");
      hook(`page-${name}`).hidden = name !== shown;
      if (name !== shown) this.made.get(name)?.pause();
    }
    for (const part of READER_PARTS) hook(part).hidden = shown !== "read";
    if (shown === "read") return;
    const made = this.made.get(shown);
    if (made !== undefined) made.resume();
    else this.made.set(shown, this.makers[shown](hook(`page-${shown}`)));
  }

  redraw(): void {
    for (const page of this.made.values()) page.redraw();
  }
}
