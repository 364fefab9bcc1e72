/** Writes src/core/wasm/rollout.json: the kernel of chips, compiled to WebAssembly, as base64. */

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const OPTIONS = "-O3 --noAssert --enable simd --runtime stub --use abort= --disableWarning";

/** The module's bytes. */
export async function compiled() {
  let binary = null;
  const { error, stderr } = await asc.main(
    ["src/core/wasm/assembly/rollout.ts", "--outFile", "out.wasm", "--baseDir", root, ...OPTIONS.split(" ")],
    { writeFile: (name, content) => name === "out.wasm" && (binary = content) },
  );
  if (error || binary === null) throw new Error(stderr.toString() || String(error));
  return Buffer.from(binary);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const content = { wasm: (await compiled()).toString("base64") };
  writeFileSync(join(root, "src/core/wasm/rollout.json"), `${JSON.stringify(content)}\n`);
}
