/** The outputs now, as bars from cos(theta) = -1: all start half way, the winner grows, others shrink. */

import { elided, make } from "../dom";
import type { Outcome } from "../run";
import { Drawing, font, textSize } from "./drawing";
import { classColour, palette } from "./theme";

const MOST = 12; // outputs that get a bar: those that end highest
const LONGEST_NAME = 14; // letters
const ROW = 1.5; // height of a bar's row over the text's
const SCALE: readonly [number, string][] = [[-1, "−1"], [0, "0"], [1, "1"]]; // of cos(theta)

export class Bars {
  readonly canvas: HTMLCanvasElement;
  private readonly drawing: Drawing;
  private outcome: Outcome | null = null;
  private shown: number[] = [];
  private at = 0;

  constructor(suffix: string) {
    this.canvas = make("canvas", { class: "bars", role: "img", "data-testid": `bars${suffix}` });
    this.drawing = new Drawing(this.canvas);
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  show(outcome: Outcome): void {
    this.outcome = outcome;
    const { rollout, model } = outcome;
    const ends = rollout.activations.subarray(rollout.steps * model.outputs);
    const order = model.classNames.map((_, o) => o).sort((a, b) => ends[b]! - ends[a]!);
    this.shown = order.slice(0, MOST).sort((a, b) => a - b);
    this.canvas.style.height = `${(this.shown.length + 1) * ROW * (11 / 14)}rem`;
  }

  /** The bars of grid time `at`; their words are renewed only if the time stands still. */
  time(at: number, still: boolean): void {
    this.at = at;
    this.drawing.redraw();
    if (!still || this.outcome === null) return;
    const { classNames } = this.outcome.model;
    const values = this.shown.map((o) => `${classNames[o]} ${this.value(o).toFixed(2)}`);
    this.canvas.setAttribute("aria-label", `Outputs now, cos θ: ${values.join(", ")}`);
  }

  private value(output: number): number {
    const { model, rollout } = this.outcome!;
    return rollout.activations[this.at * model.outputs + output]!;
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    if (this.outcome === null) return;
    const { model, rollout } = this.outcome;
    const { ink, muted, line } = palette();
    const names = this.shown.map((o) => elided(model.classNames[o]!, LONGEST_NAME));
    drawing.font = font(true);
    const left = Math.max(...[...names, "cos θ"].map((name) => drawing.measureText(name).width)) + 8;
    const row = height / (this.shown.length + 1);
    const bottom = height - row;
    const reach = width - left - 1;
    drawing.textBaseline = "middle";
    drawing.textAlign = "right";
    drawing.strokeStyle = line;
    drawing.lineWidth = 1;
    drawing.strokeRect(left, 0.5, reach, bottom - 1);
    this.shown.forEach((o, k) => {
      const middle = (k + 0.5) * row;
      const able = rollout.answering[o] === 1;
      const leads = rollout.leaders[this.at] === o;
      drawing.font = font(leads);
      drawing.fillStyle = leads ? ink : muted;
      drawing.globalAlpha = able ? 1 : 0.5;
      drawing.fillText(names[k]!, left - 6, middle + 0.5);
      const length = ((1 + this.value(o)) / 2) * reach;
      drawing.fillStyle = classColour(o);
      const thick = Math.min(row - 3, textSize());
      if (able) drawing.fillRect(left, middle - thick / 2, length, thick);
      else {
        drawing.textAlign = "left";
        drawing.fillStyle = muted;
        drawing.fillText("silenced", left + 6, middle + 0.5);
        drawing.textAlign = "right";
      }
      drawing.globalAlpha = 1;
    });
    drawing.strokeStyle = muted;
    drawing.setLineDash([2, 3]);
    drawing.beginPath();
    drawing.moveTo(left + reach / 2, 0);
    drawing.lineTo(left + reach / 2, bottom);
    drawing.stroke();
    drawing.setLineDash([]);
    drawing.fillStyle = muted;
    drawing.font = font();
    drawing.textAlign = "right";
    drawing.fillText("cos θ", left - 6, bottom + row / 2);
    for (const [value, words] of SCALE) {
      drawing.textAlign = value < 0 ? "left" : value > 0 ? "right" : "center";
      drawing.fillText(words, left + ((1 + value) / 2) * reach, bottom + row / 2);
    }
  }
}
