/** One chapter: its words, its equation with the symbols that act lit, its settings and its dials. */

import { make, reducedMotion } from "../../dom";
import { Drawing, textSize } from "../drawing";
import { button } from "../lab/controls";
import { slider } from "../slider";
import { classColour, palette } from "../theme";
import type { Chapter } from "./chapters";

const STEP = 1 / 60; // of time, in a frame
const RATE = 2.5; // of the reference's wave, rad per unit of time
const AT_ONCE = 600; // steps that are taken at once where motion is not wanted

export class Stage {
  readonly root: HTMLElement;
  private readonly drawing: Drawing;
  private readonly equation = make("p", { class: "equation" });
  private readonly sliders;
  private phases: number[];
  private time = 0;

  constructor(private readonly chapter: Chapter) {
    const { name, title, words, settings } = chapter;
    this.phases = [...chapter.start];
    const canvas = make("canvas", { class: "story-canvas", role: "img", "data-testid": `story-${name}` });
    this.drawing = new Drawing(canvas);
    this.sliders = settings.map(({ label, least, most, value, symbol }, k) => {
      const step = Number.isInteger(value) && most === 9 ? 1 : 0.01;
      const made = slider(`story-${name}-${k}`, label, least, most, step, {
        words: (shown) => shown.toFixed(step === 1 ? 0 : 2).replace("-", "−"),
        onInput: () => {
          this.light(symbol);
          if (reducedMotion()) this.settle();
        },
      });
      made.value = value;
      made.root.addEventListener("focusin", () => this.light(symbol));
      made.root.addEventListener("pointerenter", () => this.light(symbol));
      return made;
    });
    this.write();
    const restart = button(`story-${name}-again`, "From the start", () => this.restart(), { class: "small" });
    this.root = make(
      "section",
      { class: "chapter" },
      make("h3", {}, title),
      make("p", {}, words),
      this.equation,
      make("div", { class: "chapter-body" }, canvas, make("div", {}, ...this.sliders.map(({ root }) => root), restart)),
    );
    this.drawing.show((context, width, height) => this.paint(context, width, height));
    if (reducedMotion()) this.settle();
  }

  /** A frame later. */
  advance(): void {
    this.step();
    this.drawing.redraw();
    this.describe();
  }

  redraw(): void {
    this.drawing.redraw();
  }

  private restart(): void {
    this.phases = [...this.chapter.start];
    if (reducedMotion()) this.settle();
  }

  private settle(): void {
    for (let k = 0; k < AT_ONCE; k++) this.step();
    this.drawing.redraw();
    this.describe();
  }

  private step(): void {
    const values = this.sliders.map(({ value }) => value);
    const velocity = this.chapter.velocity(this.phases, values);
    this.phases = this.phases.map((phase, i) => phase + STEP * velocity[i]!);
    this.time += STEP;
  }

  private describe(): void {
    const shown = this.phases.map((phase) => Math.cos(phase).toFixed(1)).join(", ");
    const label = `${this.chapter.title}: cos θ ${shown}`;
    if (this.drawing.canvas.getAttribute("aria-label") !== label) this.drawing.canvas.setAttribute("aria-label", label);
  }

  private write(): void {
    const parts = this.chapter.equation.split("*");
    this.equation.append(...parts.map((part, k) => (k % 2 === 1 ? make("b", { "data-symbol": part }, part) : part)));
  }

  private light(symbol: string): void {
    for (const each of this.equation.querySelectorAll<HTMLElement>("[data-symbol]")) {
      each.classList.toggle("lit", each.dataset.symbol === symbol);
    }
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    const { oscillators, wave } = this.chapter;
    const count = oscillators.length;
    const top = wave ? height * 0.5 : 0;
    if (wave) this.paintWaves(drawing, width, top);
    const rows = count > 3 ? 3 : 1; // the hidden one, then the outputs in two rows
    const across = rows === 1 ? count : (count - 1) / 2;
    const down = (height - top) / rows;
    const radius = Math.min((width / across) * 0.42, down / 2 - 0.7 * textSize() - 2, 48);
    const highest = this.phases.reduce((best, phase, i) => (i > 0 && Math.cos(phase) > Math.cos(this.phases[best]!) ? i : best), 1);
    oscillators.forEach((title, i) => {
      const [row, column] = rows === 1 ? [0, i] : i === 0 ? [0, (across - 1) / 2] : [1 + Math.floor((i - 1) / across), (i - 1) % across];
      const [x, y] = [(width * (column + 0.5)) / across, top + (row + 0.5) * down - 0.6 * textSize()];
      const wins = count > 3 && i === highest;
      this.paintDial(drawing, x, y, radius, this.phases[i]!, title, wins, i);
    });
  }

  private paintDial(
    drawing: CanvasRenderingContext2D,
    x: number,
    y: number,
    radius: number,
    phase: number,
    title: string,
    wins: boolean,
    i: number,
  ): void {
    const { ink, edge, soft } = palette();
    drawing.fillStyle = soft;
    drawing.strokeStyle = wins ? ink : edge;
    drawing.lineWidth = wins ? 3 : 1;
    drawing.beginPath();
    drawing.arc(x, y, radius, 0, 2 * Math.PI);
    drawing.fill();
    drawing.stroke();
    drawing.strokeStyle = this.chapter.oscillators.length > 3 && i > 0 ? classColour(i - 1) : ink;
    drawing.lineWidth = 3;
    drawing.beginPath();
    drawing.moveTo(x, y);
    drawing.lineTo(x + 0.85 * radius * Math.sin(phase), y - 0.85 * radius * Math.cos(phase));
    drawing.stroke();
    drawing.fillStyle = ink;
    drawing.textAlign = "center";
    drawing.textBaseline = "top";
    drawing.fillText(title, x, y + radius + 3);
  }

  /** The reference and the oscillator in the last moments, now at the right. */
  private paintWaves(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    const { muted, accent } = palette();
    this.phases.forEach((phase, i) => {
      drawing.strokeStyle = i === 0 ? muted : accent;
      drawing.lineWidth = i === 0 ? 1.5 : 2.5;
      drawing.beginPath();
      for (let x = 0; x <= width; x += 2) {
        const angle = RATE * (this.time - (4 * (width - x)) / width) + phase;
        drawing.lineTo(x, height / 2 - (height / 2 - 6) * Math.cos(angle));
      }
      drawing.stroke();
    });
  }
}
