/** What leaves the page: its drawings, the trajectory, the picture that is read. */

import { trajectoryCsv } from "../../core/csv";
import { hook, make } from "../../dom";
import { download, saveCsv } from "../../files";
import type { Outcome } from "../../run";
import { exportables, nameOf, saveDrawing } from "../exportable";
import { button } from "./controls";
import { saveButtons } from "./figure";

export class Takeaway {
  readonly root: HTMLElement;
  private readonly list = make("ul", { class: "takeaway-list" });
  private outcome: Outcome | null = null;

  constructor() {
    this.root = make(
      "details",
      { class: "takeaway", "data-testid": "takeaway" },
      make("summary", {}, "Save the page's drawings and trajectories"),
      this.list,
    );
    this.root.addEventListener("toggle", () => this.show());
  }

  /** The run that is shown now. */
  of(outcome: Outcome): void {
    this.outcome = outcome;
  }

  /** The list, made when it is opened: other drawings may be there. */
  private show(): void {
    const items = exportables().map(({ canvases, title }) => {
      const save = (kind: "png" | "svg") => () => saveDrawing(canvases, kind);
      const savers = { png: save("png"), svg: save("svg") };
      const name = `save-${nameOf(canvases[0]!)}`;
      return make("li", {}, make("span", {}, title), saveButtons(title, name, savers));
    });
    const trajectory = button("save-trajectory", "CSV", () => this.saveTrajectory(), {
      class: "tiny",
      "aria-label": "Save: phases, outputs and energy at every time",
    });
    this.list.replaceChildren(
      ...items,
      make("li", {}, make("span", {}, "Phases, outputs and energy at every time"), trajectory),
    );
    if (this.outcome?.model.preprocessing.kind !== "picture") return;
    const picture = button("save-picture", "PNG", () => savePicture(), {
      class: "tiny",
      "aria-label": "Save: the picture that is read",
    });
    const words = "The picture that is read, for entrain predict";
    this.list.append(make("li", {}, make("span", {}, words), picture));
  }

  private saveTrajectory(): void {
    if (this.outcome === null) return;
    const { rollout, model, physics } = this.outcome;
    saveCsv("entrain-trajectory", trajectoryCsv(rollout, model, physics.observationTime));
  }
}

function savePicture(): void {
  hook<HTMLCanvasElement>("input-preview").toBlob((blob) => {
    if (blob !== null) download("picture.png", blob);
  });
}
