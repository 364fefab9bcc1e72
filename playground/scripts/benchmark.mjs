/** Times one inference and an ensemble of ten: node scripts/benchmark.mjs, after npm install --no-save. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = await createServer({ root, appType: "custom", server: { middlewareMode: true } });
const core = await server.ssrLoadModule("/src/core/index.ts");
const bytes = readFileSync(`${root}/../src/entrain/models/mnist-74.safetensors`);
const model = core.readModel("mnist-74", new Uint8Array(bytes).buffer);
const gallery = readFileSync(`${root}/public/gallery.safetensors`);
const image = core.readGallery(new Uint8Array(gallery).buffer).get("mnist")[0];
const fields = core.fieldsOf(model, core.inputsOf(model, image.pixels));
const own = core.unchangedPhysics(model);

function time(name, physics, replicates) {
  const times = [];
  for (let k = 0; k < 60; k++) {
    const start = performance.now();
    core.simulate(core.onChip(model, physics), fields, physics, { replicates, sample: k, shown: 0 });
    times.push(performance.now() - start);
  }
  const first = times[0];
  times.sort((a, b) => a - b);
  console.log(`${name}: median ${times[30].toFixed(2)} ms, first ${first.toFixed(2)} ms`);
}

time("deterministic", own, 1);
time("kT = 1, one", { ...own, temperature: 1 }, 1);
time("kT = 1, ten", { ...own, temperature: 1 }, 10);
time("mismatched", { ...own, couplingBits: 4, mismatch: 0.1 }, 1);
const start = performance.now();
for (let k = 0; k < 100; k++) core.fieldsOf(model, core.inputsOf(model, image.pixels));
console.log(`pixels to fields: ${((performance.now() - start) / 100).toFixed(3)} ms`);
await server.close();
