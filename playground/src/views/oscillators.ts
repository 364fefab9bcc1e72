/** The dials and the inspector: which oscillator is shown, and whom it pulls. */

import { effectiveCouplings, strongest } from "../core";
import { hook } from "../dom";
import type { Outcome } from "../run";
import { damageOf, isCut, type AppState } from "../state";
import { createDials, type Partner } from "./dials";
import { showInspector, type InspectorEvents } from "./inspector";

const PARTNERS = 6; // couplings in the inspector's list

export interface OscillatorEvents extends InspectorEvents {
  onSelect(oscillator: number): void;
}

export class Oscillators {
  private readonly dials;
  private shown: { state: AppState; outcome: Outcome } | null = null;
  private hovered: number | null = null; // by the pointer
  private focused: number | null = null; // by the keyboard

  constructor(private readonly events: OscillatorEvents) {
    this.dials = createDials({
      ...events,
      onHover: (i) => this.preview({ hovered: i }),
      onFocus: (i) => this.preview({ focused: i }),
    });
    for (const place of [hook("dials"), hook("inspector")]) {
      place.addEventListener("focusout", () => setTimeout(() => this.leave()));
    }
  }

  show(state: AppState, outcome: Outcome): void {
    this.shown = { state, outcome };
    const whose = state.compare ? ` of ${outcome.model.protocol}` : "";
    hook("dials-of").textContent = whose;
    this.dials.name(outcome.model);
    this.inspect();
  }

  /** Hands at grid time `at`; `still` if the time does not move on. */
  at(at: number, still: boolean): void {
    if (this.shown !== null) this.dials.show(this.shown.outcome.rollout.phases, at, still);
  }

  private preview({ hovered = this.hovered, focused = this.focused }): void {
    if (hovered === this.hovered && focused === this.focused) return;
    this.hovered = hovered;
    this.focused = focused;
    this.inspect();
  }

  /** Focus may go from a dial to its inspector; elsewhere, the preview ends. */
  private leave(): void {
    const inside = document.activeElement?.closest(
      '[data-testid="dials"], [data-testid="inspector"]',
    );
    if (!inside) this.preview({ focused: null });
  }

  private inspect(): void {
    if (this.shown === null) return;
    const { state, outcome } = this.shown;
    const { selected } = state;
    const { model, fields, answer: winner } = outcome;
    const damage = damageOf(state);
    const { silenced } = damage;
    const oscillator = this.hovered ?? this.focused ?? selected;
    // The pointer may still be where a larger network had a dial.
    if (oscillator === null || oscillator >= model.hidden + model.outputs) {
      this.dials.mark({ selected, shown: null, links: [], silenced, winner });
      showInspector(null, this.events);
      return;
    }
    const partners = this.partnersOf(oscillator);
    const links = partners
      .filter(({ other }) => !silenced.includes(other) && !silenced.includes(oscillator))
      .map((partner) => ({ ...partner, cut: isCut(damage, oscillator, partner.other) }));
    this.dials.mark({ selected, shown: oscillator, links, silenced, winner });
    const field = fields[oscillator];
    showInspector(
      { oscillator, selected: oscillator === selected, model, field, partners, damage },
      this.events,
    );
  }

  /** Those that are cut or silenced stay in the list, so that they can be restored. */
  private partnersOf(oscillator: number): Partner[] {
    const { model, physics } = this.shown!.outcome;
    const whole = { ...physics, cut: [], silenced: [] };
    const n = model.hidden + model.outputs;
    return strongest(effectiveCouplings(model, whole), n, oscillator, PARTNERS);
  }
}
