/** A worker of the lab: measures chips, one after the other. */

import type { Model } from "../core/types";
import { Kernel } from "../core/wasm/kernel";
import { measureChip, type Examples } from "../core/yield";
import type { Order, Report } from "./messages";

const kernel = Kernel.load();
const networks = new Map<number, { model: Model; examples: Examples }>();

function answer(order: Extract<Order, { kind: "trial" }>): Report {
  const { turn, network, trial } = order;
  try {
    const { model, examples } = networks.get(network)!;
    return { kind: "result", turn, ...measureChip(model, examples, trial, kernel) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "refusal", turn, message };
  }
}

addEventListener("message", ({ data }: MessageEvent<Order>) => {
  if (data.kind === "network") networks.set(data.number, data);
  else postMessage(answer(data));
});
