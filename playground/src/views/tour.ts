/** Five steps through the page, in a strip above it that hides nothing. Each acts (draws, plays, cuts,
 * warms) and then waits for the visitor; at the end what it changed is put back. Skipped once, it does
 * not come back by itself. */

import { hook, make, reducedMotion } from "../dom";

const KEY = "entrain-tour";

/** What the tour does to the page. */
export interface TourActs {
  /** What a visitor may do at the first step, and what is done otherwise. */
  invitation(): string;
  draw(): void;
  play(): void;
  /** Cuts the strongest coupling of the output that wins. */
  cut(): void;
  warm(): void;
  /** All as it was before the first act. */
  restore(): void;
}

interface Step {
  at: string;
  words: string;
  act?: Exclude<keyof TourActs, "invitation" | "restore">;
}

const STEPS: Step[] = [
  {
    at: ".input",
    words: "It is all the network gets: it pulls on every hidden oscillator.", // after the invitation
  },
  {
    at: ".network",
    words: "Each dial is an oscillator. Its hand is its phase against a reference oscillator; it follows what pulls on it: the input, and the oscillators it is wired to.",
    act: "draw",
  },
  {
    at: ".verdict-card",
    words: "It plays from the start. The bars are the outputs: when one leads by 0.1 and stays ahead, it is decided. Look inside further down: all phases on one circle, and what pulls on each.",
    act: "play",
  },
  {
    at: ".network",
    words: "Now the strongest wire of the winning output is cut. Does it still win? Click another wire to cut it, double click an oscillator to silence it.",
    act: "cut",
  },
  {
    at: ".physics",
    words: "Now it is warm: heat shakes every hand, and two runs differ. Read it too early, or put it on an imperfect chip. Done puts everything back.",
    act: "warm",
  },
];

/** Returns what shows its words again, for a network that reads something else. */
export function startTour(acts: TourActs): () => void {
  const root = hook("tour");
  const text = make("p", { "data-testid": "tour-words", "aria-live": "polite" });
  const next = make("button", { type: "button", class: "primary", "data-testid": "tour-next" });
  const skip = make("button", { type: "button", "data-testid": "tour-skip" }, "Skip");
  root.append(text, make("div", { class: "tour-tools" }, next, skip));
  let step = 0;

  const mark = (): void => {
    for (const each of document.querySelectorAll(".toured")) each.classList.remove("toured");
    if (!root.hidden) document.querySelector(STEPS[step]!.at)?.classList.add("toured");
  };
  const show = (): void => {
    const words = `${step === 0 ? `${acts.invitation()} ` : ""}${STEPS[step]!.words}`;
    text.replaceChildren(make("b", {}, `${step + 1} of ${STEPS.length}`), ` ${words}`);
    next.textContent = step === STEPS.length - 1 ? "Done" : "Next";
    skip.hidden = step === STEPS.length - 1;
    mark();
  };
  const end = (): void => {
    root.hidden = true;
    remember();
    mark();
    acts.restore();
  };
  next.addEventListener("click", () => {
    if (step === STEPS.length - 1) {
      end();
      return;
    }
    step++;
    show();
    const { act } = STEPS[step]!;
    if (act !== undefined) acts[act]();
    bringIntoView(STEPS[step]!.at);
  });
  skip.addEventListener("click", end);
  hook("tour-start").addEventListener("click", () => {
    step = 0;
    root.hidden = false;
    show();
    next.focus();
  });
  root.hidden = isRemembered();
  return show;
}

/** Only where it cannot be seen. */
function bringIntoView(selector: string): void {
  const card = document.querySelector(selector);
  const { top = 0 } = card?.getBoundingClientRect() ?? {};
  if (top > 0.7 * innerHeight || top < 0) {
    card?.scrollIntoView({ block: "center", behavior: reducedMotion() ? "auto" : "smooth" });
  }
}

function isRemembered(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false; // storage may be forbidden
  }
}

function remember(): void {
  try {
    localStorage.setItem(KEY, "seen");
  } catch {
    // then it comes back with the next visit
  }
}
