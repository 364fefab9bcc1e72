/** Writes page/build.json: {"source": SHA-256 of what the page was built from}.
 *
 * Hashed, for each file in ascending order of its path's UTF-8 bytes: the path, NUL, the content,
 * NUL. Paths are relative to the playground's folder, with "/". CRLF in contents counts as LF,
 * also in binary files: the stamp only has to be the same wherever it is computed. The files:
 * index.html, package.json, package-lock.json, vite.config.ts, tsconfig.json, src/**, public/**,
 * except names that begin with a dot. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(root, "../src/entrain/playground/page");
const single = [
  "index.html",
  "package.json",
  "package-lock.json",
  "vite.config.ts",
  "tsconfig.json",
];

function under(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith("."))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? under(path) : [path];
    });
}

function source() {
  const paths = [...single, ...under("src"), ...under("public")];
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const hash = createHash("sha256");
  for (const path of paths) {
    // latin1 keeps every byte, so that the replacement acts on bytes.
    const content = readFileSync(join(root, path)).toString("latin1").replaceAll("\r\n", "\n");
    hash.update(path, "utf8").update("\0").update(content, "latin1").update("\0");
  }
  return hash.digest("hex");
}

writeFileSync(join(page, "build.json"), `${JSON.stringify({ source: source() })}\n`);
