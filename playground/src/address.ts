/** The link in the address bar: read at the start and when it changes, written as the state does. */

import { testImages, type Gallery } from "./core";
import { hook } from "./dom";
import { MalformedLink, decode, encode, networkOf, timeOf } from "./link";
import type { Models } from "./models";
import type { AppState } from "./state";
import { say } from "./views/announce";

const THROTTLE_MS = 400; // browsers refuse to be told too often

/** The state of the address, or null if it holds none; a malformed one is reported. */
export async function readAddress(models: Models, gallery: Gallery): Promise<AppState | null> {
  const fragment = location.hash;
  if (fragment.length < 2) return null;
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
    return location.hash.length < 2 ? null : timeOf(location.hash);
  } catch {
    return null; // a malformed link is reported where its state is read
  }
}

export class Address {
  private timer = 0;

  /** `time` is the share of the run that is shown: part of a link that is copied, not of the address,
   * which opens as a picture does. */
  constructor(
    private readonly state: () => AppState,
    private readonly time: () => number,
  ) {
    hook("copy-link").addEventListener("click", () => void this.copy());
  }

  /** Soon, and once for many changes. */
  save(): void {
    this.timer ||= window.setTimeout(() => this.write(), THROTTLE_MS);
  }

  private write(time: number | null = null): void {
    clearTimeout(this.timer);
    this.timer = 0;
    history.replaceState(null, "", `#${encode(this.state(), time)}`);
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
