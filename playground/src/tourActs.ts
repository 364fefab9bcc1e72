/** What the tour does: through the same changes of the state as a visitor's. */

import { strongest } from "./core";
import { hook } from "./dom";
import type { Outcome } from "./run";
import { damageOf, withCutToggled, type AppState, type Damage, type Settings } from "./state";
import type { TourActs } from "./views/tour";

const WARM = 0.6; // kT

export interface TourPage {
  state(): AppState;
  outcome(): Outcome | null;
  draw(): void;
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
  return {
    readsPictures: () => !hook("draw").hidden,
    draw: () => page.draw(),
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
