/** A canvas that is painted as a whole: sharp on any screen, only while it can be seen. */

import { context } from "../dom";
import { exportable } from "./exportable";

export type Paint = (drawing: CanvasRenderingContext2D, width: number, height: number) => void;

const TEXT = 11 / 14; // of the page's text

let size = 0;
const listeners: (() => void)[] = [];

/** Height of the text on canvases in pixels: it grows with the page's. */
export function textSize(): number {
  if (size === 0) size = measured();
  return size;
}

function measured(): number {
  return TEXT * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** `listener` is called when the text has another size. */
export function onTextSize(listener: () => void): void {
  listeners.push(listener);
  if (listeners.length > 1) return;
  addEventListener("resize", () => {
    if (measured() === size) return;
    size = measured();
    for (const each of listeners) each();
  });
}

export function font(bold = false): string {
  const weight = bold ? "bold " : "";
  return `${weight}${textSize()}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
}

export class Drawing {
  private seen = false;
  private width = 0;
  private height = 0;
  private paint: Paint = () => undefined;

  constructor(readonly canvas: HTMLCanvasElement) {
    exportable(canvas, (drawing, width, height) => {
      drawing.font = font();
      this.paint(drawing, width, height);
    });
    onSize(canvas, (width, height) => {
      this.width = width;
      this.height = height;
      this.redraw();
    });
    new IntersectionObserver(([entry]) => {
      this.seen = entry!.isIntersecting;
      this.redraw();
    }).observe(canvas);
    onTextSize(() => this.redraw());
  }

  /** What is painted from now on. */
  show(paint: Paint): void {
    this.paint = paint;
    this.redraw();
  }

  /** Now if it can be seen, else when it comes into view. */
  redraw(): void {
    const { width, height } = this;
    if (width === 0 || height === 0 || !this.seen) return;
    const scale = window.devicePixelRatio || 1;
    const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.width = across;
      this.canvas.height = down;
    }
    const drawing = context(this.canvas);
    drawing.setTransform(scale, 0, 0, scale, 0, 0);
    drawing.clearRect(0, 0, width, height);
    drawing.font = font();
    drawing.lineJoin = "round";
    this.paint(drawing, width, height);
  }
}

/** Tells the size of an element, at first and when it changes: to ask for it in a frame would make the
 * browser lay the page out. */
export function onSize(element: Element, tell: (width: number, height: number) => void): void {
  new ResizeObserver(([entry]) => {
    const { width, height } = entry!.contentRect;
    tell(width, height);
  }).observe(element);
}
