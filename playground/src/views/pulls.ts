/** The picture's pull against the neighbours' pull, a dot for each oscillator: where they balance, on
 * the dashed line, it rests. */

import { pullsOf, type Pulls } from "../core";
import { hook } from "../dom";
import type { Moment } from "./moment";
import { Drawing, textSize } from "./drawing";
import { classColour, palette } from "./theme";

export class PullsView {
  private readonly drawing = new Drawing(hook<HTMLCanvasElement>("pulls"));
  private moment: Moment | null = null;

  constructor() {
    this.drawing.canvas.setAttribute(
      "aria-label",
      "The picture's pull on each oscillator against its neighbours' pull",
    );
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  show(moment: Moment): void {
    this.moment = moment;
    this.drawing.redraw();
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    if (this.moment === null) return;
    const { acting, phases, outcome, shown } = this.moment;
    const { hidden } = outcome.model;
    const { ink, muted, line } = palette();
    const pulls = pullsOf(acting, phases);
    const most = largest(pulls);
    const edge = 1.6 * textSize();
    const [cx, cy] = [width / 2, height / 2];
    const reach = Math.min(width, height) / 2 - edge;
    const along = (value: number): number => reach * Math.max(-1.05, Math.min(1.05, value / most));
    drawing.strokeStyle = line;
    drawing.beginPath();
    drawing.moveTo(cx - reach, cy);
    drawing.lineTo(cx + reach, cy);
    drawing.moveTo(cx, cy - reach);
    drawing.lineTo(cx, cy + reach);
    drawing.stroke();
    drawing.strokeStyle = muted;
    drawing.setLineDash([4, 4]);
    drawing.beginPath();
    drawing.moveTo(cx - reach, cy - reach);
    drawing.lineTo(cx + reach, cy + reach);
    drawing.stroke();
    drawing.setLineDash([]);
    drawing.fillStyle = muted;
    drawing.textBaseline = "bottom";
    drawing.textAlign = "right";
    drawing.fillText("picture →", Math.min(width - 2, cx + reach + edge), cy - 3);
    drawing.textBaseline = "top";
    drawing.fillText(`to ${Number(most.toPrecision(2))}`, Math.min(width - 2, cx + reach + edge), cy + 3);
    drawing.textAlign = "left";
    drawing.fillText("neighbours ↑", cx + 5, 1);
    drawing.save();
    drawing.translate(cx + reach * 0.62, cy + reach * 0.62);
    drawing.rotate(Math.PI / 4);
    drawing.textAlign = "center";
    drawing.fillText("balance", 0, 4);
    drawing.restore();
    for (let i = 0; i < phases.length; i++) {
      const [x, y] = [cx + along(pulls.field[i]!), cy - along(pulls.neighbours[i]!)];
      drawing.globalAlpha = i < hidden ? 0.6 : 1;
      drawing.fillStyle = i < hidden ? muted : classColour(i - hidden);
      drawing.beginPath();
      drawing.arc(x, y, i < hidden ? 3 : 4.5, 0, 2 * Math.PI);
      drawing.fill();
      if (i !== shown) continue;
      drawing.globalAlpha = 1;
      drawing.strokeStyle = ink;
      drawing.lineWidth = 2;
      drawing.beginPath();
      drawing.arc(x, y, 8, 0, 2 * Math.PI);
      drawing.stroke();
    }
    drawing.globalAlpha = 1;
  }
}

/** The strongest pull of the moment, which the axes reach to. */
function largest({ field, neighbours }: Pulls): number {
  const most = (values: Float64Array): number =>
    values.reduce((best, value) => Math.max(best, Math.abs(value)), 1e-9);
  return Math.max(most(field), most(neighbours));
}
