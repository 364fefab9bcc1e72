/** A visitor with Firefox: node scripts/firefox.mjs URL FIREFOX, after npm install --no-save.
 *
 * Prints one JSON object of what the page shows, for tests/page/test_play_firefox.py. Driven by
 * WebDriver BiDi, because Playwright's Firefox is a build of its own that cannot be fetched
 * everywhere. The window gets its size at launch: page.setViewport needs commands that the extended
 * support release of Firefox does not have. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const [url, executablePath] = process.argv.slice(2);
const PATIENCE = 120_000; // ms; a busy machine takes its time
const profile = mkdtempSync(join(tmpdir(), "entrain-firefox-"));
const browser = await puppeteer.launch({
  browser: "firefox",
  protocol: "webDriverBiDi",
  executablePath,
  headless: true,
  args: ["--width=1280", "--height=900"],
  defaultViewport: null,
  userDataDir: profile,
  timeout: PATIENCE,
  protocolTimeout: PATIENCE,
});

const complaints = [];
const foreign = [];

function selector(name) {
  return `[data-testid="${name}"]`;
}

/** The text of an element as it is shown. */
function textOf(page, name) {
  return page.$eval(selector(name), (element) => element.innerText.trim());
}

/** Wait until `holds` of the element's text. */
async function until(page, name, holds) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const text = await textOf(page, name).catch(() => "");
    if (holds(text)) return text;
    if (Date.now() > end) throw new Error(`${name} stays "${text}"`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

async function open() {
  const page = await browser.newPage();
  page.on("console", (message) => {
    if (["error", "warn", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const asked = request.url();
    const here = url.startsWith("file:") ? "file:" : url;
    if (![here, "blob:", "data:"].some((start) => asked.startsWith(start))) foreign.push(asked);
  });
  await page.goto(url, { timeout: PATIENCE });
  await until(page, "verdict", (text) => /\S/.test(text));
  return page;
}

/** Click as a visitor does, wherever on the page it is. */
async function click(page, name) {
  await page.$eval(selector(name), (element) => element.scrollIntoView({ block: "center" }));
  await page.click(selector(name));
}

async function stroke(page) {
  await page.$eval(selector("pad"), (element) => element.scrollIntoView({ block: "center" }));
  const box = await (await page.$(selector("pad"))).boundingBox();
  const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(0.28, 0.25));
  await page.mouse.down();
  for (const [x, y] of [[0.5, 0.25], [0.72, 0.25], [0.62, 0.5], [0.45, 0.82]]) {
    await page.mouse.move(...at(x, y), { steps: 8 });
  }
  await page.mouse.up();
}

try {
  const page = await open();
  await click(page, "gallery-mnist-21"); // a test image of the digit 7
  const read = await until(page, "verdict", (text) => text === "7");
  await click(page, "pad-clear");
  await stroke(page);
  const drawn = await until(page, "message", (text) => text.startsWith("Your drawing"));
  await page.select(selector("lab-kind"), "typical");
  await page.select(selector("lab-chips"), "10");
  await page.select(selector("lab-images"), "50");
  await click(page, "make-chips");
  const note = await until(page, "yield-note", (text) => text.startsWith("10 chips"));
  const rows = await page.$$eval('[data-testid^="yield-row-"]', (found) =>
    found.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
  await page.$eval(selector("to-learn"), (element) => element.click());
  await until(page, "learn-facts", (text) => text.startsWith("step 0"));
  await page.$eval(selector("learn-play"), (element) => element.click());
  const share = (text) => Number(/([\d.]+) % of the examples/.exec(text)?.[1] ?? 0);
  const learnt = share(await until(page, "learn-facts", (text) => share(text) >= 95));
  console.log(JSON.stringify({ read, drawn, note, rows, learnt, complaints, foreign }));
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
