/** J as a map: row and column are oscillators, in an order in which structure shows. */

import { effectiveCouplings } from "../core";
import { context, hook, make, signed } from "../dom";
import type { Outcome } from "../run";
import { shortName } from "./dials";
import { Drawing } from "./drawing";
import { palette } from "./theme";

const CONTRAST = 0.6; // exponent: weak couplings show beside strong ones

export class CouplingMap {
  private readonly canvas = hook<HTMLCanvasElement>("coupling-map");
  private readonly words = hook("coupling-words");
  private readonly drawing = new Drawing(this.canvas);
  private readonly picture = make("canvas");
  private outcome: Outcome | null = null;
  private order: Int32Array = new Int32Array(0);
  private couplings: Float64Array = new Float64Array(0);
  private key = ""; // of what is drawn
  private marked: number | null = null;

  constructor(onSelect: (oscillator: number) => void) {
    this.canvas.setAttribute("aria-label", "Map of the couplings");
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
    this.canvas.addEventListener("pointermove", (event) => this.say(this.pairAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.say(null));
    this.canvas.addEventListener("click", (event) => {
      const pair = this.pairAt(event);
      if (pair !== null) onSelect(pair[0]);
    });
  }

  /** `order` (N) may come later than the couplings: until then they stand as they are numbered. */
  show(outcome: Outcome, order: Int32Array | null): void {
    const { hidden, outputs } = outcome.model;
    const n = hidden + outputs;
    const { cut, silenced } = outcome.physics;
    const key = JSON.stringify([cut, silenced, palette().card, order === null]);
    const same = this.outcome?.model === outcome.model && this.key === key;
    this.outcome = outcome;
    this.key = key;
    if (same) return;
    this.order = order?.length === n ? order : Int32Array.from({ length: n }, (_, i) => i);
    this.couplings = effectiveCouplings(outcome.model, outcome.physics);
    this.draw();
    this.drawing.redraw();
    this.say(null);
  }

  /** The oscillator that is looked at. */
  mark(oscillator: number | null): void {
    if (oscillator === this.marked) return;
    this.marked = oscillator;
    this.drawing.redraw();
  }

  /** One pixel for each pair. */
  private draw(): void {
    const n = this.order.length;
    const { positive, negative, card } = palette();
    const paper = [1, 3, 5].map((at) => parseInt(card.slice(at, at + 2), 16));
    const most = this.couplings.reduce((best, value) => Math.max(best, Math.abs(value)), 1e-12);
    const picture = new ImageData(n, n);
    for (let row = 0; row < n; row++) {
      for (let column = 0; column < n; column++) {
        const value = this.couplings[this.order[row]! * n + this.order[column]!]!;
        const share = (Math.abs(value) / most) ** CONTRAST;
        const colour = value > 0 ? positive : negative;
        const k = 4 * (row * n + column);
        for (let c = 0; c < 3; c++) picture.data[k + c] = paper[c]! + share * (colour[c]! - paper[c]!);
        picture.data[k + 3] = 255;
      }
    }
    this.picture.width = this.picture.height = n;
    context(this.picture).putImageData(picture, 0, 0);
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    if (this.outcome === null) return;
    const n = this.order.length;
    const { hidden } = this.outcome.model;
    const { line, ink } = palette();
    drawing.imageSmoothingEnabled = false;
    drawing.drawImage(this.picture, 0, 0, width, height);
    const [across, down] = [(hidden / n) * width, (hidden / n) * height];
    drawing.strokeStyle = line;
    drawing.lineWidth = 1.5;
    drawing.beginPath();
    drawing.moveTo(across, 0);
    drawing.lineTo(across, height);
    drawing.moveTo(0, down);
    drawing.lineTo(width, down);
    drawing.stroke();
    drawing.strokeRect(0.5, 0.5, width - 1, height - 1);
    if (this.marked === null || this.marked >= n) return;
    const place = this.order.indexOf(this.marked);
    drawing.strokeStyle = ink;
    drawing.strokeRect(0, (place / n) * height, width, height / n);
    drawing.strokeRect((place / n) * width, 0, width / n, height);
  }

  /** The two oscillators under the pointer. */
  private pairAt(event: MouseEvent): [number, number] | null {
    const box = this.canvas.getBoundingClientRect();
    const n = this.order.length;
    const column = Math.floor(((event.clientX - box.left) / box.width) * n);
    const row = Math.floor(((event.clientY - box.top) / box.height) * n);
    const [i, j] = [this.order[row], this.order[column]];
    return i === undefined || j === undefined ? null : [i, j];
  }

  private say(pair: [number, number] | null): void {
    if (this.outcome === null) return;
    const { model } = this.outcome;
    if (pair === null) {
      const used = this.couplings.reduce((count, value) => count + Number(value !== 0), 0) / 2;
      this.words.textContent = `${Math.round(used)} couplings; those alike side by side, outputs last`;
      return;
    }
    const [i, j] = pair;
    const value = this.couplings[i * this.order.length + j]!;
    const does = value === 0 ? "not coupled" : value > 0 ? "pulls together" : "pushes apart";
    this.words.textContent = `${shortName(i, model)} – ${shortName(j, model)}: ${signed(value, 2)}, ${does}`;
  }
}
