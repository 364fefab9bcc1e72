/** Workers that measure chips side by side, started when the first is asked for. */

import type { Model } from "../core";
import type { ChipResult, Examples, Trial } from "../core/yield";
import type { Order, Report } from "./messages";
import LabWorker from "./worker?worker&inline";

/** A network and what it reads. */
export interface Subject {
  model: Model;
  examples: Examples;
}

export interface Task {
  subject: Subject;
  trial: Trial;
  done(result: ChipResult): void;
}

interface Member {
  worker: Worker;
  known: Set<number>; // networks it was sent
  busy: { turn: number; task: Task } | null;
}

const MOST_WORKERS = 12;

/** Workers that leave a processor to the page itself; at least one. */
function members(): number {
  return Math.min(MOST_WORKERS, Math.max(1, (navigator.hardwareConcurrency || 2) - 1));
}

export class Pool {
  private members: Member[] = [];
  private readonly numbers = new WeakMap<Subject, number>();
  private subjects = 0;
  private turn = 0;
  private waiting: Task[] = [];

  /** `onProblem` is told why a chip could not be measured; what waits is then dropped. */
  constructor(private readonly onProblem: (message: string) => void) {}

  /** In their order, after those that wait. */
  add(tasks: Task[]): void {
    this.waiting.push(...tasks);
    if (this.members.length === 0) this.start();
    for (const member of this.members) if (member.busy === null) this.next(member);
  }

  /** Drop what waits and what is under way. */
  stop(): void {
    this.waiting = [];
    for (const member of this.members) if (member.busy !== null) member.busy.turn = -1;
  }

  private start(): void {
    this.members = Array.from({ length: members() }, () => {
      const member: Member = { worker: new LabWorker(), known: new Set(), busy: null };
      member.worker.addEventListener("message", ({ data }: MessageEvent<Report>) => {
        this.hear(member, data);
      });
      member.worker.addEventListener("error", (event) => {
        this.stop();
        this.onProblem(event.message || "the worker could not start");
      });
      return member;
    });
  }

  private next(member: Member): void {
    const task = this.waiting.shift();
    member.busy = task === undefined ? null : { turn: ++this.turn, task };
    if (task === undefined) return;
    const order = (what: Order): void => member.worker.postMessage(what);
    const number = this.numberOf(task.subject);
    if (!member.known.has(number)) {
      member.known.add(number);
      order({ kind: "network", number, ...task.subject });
    }
    order({ kind: "trial", turn: this.turn, network: number, trial: task.trial });
  }

  private numberOf(subject: Subject): number {
    let number = this.numbers.get(subject);
    if (number === undefined) this.numbers.set(subject, (number = this.subjects++));
    return number;
  }

  private hear(member: Member, report: Report): void {
    const { busy } = member;
    if (busy !== null && busy.turn === report.turn) {
      if (report.kind === "result") busy.task.done(report);
      else {
        this.stop();
        this.onProblem(report.message);
      }
    }
    this.next(member);
  }
}
