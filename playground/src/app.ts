/** State to run to views: every change of the state ends in a run, and every run is
 * played from its start, so that one sees it decide. */

import { UnfitInput, testImages, type Gallery, type Model, type Shape } from "./core";
import { Engine, type Finished } from "./engine/engine";
import { Address, addressTime, isEmpty } from "./address";
import { IDEAL, UnfitChip } from "./chips";
import { AS_IT_IS, Controls } from "./controls";
import { hook } from "./dom";
import { Landscapes } from "./landscapes";
import { Later } from "./later";
import { Models, loadGallery, loadModels, loadTestImages } from "./models";
import { Opening } from "./opening";
import { createPages } from "./otherPages";
import { pageOf } from "./pages";
import { inputOf, testInputs, type Outcome } from "./run";
import {
  FIRST_NETWORK,
  damageOf,
  networkKeys,
  stateOf,
  withCutToggled,
  withDamage,
  withSilenceToggled,
  type AppState,
  type Damage,
  type Dataset,
  type Network,
  type Settings,
} from "./state";
import { Scene, type Then } from "./scene";
import { say } from "./views/announce";
import { Lab, counterparts } from "./views/lab/lab";
import type { Reading } from "./views/padReading";
import { startTerms } from "./views/terms";
import { startTheme } from "./views/theme";
import { tourActs } from "./tourActs";
import { startTour } from "./views/tour";
import { describe, invitation } from "./words";

export class App {
  private state: AppState = stateOf(FIRST_NETWORK, { kind: "bar" });
  private last: AppState | null = null; // of the last run that succeeded
  private outcomes: Outcome[] = [];
  private waiting = false;
  private then: Then = "stay"; // after the next run
  private asked = 0; // counts the runs
  private ended = 0; // the last of them that has
  private entering = 0; // counts the networks asked for: the last one wins
  private gallery: Gallery = new Map();
  private models = new Models([]);
  private opening = new Opening(this.models, this.gallery, () => false); // until both are there

  private readonly later = new Later(
    () => this.running,
    () => this.settle(),
  );
  private readonly landscapes = new Landscapes((landscape) => this.scene.explore(landscape));
  private readonly engine = new Engine((model, landscape) => this.landscapes.come(model, landscape));
  private readonly address = new Address(
    () => this.state,
    () => this.scene.position,
  );
  private readonly controls = new Controls({
    state: () => this.state,
    set: (change, then) => this.set(change, then),
    shape: () => this.shape,
    onDraw: (reading, done) => this.draw(reading, done),
    onChoose: (choice) => this.choose(choice),
    onPick: (dataset, index) => this.pick(dataset, index),
    onDrop: (file) => void this.drop(file),
    onReplay: () => this.replay(),
  });
  private readonly scene = new Scene({
    onSelect: (i, toggle) => this.select(toggle && i === this.state.selected ? null : i),
    onCut: (a, b) => this.setDamage(withCutToggled(damageOf(this.state), a, b)),
    onSilence: (i) => this.setDamage(withSilenceToggled(damageOf(this.state), i)),
  }, this.later);

  private readonly pages = createPages({
    write: () => this.address.write(),
    open: (file) => this.drop(file),
  });
  private showTour: () => void = () => undefined;
  private lab: Lab | null = null;

  async start(): Promise<void> {
    startTheme(() => {
      this.show();
      this.lab?.redraw();
      this.pages.redraw();
    });
    this.pages.show(pageOf(location.hash));
    this.showTour = startTour(
      tourActs({
        state: () => this.state,
        outcome: () => this.outcomes[0] ?? null,
        draw: (points) => this.controls.pad.trace(points),
        play: () => this.replay(),
        setDamage: (damage) => this.setDamage(damage),
        setPhysics: (physics) => this.setPhysics(physics),
      }),
    );
    startTerms();
    hook("pad-edit").addEventListener("click", () => {
      if (this.last === null || this.shape === null) return;
      this.controls.pad.show(Uint8Array.from(inputOf(this.last, this.outcomes[0].model, this.gallery).values));
      say("The input is on the pad: erase or add to it.");
    });
    const gallery = loadGallery();
    this.models = await loadModels();
    if (isEmpty(location.hash)) {
      // Beside the gallery; if it fails, `enter` says why.
      this.models.load({ ...FIRST_NETWORK, ...this.models.first }).catch(() => undefined);
    }
    this.gallery = await gallery;
    this.opening = new Opening(this.models, this.gallery, () => this.last !== null);
    this.controls.fill(this.models.given, this.gallery);
    addEventListener("hashchange", () => this.follow());
    await this.enter(this.opening.first(), addressTime() ?? "play");
    setTimeout(() => this.mountLab()); // the verdict comes first
  }

  /** The address is another: by hand, from a link, or back in the history. */
  private follow(): void {
    const page = pageOf(location.hash);
    this.pages.show(page);
    if (page !== "read") return;
    const coming = isEmpty(location.hash) ? this.opening.first() : this.opening.linked();
    void this.enter(coming, addressTime() ?? "play");
  }

  /** Chips by the hundred, of the network and the hardware that are shown. */
  private mountLab(): void {
    this.lab = new Lab(hook("lab"), {
      load: (name) => this.models.named(name),
      others: (model) => counterparts(this.models.shipped(model.dataset), model),
      images: loadTestImages,
    });
    this.showLab();
  }

  private showLab(): void {
    const [model] = (this.last && this.models.get(this.last)) ?? [];
    const [outcome] = this.outcomes;
    if (model !== undefined && outcome !== undefined) {
      this.lab?.show({ model, physics: outcome.physics, outcome });
    }
  }

  /** Another network, or the same from a link: all views take its sizes. */
  private async enter(coming: Promise<AppState | null>, then: Then = "play"): Promise<void> {
    const turn = ++this.entering;
    const state = await coming;
    if (turn !== this.entering) return;
    if (state === null) {
      this.controls.showChoice(this.state, this.outcomes[0]?.model ?? null);
      return;
    }
    const [model] = await this.models.load(state);
    if (turn !== this.entering) return;
    this.state = state;
    this.controls.adapt(model, state.given !== null);
    this.showTour();
    if (!hook("message").classList.contains("problem") || this.last !== null) this.describe(model);
    this.controls.pad.show(state.picture.kind === "drawn" ? state.picture.pixels : null);
    this.run(then);
  }

  /** Of the pictures that are read, or null where rows are. */
  private get shape(): Shape | null {
    const preprocessing = this.outcomes[0]?.model.preprocessing;
    return preprocessing?.kind === "picture" ? preprocessing : null;
  }

  private set(change: Partial<AppState>, then: Then = "play"): void {
    if (this.last === null) return; // nothing is shown yet that could be changed
    this.state = { ...this.state, ...change };
    this.address.save();
    this.schedule(then);
  }

  private setPhysics(physics: Settings, then: Then = "play"): void {
    this.set({ physics }, then);
  }

  /** The run from its start, when it is there. */
  private replay(): void {
    if (document.body.hasAttribute("aria-busy")) this.schedule("play");
    else this.scene.replay();
  }

  /** Of the network that is chosen: another has its own. */
  private setDamage(damage: Damage): void {
    const [key] = networkKeys(this.state);
    this.set({ damage: withDamage(this.state.damage, key!, damage) });
  }

  /** The oscillator in the inspector: nothing has to run for it. */
  private select(selected: number | null): void {
    if (this.last === null) return;
    this.state = { ...this.state, selected };
    this.last = { ...this.last, selected };
    this.address.save();
    this.scene.select(this.last);
  }

  private choose(choice: Partial<Network>): void {
    if (choice.given !== undefined) {
      const opened = this.opening.network({ ...this.state, ...choice });
      void this.enter(this.opening.orProblem(opened)).then(() => this.address.save());
      return;
    }
    this.entering++;
    this.set(choice);
  }

  /** A network of the visitor's own. */
  private async drop(file: File): Promise<void> {
    const name = await this.opening.orProblem(this.models.drop(file));
    if (name === null) return;
    this.controls.list(this.models.given);
    this.choose({ given: name });
  }

  private pick(dataset: Dataset, index: number): void {
    this.controls.pad.show(null);
    const change = this.state.given === null ? { dataset } : {};
    this.set({ ...change, picture: { kind: "gallery", index } });
  }

  private draw(reading: Reading, done: boolean): void {
    const model = this.outcomes[0]?.model;
    if ("pixels" in reading) {
      say("Your drawing.");
      this.set({ picture: { kind: "drawn", pixels: reading.pixels } }, done ? "play" : "start");
    } else if (done && model !== undefined) {
      const dot = reading.problem === "dot";
      const words = `${dot ? "That is only a dot. " : ""}${invitation(model)} to begin; the last picture stays.`;
      say(words, dot ? "problem" : "note");
    }
  }

  private schedule(then: Then): void {
    if (this.then !== "play" || then !== "stay") this.then = then;
    document.body.setAttribute("aria-busy", "true");
    if (this.waiting) return;
    this.waiting = true;
    // At once, not with the next frame: the engine itself runs one at a time.
    queueMicrotask(() => {
      this.waiting = false;
      const next = this.then;
      this.then = "stay";
      this.run(next);
    });
  }

  private run(then: Then): void {
    if (!this.controls.filled) return; // until the gallery is here nothing runs
    const { state } = this;
    const models = this.models.get(state);
    if (models === null) {
      this.fetch(state, then);
      return;
    }
    const turn = ++this.asked;
    this.engine
      .run(state, models, inputOf(state, models[0]!, this.gallery))
      .then((finished) => finished && this.finish(finished, models, then))
      .catch((error: unknown) => this.refuse(error, state, then))
      .finally(() => {
        this.ended = Math.max(this.ended, turn);
        this.settle();
      });
  }

  /** Nothing runs or waits to be shown. */
  private settle(): void {
    if (!this.running && this.later.empty) document.body.removeAttribute("aria-busy");
  }

  /** A run is under way, or comes. */
  private get running(): boolean {
    return this.waiting || this.ended !== this.asked;
  }

  /** What came of a run is shown. */
  private finish(finished: Finished, models: Model[], then: Then): void {
    const { state, outcomes, milliseconds } = finished;
    const { last } = this;
    const model = models[0]!;
    this.outcomes = outcomes;
    this.last = { ...state, selected: this.state.selected };
    if (last !== null && state.picture.kind === "gallery") {
      if (last.picture !== state.picture || last.dataset !== state.dataset) this.describe(model);
    }
    if (last?.dataset !== state.dataset) {
      this.controls.pad.hint(invitation(model));
      this.showTour();
    }
    if (then !== "end") this.later.clear();
    this.show(then);
    const tell = (): void => {
      hook("run-time").textContent = `last run ${milliseconds.toFixed(1)} ms`;
      this.showLab();
    };
    if (then === "end") this.later.put("lab", tell);
    else tell();
  }

  /** A run that could not be: the chip or the input goes back. */
  private refuse(error: unknown, state: AppState, then: Then): void {
    if (error instanceof UnfitChip) {
      say(`This network runs as the ideal one: ${error.message}.`, "problem");
      this.state = { ...this.state, physics: { ...this.state.physics, ...AS_IT_IS, kind: IDEAL } };
      this.address.save();
      this.schedule(then);
      return;
    }
    if (!(error instanceof UnfitInput)) throw error;
    say(`${error.message}; the last one stays.`, "problem");
    const { last } = this;
    if (last === null || this.state.picture !== state.picture) return;
    this.state = { ...this.state, picture: last.picture };
  }

  /** The models that are missing, then the run; without them the last choice comes back. */
  private fetch(network: Network, then: Then): void {
    this.controls.showChoice(network, null);
    this.models.load(network).then(
      () => this.schedule(then),
      (error: unknown) => {
        this.opening.explain(error);
        if (this.last === null) return;
        const { given, dataset, protocol, compare, picture } = this.last;
        this.state = { ...this.state, given, dataset, protocol, compare, picture };
        this.schedule("stay");
      },
    );
  }

  private show(then: Then = "stay"): void {
    const { last: state, outcomes } = this;
    if (outcomes.length === 0 || state === null) return;
    const [first] = outcomes;
    const { model } = first!;
    const [itself] = this.models.get(state) ?? [model];
    const input = inputOf(state, model, this.gallery);
    this.scene.show(state, outcomes, input.truth, then);
    const showControls = (): void => {
      const { physics, picture } = this.state;
      const movedOn = physics !== state.physics || picture !== state.picture;
      if (!movedOn || !this.running) this.controls.show(state, first!, itself!, this.gallery); // else their own run comes
    };
    if (then === "end") this.later.put("controls", showControls);
    else showControls();
    const tests = testInputs(this.gallery, itself!);
    this.landscapes.look(itself!, tests, input, (inputs) => this.engine.explore(itself!, inputs));
  }

  private describe(model: Model): void {
    say(describe(this.state.picture, model, testImages(this.gallery, model)));
  }
}
