/** The dials on two canvases: below what stays (the strongest couplings as faint wires, the rims), above
 * what moves (colours and hands). An element for each hand would cost too much in every frame. */

import { make } from "../dom";
import { WIDTH, centre, scaleOf, type DialPlan } from "./dialLayout";
import { Drawing } from "./drawing";
import { classColour, palette } from "./theme";

export const HIDDEN_RADIUS = 16;
export const OUTPUT_RADIUS = 17.5;
const MOST_WIRES = 150;
const GAP = 2.5; // between the end of a hand and the rim

export interface Wire {
  a: number;
  b: number;
  value: number;
}

/** The strongest couplings of J (n, n), strongest last. */
export function strongestWires(couplings: Float64Array, n: number): Wire[] {
  const sizes = couplings.map(Math.abs).sort();
  const least = Math.max(sizes[Math.max(0, sizes.length - 2 * MOST_WIRES)]!, 1e-12);
  const found: Wire[] = [];
  for (let a = 0; a < n; a++) {
    for (let b = a + 1; b < n; b++) {
      const value = couplings[a * n + b]!;
      if (Math.abs(value) >= least) found.push({ a, b, value });
    }
  }
  return found.sort((one, other) => Math.abs(one.value) - Math.abs(other.value));
}

export class DialFaces {
  readonly below = make("canvas", { class: "faces", "aria-hidden": "true" });
  readonly above = make("canvas", { class: "faces", "aria-hidden": "true" });
  private readonly still = new Drawing(this.below);
  private readonly moving = new Drawing(this.above);
  private plan: DialPlan = { hidden: 0, outputs: 0, narrow: false, flat: false, lines: 1 };
  private places: { x: number; y: number; radius: number }[] = [];
  private phases: Float64Array = new Float64Array(0);
  private silenced = new Set<number>();
  private wires: Wire[] = [];
  private faint = false;

  constructor() {
    this.still.show((drawing, width) => this.paintStill(drawing, width));
    this.moving.show((drawing, width) => this.paintMoving(drawing, width));
  }

  layOut(plan: DialPlan): void {
    this.plan = plan;
    this.places = Array.from({ length: plan.hidden + plan.outputs }, (_, i) => {
      const radius = i < plan.hidden ? HIDDEN_RADIUS : OUTPUT_RADIUS;
      return { ...centre(i, plan), radius: radius * scaleOf(i, plan) };
    });
    this.redraw();
  }

  wire(wires: Wire[]): void {
    this.wires = wires;
    this.still.redraw();
  }

  /** `faint` while the couplings of one oscillator are drawn over the wires. */
  mark(silenced: number[], faint: boolean): void {
    const same = silenced.length === this.silenced.size && silenced.every((i) => this.silenced.has(i));
    if (same && faint === this.faint) return;
    this.silenced = new Set(silenced);
    this.faint = faint;
    this.redraw();
  }

  /** In other colours, for instance. */
  redraw(): void {
    this.still.redraw();
    this.moving.redraw();
  }

  /** Hands of phases (N). */
  show(phases: Float64Array): void {
    this.phases = phases;
    this.moving.redraw();
  }

  private paintStill(drawing: CanvasRenderingContext2D, width: number): void {
    const { card, edge, soft } = palette();
    drawing.scale(width / WIDTH, width / WIDTH);
    this.paintWires(drawing);
    this.places.forEach(({ x, y, radius }, i) => {
      const output = i >= this.plan.hidden;
      drawing.beginPath();
      drawing.arc(x, y, radius, 0, 2 * Math.PI);
      drawing.fillStyle = output ? soft : card;
      drawing.fill();
      drawing.strokeStyle = edge;
      drawing.lineWidth = output ? 1.4 : 1;
      drawing.setLineDash(this.silenced.has(i) ? [3, 3] : []);
      drawing.stroke();
    });
  }

  private paintWires(drawing: CanvasRenderingContext2D): void {
    const { positive, negative } = palette();
    const most = Math.abs(this.wires.at(-1)?.value ?? 1);
    const [least, more] = this.faint ? [0.03, 0.1] : [0.1, 0.4];
    for (const { a, b, value } of this.wires) {
      const [from, to] = [this.places[a], this.places[b]];
      if (from === undefined || to === undefined) continue; // of a network that has gone
      const share = Math.abs(value) / most;
      drawing.strokeStyle = `rgb(${(value > 0 ? positive : negative).join(" ")})`;
      drawing.globalAlpha = least + more * share;
      drawing.lineWidth = 0.6 + 1.6 * share;
      drawing.setLineDash(value > 0 ? [] : [5, 4]);
      drawing.beginPath();
      drawing.moveTo(from.x, from.y);
      drawing.lineTo(to.x, to.y);
      drawing.stroke();
    }
    drawing.globalAlpha = 1;
    drawing.setLineDash([]);
  }

  private paintMoving(drawing: CanvasRenderingContext2D, width: number): void {
    const { hidden } = this.plan;
    if (this.phases.length !== this.places.length) return;
    drawing.scale(width / WIDTH, width / WIDTH);
    drawing.lineCap = "round";
    const { ink, positive, negative } = palette();
    const colours = [positive, negative].map((colour) => `rgb(${colour.join(" ")})`);
    this.places.forEach(({ x, y, radius }, i) => {
      const [up, aside] = [Math.cos(this.phases[i]!), Math.sin(this.phases[i]!)];
      const silenced = this.silenced.has(i);
      if (i < hidden && !silenced) {
        drawing.globalAlpha = 0.55 * Math.abs(up);
        drawing.fillStyle = colours[up < 0 ? 1 : 0]!;
        drawing.beginPath();
        drawing.arc(x, y, radius - 0.5, 0, 2 * Math.PI);
        drawing.fill();
      }
      const reach = (radius * (HIDDEN_RADIUS - GAP)) / HIDDEN_RADIUS;
      drawing.globalAlpha = silenced ? 0.35 : 1;
      drawing.strokeStyle = i < hidden ? ink : classColour(i - hidden);
      drawing.lineWidth = ((i < hidden ? 2 : 3.5) * radius) / HIDDEN_RADIUS;
      drawing.beginPath();
      drawing.moveTo(x, y);
      drawing.lineTo(x + reach * aside, y - reach * up);
      drawing.stroke();
    });
  }
}
