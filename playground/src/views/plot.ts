/** A plot against t/t_f whose past is drawn in full and whose future is faint. */

import { context, make } from "../dom";
import { palette } from "./theme";

interface Sides {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export type Box = Sides; // where the curves are, in pixels
export type Margins = Sides; // around them

type Painter = (drawing: CanvasRenderingContext2D, box: Box) => void;

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const FAINT = 0.2;

export class Plot {
  private readonly canvas: HTMLCanvasElement;
  private frame: HTMLCanvasElement | null = null;
  private curves: HTMLCanvasElement | null = null;
  private box: Box = { left: 0, right: 1, top: 0, bottom: 1 };
  private fraction = 1;
  private margins: Margins = { left: 0, right: 0, top: 0, bottom: 0 };
  private paintFrame: Painter = () => undefined;
  private paintCurves: Painter = () => undefined;
  private paintMarks: (drawing: CanvasRenderingContext2D, box: Box, fraction: number) => void =
    () => undefined;

  constructor(canvas: HTMLCanvasElement, onSeek: (fraction: number) => void) {
    this.canvas = canvas;
    new ResizeObserver(() => this.redraw()).observe(canvas);
    const seek = (event: PointerEvent): void => {
      if (event.buttons === 0) return;
      const x = event.clientX - canvas.getBoundingClientRect().left;
      const { left, right } = this.box;
      onSeek(Math.min(1, Math.max(0, (x - left) / (right - left))));
    };
    canvas.addEventListener("pointerdown", seek);
    canvas.addEventListener("pointermove", seek);
  }

  /** What is drawn: axes, curves, and marks at the cursor. */
  show(
    margins: Margins,
    frame: Painter,
    curves: Painter,
    marks: Plot["paintMarks"] = () => undefined,
  ): void {
    this.margins = margins;
    this.paintFrame = frame;
    this.paintCurves = curves;
    this.paintMarks = marks;
    this.redraw();
  }

  at(fraction: number): void {
    this.fraction = fraction;
    this.compose();
  }

  redraw(): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (width === 0 || height === 0) return;
    const { left, right, top, bottom } = this.margins;
    this.box = { left, right: Math.max(left + 20, width - right), top, bottom: height - bottom };
    this.frame = this.layer(width, height, this.paintFrame);
    this.curves = this.layer(width, height, this.paintCurves);
    this.compose();
  }

  private layer(width: number, height: number, paint: Painter): HTMLCanvasElement {
    const scale = window.devicePixelRatio || 1;
    const layer = make("canvas");
    layer.width = Math.round(width * scale);
    layer.height = Math.round(height * scale);
    const drawing = context(layer);
    drawing.scale(scale, scale);
    drawing.font = FONT;
    drawing.lineJoin = "round";
    paint(drawing, this.box);
    return layer;
  }

  private compose(): void {
    if (this.frame === null || this.curves === null) return;
    const { canvas, frame, curves, box } = this;
    if (canvas.width !== frame.width || canvas.height !== frame.height) {
      canvas.width = frame.width;
      canvas.height = frame.height;
    }
    const drawing = context(canvas);
    const scale = window.devicePixelRatio || 1;
    const cursor = box.left + this.fraction * (box.right - box.left);
    drawing.setTransform(1, 0, 0, 1, 0, 0);
    drawing.clearRect(0, 0, canvas.width, canvas.height);
    drawing.drawImage(frame, 0, 0);
    drawing.globalAlpha = FAINT;
    drawing.drawImage(curves, 0, 0);
    drawing.globalAlpha = 1;
    drawing.save();
    drawing.beginPath();
    drawing.rect(0, 0, (cursor + 0.5) * scale, canvas.height);
    drawing.clip();
    drawing.drawImage(curves, 0, 0);
    drawing.restore();
    drawing.scale(scale, scale);
    drawing.strokeStyle = palette().muted;
    drawing.lineWidth = 1;
    drawing.beginPath();
    drawing.moveTo(cursor, box.top);
    drawing.lineTo(cursor, box.bottom);
    drawing.stroke();
    this.paintMarks(drawing, box, this.fraction);
  }
}

/** A polyline of values at the grid times 0 to 1. */
export function curve(
  drawing: CanvasRenderingContext2D,
  { left, right }: Box,
  count: number,
  height: (k: number) => number,
): void {
  drawing.beginPath();
  for (let k = 0; k < count; k++) {
    const x = left + ((right - left) * k) / (count - 1);
    if (k === 0) drawing.moveTo(x, height(k));
    else drawing.lineTo(x, height(k));
  }
  drawing.stroke();
}
