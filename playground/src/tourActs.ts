/** What the tour does: through the same changes of the state as a visitor's. */

import { strongest, type Model } from "./core";
import { hook } from "./dom";
import type { Outcome } from "./run";
import { damageOf, withCutToggled, type AppState, type Damage, type Settings } from "./state";
import type { TourActs } from "./views/tour";
import { invitation } from "./words";

const WARM = 0.6; // kT

/** What the tour draws: what it is, and one stroke in shares of the pad. */
interface Sketch {
  words: string;
  points: [number, number][];
}

const SEVEN: Sketch = {
  words: "a 7 is drawn",
  points: [[0.28, 0.25], [0.72, 0.25], [0.62, 0.5], [0.45, 0.82]],
};
const SKETCHES: Record<string, Sketch> = {
  mnist: SEVEN,
  digits: SEVEN,
  "fashion-mnist": {
    words: "trousers are drawn",
    points: [[0.36, 0.92], [0.38, 0.1], [0.62, 0.1], [0.64, 0.92], [0.56, 0.92], [0.5, 0.3], [0.44, 0.92]],
  },
};

function sketchOf(model: Model | null): Sketch {
  return model === null ? SEVEN : (SKETCHES[model.dataset] ?? { ...SEVEN, words: "a line is drawn" });
}

export interface TourPage {
  state(): AppState;
  outcome(): Outcome | null;
  draw(points: [number, number][]): void;
  play(): void;
  setDamage(damage: Damage): void;
  setPhysics(physics: Settings): void;
}

export function tourActs(page: TourPage): TourActs {
  let before: { damage: Damage; temperature: number | null } | null = null;
  const remember = (): void => {
    const state = page.state();
    before ??= { damage: damageOf(state), temperature: state.physics.temperature };
  };
  const model = (): Model | null => page.outcome()?.model ?? null;
  return {
    invitation() {
      if (hook("draw").hidden) return "Set the numbers, or press Next and a row is drawn.";
      const shown = model();
      const words = shown === null ? "Draw a digit" : invitation(shown);
      return `${words}, or press Next and ${sketchOf(shown).words}.`;
    },
    draw() {
      if (hook("draw").hidden) hook("row-random").click();
      else page.draw(sketchOf(model()).points);
    },
    play: () => page.play(),
    cut() {
      const outcome = page.outcome();
      if (outcome === null || outcome.answer === null) return;
      remember();
      const { model, answer } = outcome;
      const winner = model.hidden + answer;
      const [wire] = strongest(model.couplings, model.hidden + model.outputs, winner, 1);
      if (wire !== undefined) page.setDamage(withCutToggled(damageOf(page.state()), winner, wire.other));
    },
    warm() {
      remember();
      page.setPhysics({ ...page.state().physics, temperature: WARM });
    },
    restore() {
      if (before === null) return;
      const { damage, temperature } = before;
      before = null;
      page.setDamage(damage);
      page.setPhysics({ ...page.state().physics, temperature });
    },
  };
}
