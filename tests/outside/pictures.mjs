// The pictures of the page in README.md, over the sample catalog: an answer with its chart, a plan, tables with their keys.
//
//     node tests/outside/pictures.mjs target/debug/planner docs/src/images
// The address of a running server may be given instead of the program.

import { spawn } from "node:child_process";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, launch, planner, root, shots } from "./browser.mjs";

/** A picture is no larger, so that it is fetched at once. */
const MAX_BYTES = 150_000;

async function serve() {
  if (/^https?:/.test(process.argv[2])) return { url: process.argv[2], stop: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "prospector-"));
  const server = spawn(planner, ["serve", "--listen", "127.0.0.1:0"], {
    env: { PATH: process.env.PATH, HOME: folder, PROSPECTOR_STATE: join(folder, "state"), PROSPECTOR_CATALOG: join(root, "catalog/catalog.yaml") },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = await new Promise((done, failed) => {
    let said = "";
    server.stderr.on("data", (text) => {
      said += text;
      const found = /listening on (http:\/\/\S+)/.exec(said);
      if (found) done(found[1]);
    });
    server.on("exit", () => failed(new Error(said)));
  });
  return { url, stop: () => { server.removeAllListeners("exit"); server.kill(); } };
}

const { url, stop } = await serve();
const browser = await launch();

async function page(colorScheme, width, height) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  return context.newPage();
}

async function asked(page, task, question) {
  await page.goto(url);
  await page.locator("#tasks").waitFor();
  await page.locator(`input[value=${task}]`).check({ force: true });
  await page.locator("#question").fill(question);
  await page.locator("#question").press("Enter");
  await page.waitForFunction(() => !document.getElementById("send").disabled && document.querySelector("#thread .turn:last-child > .status")?.textContent);
  await page.evaluate(() => document.activeElement.blur());
}

async function picture(page, name, clip) {
  await page.waitForTimeout(400);
  const path = join(shots, `${name}.png`);
  await page.screenshot({ path, clip });
  const { size } = statSync(path);
  check(size < MAX_BYTES, `${name} has ${size} bytes`);
  console.log(`${path}: ${size} bytes`);
  await page.context().close();
}

/** From the top of the page to the end of an element. */
async function until(page, selector, width) {
  const box = await page.locator(selector).first().boundingBox();
  return { x: 0, y: 0, width, height: Math.ceil(box.y + box.height + 12) };
}

try {
  {
    const light = await page("light", 1120, 1200);
    await asked(light, "ask", "What was the gross revenue by quarter in 2025?");
    await light.locator("#thread .turn:last-child .result .shown .chart svg").waitFor();
    await picture(light, "page", await until(light, "#thread .turn:last-child .result .shown", 1120));
  }
  {
    const dark = await page("dark", 1120, 1400);
    await asked(dark, "plan", "Show me VIP customer spending trends by quarter");
    await dark.locator("#step-1").waitFor();
    await picture(dark, "plan", await until(dark, "#step-1", 1120));
  }
  {
    const light = await page("light", 1280, 1200);
    await light.goto(`${url}/#catalog/music_store`);
    await light.locator(".graph .node").first().waitFor();
    await picture(light, "tables", await until(light, ".graph", 1280));
  }
} finally {
  await browser.close();
  stop();
}
