/** The commands of the package that do what the page shows. */

import type { Hardware } from "../core";
import { bare } from "../core/hardware/changes";
import { tomlOf } from "../core/hardware/toml";
import presets from "../presets.json";

/** A name as one word of a POSIX shell, and no option. */
export function quoted(name: string): string {
  const word = name.startsWith("-") ? `./${name}` : name;
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Lines that come before a command, and its option: the name of a preset, or a file that is
 * written first. Of a network's own kind no option is needed. */
function hardwareOption(hardware: Hardware, own: unknown): [string[], string] {
  if (isSame(hardware, own as Hardware | null)) return [[], ""];
  const preset = presets.find((each) => isSame(hardware, each.hardware as Hardware));
  if (preset !== undefined) return [[], ` --hardware ${preset.name}`];
  const file = ["cat > chip.toml <<'END'", tomlOf(hardware) || "# no imperfection", "END"];
  return [file, " --hardware chip.toml"];
}

/** Alike in what they do, whatever their name. */
export function isSame(one: Hardware, other: Hardware | null): boolean {
  if (other === null) return false;
  const text = ({ name: _, ...effects }: Hardware): string =>
    JSON.stringify(sorted(bare(effects)));
  return text(one) === text(other);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, each]) => [key, sorted(each)]);
}

export function isIdeal(hardware: Hardware): boolean {
  return tomlOf({ ...hardware, oscillators: undefined }) === "";
}

interface Measured {
  model: string; // as the command takes it
  madeFor: unknown; // its own hardware, or null
  hardware: Hardware;
  noiseSeed: number;
}

/** The yield of chips on the whole test set. */
export function yieldCommand(
  { model, madeFor, hardware, noiseSeed }: Measured,
  chips: number,
  first: number,
  threshold: number,
): string {
  const [before, option] = hardwareOption(hardware, madeFor);
  const seeds = `${first === 0 ? "" : ` --seed ${first}`}${noiseSeed === 0 ? "" : ` --noise-seed ${noiseSeed}`}`;
  const command = `entrain yield ${quoted(model)}${option} --chips ${chips}${seeds} --threshold ${threshold}`;
  return [...before, command].join("\n");
}

/** The accuracy of what the page runs, on the whole test set: of one chip, or of the ideal network. */
export function evaluateCommand(
  { model, madeFor, hardware, noiseSeed }: Measured,
  chip: number,
): string {
  const { phase_noise: thermal, ...rest } = hardware;
  const seed = noiseSeed === 0 ? "" : ` --seed ${noiseSeed}`;
  if (isIdeal(rest)) {
    const kT = thermal?.temperature ?? 0;
    return `entrain evaluate ${quoted(model)}${kT === 0 ? "" : ` --temperature ${kT} --replicates 1${seed}`}`;
  }
  const [before, option] = hardwareOption(hardware, madeFor);
  return [...before, `entrain evaluate ${quoted(model)} --chip ${chip}${option}${seed}`].join("\n");
}
