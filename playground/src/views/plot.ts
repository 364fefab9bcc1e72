/** A plot against t/t_f that holds the past: what comes after the time shown is not drawn. */

import { exportable } from "./exportable";
import { context, make } from "../dom";
import { font, onSize, onTextSize } from "./drawing";
import { palette } from "./theme";

interface Sides {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export type Box = Sides; // where the curves are, in pixels
export type Margins = Sides; // around them

/** `revealed` once the verdict is made: before, no curve may stand out. */
type Painter = (drawing: CanvasRenderingContext2D, box: Box, revealed: boolean) => void;

export class Plot {
  private layer: HTMLCanvasElement | null = null; // the curves, once they are shown at a second time
  private box: Box = { left: 0, right: 1, top: 0, bottom: 1 };
  private size = { width: 0, height: 0 };
  private fraction = 1;
  private revealed = true;
  private fresh = true; // not shown yet
  private margins: Margins = { left: 0, right: 0, top: 0, bottom: 0 };
  private paintFrame: Painter = () => undefined;
  private paintCurves: Painter = () => undefined;
  private paintMarks: (
    drawing: CanvasRenderingContext2D,
    box: Box,
    fraction: number,
    revealed: boolean,
  ) => void = () => undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    onSeek: (fraction: number) => void,
  ) {
    onSize(canvas, (width, height) => {
      this.size = { width, height };
      this.redraw();
    });
    onTextSize(() => this.redraw());
    exportable(canvas, (drawing) => this.paintOnce(drawing));
    const seek = (event: PointerEvent): void => {
      if (event.buttons === 0) return;
      const x = event.clientX - canvas.getBoundingClientRect().left;
      const { left, right } = this.box;
      onSeek(Math.min(1, Math.max(0, (x - left) / (right - left))));
    };
    canvas.addEventListener("pointerdown", seek);
    canvas.addEventListener("pointermove", seek);
  }

  /** What is drawn from the next `at` on: axes, curves, and marks at the cursor. */
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
    this.fresh = true;
  }

  at(fraction: number, revealed: boolean): void {
    this.fraction = fraction;
    if (revealed !== this.revealed) this.fresh = true;
    this.revealed = revealed;
    this.compose();
  }

  redraw(): void {
    this.fresh = true;
    this.compose();
  }

  /** The past as it is shown now, without the time's line. */
  private paintOnce(drawing: CanvasRenderingContext2D): void {
    const { box, fraction, revealed } = this;
    drawing.font = font();
    this.paintFrame(drawing, box, revealed);
    drawing.save();
    drawing.beginPath();
    drawing.rect(0, 0, box.left + fraction * (box.right - box.left) + 0.5, this.size.height);
    drawing.clip();
    this.paintCurves(drawing, box, revealed);
    drawing.restore();
    this.paintMarks(drawing, box, fraction, revealed);
  }

  private compose(): void {
    const { canvas, size, margins } = this;
    const { width, height } = size;
    if (width === 0 || height === 0) return;
    const scale = window.devicePixelRatio || 1;
    const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
    }
    const { left, top } = margins;
    const right = Math.max(left + 20, width - margins.right);
    const box = (this.box = { left, right, top, bottom: height - margins.bottom });
    const drawing = context(canvas);
    const cursor = box.left + this.fraction * (box.right - box.left);
    prepare(drawing, scale);
    drawing.clearRect(0, 0, width, height);
    this.paintFrame(drawing, box, this.revealed);
    drawing.save();
    drawing.beginPath();
    drawing.rect(0, 0, cursor + 0.5, height);
    drawing.clip();
    if (this.fresh) this.paintCurves(drawing, box, this.revealed);
    else drawing.drawImage(this.layerOf(across, down, scale), 0, 0, width, height);
    drawing.restore();
    if (this.fresh) this.layer = null;
    this.fresh = false;
    prepare(drawing, scale);
    drawing.strokeStyle = palette().muted;
    drawing.beginPath();
    drawing.moveTo(cursor, box.top);
    drawing.lineTo(cursor, box.bottom);
    drawing.stroke();
    this.paintMarks(drawing, box, this.fraction, this.revealed);
  }

  /** The curves painted once for all times; one who only looks at the end needs no layer. */
  private layerOf(across: number, down: number, scale: number): HTMLCanvasElement {
    if (this.layer === null) {
      this.layer = make("canvas", { width: String(across), height: String(down) });
      const drawing = context(this.layer);
      prepare(drawing, scale);
      this.paintCurves(drawing, this.box, this.revealed);
    }
    return this.layer;
  }
}

function prepare(drawing: CanvasRenderingContext2D, scale: number): void {
  drawing.setTransform(scale, 0, 0, scale, 0, 0);
  drawing.font = font();
  drawing.lineJoin = "round";
  drawing.lineWidth = 1;
  drawing.globalAlpha = 1;
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
