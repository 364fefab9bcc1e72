/** A drawing of the lab: as wide as its place, redrawn when that changes, and saved as PNG, SVG and
 * CSV. */

import { make, makeSvg } from "../../dom";
import { saveCsv, savePng, saveSvg, sizeOf, svgText } from "../../files";
import { palette } from "../theme";

export const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export interface FigureContent {
  height: number;
  label: string; // what is seen, in words
  csv(): string;
  paint(drawing: SVGSVGElement, width: number): void;
}

export class Figure {
  readonly root: HTMLElement;
  private readonly place = make("div", { class: "drawing-place" });
  private readonly tools: HTMLElement;
  private content: FigureContent | null = null;
  private drawing: SVGSVGElement | null = null;
  private readonly heading: HTMLElement;
  private width = 0;

  /** `name` is that of its files, and of its hooks. */
  constructor(
    private readonly name: string,
    title: string,
  ) {
    this.tools = saveButtons(title, name, {
      png: () => this.save(true),
      svg: () => this.save(false),
      csv: () => saveCsv(this.fileName, this.content!.csv()),
    });
    this.tools.hidden = true;
    this.heading = make("h3", {}, title);
    const head = make("div", { class: "figure-head" }, this.heading, this.tools);
    this.root = make("div", { class: "figure" }, head, this.place);
    new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width) this.redraw();
    }).observe(this.place);
  }

  set title(words: string) {
    this.heading.textContent = words;
  }

  show(content: FigureContent | null): void {
    this.content = content;
    this.tools.hidden = content === null;
    this.redraw();
  }

  /** In the colours of now. */
  redraw(): void {
    this.width = this.place.clientWidth;
    if (this.content === null || this.width === 0) {
      if (this.content === null) this.place.replaceChildren();
      return;
    }
    const { height, label, paint } = this.content;
    const drawing = makeSvg("svg", {
      viewBox: `0 0 ${this.width} ${height}`,
      width: this.width,
      height,
      role: "img",
      "aria-label": label,
      "data-testid": this.name,
      "font-family": FONT_FAMILY,
      "font-size": 11,
    });
    paint(drawing, this.width);
    this.drawing = drawing;
    this.place.replaceChildren(drawing);
  }

  private get fileName(): string {
    return `entrain-${this.name}`;
  }

  private save(asPng: boolean): void {
    if (this.drawing === null) return;
    const text = svgText(this.drawing, palette().card);
    const { width, height } = sizeOf(this.drawing);
    if (asPng) void savePng(this.fileName, text, width, height);
    else saveSvg(this.fileName, text);
  }
}

export interface Savers {
  png(): void;
  svg(): void;
  csv?(): void;
}

/** Small buttons "PNG", "SVG", "CSV" that save what has this title. */
export function saveButtons(title: string, name: string, savers: Savers): HTMLElement {
  const group = make("span", { class: "savers", role: "group", "aria-label": `Save: ${title}` });
  for (const kind of ["png", "svg", "csv"] as const) {
    const save = savers[kind];
    if (save === undefined) continue;
    const button = make(
      "button",
      {
        type: "button",
        class: "tiny",
        "data-testid": `${name}-${kind}`,
        title: `Save as ${kind.toUpperCase()}`,
      },
      kind.toUpperCase(),
    );
    button.addEventListener("click", () => save());
    group.append(button);
  }
  return group;
}
