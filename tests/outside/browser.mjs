// Shared by the browser tests: the browser, the program, and the number of checks.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Packages come from where the test is called. */
export const require = createRequire(join(process.cwd(), "anything.js"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
/** The program that is tested, and the folder for screenshots. */
export const [planner, shots] = [resolve(process.argv[2]), resolve(process.argv[3])];
mkdirSync(shots, { recursive: true });

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

let counted = 0;
export const checks = () => counted;
export const check = (holds, said) => { assert.ok(holds, said); counted += 1; };

/** The name of everything in the next result: markup that would run. */
export const evil = "<img src=x onerror=alert(1)>";

/** A result whose names and cells are markup. */
export const hostile = { id: "Q1", question: evil, sql: `SELECT '${evil}' AS "${evil}", COUNT(*) AS n FROM t GROUP BY 1`, databases: [evil], columns: [evil, "n"],
  rows: [[evil, 3], ["</svg></script><script>alert(1)</script>", 9], ["=cmd()", 5]], has_more: false };

/** What axe finds wrong with a page or a frame (WCAG 2.2, levels A and AA, and its best practices) fails. */
export async function accessible(page, view) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const violations = found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`);
  assert.deepEqual(violations, [], `axe: ${view}`);
  counted += 1;
}
