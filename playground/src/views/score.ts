/** Drawings of the visitor's own, marked right or wrong, and the score of this visit. */

import { hook, make } from "../dom";
import type { Picture } from "../state";

const KEY = "entrain-score";

export class Score {
  private readonly right = make(
    "button",
    { type: "button", class: "small", "data-testid": "mark-right" },
    "✓ Right",
  );
  private readonly wrong = make(
    "button",
    { type: "button", class: "small", "data-testid": "mark-wrong" },
    "✗ Wrong",
  );
  private readonly words = make("span", { "data-testid": "score" });
  private readonly ask = make("span", { class: "ask" }, "Was it? ", this.right, " ", this.wrong);
  private readonly marks = new WeakMap<Picture, boolean>();
  private counted = recall();
  private picture: Picture | null = null;

  constructor() {
    hook("score-box").append(this.ask, this.words);
    this.right.addEventListener("click", () => this.mark(true));
    this.wrong.addEventListener("click", () => this.mark(false));
    this.show(null, false);
  }

  /** A picture without a label can be marked once its verdict is made. */
  show(picture: Picture | null, revealed: boolean): void {
    const own = picture?.kind === "drawn" || picture?.kind === "uploaded";
    this.picture = own && revealed ? picture : null;
    this.ask.hidden = this.picture === null;
    const mark = this.picture === null ? undefined : this.marks.get(this.picture);
    this.right.setAttribute("aria-pressed", String(mark === true));
    this.wrong.setAttribute("aria-pressed", String(mark === false));
    const { right, marked } = this.counted;
    this.words.textContent = marked === 0 ? "" : `${right} of ${marked} right`;
    hook("score-box").hidden = this.picture === null && marked === 0;
  }

  private mark(right: boolean): void {
    if (this.picture === null) return;
    const before = this.marks.get(this.picture);
    this.marks.set(this.picture, right);
    this.counted = {
      right: this.counted.right + Number(right) - Number(before === true),
      marked: this.counted.marked + Number(before === undefined),
    };
    remember(this.counted);
    this.show(this.picture, true);
  }
}

interface Counted {
  right: number;
  marked: number;
}

function recall(): Counted {
  try {
    const found = /^(\d{1,6}) (\d{1,6})$/.exec(sessionStorage.getItem(KEY) ?? "");
    return found === null ? { right: 0, marked: 0 } : { right: Number(found[1]), marked: Number(found[2]) };
  } catch {
    return { right: 0, marked: 0 }; // storage may be forbidden
  }
}

function remember({ right, marked }: Counted): void {
  try {
    sessionStorage.setItem(KEY, `${right} ${marked}`);
  } catch {
    // then it lasts as long as the page
  }
}
