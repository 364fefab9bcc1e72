/** What the lab and its workers say to each other. A network travels once to each worker, with the
 * examples that it reads, and is then known by a number. */

import type { Model } from "../core";
import type { ChipResult, Examples, Trial } from "../core/yield";

/** To a worker. */
export type Order =
  | { kind: "network"; number: number; model: Model; examples: Examples }
  | { kind: "trial"; turn: number; network: number; trial: Trial };

/** To the lab. */
export type Report =
  | ({ kind: "result"; turn: number } & ChipResult)
  | { kind: "refusal"; turn: number; message: string };
