/** The network that learns: oscillators on a circle, couplings as lines that grow with it. Where one
 * points at the map, the hands show the phases at t_f. */

import { make } from "../../dom";
import type { Weights } from "../../training/weights";
import { Drawing } from "../drawing";
import { classColour, palette } from "../theme";

const WIDEST = 5; // pixels, of the strongest coupling
const FULL = 3; // couplings from which on lines are scaled down

export class Wires {
  readonly canvas = make("canvas", { class: "wires", role: "img", "data-testid": "learn-wires" });
  private readonly drawing = new Drawing(this.canvas);
  private weights: Weights | null = null;
  private phases: Float64Array | null = null;

  constructor() {
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  /** Strongest coupling of what is drawn. */
  show(weights: Weights): void {
    this.weights = weights;
    const most = this.most();
    this.canvas.setAttribute("aria-label", `The couplings, the strongest ${most.toFixed(2)}`);
    this.drawing.redraw();
  }

  /** Phases (N) that the hands show; null for no hands. */
  point(phases: Float64Array | null): void {
    this.phases = phases;
    this.drawing.redraw();
  }

  private most(): number {
    return this.weights!.couplings.reduce((best, value) => Math.max(best, Math.abs(value)), 0);
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    if (this.weights === null) return;
    const { hidden, outputs, couplings } = this.weights;
    const n = hidden + outputs;
    const { positive, negative, card, edge, ink } = palette();
    const size = Math.min(width, height);
    const dial = Math.min(15, (0.36 * 2 * Math.PI * size) / n / 2.4);
    const reach = size / 2 - dial - 3;
    const at = (i: number): [number, number] => {
      const angle = (2 * Math.PI * i) / n - Math.PI / 2;
      return [width / 2 + reach * Math.cos(angle), height / 2 + reach * Math.sin(angle)];
    };
    const unit = WIDEST / Math.max(FULL, this.most());
    for (let i = 0; i < hidden; i++) {
      for (let j = i + 1; j < n; j++) {
        const value = couplings[i * n + j]!;
        const thickness = unit * Math.abs(value);
        if (thickness < 0.15) continue;
        drawing.strokeStyle = `rgb(${(value > 0 ? positive : negative).join(" ")} / 0.6)`;
        drawing.lineWidth = thickness;
        drawing.beginPath();
        drawing.moveTo(...at(i));
        drawing.lineTo(...at(j));
        drawing.stroke();
      }
    }
    for (let i = 0; i < n; i++) {
      const [x, y] = at(i);
      drawing.fillStyle = card;
      drawing.strokeStyle = i < hidden ? edge : classColour(i - hidden);
      drawing.lineWidth = i < hidden ? 1 : 3;
      drawing.beginPath();
      drawing.arc(x, y, dial, 0, 2 * Math.PI);
      drawing.fill();
      drawing.stroke();
      if (this.phases === null) continue;
      drawing.strokeStyle = ink;
      drawing.lineWidth = 1.6;
      drawing.beginPath();
      drawing.moveTo(x, y);
      drawing.lineTo(x + dial * Math.sin(this.phases[i]!), y - dial * Math.cos(this.phases[i]!));
      drawing.stroke();
    }
  }
}
