/** How the oscillators themselves differ: frequencies and coupling function. Thermal noise is the
 * temperature of a run. */

import type { Draws } from "./draws";
import type { CouplingFunction, Hardware } from "./hardware";
import type { Realised } from "./realised";

/** Natural frequencies w_i + sd g_i of the oscillators that move. */
export function detuned(
  network: Realised,
  { sd = 0 }: NonNullable<Hardware["frequency_spread"]>,
  draws: Draws,
): Realised {
  if (sd === 0) return network;
  const frequencies = Float64Array.from({ length: network.hidden + network.outputs }, (_, i) => {
    const spread = sd * draws.normal("freq", i) * (network.moving?.[i] ?? 1);
    return network.frequencies === null ? spread : network.frequencies[i]! + spread;
  });
  return { ...network, frequencies };
}

/** J g(phi) in place of J sin(phi); lag and second harmonic are added to the network's own. */
export function withFunction(
  network: Realised,
  { lag = 0, second = 0, second_even = 0 }: CouplingFunction,
): Realised {
  const found = lag === 0 ? network : { ...network, lag: (network.lag ?? 0) + lag };
  if (second === 0 && second_even === 0) return found;
  const [c, d] = network.harmonic ?? [0, 0];
  return { ...found, harmonic: [c + second, d + second_even] };
}
