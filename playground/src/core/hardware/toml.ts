/** Hardware as the TOML file that `entrain yield --hardware` reads (see entrain.hardware.files):
 * plain numbers stand for those in the basic unit. */

import { bare } from "./changes";
import { EFFECTS, type Hardware } from "./hardware";

export function tomlOf(hardware: Hardware): string {
  const effects = bare(hardware);
  const lines: string[] = [];
  if (effects.oscillators !== undefined) lines.push("[chip]", `oscillators = ${effects.oscillators}`);
  for (const name of EFFECTS) {
    const effect = effects[name];
    if (effect === undefined) continue;
    lines.push(`[${name}]`);
    for (const [entry, value] of Object.entries(effect)) lines.push(`${entry} = ${valueOf(value)}`);
  }
  return lines.join("\n");
}

function valueOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueOf).join(", ")}]`;
  return String(value);
}
