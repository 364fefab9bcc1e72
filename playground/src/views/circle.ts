/** All phases on one circle, up is cos(theta) = 1, with the order parameter as an arrow. */

import { orderParameter } from "../core";
import { hook } from "../dom";
import type { Moment } from "./moment";
import { Drawing, font, textSize } from "./drawing";
import { classColour, palette } from "./theme";

export class Circle {
  private readonly drawing = new Drawing(hook<HTMLCanvasElement>("circle"));
  private readonly words = hook("order-parameter");
  private moment: Moment | null = null;

  constructor() {
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  show(moment: Moment): void {
    this.moment = moment;
    const { size } = orderParameter(moment.phases);
    const words = `R = ${size.toFixed(2)}`;
    if (this.words.textContent !== words) this.words.textContent = words;
    this.drawing.redraw();
    if (!moment.still) return;
    const { hidden, outputs } = moment.outcome.model;
    this.drawing.canvas.setAttribute(
      "aria-label",
      `The phases of ${hidden + outputs} oscillators on one circle: order parameter R ${size.toFixed(2)}`,
    );
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    if (this.moment === null) return;
    const { phases, outcome, shown } = this.moment;
    const { hidden, classNames } = outcome.model;
    const { ink, muted, line, accent } = palette();
    const radius = Math.min(width, height) / 2 - textSize();
    const [cx, cy] = [width / 2, height / 2];
    const place = (phase: number, share: number): [number, number] => [
      cx + share * radius * Math.sin(phase),
      cy - share * radius * Math.cos(phase),
    ];
    const dot = ([x, y]: [number, number], size: number): void => {
      drawing.beginPath();
      drawing.arc(x, y, size, 0, 2 * Math.PI);
      drawing.fill();
    };
    drawing.strokeStyle = line;
    drawing.lineWidth = 1.5;
    drawing.beginPath();
    drawing.arc(cx, cy, radius, 0, 2 * Math.PI);
    drawing.moveTo(cx, cy - radius);
    drawing.lineTo(cx, cy + radius);
    drawing.moveTo(cx - radius, cy);
    drawing.lineTo(cx + radius, cy);
    drawing.stroke();
    drawing.fillStyle = muted;
    drawing.globalAlpha = 0.45;
    for (let i = 0; i < hidden; i++) dot(place(phases[i]!, 1), 4);
    drawing.globalAlpha = 1;
    drawing.textAlign = "center";
    drawing.textBaseline = "middle";
    const rings = labelRings(phases.subarray(hidden), (1.3 * textSize()) / radius);
    classNames.forEach((name, o) => {
      const phase = phases[hidden + o]!;
      drawing.fillStyle = classColour(o);
      dot(place(phase, 1), 5.5);
      if (classNames.length > 12) return;
      const leads = outcome.rollout.leaders[this.moment!.at] === o;
      drawing.font = font(leads);
      drawing.fillStyle = leads ? ink : muted;
      const share = 1 - ((rings[o]! + 1.3) * 1.05 * textSize()) / radius;
      drawing.fillText(name.length > 3 ? name.slice(0, 3) : name, ...place(phase, share));
    });
    if (shown !== null && shown < phases.length) {
      drawing.strokeStyle = ink;
      drawing.lineWidth = 2;
      drawing.beginPath();
      drawing.arc(...place(phases[shown]!, 1), 8, 0, 2 * Math.PI);
      drawing.stroke();
    }
    const { size, angle } = orderParameter(phases);
    const [x, y] = place(angle, size);
    drawing.strokeStyle = drawing.fillStyle = accent;
    drawing.lineWidth = 3;
    drawing.beginPath();
    drawing.moveTo(cx, cy);
    drawing.lineTo(x, y);
    drawing.stroke();
    dot([x, y], 4.5);
  }
}

/** How many places inward each label goes, so that those closer than `gap` radians do not cover each
 * other. */
function labelRings(phases: Float64Array, gap: number): number[] {
  const rings = new Array<number>(phases.length).fill(0);
  const taken: number[] = [];
  for (let o = 0; o < phases.length; o++) {
    while (taken.some((other) => rings[other] === rings[o] && isNear(phases[o]!, phases[other]!, gap))) {
      rings[o]!++;
    }
    taken.push(o);
  }
  return rings;
}

function isNear(a: number, b: number, gap: number): boolean {
  return Math.cos(a - b) > Math.cos(gap);
}
