/** State to run to views: every change of the state ends in one run per animation frame. */

import { EmptyImage, type Gallery, type Physics } from "./core";
import { Address, readAddress } from "./address";
import { hook, paintGrey, reducedMotion } from "./dom";
import { Models, loadGallery } from "./models";
import { inputOf, modelsOf, runAll, type Outcome } from "./run";
import {
  freshPhysics,
  initialState,
  protocolTitle,
  withCutToggled,
  withSilenceToggled,
  type AppState,
} from "./state";
import { say, speakLater } from "./views/announce";
import { createChoice, type Choice } from "./views/choice";
import { createGallery, labelName, type GalleryView } from "./views/gallery";
import { Oscillators } from "./views/oscillators";
import { createPad } from "./views/pad";
import type { Reading } from "./views/padReading";
import { Panel } from "./views/panel";
import { createPhysics } from "./views/physics";
import { startTheme } from "./views/theme";
import { Timeline } from "./views/timeline";
import { createUpload } from "./views/upload";
import { Verdict } from "./views/verdict";

export class App {
  private state: AppState = readAddress() ?? initialState();
  private last: AppState | null = null; // of the last run that succeeded
  private outcomes: Outcome[] = [];
  private waiting = false;
  private restart = false;
  private gallery: Gallery = new Map();
  private galleryView: GalleryView | null = null; // until the gallery is here nothing runs

  private readonly models = new Models();
  private readonly address = new Address(() => this.state);
  private readonly choice = createChoice((choice) => this.choose(choice));
  private readonly pad = createPad((reading, done) => this.draw(reading, done));
  private readonly physics = createPhysics({
    onChange: (change) => this.setPhysics({ ...this.state.physics, ...change }),
    onEnsemble: (ensemble) => this.set({ ensemble }),
    onReset: () => this.set({ physics: freshPhysics(), ensemble: false }),
  });
  private readonly timeline = new Timeline((fraction, at, still) =>
    this.showTime(fraction, at, still),
  );
  private readonly oscillators = new Oscillators({
    onSelect: (i) => this.set({ selected: i === this.state.selected ? null : i }),
    onCut: (a, b) => this.setPhysics(withCutToggled(this.state.physics, a, b)),
    onSilence: (i) => this.setPhysics(withSilenceToggled(this.state.physics, i)),
  });
  private readonly panels = ["", "-other"].map(
    (suffix) => new Panel(suffix, (t) => this.timeline.seek(t)),
  );
  private readonly verdicts = ["", "-other"].map((suffix) => new Verdict(suffix));

  async start(): Promise<void> {
    startTheme(() => this.show());
    createUpload((pixels) => {
      this.pad.show(null);
      say("Your picture, prepared as the MNIST digits were.");
      this.set({ picture: { kind: "uploaded", pixels } }, true);
    });
    hook("pad-edit").addEventListener("click", () => {
      if (this.last === null) return;
      this.pad.show(inputOf(this.last, this.gallery).pixels);
      say("The input is on the pad: erase or add to it.");
    });
    addEventListener("hashchange", () => this.restore());
    this.choice.show(this.state);
    const models = Promise.all(modelsOf(this.state).map((name) => this.models.load(name)));
    this.gallery = await loadGallery();
    this.galleryView = createGallery(this.gallery, (dataset, index) => {
      this.pad.show(null);
      this.set({ dataset, picture: { kind: "gallery", index } }, true);
      this.describe();
    });
    await models;
    if (!hook("message").classList.contains("problem")) this.describe();
    this.showPicture();
    if (reducedMotion()) this.timeline.seek(1);
    this.run(!reducedMotion());
  }

  private set(change: Partial<AppState>, restart = false): void {
    this.state = { ...this.state, ...change };
    this.address.save();
    this.schedule(restart);
  }

  private setPhysics(physics: Physics): void {
    this.set({ physics });
  }

  private choose(choice: Choice): void {
    this.set(choice, choice.dataset !== undefined);
    if (choice.dataset !== undefined) this.describe();
  }

  private draw(reading: Reading, done: boolean): void {
    if ("pixels" in reading) {
      this.timeline.seek(1);
      say("Your drawing.");
      this.set({ picture: { kind: "drawn", pixels: reading.pixels } });
    } else if (done) {
      const dot = reading.problem === "dot" ? "That is only a dot. " : "";
      say(`${dot}${this.invitation()} to begin; the last picture stays.`, "problem");
    }
  }

  private restore(): void {
    const state = readAddress();
    if (state === null) return;
    this.state = state;
    this.describe();
    this.showPicture();
    this.schedule(true);
  }

  /** A drawing goes back onto the pad; other pictures leave it empty. */
  private showPicture(): void {
    const { picture } = this.state;
    this.pad.show(picture.kind === "drawn" ? picture.pixels : null);
  }

  private schedule(restart: boolean): void {
    this.restart ||= restart;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const again = this.restart;
      this.restart = false;
      this.run(again);
    });
  }

  private run(restart: boolean): void {
    if (this.galleryView === null) return;
    const { state } = this;
    const names = modelsOf(state);
    const models = names
      .map((name) => this.models.get(name))
      .filter((model) => model !== undefined);
    if (models.length < names.length) {
      this.fetch(names);
      return;
    }
    const before = performance.now();
    try {
      this.outcomes = runAll(state, models, inputOf(state, this.gallery));
    } catch (error) {
      if (!(error instanceof EmptyImage)) throw error;
      say("This picture has one colour only; the last one stays.", "problem");
      if (this.last !== null) this.state = { ...state, picture: this.last.picture };
      return;
    }
    hook("run-time").textContent = `last run ${(performance.now() - before).toFixed(1)} ms`;
    this.last = state;
    this.show();
    if (restart && !reducedMotion()) this.timeline.play(true);
    else if (restart) this.timeline.seek(1);
  }

  /** The models that are missing, then the run; without them the last choice comes back. */
  private fetch(names: string[]): void {
    this.choice.show(this.state);
    Promise.all(names.map((name) => this.models.load(name))).then(
      () => this.schedule(false),
      () => {
        say("This network could not be loaded. Is the connection gone?", "problem");
        if (this.last === null) return;
        const { dataset, protocol, compare, picture } = this.last;
        this.state = { ...this.state, dataset, protocol, compare, picture };
        this.schedule(false);
      },
    );
  }

  private show(): void {
    const { state, outcomes } = this;
    if (outcomes.length === 0) return;
    const input = inputOf(state, this.gallery);
    paintGrey(hook<HTMLCanvasElement>("input-preview"), input.pixels);
    this.choice.show(state);
    this.physics.show(state.physics, state.ensemble);
    this.galleryView?.mark(
      state.dataset,
      state.picture.kind === "gallery" ? state.picture.index : null,
    );
    this.pad.hint(this.invitation());
    document.body.classList.toggle("comparing", outcomes.length > 1);
    this.panels.forEach((panel, i) => {
      const outcome = outcomes[i];
      panel.hidden = this.verdicts[i].hidden = outcome === undefined;
      if (outcome === undefined) return;
      const { model, rollout, winner, doubt } = outcome;
      const title = protocolTitle(outcome.protocol);
      panel.show(outcomes.length > 1 ? title : null, rollout, model, winner);
      this.verdicts[i].show(title, rollout, model.classNames, winner, input.truth, doubt);
    });
    const [{ model, winner, rollout, doubt }] = outcomes;
    this.oscillators.show(state, outcomes[0]);
    this.timeline.setSteps(rollout.steps);
    speakLater(`Read as ${model.classNames[winner]}${doubt === null ? "" : `, unsure: ${doubt}`}.`);
  }

  private showTime(fraction: number, at: number, still: boolean): void {
    if (this.outcomes.length === 0) return;
    for (const panel of this.panels) panel.at(fraction);
    this.oscillators.at(at, still);
  }

  private invitation(): string {
    return this.state.dataset === "mnist" ? "Draw a digit" : "Draw a piece of clothing";
  }

  private describe(): void {
    const { picture, dataset } = this.state;
    if (picture.kind !== "gallery") {
      say(picture.kind === "drawn" ? "Your drawing." : "Your picture.");
      return;
    }
    const image = this.gallery.get(dataset)?.[picture.index];
    if (image === undefined) return;
    say(
      `Test image ${image.index}: ${labelName(dataset, image.label)}. ${this.invitation()} to begin.`,
    );
  }
}
