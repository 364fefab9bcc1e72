/** What the tour does: through the same changes of the state as a visitor's. */

import { strongest } from "./core";
import { hook } from "./dom";
import type { Outcome } from "./run";
import { damageOf, withCutToggled, type AppState, type Damage, type Settings } from "./state";
import type { TourActs } from "./views/tour";

const WARM = 0.6; // kT
const SEVEN: [number, number][] = [[0.28, 0.25], [0.72, 0.25], [0.62, 0.5], [0.45, 0.82]]; // in shares of the pad

export interface TourPage {
  state(): AppState;
  outcome(): Outcome | null;
  draw(points: [number, number][]): void;
  play(): void;
  setDamage(damage: Damage): void;
  setPhysics(physics: Settings): void;
}

function readsPictures(): boolean {
  return !hook("draw").hidden;
}

export function tourActs(page: TourPage): TourActs {
  let before: { damage: Damage; temperature: number | null } | null = null;
  const remember = (): void => {
    const state = page.state();
    before ??= { damage: damageOf(state), temperature: state.physics.temperature };
  };
  return {
    readsPictures,
    draw: () => (readsPictures() ? page.draw(SEVEN) : hook("row-random").click()),
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
