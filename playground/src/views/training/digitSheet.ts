/** Test digits with what they are read as: wrong ones are framed. */

import type { GalleryImage } from "../../core";
import { context, make } from "../../dom";
import { SHEET } from "../../training/lessons";
import type { Progress } from "../../training/messages";
import { Drawing, font } from "../drawing";
import { palette } from "../theme";

export class DigitSheet {
  readonly canvas = make("canvas", { role: "img", "data-testid": "digit-sheet" });
  private readonly drawing = new Drawing(this.canvas);
  private tiles: HTMLCanvasElement[] = [];
  private images: GalleryImage[] = [];
  private classes: Uint8Array = new Uint8Array(0);

  constructor() {
    this.drawing.show((drawing, width, height) => this.paint(drawing, width, height));
  }

  /** The digits that are read. */
  show(images: GalleryImage[]): void {
    this.images = images;
    this.tiles = images.map(({ pixels, shape: { rows, columns } }) => {
      const tile = make("canvas", { width: String(columns), height: String(rows) });
      const picture = new ImageData(columns, rows);
      pixels.forEach((level, k) => picture.data.set([level, level, level, 255], 4 * k));
      context(tile).putImageData(picture, 0, 0);
      return tile;
    });
  }

  /** What they are read as. */
  read(map: Progress["map"]): void {
    this.classes = map.classes;
    const right = this.images.filter(({ label }, k) => label === this.classes[k]).length;
    this.canvas.setAttribute("aria-label", `Test digits: ${right} of ${this.images.length} read right`);
    this.drawing.redraw();
  }

  private paint(drawing: CanvasRenderingContext2D, width: number, height: number): void {
    const { negative, ink } = palette();
    const cell = Math.min(width, height) / SHEET;
    drawing.imageSmoothingEnabled = false;
    drawing.font = font(true);
    drawing.textAlign = "right";
    drawing.textBaseline = "bottom";
    this.tiles.forEach((tile, k) => {
      const [x, y] = [(k % SHEET) * cell, Math.floor(k / SHEET) * cell];
      const wrong = this.classes[k] !== this.images[k]!.label;
      drawing.globalAlpha = wrong ? 1 : 0.75;
      drawing.drawImage(tile, x + 4, y + 4, 0.62 * cell, 0.62 * cell);
      drawing.globalAlpha = 1;
      drawing.fillStyle = wrong ? `rgb(${negative.join(" ")})` : ink;
      drawing.fillText(String(this.classes[k] ?? ""), x + cell - 5, y + cell - 2);
      if (!wrong) return;
      drawing.strokeStyle = `rgb(${negative.join(" ")})`;
      drawing.lineWidth = 2;
      drawing.strokeRect(x + 2, y + 2, cell - 4, cell - 4);
    });
  }
}
