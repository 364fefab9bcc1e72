/** The worker: runs what the page orders, one after the other. */

import { UnfitChip } from "../chips";
import { UnfitInput, type Model } from "../core";
import { runAll, type Outcome, type Shown } from "../run";
import { explore, type Landscape } from "./landscape";
import type { Order, Report, Sent } from "./messages";

const models = new Map<number, Model>();
const told = new Map<number, Shown>(); // the network of each model that the page has

function report(what: Report, transfer: Transferable[] = []): void {
  postMessage(what, { transfer });
}

/** The outcome as it travels; its network goes ahead where the page has another. */
function sent({ model, ...rest }: Outcome, number: number): Sent {
  if (told.get(number) !== model) {
    told.set(number, model);
    report({ kind: "network", model: number, network: model });
  }
  return rest;
}

/** The large arrays of an outcome, which are given away. */
function buffersOf({ rollout }: Outcome): Transferable[] {
  const { phases, activations, replicates, energy, leaders, leads } = rollout;
  const arrays = [phases, activations, ...replicates, energy, leaders, leads];
  return arrays.map(({ buffer }) => buffer as ArrayBuffer);
}

function run({ turn, state, models: chosen, input }: Extract<Order, { kind: "run" }>): void {
  const before = performance.now();
  try {
    const outcomes = runAll(state, chosen.map((number) => models.get(number)!), input);
    const milliseconds = performance.now() - before;
    const buffers = outcomes.flatMap(buffersOf);
    const parts = outcomes.map((outcome, i) => sent(outcome, chosen[i]!));
    report({ kind: "outcome", turn, outcomes: parts, milliseconds }, buffers);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason =
      error instanceof UnfitChip ? "chip" : error instanceof UnfitInput ? "input" : "error";
    report({ kind: "refusal", turn, reason, message });
  }
}

let exploring: { model: number; work: Generator<void, Landscape> } | null = null;

/** A piece of the landscape, then whatever the page ordered meanwhile, then the next piece. */
function explorePiece(): void {
  if (exploring === null) return;
  const { model, work } = exploring;
  const { done, value } = work.next();
  if (done) {
    exploring = null;
    report({ kind: "landscape", model, landscape: value });
  } else setTimeout(explorePiece);
}

addEventListener("message", ({ data }: MessageEvent<Order>) => {
  if (data.kind === "model") models.set(data.number, data.model);
  else if (data.kind === "run") run(data);
  else {
    const waiting = exploring !== null;
    exploring = { model: data.model, work: explore(models.get(data.model)!, data.inputs) };
    if (!waiting) setTimeout(explorePiece);
  }
});

report({ kind: "ready" });
