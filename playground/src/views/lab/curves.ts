/** Accuracy against the time of reading, the temperature and the bits: three curves that follow the
 * page. */

import { numberOf } from "../../core/hardware/changes";
import { make } from "../../dom";
import type { Running } from "../../lab/chips";
import { AXES, measureCurves, type Curve } from "../../lab/curves";
import { Pool, type Subject } from "../../lab/pool";
import { button } from "./controls";
import { curveFigure } from "./curveFigure";
import { Figure } from "./figure";

const CHIPS = 3; // a curve is the mean over these
const TITLES = ["Time of reading", "Temperature", "Bits of the couplings"];
const FILES = ["curve-time", "curve-temperature", "curve-bits"];

export interface CurveOrder {
  subjects: Subject[];
  names: string[];
  running: Running;
  first: number; // seed of the first chip
}

export class Curves {
  readonly root = make("div", { class: "lab-curves" });
  private readonly figures = FILES.map((file, k) => new Figure(file, TITLES[k]!));
  private readonly row = make("div", { class: "curve-row" });
  private readonly draw: HTMLButtonElement;
  private readonly live = make("input", { type: "checkbox", "data-testid": "curves-live" });
  private readonly note = make("p", { class: "caption", "data-testid": "curves-note" });
  private shown: { curves: Curve[][]; order: CurveOrder } | null = null;
  private timer = 0;
  private wanted = false; // drawn once: from then on they follow

  private readonly pool: Pool; // of its own: chips are made beside the curves

  constructor(
    private readonly order: () => Promise<CurveOrder | null>,
    onProblem: (message: string) => void,
  ) {
    this.pool = new Pool(onProblem);
    this.live.checked = true;
    this.row.append(...this.figures.map(({ root }) => root));
    this.row.hidden = true; // until there is a curve
    this.draw = button("draw-curves", "Draw curves", () => void this.measure());
    this.root.append(
      make(
        "div",
        { class: "figure-head" },
        make("h3", {}, "Accuracy against one number"),
        make("label", { class: "check" }, this.live, " follow the page"),
        this.draw,
      ),
      this.note,
      this.row,
    );
    this.note.textContent =
      "Each curve changes one number and leaves the others as the chip has them. The dashed line is where the chip is.";
  }

  /** Something changed: draw again soon, where they were drawn. */
  changed(): void {
    if (!this.wanted || !this.live.checked) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.measure(), 500);
  }

  redraw(): void {
    for (const figure of this.figures) figure.redraw();
  }

  private async measure(): Promise<void> {
    const order = await this.order();
    if (order === null) return;
    this.wanted = true;
    this.pool.stop();
    const { subjects, running, first } = order;
    const seeds = Array.from({ length: CHIPS }, (_, k) => (first + k) % 2 ** 32);
    measureCurves(this.pool, subjects, running, seeds, (curves, done, all) => {
      this.shown = { curves, order };
      this.show(done, all);
    });
  }

  private show(done: number, all: number): void {
    const { curves, order } = this.shown!;
    const { hardware } = order.running;
    this.row.hidden = false;
    this.figures.forEach((figure, a) => {
      const axis = AXES[a]!;
      const now = axis.name === "time" ? 1 : (numberOf(hardware, axis.name) ?? null);
      figure.show(curveFigure(axis, curves[a]!, order.names, now));
    });
    const images = order.subjects[0]!.examples.labels.length;
    const progress = done < all ? `, ${Math.floor((100 * done) / all)} % done` : "";
    this.note.textContent = `Means over ${CHIPS} chips on ${images} test images${progress}. The dashed line is where the chip is.`;
  }
}
