/** The views of the inside: circle, pulls, plane and map, of the run that is shown first. */

import { phaseModelOf, type PhaseModel } from "../core";
import type { Landscape } from "../engine/landscape";
import type { Outcome } from "../run";
import { Circle } from "./circle";
import { CouplingMap } from "./couplingMap";
import type { Moment } from "./moment";
import { Projection } from "./projection";
import { PullsView } from "./pulls";

export class Inside {
  private readonly circle = new Circle();
  private readonly pulls = new PullsView();
  private readonly projection = new Projection();
  private readonly map: CouplingMap;
  private outcome: Outcome | null = null;
  private landscape: Landscape | null = null;
  private made: { outcome: Outcome; acting: PhaseModel } | null = null;

  constructor(onSelect: (oscillator: number) => void) {
    this.map = new CouplingMap(onSelect);
  }

  show(outcome: Outcome): void {
    this.outcome = outcome;
    this.map.show(outcome, this.landscape?.order ?? null);
  }

  /** The landscape of the model that is shown; null until it comes. */
  explore(landscape: Landscape | null): void {
    this.landscape = landscape;
    this.projection.explore(landscape);
    if (this.outcome !== null) this.map.show(this.outcome, landscape?.order ?? null);
  }

  look(oscillator: number | null): void {
    this.map.mark(oscillator);
  }

  at(moment: Moment): void {
    this.circle.show(moment);
    this.pulls.show(moment);
    this.projection.show(moment);
  }

  /** What moves the phases of an outcome, made once. */
  actingOn(outcome: Outcome): PhaseModel {
    if (this.made?.outcome !== outcome) {
      const { model, fields, physics } = outcome;
      this.made = { outcome, acting: phaseModelOf(model, fields, physics) };
    }
    return this.made.acting;
  }
}
