/** The page's side of a training: a worker that starts when the first is begun. */

import type { Lesson, Order, Progress } from "./messages";
import type { TrainingSettings } from "./trainer";
import TrainingWorker from "./worker?worker&inline";

export class Session {
  private worker: Worker | null = null;
  private turn = 0;

  constructor(
    private readonly onProgress: (progress: Progress) => void,
    private readonly onProblem: (message: string) => void,
  ) {}

  /** A new training, before its first step. */
  begin(lesson: Lesson, settings: TrainingSettings): void {
    this.order({ kind: "begin", turn: ++this.turn, lesson, settings });
  }

  order(what: Order): void {
    this.worker ??= this.start();
    this.worker.postMessage(what);
  }

  private start(): Worker {
    const worker = new TrainingWorker();
    worker.addEventListener("message", ({ data }: MessageEvent<Progress>) => {
      if (data.turn === this.turn) this.onProgress(data);
    });
    worker.addEventListener("error", (event) => this.onProblem(event.message || "the worker could not start"));
    return worker;
  }
}
