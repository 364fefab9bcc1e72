/** The page's side of the worker: one run at a time, and of those that wait the latest. Until the worker
 * has started, and where a browser allows none, the page runs what it needs itself. */

import { UnfitChip } from "../chips";
import { UnfitInput, type Model } from "../core";
import { runAll, type Input, type Outcome, type Shown } from "../run";
import type { AppState } from "../state";
import type { Landscape } from "./landscape";
import type { Order, Report } from "./messages";
import EngineWorker from "./worker?worker&inline";

/** A finished run: what came, of which state, and how long the worker took. */
export interface Finished {
  state: AppState;
  outcomes: Outcome[];
  milliseconds: number;
}

interface Job {
  state: AppState;
  models: Model[];
  input: Input;
  done(result: Finished | null): void;
  failed(error: Error): void;
}

export class Engine {
  private worker: Worker | null = null;
  private readonly numbers = new WeakMap<Model, number>();
  private readonly networks = new Map<number, Shown>(); // of each model, by its number
  private explored: { number: number; model: Model } | null = null;
  private models = 0;
  private turn = 0;
  private current: Job | null = null;
  private waiting: Job | null = null;
  private ready = false; // the worker has started

  /** `onLandscape` gets the landscape of a model some time after it was asked for. */
  constructor(private readonly onLandscape: (model: Model, landscape: Landscape) => void) {}

  /** Starts the worker: after the first verdict, which must not wait for it. */
  start(): void {
    if (this.worker !== null) return;
    this.worker = new EngineWorker();
    this.worker.addEventListener("message", ({ data }: MessageEvent<Report>) => this.hear(data));
    this.worker.addEventListener("error", (event) => {
      const { ready } = this;
      this.ready = false;
      if (ready) this.finish((job) => job.failed(new Error(event.message)));
    });
  }

  /** The outcomes of a state, the chosen model's first; null where a later run took its place before
   * it began. Throws UnfitChip and UnfitInput as `runAll` does. */
  run(state: AppState, models: Model[], input: Input): Promise<Finished | null> {
    return new Promise((done, failed) => {
      this.waiting?.done(null);
      this.waiting = { state, models, input, done, failed };
      if (this.current === null) this.next();
    });
  }

  /** Asks for the landscape of a model, seen from these inputs; the last one asked for comes. */
  explore(model: Model, inputs: Input[]): void {
    const number = this.numberOf(model);
    this.explored = { number, model };
    this.order({ kind: "landscape", model: number, inputs });
  }

  private next(): void {
    const job = (this.current = this.waiting);
    this.waiting = null;
    if (job === null) return;
    if (!this.ready) {
      queueMicrotask(() => this.runHere());
      return;
    }
    const { state, models, input } = job;
    const numbers = models.map((model) => this.numberOf(model));
    this.order({ kind: "run", turn: ++this.turn, state, models: numbers, input });
  }

  private runHere(): void {
    const before = performance.now();
    this.finish(({ state, models, input, done, failed }) => {
      try {
        const outcomes = runAll(state, models, input);
        done({ state, outcomes, milliseconds: performance.now() - before });
      } catch (error) {
        failed(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  private numberOf(model: Model): number {
    let number = this.numbers.get(model);
    if (number === undefined) {
      number = this.models++;
      this.numbers.set(model, number);
      this.order({ kind: "model", number, model });
    }
    return number;
  }

  private order(what: Order): void {
    this.start();
    this.worker!.postMessage(what); // it waits there until the worker has started
  }

  private hear(report: Report): void {
    if (report.kind === "ready") {
      this.ready = true;
      return;
    }
    if (report.kind === "network") {
      this.networks.set(report.model, report.network);
      return;
    }
    if (report.kind === "landscape") {
      const { explored } = this;
      if (explored?.number === report.model) this.onLandscape(explored.model, report.landscape);
      return;
    }
    if (report.turn !== this.turn) return;
    this.finish((job) => {
      if (report.kind === "refusal") {
        job.failed(errorOf(report));
        return;
      }
      const outcomes = report.outcomes.map((rest, i) => ({
        ...rest,
        model: this.networks.get(this.numberOf(job.models[i]!))!,
      }));
      job.done({ state: job.state, outcomes, milliseconds: report.milliseconds });
    });
  }

  private finish(tell: (job: Job) => void): void {
    const job = this.current;
    this.current = null;
    if (job !== null) tell(job);
    if (this.current === null) this.next();
  }
}

function errorOf({ reason, message }: Extract<Report, { kind: "refusal" }>): Error {
  if (reason === "chip") return new UnfitChip(message);
  return reason === "input" ? new UnfitInput(message) : new Error(message);
}
