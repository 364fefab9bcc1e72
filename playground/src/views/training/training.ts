/** Training in view: what is learnt, the loss, the couplings as they grow, and what became of it. */

import type { Gallery } from "../../core";
import { make, write } from "../../dom";
import { download } from "../../files";
import { collapseOf } from "../../training/collapse";
import { courseOfDigits, courseOfPoints, planeInput, sheetOf, type Course } from "../../training/lessons";
import type { Progress } from "../../training/messages";
import { modelFile } from "../../training/modelFile";
import { couplingsOn, gainsOf } from "../../training/onChip";
import { Rollout } from "../../training/rollout";
import { Session } from "../../training/session";
import { CLASSES, pointsOf, type Points } from "../../training/sets";
import { DYNAMICS, type TrainingSettings } from "../../training/trainer";
import { writeFields } from "../../training/weights";
import { button } from "../lab/controls";
import { DecisionMap } from "./decisionMap";
import { DigitSheet } from "./digitSheet";
import { Fields, type Subject } from "./fields";
import { LossCurve } from "./lossCurve";
import { Wires } from "./wires";
import "./training.css";

const RATE = { points: 0.03, digits: 0.01 };
const DRAWN_CLASSES = 3;
const PROTOCOLS = { gradient: "DIRECT", equilibrium: "EP" };

export interface TrainingEvents {
  digits(): Promise<Gallery>;
  /** What was learnt is opened where one watches a network decide. */
  onOpen(file: File): Promise<void>;
  /** The network that was trained on all of MNIST. */
  onTrained(): void;
}

export class TrainingView {
  private subject: Subject = "moons";
  private points: Points = pointsOf("moons", 0);
  private course: Course = courseOfPoints(this.points, 2);
  private settings: TrainingSettings;
  private progress: Progress | null = null;
  private running = false;
  private best = 0;
  private label = 0; // of the points that are drawn

  private readonly session = new Session(
    (progress) => this.show(progress),
    (message) => this.say(message, true),
  );
  private readonly fields = new Fields({
    onSubject: (subject) => void this.choose(subject),
    onRate: (rate) => this.session.order({ kind: "rate", rate }),
    onChange: () => this.begin(),
  });
  private readonly map = new DecisionMap({
    onPoint: (x, y) => this.addPoint(x, y),
    onLook: (place) => this.look(place),
  });
  private readonly sheet = new DigitSheet();
  private readonly curve = new LossCurve();
  private readonly wires = new Wires();
  private readonly player = button("learn-play", "Play", () => this.play(!this.running), { class: "primary" });
  private readonly facts = make("p", { class: "learn-facts", "data-testid": "learn-facts" });
  private readonly status = make("p", { class: "caption", role: "status", "data-testid": "learn-status" });
  private readonly pointing = make("span", {}, " Point at the map to see the phases at t_f.");
  private readonly plane: HTMLElement;
  private readonly digits: HTMLElement;

  constructor(
    root: HTMLElement,
    private readonly events: TrainingEvents,
  ) {
    this.fields.showRate(RATE.points);
    this.settings = this.fields.settings;
    this.plane = make("div", {}, make("h3", {}, "Decision map"), this.map.canvas, this.classChooser());
    this.digits = make(
      "div",
      {},
      make("h3", {}, "What test digits are read as"),
      this.sheet.canvas,
      make("p", { class: "caption" }, "Framed: read wrong. The network is not trained on these."),
    );
    const tools = make(
      "div",
      { class: "tools" },
      this.player,
      button("learn-step", "Step", () => this.order("step")),
      button("learn-reset", "Reset", () => this.begin(false)),
    );
    const after = make(
      "div",
      { class: "tools" },
      button("learn-open", "Watch it decide", () => void this.use(events.onOpen)),
      button("learn-save", "Save the model", () => void this.use((file) => download(file.name, file))),
      button("learn-trained", "The network trained on MNIST", events.onTrained),
    );
    root.append(
      make("h2", {}, "See it learn"),
      make(
        "p",
        { class: "caption" },
        "The oscillators begin almost uncoupled. Each step runs them on 32 examples, computes the slope of the loss in every coupling, input weight and bias, and moves them a little downhill.",
      ),
      this.fields.root,
      tools,
      this.facts,
      this.status,
      make(
        "div",
        { class: "learn-views" },
        this.plane,
        this.digits,
        make(
          "div",
          {},
          make("h3", {}, "The loss"),
          this.curve.canvas,
          make("p", { class: "caption" }, "Logarithmic; thin: every step, thick: the running mean."),
        ),
        make(
          "div",
          {},
          make("h3", {}, "The couplings"),
          this.wires.canvas,
          make(
            "p",
            { class: "caption" },
            "Blue pulls together, orange pushes apart, the thicker the stronger. Coloured rings: the outputs.",
            this.pointing,
          ),
        ),
      ),
      after,
    );
    this.begin();
  }

  /** New colours. */
  redraw(): void {
    if (this.progress !== null) this.show({ ...this.progress, losses: [] });
    this.map.show(this.points);
    this.curve.add([]);
  }

  /** It waits for Play. */
  resume(): void {}

  /** Nothing is learnt while nobody sees it. */
  pause(): void {
    if (this.running) this.play(false);
  }

  private classChooser(): HTMLElement {
    const radios = Array.from({ length: DRAWN_CLASSES }, (_, label) => {
      const input = make("input", { type: "radio", name: "learn-class", value: String(label), "data-testid": `learn-class-${label}` });
      input.checked = label === 0;
      input.addEventListener("change", () => (this.label = label));
      return make("label", {}, input, make("span", {}, "ABC"[label]!));
    });
    const clear = button("learn-clear", "Clear points", () => {
      this.points = { rows: new Float64Array(0), labels: new Uint8Array(0) };
      this.drawnPoints();
    });
    return make(
      "div",
      { class: "tools" },
      make("fieldset", { class: "segments" }, make("legend", {}, "Click adds"), ...radios),
      clear,
    );
  }

  private async choose(subject: Subject): Promise<void> {
    this.subject = subject;
    const digits = subject === "digits";
    this.fields.showRate(digits ? RATE.digits : RATE.points);
    if (digits) {
      const images = (await this.events.digits()).get("digits")!;
      if (this.subject !== subject) return;
      this.course = courseOfDigits(images);
      this.sheet.show(sheetOf(images));
    } else if (subject !== "drawn") {
      this.points = pointsOf(subject, this.fields.settings.seed);
      this.course = courseOfPoints(this.points, CLASSES[subject]);
    } else {
      this.drawnPoints();
      return;
    }
    this.begin();
  }

  private addPoint(x: number, y: number): void {
    const { rows, labels } = this.points;
    this.points = { rows: Float64Array.of(...rows, x, y), labels: Uint8Array.of(...labels, this.label) };
    this.drawnPoints();
  }

  /** The points there are, as the visitor's own. */
  private drawnPoints(): void {
    this.subject = "drawn";
    this.fields.showSubject("drawn");
    this.course = courseOfPoints(this.points, DRAWN_CLASSES);
    this.begin();
  }

  /** A new training; it plays on if one did, unless `playOn` is false. */
  private begin(playOn = this.running): void {
    if (this.subject !== "drawn" && this.subject !== "digits") {
      this.points = pointsOf(this.subject, this.fields.settings.seed);
      this.course = courseOfPoints(this.points, CLASSES[this.subject]);
    }
    this.settings = this.fields.settings;
    this.best = 0;
    this.progress = null;
    this.curve.clear();
    this.map.show(this.points);
    this.plane.hidden = this.subject === "digits";
    this.digits.hidden = !this.plane.hidden;
    this.pointing.hidden = this.plane.hidden;
    const { length } = this.course.lesson.examples.labels;
    if (length === 0) {
      this.play(false);
      this.say("Click into the plane to add points of two classes or three.");
      return;
    }
    this.session.begin(this.course.lesson, this.settings);
    this.play(playOn);
  }

  private play(running: boolean): void {
    this.running = running;
    this.player.textContent = running ? "Pause" : "Play";
    if (this.course.lesson.examples.labels.length > 0) this.order(running ? "run" : "pause");
  }

  private order(kind: "run" | "pause" | "step"): void {
    if (kind === "step") this.play(false);
    this.session.order({ kind });
  }

  private show(progress: Progress): void {
    this.progress = progress;
    this.best = Math.max(this.best, progress.accuracy);
    this.curve.add(progress.losses);
    if (this.subject === "digits") this.sheet.read(progress.map);
    else this.map.colour(progress.map);
    this.wires.show(progress.weights);
    write(this.facts, this.factsOf(progress));
    const collapse = collapseOf(progress, this.best);
    if (collapse !== null) this.say(`Collapsed. ${collapse} ${this.advice()}`, true);
    else this.say(progress.step === 0 ? "Nothing is learnt yet." : "");
  }

  private factsOf({ step, accuracy, ideal, tested, agreement }: Progress): string {
    const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
    const { chip } = this.settings;
    const perfect = chip.bits === null && chip.mismatch === 0;
    return [
      `step ${step.toLocaleString("en")}`,
      `${percent(accuracy)} of the examples read right${perfect ? "" : " on this chip"}`,
      ...(perfect ? [] : [`${percent(ideal)} by the ideal network`]),
      ...(tested === null ? [] : [`${percent(tested)} of 300 test digits`]),
      ...(agreement === null ? [] : [`the rule's gradient has the cosine ${agreement.toFixed(2)} to the exact one`]),
    ].join(" · ");
  }

  private advice(): string {
    const { temperature } = this.settings;
    return temperature > 0
      ? "Lower the learning rate or the noise, then Reset."
      : "Lower the learning rate, then Reset.";
  }

  private say(words: string, problem = false): void {
    write(this.status, words);
    this.status.classList.toggle("problem", problem);
  }

  /** The hands at t_f of the input at a place of the plane. */
  private look(place: [number, number] | null): void {
    if (place === null || this.progress === null || this.subject === "digits") {
      this.wires.point(null);
      return;
    }
    const { weights } = this.progress;
    const { rule, chip } = this.settings;
    const { mobility, observationTime, steps } = DYNAMICS[rule];
    const n = weights.hidden + weights.outputs;
    const rollout = new Rollout(n, steps);
    const fields = new Float64Array(n);
    writeFields(weights, Float64Array.from(place, planeInput), 0, fields);
    rollout.forward(fields, couplingsOn(chip, gainsOf(chip, n), weights), (mobility * observationTime) / steps);
    this.wires.point(rollout.phases);
  }

  /** What was learnt as a model file; null before there is anything. */
  private async file(): Promise<File | null> {
    const { progress, settings, course } = this;
    if (progress === null) return null;
    const { step, accuracy, tested } = progress;
    const content = await modelFile({
      dataset: this.subject,
      classNames: course.classNames,
      preprocessing: course.preprocessing,
      protocol: PROTOCOLS[settings.rule],
      weights: progress.weights,
      dynamics: DYNAMICS[settings.rule],
      chip: settings.chip,
      details: {
        seed: settings.seed,
        steps: step,
        chip: settings.chip.seed,
        train: { top1: 100 * accuracy },
        ...(tested === null ? {} : { test: { top1: 100 * tested } }),
      },
    });
    return new File([content], `learnt-${this.subject}.safetensors`);
  }

  /** What was learnt is saved or opened; why not, if it cannot be a file. */
  private async use(take: (file: File) => unknown): Promise<void> {
    this.pause();
    try {
      const file = await this.file();
      if (file !== null) await take(file);
    } catch (error) {
      this.say(`No model file: ${error instanceof Error ? error.message : String(error)}.`, true);
    }
  }
}
