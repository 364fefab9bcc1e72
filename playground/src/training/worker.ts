/** The worker that trains: some milliseconds of steps, then whatever the page ordered meanwhile. */

import type { Lesson, Order, Progress } from "./messages";
import { Trainer, type Examples } from "./trainer";

const PIECE_MS = 30; // of steps between two orders
const REPORT_MS = 150; // between two reports
const COMPARED = 32; // examples whose gradients are compared

let turn = 0;
let lesson: Lesson | null = null;
let trainer: Trainer | null = null;
let running = false;
let scheduled = false;
let losses: number[] = [];
let reported = 0;

function shareRight(classes: Uint8Array, { labels }: Examples): number {
  return classes.reduce((sum, each, k) => sum + Number(each === labels[k]), 0) / labels.length;
}

function report(): void {
  const { examples, tests, map, sizes } = lesson!;
  const classes = trainer!.classes(examples.rows);
  const counts = new Uint32Array(sizes.outputs);
  for (const each of classes) counts[each]!++;
  const { settings } = trainer!;
  const isIdeal = settings.chip.bits === null && settings.chip.mismatch === 0;
  const some = Uint32Array.from({ length: Math.min(COMPARED, examples.labels.length) }, (_, k) => k);
  const accuracy = shareRight(classes, examples);
  const progress: Progress = {
    turn,
    step: trainer!.step,
    losses,
    accuracy,
    ideal: isIdeal ? accuracy : shareRight(trainer!.classes(examples.rows, false), examples),
    tested: tests === null ? null : shareRight(trainer!.classes(tests.rows), tests),
    commonest: Math.max(...counts) / classes.length,
    agreement: settings.rule === "gradient" ? null : trainer!.agreement(some),
    weights: trainer!.weights,
    map: trainer!.leads(map),
  };
  losses = [];
  reported = performance.now();
  postMessage(progress);
}

function piece(): void {
  scheduled = false;
  if (!running) return;
  const end = performance.now() + PIECE_MS;
  do losses.push(trainer!.train());
  while (performance.now() < end);
  if (performance.now() - reported > REPORT_MS) report();
  schedule();
}

function schedule(): void {
  if (scheduled || !running) return;
  scheduled = true;
  setTimeout(piece);
}

addEventListener("message", ({ data }: MessageEvent<Order>) => {
  if (data.kind === "begin") {
    ({ turn, lesson } = data);
    trainer = new Trainer(lesson.sizes, data.settings, lesson.examples);
    losses = [];
    running = false;
    report();
  } else if (data.kind === "rate") trainer!.rate = data.rate;
  else if (data.kind === "step") {
    running = false;
    losses.push(trainer!.train());
    report();
  } else {
    running = data.kind === "run";
    if (!running) report();
    schedule();
  }
});
