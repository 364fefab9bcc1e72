/** The dials and the inspector: which oscillator is shown, and whom it pulls. */

import { effectiveCouplings, pullsOf, strongest } from "../core";
import { hook } from "../dom";
import type { Outcome, Shown } from "../run";
import { damageOf, isCut, type AppState, type Damage } from "../state";
import { strongestWires } from "./dialFaces";
import { createDials, type Partner } from "./dials";
import { showInspector, showPulls, type InspectorEvents } from "./inspector";
import type { Moment } from "./moment";

const PARTNERS = 6; // couplings in the inspector's list

export interface OscillatorEvents extends InspectorEvents {
  onSelect(oscillator: number): void;
  onLook(oscillator: number | null): void; // the one that is inspected
}

export class Oscillators {
  private readonly dials;
  private readonly wires = hook<HTMLInputElement>("wires");
  private shown: { state: AppState; outcome: Outcome } | null = null;
  private moment: Moment | null = null;
  private looked: number | null = null;
  private revealed = false;
  private wired: { model: Shown; damage: Readonly<Damage> } | null = null;
  private hovered: number | null = null; // by the pointer
  private focused: number | null = null; // by the keyboard

  constructor(private readonly events: OscillatorEvents) {
    this.dials = createDials({
      ...events,
      onHover: (i) => this.preview({ hovered: i }),
      onFocus: (i) => this.preview({ focused: i }),
    });
    this.wires.addEventListener("change", () => this.wire());
    for (const place of [hook("dials"), hook("inspector")]) {
      place.addEventListener("focusout", () => setTimeout(() => this.leave()));
    }
  }

  show(state: AppState, outcome: Outcome): void {
    this.shown = { state, outcome };
    this.dials.name(outcome.model);
    const damage = damageOf(state);
    if (outcome.model !== this.wired?.model || damage !== this.wired.damage) {
      this.wired = { model: outcome.model, damage };
      this.wire();
    }
    this.inspect();
  }

  /** The oscillator that is inspected. */
  get lookedAt(): number | null {
    return this.looked;
  }

  at(moment: Moment): void {
    this.moment = moment;
    this.dials.show(moment.outcome.rollout.phases, moment.at, moment.still);
    if (this.revealed !== moment.revealed) {
      this.revealed = moment.revealed;
      this.inspect();
    }
    this.pull();
  }

  private wire(): void {
    if (this.wired === null) return;
    const { model, damage } = this.wired;
    const couplings = effectiveCouplings(model, damage);
    this.dials.wire(this.wires.checked ? strongestWires(couplings, model.hidden + model.outputs) : []);
  }

  /** What pulls on the oscillator that is inspected, now. */
  private pull(): void {
    if (this.moment === null || this.looked === null) return;
    const { field, neighbours } = pullsOf(this.moment.acting, this.moment.phases);
    const [one, other] = [field[this.looked]!, neighbours[this.looked]!];
    const b = this.moment.acting.fields[this.looked]!;
    showPulls(one, other, Math.max(1e-9, ...[one, other, b].map(Math.abs)));
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
    const { model, fields, answer } = outcome;
    const winner = this.revealed ? answer : null;
    const damage = damageOf(state);
    const { silenced } = damage;
    const oscillator = this.hovered ?? this.focused ?? selected;
    // The pointer may still be where a larger network had a dial.
    if (oscillator === null || oscillator >= model.hidden + model.outputs) {
      this.dials.mark({ selected, shown: null, links: [], silenced, winner });
      showInspector(null, this.events, model);
      this.look(null);
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
      model,
    );
    this.look(oscillator);
    this.pull();
  }

  private look(oscillator: number | null): void {
    if (oscillator === this.looked) return;
    this.looked = oscillator;
    this.events.onLook(oscillator);
  }

  /** Those that are cut or silenced stay in the list, so that they can be restored. */
  private partnersOf(oscillator: number): Partner[] {
    const { model, physics } = this.shown!.outcome;
    const whole = { ...physics, cut: [], silenced: [] };
    const n = model.hidden + model.outputs;
    return strongest(effectiveCouplings(model, whole), n, oscillator, PARTNERS);
  }
}
