/** Words that are explained: each has its entry, and a page of the documentation. */

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { GLOSSARY } from "../src/glossary";

const root = fileURLToPath(new URL("../..", import.meta.url));
const views = `${root}playground/src/views/`;
const sources = [`${root}playground/index.html`]
  .concat(readdirSync(views).filter((name) => name.endsWith(".ts")).map((name) => views + name))
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

test.each(Object.entries(GLOSSARY))("%s is used, and its page exists", (name, { words, page }) => {
  expect(sources).toMatch(new RegExp(`data-term="${name}"|term\\("${name}"\\)|term: "${name}"`));
  expect(words.length).toBeGreaterThan(40);
  expect(existsSync(`${root}docs/${page.replace(/\.html$/, ".md")}`)).toBe(true);
});

test("every word that has a button has an entry", () => {
  const used = [...sources.matchAll(/data-term="([\w-]+)"|\bterm\("([\w-]+)"\)|term: "([\w-]+)"/g)];
  const names = used.map((found) => found[1] ?? found[2] ?? found[3]!);
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) expect(Object.keys(GLOSSARY)).toContain(name);
});
