/** The link in the address bar: read at the start and when it changes, written as the state does. */

import { testImages, type Gallery } from "./core";
import { hook } from "./dom";
import { pageOf } from "./pages";
import { MalformedLink, decode, encode, networkOf, timeOf } from "./link";
import type { Models } from "./models";
import type { AppState } from "./state";
import { say } from "./views/announce";

const THROTTLE_MS = 400; // browsers refuse to be told too often
const BURST_MS = 1500; // changes closer together are one step of the history

/** The state of the address, or null if it holds none; a malformed one is reported. */
export async function readAddress(models: Models, gallery: Gallery): Promise<AppState | null> {
  const fragment = location.hash;
  if (isEmpty(fragment)) return null;
  try {
    const network = networkOf(fragment);
    if (!models.has(network)) {
      throw new MalformedLink(`it is for the model ${network.given}, which is not served here`);
    }
    const [model] = await models.load(network);
    return decode(fragment, model!, testImages(gallery, model!).length);
  } catch (error) {
    if (!(error instanceof MalformedLink)) throw error;
    say(`This link could not be understood (${error.message}), so it was ignored.`, "problem");
    return null;
  }
}

/** The share of the run that the address shows; null where it does not say. */
export function addressTime(): number | null {
  try {
    return isEmpty(location.hash) ? null : timeOf(location.hash);
  } catch {
    return null; // a malformed link is reported where its state is read
  }
}

/** A fragment without a state: none, or the name of another page. */
export function isEmpty(fragment: string): boolean {
  return fragment.length < 2 || pageOf(fragment) !== "read" || fragment === "#read";
}

export class Address {
  private timer = 0;
  private written = -Infinity; // when the last step of the history was begun

  /** `time` is the share of the run that is shown: part of a link that is copied, not of the address,
   * which opens as a picture does. */
  constructor(
    private readonly state: () => AppState,
    private readonly time: () => number,
  ) {
    hook("copy-link").addEventListener("click", () => void this.copy());
    addEventListener("keydown", (event) => {
      const { depth = 0 } = (history.state ?? {}) as { depth?: number };
      const typing = event.target instanceof Element && event.target.matches("input, select, textarea");
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || typing || depth === 0) return;
      event.preventDefault();
      history.back();
    });
  }

  /** Soon, and once for many changes. */
  save(): void {
    this.timer ||= window.setTimeout(() => {
      this.timer = 0;
      if (pageOf(location.hash) === "read") this.write();
    }, THROTTLE_MS);
  }

  /** Now: a step of the history, or part of the last one where that has only begun. */
  write(time: number | null = null): void {
    clearTimeout(this.timer);
    this.timer = 0;
    const fragment = `#${encode(this.state(), time)}`;
    if (fragment === location.hash) return;
    const { depth = 0 } = (history.state ?? {}) as { depth?: number };
    const now = performance.now();
    const begins = now - this.written > BURST_MS || isEmpty(location.hash);
    if (time === null && begins) history.pushState({ depth: depth + 1 }, "", fragment);
    else history.replaceState({ depth }, "", fragment);
    this.written = now;
  }

  private async copy(): Promise<void> {
    this.write(this.time());
    const field = hook<HTMLInputElement>("link-text");
    const box = field.parentElement as HTMLElement;
    field.value = location.href;
    try {
      await navigator.clipboard.writeText(location.href);
      box.hidden = true;
      say("The link is copied: it restores exactly what you see.");
    } catch {
      box.hidden = false; // no clipboard here: the visitor copies by hand
      field.focus();
      field.select();
      say("Copy the link from the field at the top.");
    }
  }
}
