/** What the page and its worker say to each other. A model travels once and is then known by a number;
 * what its chip makes of it travels back when it changes. */

import type { Model } from "../core";
import type { Input, Outcome, Shown } from "../run";
import type { AppState } from "../state";
import type { Landscape } from "./landscape";

/** To the worker. */
export type Order =
  | { kind: "model"; number: number; model: Model }
  | { kind: "landscape"; model: number; inputs: Input[] }
  | { kind: "run"; turn: number; state: AppState; models: number[]; input: Input };

/** An outcome without its network, which is the last that came for its model. */
export type Sent = Omit<Outcome, "model">;

/** To the page. */
export type Report =
  | { kind: "ready" }
  | { kind: "network"; model: number; network: Shown }
  | { kind: "landscape"; model: number; landscape: Landscape }
  | { kind: "outcome"; turn: number; outcomes: Sent[]; milliseconds: number }
  | { kind: "refusal"; turn: number; reason: "chip" | "input" | "error"; message: string };
