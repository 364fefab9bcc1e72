/** Five steps through the page, in a strip above it that hides nothing; skipped once, it does not come
 * back by itself. */

import { hook, make, reducedMotion } from "../dom";

const KEY = "entrain-tour";

const STEPS: { at: string; words: string }[] = [
  {
    at: ".input",
    words: "Draw a digit, or pick a test image. The picture is all the network gets: it pulls on every hidden oscillator.",
  },
  {
    at: ".network",
    words: "Each dial is an oscillator. Its hand follows what pulls on it: the picture, and the oscillators it is wired to.",
  },
  {
    at: ".verdict-card",
    words: "The bars are the ten outputs. Watch them grow: when one leads by 0.1 and stays ahead, it is decided. Play again with the button above.",
  },
  {
    at: ".inside",
    words: "Look inside: all phases on one circle, the pull of the picture against that of the neighbours, the way through state space, and the map of the couplings.",
  },
  {
    at: ".physics",
    words: "Now break it: silence an oscillator with a double click, heat it up, read it too early, or put it on an imperfect chip.",
  },
];

export function startTour(): void {
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
    const { words } = STEPS[step]!;
    text.replaceChildren(make("b", {}, `${step + 1} of ${STEPS.length}`), ` ${words}`);
    next.textContent = step === STEPS.length - 1 ? "Done" : "Next";
    skip.hidden = step === STEPS.length - 1;
    mark();
  };
  const end = (): void => {
    root.hidden = true;
    remember();
    mark();
  };
  next.addEventListener("click", () => {
    if (step === STEPS.length - 1) {
      end();
      return;
    }
    step++;
    show();
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
  show();
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
