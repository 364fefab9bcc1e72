/** Hardware in plain words. */

import type { Hardware } from "./core";
import type { Levels } from "./core/hardware/hardware";
import { counted } from "./words";

/** What each effect does, in the order in which they act. */
export function wordsOf(hardware: Hardware): string[] {
  const { wiring, sparsity, mismatch, offset, asymmetry, dead, stuck, readout } = hardware;
  const { lag, second, second_even: even } = hardware.coupling_function ?? {};
  const { kind = "layered", mask, outputs } = wiring ?? {};
  return [
    (mask !== undefined || !["layered", "all-to-all"].includes(kind)) &&
      `only the couplers of ${mask === undefined ? `a ${kind} graph` : "a list"}` +
        (outputs === "spread" ? ", outputs spread over it" : ""),
    sparsity?.kept && `${percent(sparsity.kept)} of the couplers used, the strongest`,
    hardware.fan_in?.inputs &&
      `no more than ${hardware.fan_in.inputs} inputs to a hidden oscillator, the strongest`,
    levels("couplings", hardware.coupling_levels),
    levels("input weights", hardware.weight_levels),
    levels("biases", hardware.bias_levels),
    spreads("gains that differ", mismatch as Record<string, number> | undefined),
    spreads("offsets", offset as Record<string, number> | undefined),
    asymmetry?.sd && `couplers that differ by direction (${percent(asymmetry.sd)})`,
    levels("fields", hardware.field_levels),
    dead?.couplers && `${percent(dead.couplers)} of the couplers dead`,
    dead?.oscillators && `${percent(dead.oscillators)} of the oscillators dead`,
    stuck?.oscillators && `${percent(stuck.oscillators)} of the oscillators stuck`,
    hardware.frequency_spread?.sd &&
      `natural frequencies that differ by ${hardware.frequency_spread.sd} rad per unit of time`,
    lag && `couplings that lag by ${lag} rad`,
    second && `couplings with a second harmonic of ${second} sin 2φ`,
    even && `couplings with an even second harmonic of ${even} cos 2φ`,
    hardware.phase_noise?.temperature && `thermal noise of kT ${hardware.phase_noise.temperature}`,
    readout?.bits &&
      `output phases read at ${2 ** readout.bits} places of the circle, two outputs at the same are no answer`,
    (readout?.noise || readout?.offset) && "comparators with noise or offset",
    (readout?.jitter || readout?.spread) && "a time of reading that varies",
  ].filter((words) => typeof words === "string");
}

function levels(what: string, values: Levels | undefined): string | undefined {
  if (values === undefined) return undefined;
  const { bits, levels: list } = values;
  return bits === undefined ? `${what} at ${list!.length} levels` : `${what} of ${counted(bits, "bit")}`;
}

function spreads(what: string, values: Record<string, number> | undefined): string | undefined {
  const found = Object.entries(values ?? {}).filter(([, sd]) => sd !== 0);
  const listed = found.map(([part, sd]) => `${part.replace("_", " ")} ${percent(sd)}`);
  return listed.length === 0 ? undefined : `${what} (${listed.join(", ")})`;
}

function percent(share = 0): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}
