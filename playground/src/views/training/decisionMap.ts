/** The plane with its points, coloured by the class that is read at each place: the darker, the further
 * its output leads. Points are added where one clicks, or with the arrow keys and Space. */

import { context, make } from "../../dom";
import { GRID, REACH } from "../../training/lessons";
import type { Progress } from "../../training/messages";
import type { Points } from "../../training/sets";
import { Drawing } from "../drawing";
import { classColour, palette } from "../theme";

const STEP = 0.1; // of the cursor
const FULL_LEAD = 1.2; // in cos theta, from which on a colour is full
const STRONGEST = 0.55; // of a colour

export interface DecisionMapEvents {
  /** A point of the chosen class is added at a place. */
  onPoint(x: number, y: number): void;
  /** The pointer is at a place, or nowhere. */
  onLook(place: [number, number] | null): void;
}

export class DecisionMap {
  readonly canvas = make("canvas", {
    class: "decision-map",
    "data-testid": "decision-map",
    tabindex: "0",
    role: "application",
    "aria-label": "The plane. Arrow keys move the cursor, Space adds a point of the chosen class.",
  });
  private readonly drawing = new Drawing(this.canvas);
  private readonly picture = make("canvas", { width: String(GRID), height: String(GRID) });
  private points: Points = { rows: new Float64Array(0), labels: new Uint8Array(0) };
  private cursor: [number, number] | null = null;

  constructor(events: DecisionMapEvents) {
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
    this.canvas.addEventListener("pointerdown", (event) => events.onPoint(...this.placeOf(event)));
    this.canvas.addEventListener("pointermove", (event) => events.onLook(this.placeOf(event)));
    this.canvas.addEventListener("pointerleave", () => events.onLook(null));
    this.canvas.addEventListener("blur", () => this.move(null));
    this.canvas.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (way !== undefined) {
        const [x, y] = this.cursor ?? [0, 0];
        this.move([x + STEP * way[0]!, y + STEP * way[1]!]);
        events.onLook(this.cursor);
      } else if (event.key === " ") events.onPoint(...(this.cursor ?? ([0, 0] as [number, number])));
      else return;
      event.preventDefault();
    });
  }

  show(points: Points): void {
    this.points = points;
    this.drawing.redraw();
  }

  /** The classes that were read over the plane. */
  colour(map: Progress["map"]): void {
    const picture = new ImageData(GRID, GRID);
    map.classes.forEach((label, k) => {
      const colour = classColour(label);
      for (let c = 0; c < 3; c++) picture.data[4 * k + c] = parseInt(colour.slice(1 + 2 * c, 3 + 2 * c), 16);
      picture.data[4 * k + 3] = 255 * STRONGEST * Math.min(1, 0.15 + map.leads[k]! / FULL_LEAD);
    });
    context(this.picture).putImageData(picture, 0, 0);
    this.drawing.redraw();
  }

  private move(place: [number, number] | null): void {
    const inside = (value: number): number => Math.max(-REACH, Math.min(REACH, value));
    this.cursor = place && [inside(place[0]), inside(place[1])];
    this.drawing.redraw();
  }

  private placeOf(event: MouseEvent): [number, number] {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const along = (share: number): number => (2 * share - 1) * REACH;
    return [along((event.clientX - left) / width), -along((event.clientY - top) / height)];
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    const { ink, card } = palette();
    drawing.imageSmoothingEnabled = true;
    drawing.drawImage(this.picture, 0, 0, width, height);
    const at = (x: number, y: number): [number, number] => [
      ((x / REACH + 1) / 2) * width,
      ((1 - y / REACH) / 2) * height,
    ];
    drawing.lineWidth = 1.2;
    drawing.strokeStyle = card;
    this.points.labels.forEach((label, i) => {
      drawing.fillStyle = classColour(label);
      drawing.beginPath();
      drawing.arc(...at(this.points.rows[2 * i]!, this.points.rows[2 * i + 1]!), 4, 0, 2 * Math.PI);
      drawing.fill();
      drawing.stroke();
    });
    if (this.cursor === null) return;
    const [x, y] = at(...this.cursor);
    drawing.strokeStyle = ink;
    drawing.lineWidth = 2;
    drawing.strokeRect(x - 6, y - 6, 12, 12);
  }
}
