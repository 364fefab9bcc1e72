/** The input and the controls of the reader: they report changes of the state, and show that of the run
 * on the screen. */

import { testImages, type Gallery, type Model, type Shape } from "./core";
import { hook, paintGrey } from "./dom";
import { inputOf, type Outcome } from "./run";
import type { Then } from "./scene";
import { DATASETS, freshSettings, healed, type AppState, type Dataset, type Network, type Settings } from "./state";
import { say } from "./views/announce";
import { createChip } from "./views/chip";
import { createChoice, type ChoiceView } from "./views/choice";
import { createGallery, type GalleryView } from "./views/gallery";
import { createPad } from "./views/pad";
import type { Reading } from "./views/padReading";
import { createPhysics } from "./views/physics";
import { createRow } from "./views/row";
import { showTitle } from "./views/title";
import { createUpload } from "./views/upload";
import { fillsFrame, invitation } from "./words";

/** Hardware without anything set by hand. */
export const AS_IT_IS = { temperature: null, mismatch: null, couplingBits: null, changes: {} };

export interface ControlEvents {
  state(): AppState;
  set(change: Partial<AppState>, then?: Then): void;
  /** Of the pictures that are read, or null where rows are. */
  shape(): Shape | null;
  onDraw(reading: Reading, done: boolean): void;
  onChoose(choice: Partial<Network>): void;
  onPick(dataset: Dataset, index: number): void;
  onDrop(file: File): void;
  onReplay(): void;
}

export class Controls {
  readonly pad = createPad((reading, done) => this.events.onDraw(reading, done));
  private readonly row = createRow((values) => this.events.set({ picture: { kind: "row", values } }, "end"));
  private readonly physics = createPhysics({
    onChange: (change) => this.setPhysics(change, "end"),
    onNoise: (seed) => this.setPhysics({ seed }),
    onEnsemble: (ensemble) => this.events.set({ ensemble }),
    onReset: () =>
      this.events.set({ physics: freshSettings(), ensemble: false, damage: healed(this.events.state()) }),
  });
  private readonly chip = createChip({
    // A kind comes as it is: what was set by hand on the last one goes.
    onKind: (kind) => this.setPhysics({ ...AS_IT_IS, kind }),
    onChange: (changes) => this.setPhysics({ changes }),
    onChip: (chip) => this.setPhysics({ chip }),
  });
  private choice: ChoiceView | null = null;
  private galleryView: GalleryView | null = null;

  constructor(private readonly events: ControlEvents) {
    createUpload(
      () => events.shape(),
      (pixels) => {
        this.pad.show(null);
        say("Your picture, prepared as the MNIST digits were.");
        events.set({ picture: { kind: "uploaded", pixels } });
      },
      (file) => events.onDrop(file),
    );
    // While a slider moves the end is shown at once; when it is let go, the run plays.
    for (const place of [hook("row"), document.querySelector(".physics")!]) {
      place.addEventListener("change", () => events.onReplay());
    }
  }

  /** The networks and the test images are here. */
  fill(given: string[], gallery: Gallery): void {
    this.choice = createChoice(given, (choice) => this.events.onChoose(choice));
    this.galleryView = createGallery(gallery, (dataset, index) => this.events.onPick(dataset, index));
  }

  get filled(): boolean {
    return this.galleryView !== null;
  }

  /** The networks that are chosen by name. */
  list(given: string[]): void {
    this.choice?.list(given);
  }

  showChoice(network: Network, model: Model | null): void {
    this.choice?.show(network, model);
  }

  /** Titles and inputs of a network's shape. */
  adapt(model: Model, given: boolean): void {
    const { preprocessing } = model;
    const pictures = preprocessing.kind === "picture";
    showTitle(model);
    hook("draw").hidden = hook("pictures").hidden = !pictures;
    hook("row").hidden = pictures;
    this.pad.centre(!fillsFrame(model), given);
    if (pictures) this.pad.shape(preprocessing);
    else this.row.features(preprocessing);
    this.pad.hint(invitation(model));
  }

  /** Everything as it was in the run that is shown, of the network `itself` on a chip. */
  show(state: AppState, { model, physics }: Outcome, itself: Model, gallery: Gallery): void {
    const input = inputOf(state, model, gallery);
    if (model.preprocessing.kind === "picture") {
      const { rows, columns } = model.preprocessing;
      const preview = hook<HTMLCanvasElement>("input-preview");
      paintGrey(preview, input.values, model.preprocessing);
      preview.setAttribute("aria-label", `The ${rows} by ${columns} input`);
    } else this.row.show(Float64Array.from(input.values));
    this.showChoice(state, model);
    this.chip.show(state.physics, physics, itself);
    this.physics.show(physics, state.ensemble, model);
    const tested = testImages(gallery, model).length > 0 ? [model.dataset] : [];
    this.galleryView?.show(
      state.given === null ? DATASETS : tested,
      model.dataset,
      state.picture.kind === "gallery" ? state.picture.index : null,
    );
  }

  private setPhysics(change: Partial<Settings>, then: Then = "play"): void {
    this.events.set({ physics: { ...this.events.state().physics, ...change } }, then);
  }
}
