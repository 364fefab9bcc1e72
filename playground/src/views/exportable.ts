/** Drawings of the page that can be saved: each canvas says how it is painted, so that its file can
 * be SVG. */

import { savePng, saveSvg } from "../files";
import { SvgContext } from "./svgContext";
import { palette } from "./theme";

type Paint = (drawing: CanvasRenderingContext2D, width: number, height: number) => void;

const painted = new Map<HTMLCanvasElement, Paint>();

export function exportable(canvas: HTMLCanvasElement, paint: Paint): void {
  painted.set(canvas, paint);
}

/** The drawings that can be seen on the page now, and what each is called. Canvases that lie on one
 * another, the lowest first, are one drawing. */
export function exportables(): { canvases: HTMLCanvasElement[]; title: string }[] {
  const found = new Map<string, HTMLCanvasElement[]>();
  for (const canvas of document.querySelectorAll("canvas")) {
    const { x, y, width, height } = canvas.getBoundingClientRect();
    if (!painted.has(canvas) || width === 0 || height === 0) continue;
    const place = [x, y, width, height].map(Math.round).join(" ");
    found.set(place, [...(found.get(place) ?? []), canvas]);
  }
  return [...found.values()].map((canvases) => ({ canvases, title: titleOf(canvases[0]!) }));
}

/** The first words of what a drawing is for those who do not see it, or the heading above it. */
function titleOf(canvas: HTMLCanvasElement): string {
  const label = canvas.getAttribute("aria-label");
  if (label !== null) return label.split(/[:.,]/, 1)[0]!;
  const heading = canvas.closest("section, .card")?.querySelector("h2, h3");
  return heading?.firstChild?.textContent?.trim() || "Drawing";
}

/** A name of the drawing's files, by its hook or its kind. */
export function nameOf(canvas: HTMLCanvasElement): string {
  return canvas.dataset.testid ?? (canvas.className || "drawing");
}

export function saveDrawing(canvases: HTMLCanvasElement[], kind: "png" | "svg"): void {
  const [first] = canvases;
  const [width, height] = [first!.clientWidth, first!.clientHeight];
  const recorder = new SvgContext(width, height);
  for (const canvas of canvases) {
    recorder.save();
    painted.get(canvas)!(recorder as unknown as CanvasRenderingContext2D, width, height);
    recorder.restore();
  }
  const text = recorder.text(palette().card);
  const name = `entrain-${nameOf(first!)}`;
  if (kind === "svg") saveSvg(name, text);
  else void savePng(name, text, width, height);
}
