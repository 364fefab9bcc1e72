/** The loss of every step on a logarithmic scale: thin as it is, thick its running mean. */

import { make } from "../../dom";
import { Drawing, textSize } from "../drawing";
import { palette } from "../theme";

const DECAY = 0.9; // of the running mean
const [MOST, LEAST] = [10, 0.001];
const TICKS = [10, 1, 0.1, 0.01, 0.001];

export class LossCurve {
  readonly canvas = make("canvas", { class: "loss-curve", role: "img", "data-testid": "loss-curve" });
  private readonly drawing = new Drawing(this.canvas);
  private losses: number[] = [];
  private means: number[] = [];

  constructor() {
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  clear(): void {
    this.losses = [];
    this.means = [];
    this.add([]);
  }

  add(losses: number[]): void {
    for (const loss of losses) {
      const before = this.means.at(-1) ?? loss;
      this.losses.push(loss);
      const weight = Math.max(1 - DECAY, 1 / (this.means.length + 1));
      this.means.push(before + weight * (loss - before));
    }
    const mean = this.means.at(-1);
    const words = mean === undefined ? "before the first step" : `${mean.toFixed(3)} after ${this.losses.length} steps`;
    this.canvas.setAttribute("aria-label", `The loss: ${words}`);
    this.drawing.redraw();
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    const { line, muted, accent, edge } = palette();
    const [left, bottom] = [3.2 * textSize(), height - 1.8 * textSize()];
    const y = (loss: number): number => {
      const inside = Math.max(LEAST, Math.min(MOST, loss));
      return 6 + (Math.log(MOST / inside) / Math.log(MOST / LEAST)) * (bottom - 6);
    };
    drawing.strokeStyle = line;
    drawing.fillStyle = muted;
    drawing.textBaseline = "middle";
    drawing.textAlign = "right";
    for (const tick of TICKS) {
      drawing.fillText(String(tick), left - 5, y(tick));
      drawing.beginPath();
      drawing.moveTo(left, y(tick));
      drawing.lineTo(width, y(tick));
      drawing.stroke();
    }
    const count = this.losses.length;
    drawing.textBaseline = "bottom";
    drawing.fillText(`step ${count}`, width - 2, height);
    const stride = Math.max(1, Math.ceil(count / (width - left)));
    const curve = (values: number[], colour: string, thickness: number): void => {
      drawing.strokeStyle = colour;
      drawing.lineWidth = thickness;
      drawing.beginPath();
      for (let k = 0; k < count; k += stride) {
        drawing.lineTo(left + (k / Math.max(count - 1, 1)) * (width - left), y(values[k]!));
      }
      drawing.stroke();
    };
    curve(this.losses, edge, 0.6);
    curve(this.means, accent, 2);
  }
}
