/** The drawing pad: white ink on black (the style sheet turns it over in the light theme). A drawing
 * is prepared as the MNIST digits were; a picture put on the pad is read back cell by cell, so that
 * what is not redrawn stays exactly as it was. */

import type { Pixels, Shape } from "../core";
import { context, hook, make, paintGrey } from "../dom";
import { drawByKeyboard, type Point } from "./padKeys";
import { LONGEST, padSize, read, type Reading } from "./padReading";

const MOST_UNDO = 30;
const TRACE_MS = 300; // between two lines of a stroke that is drawn for the visitor

export interface PadView {
  /** Pictures have this shape from now on. */
  shape(shape: Shape): void;
  /** Whether drawings are centred and scaled, and whether the visitor can choose. */
  centre(centred: boolean, choosable: boolean): void;
  show(pixels: Pixels | null): void;
  hint(text: string): void;
  /** A stroke through points in shares of the pad, drawn on an empty one before the visitor's eyes. */
  trace(points: [number, number][]): void;
}

/** `onChange` gets what is on the pad; `done` is false while a stroke goes on. */
export function createPad(onChange: (reading: Reading, done: boolean) => void): PadView {
  const canvas = hook<HTMLCanvasElement>("pad");
  const hint = document.querySelector<HTMLElement>(".pad-hint")!;
  const drawing = context(canvas, true);
  const past: { picture: ImageData; cells: boolean }[] = [];
  let size = padSize({ rows: 1, columns: 1 }); // until a network is there
  let cells = false; // the pad is read cell by cell: it began as a picture of that shape, or
  const centring = hook<HTMLInputElement>("pad-centre"); // drawings are not to be centred
  let erasing = false;
  let last: Point | null = null;

  const wipe = (): void => {
    drawing.fillStyle = "#000";
    drawing.fillRect(0, 0, size.width, size.height);
    cells = !centring.checked;
  };
  const picture = (): ImageData => drawing.getImageData(0, 0, size.width, size.height);
  const keep = (): void => {
    past.push({ picture: picture(), cells });
    if (past.length > MOST_UNDO) past.shift();
  };
  const changed = (done: boolean): void => {
    const reading = read(picture(), cells, size);
    hint.hidden = !("problem" in reading) || reading.problem !== "empty";
    onChange(reading, done);
  };
  let soon = false;
  /** Once in a frame, however often a pen reports. */
  const changing = (): void => {
    if (soon) return;
    soon = true;
    requestAnimationFrame(() => {
      soon = false;
      if (last !== null) changed(false);
    });
  };
  const stroke = (from: Point, to: Point): void => {
    drawing.strokeStyle = erasing ? "#000" : "#fff";
    drawing.lineWidth = erasing ? 1.5 * size.brush : size.brush;
    drawing.lineCap = "round";
    drawing.lineJoin = "round";
    drawing.beginPath();
    drawing.moveTo(from.x, from.y);
    drawing.lineTo(to.x + 0.01, to.y); // a dot, too, has a length
    drawing.stroke();
  };

  const place = (event: PointerEvent): Point => {
    const box = canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * size.width,
      y: ((event.clientY - box.top) / box.height) * size.height,
    };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    keep();
    last = place(event);
    stroke(last, last);
    changed(false);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (last === null || !event.isPrimary) return;
    const passed = event.getCoalescedEvents?.() ?? [];
    for (const step of passed.length ? passed : [event]) {
      const next = place(step);
      stroke(last, next);
      last = next;
    }
    changing();
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    canvas.addEventListener(end, (event) => {
      if (last === null || !event.isPrimary) return; // a second finger or a palm ends no stroke
      last = null;
      changed(true);
    });
  }

  const clear = (): void => {
    keep();
    wipe();
    changed(true);
  };
  const tool = (eraser: boolean): void => {
    erasing = eraser;
    hook("pad-brush").setAttribute("aria-pressed", String(!eraser));
    hook("pad-eraser").setAttribute("aria-pressed", String(eraser));
  };
  hook("pad-brush").addEventListener("click", () => tool(false));
  hook("pad-eraser").addEventListener("click", () => tool(true));
  hook("pad-clear").addEventListener("click", clear);
  hook("pad-undo").addEventListener("click", () => {
    const before = past.pop();
    if (before === undefined) return;
    drawing.putImageData(before.picture, 0, 0);
    cells = before.cells;
    changed(true);
  });
  centring.addEventListener("change", () => {
    cells = !centring.checked;
    changed(false);
  });
  drawByKeyboard(canvas, { keep, stroke, clear, changed });

  return {
    shape(shape) {
      const { rows, columns } = size.shape;
      if (shape.rows === rows && shape.columns === columns) return;
      size = padSize(shape);
      canvas.width = size.width;
      canvas.height = size.height;
      const { width, height } = size;
      const { style } = canvas.parentElement as HTMLElement;
      style.aspectRatio = `${width} / ${height}`;
      style.maxWidth = `${(LONGEST * width) / Math.max(width, height)}px`;
      past.length = 0;
      wipe();
    },
    centre(centred, choosable) {
      centring.checked = centred;
      (centring.parentElement as HTMLElement).hidden = !choosable;
    },
    show(pixels) {
      keep();
      wipe();
      hint.hidden = pixels !== null;
      if (pixels === null) return;
      const small = make("canvas");
      paintGrey(small, pixels, size.shape);
      drawing.imageSmoothingEnabled = false;
      drawing.drawImage(small, 0, 0, size.width, size.height);
      cells = true;
    },
    hint(text) {
      hint.textContent = text;
    },
    trace(points) {
      keep();
      wipe();
      const line = points.map(([x, y]) => ({ x: x * size.width, y: y * size.height }));
      const draw = (k: number): void => {
        const [from, to] = [line[k - 1]!, line[k]!];
        stroke(from, to);
        const done = k === line.length - 1;
        changed(done);
        if (!done) setTimeout(() => draw(k + 1), TRACE_MS);
      };
      draw(1);
    },
  };
}
