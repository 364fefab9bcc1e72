/** The way of all phases through the plane in which this network's trajectories differ most, and where
 * the test images end. */

import { placeIn } from "../core";
import { hook } from "../dom";
import type { Landscape } from "../engine/landscape";
import type { Outcome } from "../run";
import type { Moment } from "./moment";
import { Drawing, textSize } from "./drawing";
import { classColour, palette } from "./theme";

const MOST_POINTS = 200; // of the way that is drawn

export class Projection {
  private readonly drawing = new Drawing(hook<HTMLCanvasElement>("projection"));
  private readonly words = hook("projection-words");
  private landscape: Landscape | null = null;
  private moment: Moment | null = null;
  private way: { outcome: Outcome; landscape: Landscape; places: [number, number][] } | null = null;

  constructor() {
    this.drawing.canvas.setAttribute("aria-label", "The trajectory in a plane");
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  /** The plane from now on; null until there is one. */
  explore(landscape: Landscape | null): void {
    this.landscape = landscape;
    const shares = landscape?.plane.shares.map((share) => Math.round(100 * share)) ?? [];
    this.words.textContent =
      landscape === null
        ? "looking for the plane …"
        : `${shares[0]} + ${shares[1]} % of the variance` +
          (landscape.ends.length > 0 ? "; marks: where test images end" : "");
    this.drawing.redraw();
  }

  show(moment: Moment): void {
    this.moment = moment;
    this.drawing.redraw();
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    const { moment, landscape } = this;
    if (moment === null || landscape === null) return;
    const places = this.wayOf(moment.outcome, landscape);
    const all = [...places, ...landscape.ends.map(({ place }) => place)];
    const { ink, card } = palette();
    const edge = 1.4 * textSize();
    const [left, right] = [0, 1].map((end) => extreme(all, 0, end === 1)) as [number, number];
    const [low, high] = [0, 1].map((end) => extreme(all, 1, end === 1)) as [number, number];
    const scale = Math.min(
      (width - 2 * edge) / Math.max(right - left, 1e-9),
      (height - 2 * edge) / Math.max(high - low, 1e-9),
    );
    const onCanvas = ([x, y]: [number, number]): [number, number] => [
      width / 2 + scale * (x - (left + right) / 2),
      height / 2 - scale * (y - (low + high) / 2),
    ];
    this.paintEnds(drawing, landscape, onCanvas);
    const { steps } = moment.outcome.rollout;
    const now = Math.round((moment.at / steps) * (places.length - 1));
    drawing.lineWidth = 5;
    for (const [colour, thick] of [[card, 5], [ink, 2.2]] as const) {
      drawing.strokeStyle = colour;
      drawing.lineWidth = thick;
      drawing.beginPath();
      places.slice(0, now + 1).forEach((place, k) => {
        if (k === 0) drawing.moveTo(...onCanvas(place));
        else drawing.lineTo(...onCanvas(place));
      });
      drawing.stroke();
    }
    drawing.fillStyle = card;
    drawing.strokeStyle = ink;
    drawing.lineWidth = 2;
    drawing.beginPath();
    drawing.arc(...onCanvas(places[0]!), 4, 0, 2 * Math.PI);
    drawing.fill();
    drawing.stroke();
    const leader = moment.outcome.rollout.leaders[moment.at]!;
    drawing.fillStyle = leader === -1 ? ink : classColour(leader);
    drawing.beginPath();
    drawing.arc(...onCanvas(places[now]!), 7, 0, 2 * Math.PI);
    drawing.fill();
    drawing.stroke();
  }

  private paintEnds(
    drawing: CanvasRenderingContext2D,
    { ends }: Landscape,
    onCanvas: (place: [number, number]) => [number, number],
  ): void {
    const { classNames } = this.moment!.outcome.model;
    const short = classNames.every((name) => name.length <= 2);
    drawing.textAlign = "center";
    drawing.textBaseline = "middle";
    drawing.font = drawing.font.replace(/^/, "bold ");
    for (const { label, place } of ends) {
      const [x, y] = onCanvas(place);
      drawing.fillStyle = classColour(label);
      if (short) {
        drawing.globalAlpha = 0.85;
        drawing.fillText(classNames[label]!, x, y);
      } else {
        drawing.globalAlpha = 0.6;
        drawing.beginPath();
        drawing.arc(x, y, 4.5, 0, 2 * Math.PI);
        drawing.fill();
      }
    }
    drawing.globalAlpha = 1;
  }

  /** The places of the trajectory shown, computed once for it. */
  private wayOf(outcome: Outcome, landscape: Landscape): [number, number][] {
    if (this.way?.outcome !== outcome || this.way.landscape !== landscape) {
      const { steps, phases } = outcome.rollout;
      const n = outcome.model.hidden + outcome.model.outputs;
      const points = Math.min(steps, MOST_POINTS);
      const places = Array.from({ length: points + 1 }, (_, k) => {
        const at = Math.round((k / points) * steps);
        return placeIn(landscape.plane, phases.subarray(at * n, (at + 1) * n));
      });
      this.way = { outcome, landscape, places };
    }
    return this.way.places;
  }
}

function extreme(places: [number, number][], axis: 0 | 1, most: boolean): number {
  return places.reduce(
    (best, place) => (most ? Math.max(best, place[axis]) : Math.min(best, place[axis])),
    most ? -Infinity : Infinity,
  );
}
