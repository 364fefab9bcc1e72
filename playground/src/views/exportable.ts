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

/** The canvases that can be seen on the page now, and what each is called. */
export function exportables(): { canvas: HTMLCanvasElement; title: string }[] {
  return [...painted.keys()]
    .filter((canvas) => canvas.clientWidth > 0 && canvas.clientHeight > 0)
    .map((canvas) => ({ canvas, title: titleOf(canvas) }));
}

/** The first words of what a drawing is for those who do not see it. */
function titleOf(canvas: HTMLCanvasElement): string {
  const label = canvas.getAttribute("aria-label") ?? "drawing";
  return label.split(/[:.,]/, 1)[0]!;
}

export function saveCanvas(canvas: HTMLCanvasElement, kind: "png" | "svg"): void {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const recorder = new SvgContext(width, height);
  painted.get(canvas)!(recorder as unknown as CanvasRenderingContext2D, width, height);
  const text = recorder.text(palette().card);
  const name = `entrain-${canvas.dataset.testid ?? "drawing"}`;
  if (kind === "svg") saveSvg(name, text);
  else void savePng(name, text, width, height);
}
