/** The lab: a network, and another beside it, on many chips of the kind that the page has. */

import { IDEAL, hardwareNamed, kindsOf } from "../../chips";
import { inputsOf, testImages, type Gallery, type Hardware, type Model, type Physics } from "../../core";
import { kindOf } from "../../core/hardware/realise";
import { unfit } from "../../core/yield";
import { make } from "../../dom";
import { makeChips, type Batch, type Running } from "../../lab/chips";
import { evaluateCommand, isIdeal, isSame, yieldCommand } from "../../lab/commands";
import { Pool, type Subject } from "../../lab/pool";
import type { Outcome } from "../../run";
import { Commands } from "./commands";
import { confusion } from "./confusion";
import { button, chooser, setOptions } from "./controls";
import { Curves, type CurveOrder } from "./curves";
import { Figure } from "./figure";
import { histogram } from "./histogram";
import { YieldTable } from "./table";
import { Takeaway } from "./takeaway";
import "./lab.css";

const ALONE = "";
const ABOVE = ""; // the chip that the page has
const USUAL = "typical"; // where the page has the ideal one
const IMAGES = ["100", "200", "50"];
const CHIPS = ["100", "10", "1000"];

export interface LabEvents {
  /** A shipped network by its name. */
  load(name: string): Promise<Model>;
  /** The names of networks that read what this one reads, the one to stand beside it first. */
  others(model: Model): string[];
  images(): Promise<Gallery>;
}

/** What the page shows: its first network and the physics. */
export interface Shown {
  model: Model;
  physics: Physics;
  outcome: Outcome;
}

/** What was measured, and of what. */
interface Measured {
  batch: Batch;
  names: string[];
  cards: (number | null)[]; // measured on such chips and the whole test set
  classNames: string[];
  of: string; // `keyOf` the settings
}

export class Lab {
  private readonly pool = new Pool((message) => this.problem(message));
  private readonly kind = chooser("lab-kind", "Chips", [], () => {
    this.chosen = true;
    this.follow();
  });
  private readonly beside = chooser("lab-beside", "Beside it", [], () => this.follow());
  private readonly many = chooser("lab-chips", "How many", asOptions(CHIPS), () => this.follow());
  private readonly images = chooser("lab-images", "Test images", asOptions(IMAGES), () => this.follow());
  private readonly make = button("make-chips", "", () => void this.start(), { class: "primary" });
  private readonly stopper = button("stop-chips", "Stop", () => this.stop());
  private readonly threshold = make("input", {
    type: "range",
    id: "lab-threshold",
    "data-testid": "threshold",
    min: "0",
    max: "100",
    step: "0.5",
    value: "95",
  });
  private readonly thresholdWords = make("output", { for: "lab-threshold" });
  private readonly status = make("p", { class: "caption", role: "status", "data-testid": "lab-status" });
  private readonly bars = new Figure("histogram", "Chips by accuracy");
  private readonly table = new YieldTable();
  private readonly matrices = ["confusion", "confusion-other"].map((name) => new Figure(name, "What is read as what, %"));
  private readonly curves = new Curves(() => this.order(kindOf(this.shown!.physics)), (message) => this.problem(message));
  private readonly commands = new Commands({
    "yield-command": "These chips on the whole test set",
    "evaluate-command": "The page's own chip on the whole test set",
  });
  private readonly takeaway = new Takeaway();
  private readonly results = make("div", { class: "lab-results" });
  private readonly body = make("div", { class: "lab-body" });
  private readonly absent = make("p", { class: "caption", "data-testid": "lab-absent" });

  private shown: Shown | null = null;
  private measured: Measured | null = null;
  private running = false;
  private chosen = false; // the visitor has chosen the chips
  private turn = 0; // of starting and stopping
  private key = "";
  private readonly subjects = new WeakMap<Model, Map<number, Subject>>();

  constructor(
    root: HTMLElement,
    private readonly events: LabEvents,
  ) {
    this.threshold.addEventListener("input", () => this.draw());
    this.stopper.hidden = true;
    const slider = make(
      "div",
      { class: "threshold" },
      make("label", { for: "lab-threshold" }, "A good chip has at least"),
      this.threshold,
      this.thresholdWords,
    );
    this.results.append(
      make("div", { class: "lab-yield" }, this.bars.root, slider, this.table.root),
      ...this.matrices.map((figure) => figure.root),
    );
    this.results.hidden = true;
    const choices = [this.kind, this.beside, this.many, this.images].map((each) => each.root);
    this.body.append(
      make("div", { class: "lab-choices" }, ...choices, this.make, this.stopper),
      this.status,
      this.results,
      this.curves.root,
    );
    root.append(
      make("h2", {}, "Make chips: how many of them work?"),
      make(
        "p",
        { class: "caption" },
        "No two chips are alike. Each is drawn with its own mismatch and its own dead parts; the network is put on it as it is and reads test images.",
      ),
      this.absent,
      this.body,
      this.commands.root,
      this.takeaway.root,
    );
  }

  /** The page changed. */
  show(shown: Shown): void {
    const { model, physics } = shown;
    if (this.shown?.model !== model) this.adopt(model);
    this.shown = shown;
    this.takeaway.of(shown.outcome);
    const ideal = isIdeal(kindOf(physics));
    setOptions(this.kind.select, [
      [ABOVE, "the chip above", ideal],
      ...kindsOf(model)
        .filter(({ name }) => name !== IDEAL)
        .map(({ name, misfit }): [string, string, boolean] => [
          name,
          misfit === null ? name : `${name} (${misfit})`,
          misfit !== null,
        ]),
    ]);
    const { select } = this.kind;
    if (!this.chosen || (ideal && select.value === ABOVE)) select.value = ideal ? USUAL : ABOVE;
    this.follow();
  }

  /** New colours. */
  redraw(): void {
    this.draw();
    this.curves.redraw();
  }

  private adopt(model: Model): void {
    const others = this.events.others(model);
    setOptions(this.beside.select, [
      ...others.map((name): [string, string] => [name, name]),
      [ALONE, "nothing"],
    ]);
    this.beside.select.value = others[0] ?? ALONE;
  }

  private follow(): void {
    if (this.shown === null) return;
    const { model, physics } = this.shown;
    const pictures = model.preprocessing.kind === "picture" && this.events.others(model).length > 0;
    this.body.hidden = !pictures;
    this.absent.hidden = pictures;
    this.absent.textContent = `There are no test images of ${model.dataset} on this page. The package measures them: entrain yield.`;
    const key = this.keyOf(this.shown);
    if (key === this.key) return;
    this.key = key;
    this.make.textContent = `Make ${Number(this.many.select.value).toLocaleString("en")} chips`;
    this.commands.show("yield-command", this.yieldCommand());
    const evaluated = { ...this.commandFacts(), hardware: kindOf(physics) };
    this.commands.show("evaluate-command", evaluateCommand(evaluated, physics.chip));
    if (this.running) this.stop();
    this.say();
    this.curves.changed();
  }

  /** The chips that are made: the page's own, or of the kind that was chosen. */
  private hardware(): Hardware {
    const { model, physics } = this.shown!;
    const { value } = this.kind.select;
    return value === ABOVE ? kindOf(physics) : hardwareNamed(value, model);
  }

  private keyOf({ model, physics }: Shown): string {
    const { cut: _, silenced: __, ...rest } = physics; // chips are made whole
    const choices = [this.kind, this.beside, this.many, this.images].map(({ select }) => select.value);
    return JSON.stringify([model.name, model.dataset, rest, choices]);
  }

  private commandFacts() {
    const { model, physics } = this.shown!;
    return { model: model.name, madeFor: model.madeFor, noiseSeed: physics.seed };
  }

  private yieldCommand(): string {
    const { physics } = this.shown!;
    const facts = { ...this.commandFacts(), hardware: this.hardware() };
    const chips = Number(this.many.select.value);
    return yieldCommand(facts, chips, physics.chip, Number(this.threshold.value));
  }

  /** The networks to measure, each with the images; null where one does not fit the chips. */
  private async order(hardware: Hardware): Promise<CurveOrder | null> {
    const { model, physics } = this.shown!;
    const other = this.beside.select.value;
    const models = [model, ...(other === ALONE ? [] : [await this.events.load(other)])];
    for (const each of models) {
      const reason = unfit(each, hardware);
      if (reason !== null) {
        this.problem(`${each.name} cannot be put on this chip: ${reason}`);
        return null;
      }
    }
    const gallery = await this.events.images();
    const running: Running = {
      hardware,
      noiseSeed: physics.seed,
      observationTime: physics.observationTime / model.observationTime,
      steps: physics.steps / model.steps,
    };
    const count = Number(this.images.select.value);
    const subjects = models.map((each) => this.subjectOf(each, gallery, count));
    return { subjects, names: models.map(({ name }) => name), running, first: physics.chip };
  }

  private subjectOf(model: Model, gallery: Gallery, count: number): Subject {
    const kept = this.subjects.get(model) ?? new Map<number, Subject>();
    this.subjects.set(model, kept);
    let found = kept.get(count);
    if (found === undefined) {
      const all = testImages(gallery, model);
      const every = Math.max(1, Math.floor(all.length / count));
      const chosen = all.filter((_, k) => k % every === 0).slice(0, count);
      const inputs = chosen.map(({ pixels }) => inputsOf(model, pixels));
      found = { model, examples: { inputs, labels: chosen.map(({ label }) => label) } };
      kept.set(count, found);
    }
    return found;
  }

  private async start(): Promise<void> {
    const of = this.key;
    const turn = ++this.turn;
    this.running = true;
    this.measured = null;
    this.say();
    const order = await this.order(this.hardware());
    if (order === null || of !== this.key || turn !== this.turn) return; // stopped meanwhile
    this.pool.stop();
    const { subjects, names, running, first } = order;
    const classNames = subjects[0]!.model.classNames;
    const cards = subjects.map((subject) => cardOn(running.hardware, subject.model));
    makeChips(this.pool, subjects, running, first, Number(this.many.select.value), (batch) => {
      this.measured = { batch, names, cards, classNames, of };
      if (batch.seeds.length === batch.chips) this.running = false;
      this.draw();
      this.say();
    });
  }

  private stop(): void {
    this.turn++;
    this.pool.stop();
    this.running = false;
    this.say();
  }

  private problem(message: string): void {
    this.running = false;
    this.say();
    this.status.textContent = `${message}.`;
    this.status.classList.add("problem");
  }

  private draw(): void {
    const threshold = Number(this.threshold.value);
    this.thresholdWords.textContent = `${threshold} %`;
    if (this.shown !== null) this.commands.show("yield-command", this.yieldCommand());
    if (this.measured === null) return;
    const { batch, names, cards, classNames } = this.measured;
    this.results.hidden = false;
    this.bars.show(histogram(batch, names, threshold));
    this.table.show(batch, names, cards, threshold);
    this.matrices.forEach((figure, k) => {
      const counts = batch.confusions[k];
      figure.root.hidden = counts === undefined;
      const name = names[k]!;
      figure.title = `What ${name} reads, %`;
      figure.show(counts === undefined ? null : confusion(counts, classNames, name));
    });
  }

  private say(): void {
    this.stopper.hidden = !this.running;
    this.make.hidden = this.running;
    this.status.classList.remove("problem");
    const done = this.measured?.batch.seeds.length ?? 0;
    const all = Number(this.many.select.value);
    if (this.running) this.status.textContent = `${done} of ${all} chips made …`;
    else if (this.measured !== null && this.measured.of !== this.key) {
      this.status.textContent = "The page has changed since: these chips were made before.";
    } else if (this.measured !== null && done < this.measured.batch.chips) {
      this.status.textContent = `Stopped after ${done} chips.`;
    } else this.status.textContent = "";
  }
}

/** The mean accuracy that a model's file has of such chips, null where it has none. */
function cardOn(hardware: Hardware, { madeFor, card }: Model): number | null {
  return isSame(hardware, madeFor as Hardware | null) ? (card.onChips?.mean ?? null) : null;
}

/** Of the shipped networks those that can stand beside a model: the one made for chips first, and
 * beside that the one that was not. */
export function counterparts(shipped: string[], { name }: Model): string[] {
  const first = name.endsWith("-robust") || name.endsWith("-chip") ? "-direct" : "-robust";
  const rest = shipped.filter((each) => each !== name);
  return [...rest.filter((each) => each.endsWith(first)), ...rest.filter((each) => !each.endsWith(first))];
}

function asOptions(values: string[]): [string, string][] {
  return values.map((value) => [value, Number(value).toLocaleString("en")]);
}
