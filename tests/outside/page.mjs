// The web UI in a real browser: a question is planned and answered, entries are opened, a reload loses nothing, and all of it
// by keyboard and on a narrow screen. Screenshots go to the given folder.
//
//     npm install playwright-core axe-core
//     node tests/outside/page.mjs target/debug/planner SCREENSHOTS
// The browser is taken from CHROMIUM, or /usr/bin/chromium.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessible, check, checks, evil, hostile, launch, planner, root, shots } from "./browser.mjs";

const TOKEN = "open-sesame-0123456789";
const QUESTION = "Show me VIP customer spending trends by quarter";

function serve(more = {}, flags = []) {
  const folder = mkdtempSync(join(tmpdir(), "prospector-"));
  const server = spawn(planner, ["serve", "--listen", "127.0.0.1:0", ...flags], {
    env: { PATH: process.env.PATH, HOME: folder, PROSPECTOR_STATE: join(folder, "state"), PROSPECTOR_CATALOG: join(root, "catalog/catalog.yaml"), ...more },
    stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((done, failed) => {
    let said = "";
    server.stderr.on("data", (text) => {
      said += text;
      const found = /listening on (http:\/\/\S+)/.exec(said);
      if (found) done({ server, url: found[1] });
    });
    server.on("exit", () => failed(new Error(said)));
  });
}

const browser = await launch();
const { server, url } = await serve();

/** Nothing of a view is wider than the screen, from a telephone to a wall. */
async function fits(page, view) {
  const was = page.viewportSize();
  for (const width of [360, 768, 1280, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(150);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= width, `${view} is ${wide} wide on a screen of ${width}`);
  }
  await page.setViewportSize(was);
}

async function kept(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

async function asked(page, question) {
  await page.locator("input[value=ask]").check({ force: true });
  await page.locator("#question").fill(question);
  await page.locator("#question").press("Enter");
  await done(page);
}

/** A page that fails on any error of its own and on any request elsewhere. */
async function fresh(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("request", (request) => !request.url().startsWith("blob:") && !request.url().startsWith(options.at ?? url) && wrong.push(request.url()));
  return { context, page, wrong };
}

async function shot(page, name, whole = true) {
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: whole });
}

const done = (page) => page.waitForFunction(() => document.getElementById("send").disabled === false
  && document.querySelector("#thread .turn:last-child > .status")?.textContent);
/** Whether the question of the last turn has the focus. */
const isAskedFocused = () => document.activeElement.matches("#thread .turn:last-child > .asked");

async function planned(page) {
  await page.goto(url);
  await page.locator("#tasks").waitFor();
  await page.locator("input[value=plan]").check({ force: true });
  await page.locator("#question").fill(QUESTION);
  await page.locator("#question").press("Enter");
  await done(page);
}

try {
  // Light: plan, everything there.
  {
    const { context, page, wrong } = await fresh({ colorScheme: "light" });
    await page.goto(url);
    await page.locator("#tasks").waitFor();
    await shot(page, "1-start-light");
    await planned(page);
    check(await page.locator(".verdict.good").count() === 1, "the plan is verified");
    check(await page.locator(".step").count() > 0, "there are steps");
    check(await page.locator("#thread .turn:last-child .timeline li.tool.done").count() > 2, "calls were shown");
    check(await page.locator(".cost").count() === 0, "the built-in planner uses no tokens");
    await shot(page, "2-plan-light");
    check(await page.locator(".step").count() > 1 || await page.locator(".graph").count() === 0, "one step is no graph");
    await accessible(page, "a plan");
    // An entry of a step opens next to it, and Escape closes it and returns the focus.
    const thing = page.locator(".step .thing.table").first();
    const name = await thing.textContent();
    await thing.click();
    await page.locator("#panel-body .columns li").first().waitFor();
    check(await page.locator("#panel-title").textContent() === name, "the thing is named");
    check(await page.evaluate(() => document.activeElement.id) === "panel-title", "the focus goes along");
    check(await page.evaluate(() => { const panel = document.getElementById("panel"); return panel.scrollWidth <= panel.clientWidth; }), "it fits");
    await shot(page, "3-table-light", false);
    await accessible(page, "a table");
    await page.keyboard.press("Escape");
    check(await page.locator("#panel").isHidden(), "Escape closes");
    check(await page.evaluate(() => document.activeElement.classList.contains("thing")), "the focus comes back");
    // A reload shows the same.
    await page.reload();
    await done(page);
    check(await page.locator(".verdict.good").count() === 1, "the plan survives a reload");
    check(await page.locator("#thread .turn:last-child > .asked").textContent() === QUESTION, "so does the question");
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // Reload during a run: events continue where they were.
  {
    const { context, page, wrong } = await fresh();
    await page.route("**/v1/runs/**", (route) => route.continue());
    await page.goto(url);
    await page.locator("#tasks").waitFor();
    await page.locator("input[value=plan]").check({ force: true });
    await page.locator("#question").fill(QUESTION);
    await page.locator("#send").click();
    await page.waitForFunction(() => location.hash.startsWith("#run_"));
    await page.reload();
    await done(page);
    check(await page.locator(".verdict").count() === 1, "a run survives a reload in its middle");
    assert.deepEqual(wrong.filter((text) => !text.includes("net::ERR_ABORTED")), []);
    await context.close();
  }
  // Answered from data, dark.
  {
    const { context, page, wrong } = await fresh({ colorScheme: "dark" });
    await page.goto(url);
    await page.locator("#tasks").waitFor();
    await shot(page, "4-start-dark");
    await page.locator("input[value=ask]").check({ force: true });
    await page.locator("#question").fill("How many customers are there by country?");
    await page.locator("#send").click();
    await done(page);
    check(await page.locator("#thread .turn:last-child .result .reason").count() > 0, "there is an answer");
    await shot(page, "5-answer-dark");
    await planned(page);
    await shot(page, "6-plan-dark");
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // The catalog by keyboard only.
  {
    const { context, page, wrong } = await fresh();
    await page.goto(url);
    await page.locator("#tasks").waitFor();
    await page.locator("h1").click();
    await page.keyboard.press("/");
    await page.waitForFunction(() => document.activeElement.id === "filter");
    await page.keyboard.type("refund");
    await page.waitForFunction(() => /^\d+ entr(y|ies)$/.test(document.querySelector("#view-other > .status")?.textContent)
      && [...document.querySelectorAll(".entries button")].every((button) => /refund/i.test(button.textContent)));
    check(await page.locator(".entries .kind").allTextContents().then((all) => new Set(all).size) > 3, "each hit names its kind");
    await accessible(page, "a search of the catalog");
    await page.locator("#filter").fill("");
    for (const kind of ["document", "operation", "skill", "fact", "table", "api", "database", "metric", "query"]) {
      await page.locator(`[data-kind=${kind}]`).press("Enter");
      await page.locator(`.entries .thing.${kind}`).first().waitFor();
      await page.waitForFunction((kind) => document.querySelectorAll(`.entries .thing:not(.${kind})`).length === 0, kind);
      await page.locator(".entries button").first().focus();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.getElementById("panel-body").childElementCount > 0);
      check(!(await page.locator("#panel-status").getAttribute("class")).includes("bad"), `a ${kind} opens`);
      await page.locator("#close").press("Enter");
      check(await page.evaluate(() => document.activeElement.closest(".entries") !== null), "and the focus comes back");
    }
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // Narrow.
  {
    const { context, page, wrong } = await fresh({ viewport: { width: 360, height: 740 }, colorScheme: "light" });
    await planned(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 360, `nothing is wider than the screen: ${wide}`);
    await shot(page, "7-plan-narrow");
    await page.locator(".step .thing").first().click();
    await page.waitForFunction(() => document.getElementById("panel-body").childElementCount > 0);
    await shot(page, "8-panel-narrow", false);
    check(await page.evaluate(() => document.getElementById("main").inert), "what the panel hides is out of reach");
    check(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, "nor is the panel");
    await page.keyboard.press("Escape");
    check(await page.evaluate(() => !document.getElementById("main").inert && document.activeElement.classList.contains("thing")), "and then it is not");
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // The send button moves the focus, and the end is announced.
  {
    const { context, page, wrong } = await fresh();
    await page.goto(url);
    await page.locator("#tasks").waitFor();
    await page.locator("input[value=plan]").check({ force: true });
    await page.locator("#question").fill(QUESTION);
    await page.locator("#send").press("Enter");
    await page.waitForFunction(isAskedFocused);
    await done(page);
    await page.getByText("Done: verified.").waitFor();
    check(true);
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // Model and mode are selected from those of the server, and stored only in the browser.
  {
    const { context, page, wrong } = await fresh();
    const asked = [];
    await page.route("**/v1/about", async (route) => {
      const said = await (await route.fetch()).json();
      await route.fulfill({ json: { ...said, models: ["offline", "another"] } });
    });
    await page.route("**/v1/ask", (route) => {
      asked.push(JSON.parse(route.request().postData()));
      return route.fulfill({ status: 400, json: { error: "invalid_arguments", message: "the model `another` is not offered here" } });
    });
    const ask = async () => {
      await page.goto(url);
      await page.locator("#tasks").waitFor();
      await page.locator("#question").fill("How many customers are there?");
      await page.locator("#send").click();
      await page.getByText("is not offered here").waitFor();
      return asked.at(-1);
    };
    const usual = await ask();
    check(!("mode" in usual) && !("model" in usual), "what is usual goes without saying");
    check(await page.evaluate(() => localStorage.length) === 0, "and is not kept");
    await page.locator("#options > summary").click();
    await page.locator("#mode").selectOption("auditable");
    await page.locator("#model").selectOption("another");
    await accessible(page, "settings");
    await fits(page, "settings");
    const chosen = await ask();
    check(chosen.mode === "auditable" && chosen.model === "another", "what was chosen is remembered");
    await page.locator("#options > summary").click();
    await page.locator("#mode").selectOption("");
    await page.locator("#model").selectOption("offline");
    check(await page.evaluate(() => localStorage.length) === 0, "and forgotten with the choice");
    assert.deepEqual(wrong.filter((text) => !text.includes("400")), []);
    await context.close();
  }
  // The entry in the address no longer exists: the page reports it, and starts a new conversation.
  {
    const { context, page, wrong } = await fresh();
    await page.goto(`${url}/#run_${"0".repeat(32)}`);
    await page.getByText("This question is no longer available").waitFor();
    await page.locator("#tasks").waitFor();
    check(await page.evaluate(() => location.hash) === "", "it is not asked for again");
    check(await page.locator("#send").isEnabled(), "another question can be asked");
    assert.deepEqual(wrong.filter((text) => !text.includes("404") && !text.includes("410")), []);
    await context.close();
  }
  // A tool that fails, and a plan with many dependent steps and long names, on a narrow screen.
  {
    const { context, page, wrong } = await fresh({ viewport: { width: 360, height: 740 } });
    const long = `warehouse.${"a_very_long_name_".repeat(8)}${"x".repeat(80)}`;
    const steps = Array.from({ length: 40 }, (_, at) => ({
      number: at + 1, goal: `Query ${long}`, sql: `SELECT first FROM ${long}`, explanation: `first of ${long}`, tables: [long],
      columns: [`${long}.first`, `${long}.second`], inputs: at ? [`step_${at}`] : [], outputs: [`step_${at + 1}`],
    }));
    const plan = {
      question: QUESTION, mode: "exploratory", model: "a model", reasoning: "", discovered_context: {}, plan: { steps }, clarifications: [],
      verification: { ok: false, executable: false, checked: 40,
        failed: [{ path: "plan.steps[0].sql", code: "unknown_name", message: `unknown table ${long}`, suggestion: "did you mean `warehouse.a`?" }],
        warnings: [{ path: "discovered_context.facts", code: "unknown_definition", message: "the definition of `VIP` is not stored" },
          { path: "plan.steps[1].sql", code: "repeated_rows", message: "a join multiplies 189 rows to 904" }] },
      ended: "completed",
    };
    const events = [
      ["started", { handle: `run_${"1".repeat(32)}`, question: QUESTION }], ["round", { number: 1 }],
      ["tool", { name: "describe", arguments: { ids: [long] } }], ["result", { name: "describe", failed: true, bytes: 120 }],
      ["plan", plan], ["done", { ended: "completed" }],
    ];
    const body = events.map(([name, data], at) => `id: ${at + 1}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");
    await page.route("**/v1/plan", (route) => route.fulfill({ status: 200, contentType: "text/event-stream", body }));
    await planned(page);
    check(await page.locator(".step").count() === 40, "every step is there");
    check(await page.locator(".graph .node").count() === 40, "the steps are a graph");
    check(await page.locator(".graph .edge").count() === 39, "what a step takes is drawn");
    check(await page.locator("#thread .turn:last-child .timeline li.failed .size").textContent() === "failed", "the call that failed says so");
    await page.getByText("Done: not verified.").waitFor();
    check((await page.locator(".verdict").textContent()).includes("2 warnings"), "warnings are counted");
    check((await page.getByText("the definition of VIP is not stored").count()) === 1, "a warning of the plan is listed");
    check((await page.locator("#step-2 .finding").textContent()).includes("multiplies 189 rows"), "that of a step is with the step");
    check((await page.locator("#step-1 .finding").textContent()).includes("did you mean"), "and so is a failure");
    await accessible(page, "findings");
    check(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, "no name is wider than the screen");
    await page.locator(".step").first().scrollIntoViewIfNeeded();
    await shot(page, "10-long-narrow", false);
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // An empty catalog with a problem.
  {
    const folder = mkdtempSync(join(tmpdir(), "prospector-"));
    writeFileSync(join(folder, "catalog.yaml"), "databases:\n- path: missing.csv\n");
    const empty = await serve({ PROSPECTOR_CATALOG: join(folder, "catalog.yaml") });
    const { context, page, wrong } = await fresh({ at: empty.url });
    await page.goto(empty.url);
    await page.locator("#nothing").waitFor();
    check((await page.locator("#to-problems").textContent()).includes("1 problem"), "the problem is counted");
    await accessible(page, "an empty catalog");
    await page.locator("#to-problems").click();
    await page.locator(".problem-list li").waitFor();
    check((await page.locator(".problem-list li").textContent()).includes("missing.csv"), "the problem is shown");
    await accessible(page, "problems");
    await shot(page, "18-problems");
    await page.locator("#to-catalog").click();
    await page.locator("#view-other").getByText("The catalog is empty.").waitFor();
    await page.locator("#filter").fill("orders");
    await page.getByText("No matches.").waitFor();
    await page.locator("#to-ask").click();
    await page.locator("input[value=plan]").check({ force: true });
    await page.locator("#question").fill(QUESTION);
    await page.locator("#send").click();
    await done(page);
    check(await page.locator("#thread .turn:last-child .result .verdict.good").count() === 0, "a plan of nothing is not called verified");
    await page.getByText("Nothing in the catalog matches it").first().waitFor();
    await shot(page, "11-empty");
    assert.deepEqual(wrong, []);
    await context.close();
    empty.server.removeAllListeners("exit");
    empty.server.kill();
  }
  // An answer with its chart and its actions; then its stored state.
  {
    const folder = mkdtempSync(join(tmpdir(), "prospector-"));
    const catalog = readFileSync(join(root, "catalog/catalog.yaml"), "utf8").replaceAll(/path: (databases|files|apis|documents|queries|\.\.\/skills)/g, (_, part) => `path: ${join(root, "catalog")}/${part}`)
      .replaceAll(/descriptions: databases/g, `descriptions: ${join(root, "catalog")}/databases`);
    writeFileSync(join(folder, "catalog.yaml"), `queries: true\n${catalog}`);
    const open = await serve({ PROSPECTOR_CATALOG: join(folder, "catalog.yaml") }, ["--share-links"]);
    const { context, page, wrong } = await fresh({ at: open.url, colorScheme: "light", acceptDownloads: true });
    await page.goto(open.url);
    await page.locator("#tries button").first().waitFor();
    check(await page.locator("#tries button").count() >= 3, "there are questions to begin with");
    check((await page.locator("#tries .source.query").first().textContent()).startsWith("✓ Verified by "), "what people have checked comes first");
    check(await page.locator("#tries .source.metric").count() > 0, "and what the catalog defines");
    await accessible(page, "the start");
    await fits(page, "the start");
    await asked(page, "How many customers are there by country?");
    const chart = page.locator("#thread .turn:last-child .result .shown .chart svg");
    await chart.waitFor();
    check(await page.locator("#thread .turn:last-child .result .shown .chart").getAttribute("data-kind") === "bar", "bars are drawn");
    check((await chart.getAttribute("aria-label")).includes("12 bars"), "and described in text");
    check(await page.locator("#thread .turn:last-child .headline .of").textContent() === "Number of customers, total", "the headline names its measure");
    check(await page.locator("#thread .turn:last-child .result .shown tbody tr").count() === 12, "the table stands beside them");
    await shot(page, "14-chart-light");
    await accessible(page, "an answer");
    await fits(page, "an answer");
    // Sorted, stored, cited.
    const head = page.locator("#thread .turn:last-child .result .shown th .sort").nth(1);
    await head.click();
    const numbers = () => page.locator("#thread .turn:last-child .result .shown tbody td.number").allTextContents();
    check((await numbers()).every((text, at, all) => !at || Number(all[at - 1]) <= Number(text)), "the smallest comes first");
    check(await page.locator("#thread .turn:last-child .result .shown th[aria-sort=ascending]").count() === 1, "and that is said");
    const rows = await kept(page, page.locator("#thread .turn:last-child .result .shown .table-of button", { hasText: "CSV" }));
    check(rows.name === "q1.csv" && rows.bytes.toString().split("\r\n").length === 14, "rows are kept as CSV");
    const image = await kept(page, page.locator("#thread .turn:last-child .result .shown .chart button", { hasText: "SVG" }));
    check(image.bytes.toString().startsWith("<svg"), "the chart is kept as SVG");
    const png = await kept(page, page.locator("#thread .turn:last-child .result .shown .chart button", { hasText: "PNG" }));
    check(png.bytes.subarray(1, 4).toString() === "PNG" && png.bytes.length > 5_000, "and as PNG");
    const vega = await kept(page, page.locator("#thread .turn:last-child .result .shown .chart button", { hasText: "Vega-Lite" }));
    check(JSON.parse(vega.bytes).$schema.includes("vega-lite/v5"), "and as Vega-Lite");
    const parquet = await kept(page, page.locator("#thread .turn:last-child .result .shown .table-of button", { hasText: "Parquet" }));
    check(parquet.name === "q1.parquet" && parquet.bytes.subarray(0, 4).toString() === "PAR1", "rows are kept as Parquet");
    // A wrong answer is reported with a reason, which can be withdrawn; a correct one is proposed.
    await page.locator(".feedback button", { hasText: "Report a problem" }).click();
    check(await page.evaluate(() => document.activeElement.id) === "why", "the reason is asked for");
    await accessible(page, "what is wrong");
    await shot(page, "23-wrong", false);
    await page.locator("#why").fill("It counts those who left.");
    await page.locator("#why").press("Control+Enter");
    await page.getByText("Reported to the catalog maintainer.").waitFor();
    const objections = () => page.evaluate(() => fetch("/v1/objections").then((said) => said.json()).then((said) => said.items.map((one) => one.why)));
    assert.deepEqual(await objections(), ["It counts those who left."]);
    await page.locator(".feedback button", { hasText: "Withdraw" }).click();
    await page.getByText("Withdrawn.").waitFor();
    assert.deepEqual(await objections(), []);
    check(true);
    await page.locator(".feedback button", { hasText: "Correct" }).click();
    await page.getByText(/^Proposed as how-many-customers/).waitFor();
    check(await page.locator(".feedback button").count() === 0, "a query is proposed once");
    await page.locator("#thread .turn:last-child .result .cite").first().click();
    await page.waitForFunction(() => document.activeElement.dataset.query === "Q1");
    check(true);
    // SQL: read, changed, run again.
    await page.locator("#thread .turn:last-child .result .shown .sql-of > summary").click();
    check(await page.locator("#thread .turn:last-child .result .shown .sql-word").count() > 2, "SQL is highlighted");
    await page.locator("#thread .turn:last-child .result .shown button", { hasText: "Edit and run" }).click();
    await page.locator("#thread .turn:last-child .result .shown textarea.sql").fill("SELECT cust_seg, COUNT(*) AS customers FROM music_store.customers GROUP BY cust_seg");
    await page.keyboard.press("Control+Enter");
    await page.getByText("4 rows", { exact: true }).waitFor();
    await page.locator("#thread .turn:last-child .result .query-sql .chart svg").waitFor();
    check(await page.locator("#thread .turn:last-child .result .query-sql tbody tr").count() === 4, "a changed query is run");
    await page.locator("#thread .turn:last-child .result .shown textarea.sql").fill("DELETE FROM music_store.customers");
    await page.locator("#thread .turn:last-child .result .query-sql button", { hasText: "Run" }).click();
    await page.locator("#thread .turn:last-child .result .query-sql .status.bad").waitFor();
    check(await page.locator("#thread .turn:last-child .result .query-sql tbody tr").count() === 0, "what writes is refused");
    // A verified query is labelled, and opens.
    await page.locator("#fresh").click();
    await asked(page, "Which artists sold best in Brazil in 2025?");
    check(await page.locator("#thread .turn:last-child .verdict.verified .mark").textContent().then((text) => text.includes("Verified")), "it is verified");
    check((await page.locator(".verdict .checked").textContent()).includes("Verified by"), "it says who has checked it");
    check(await page.locator(".feedback button", { hasText: "Correct" }).count() === 0, "what is checked need not be proposed");
    await page.locator(".verdict .checked button").click();
    await page.locator("#panel-body .verdict.verified").waitFor();
    check(await page.locator("#panel-body pre.sql .sql-word").count() > 3, "its SQL can be read");
    await accessible(page, "a verified query");
    await shot(page, "22-verified", false);
    await page.keyboard.press("Escape");
    await page.locator("#to-catalog").click();
    await page.locator("[data-kind=metric]").click();
    await page.locator(".entries .thing.metric", { hasText: "gross_revenue" }).first().click();
    await page.getByText("How it is computed").waitFor();
    await accessible(page, "a metric");
    // A question from the catalog continues the conversation.
    await page.locator("#panel-body .asking button").first().click();
    await done(page);
    check(await page.locator("#thread .turn").count() === 2, "a metric is asked for in the conversation");
    await page.locator("#thread .turn:last-child .headline strong", { hasText: "USD" }).waitFor();
    check(true);
    // A table with its rows, and how complete its columns are.
    await page.locator("#to-catalog").click();
    await page.locator("#filter").fill("music_store.customers");
    await page.locator(".entries .thing.table", { hasText: "music_store.customers" }).first().click();
    await page.locator("#panel-body .samples tbody tr").first().waitFor();
    check(await page.locator("#panel-body .samples tbody tr").count() === 10, "a table shows sample rows");
    await page.getByRole("button", { name: "Check column quality" }).click();
    await page.getByText("Counted over 720 rows.").waitFor();
    check(await page.locator("#panel-body .quality tbody tr").count() > 5, "each column is counted");
    await accessible(page, "a table with its rows");
    await fits(page, "a table with its rows");
    await shot(page, "25-table", false);
    await page.keyboard.press("Escape");
    // A line chart, dark theme.
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("#fresh").click();
    await asked(page, "What is the total of invoices by month in 2025?");
    await shot(page, "15-line-dark");
    await accessible(page, "an answer in the dark");
    // Stored, opened, renamed, deleted.
    await page.locator("#to-history").click();
    await page.locator(".conversations li:not(.day)").first().waitFor();
    check(await page.locator(".conversations li:not(.day)").count() === 3, "the conversations are kept");
    await accessible(page, "the conversations");
    await fits(page, "the conversations");
    await shot(page, "16-history");
    await page.locator(".conversations li:not(.day)").nth(2).getByRole("button", { name: /^Rename/ }).click();
    await page.keyboard.type("Customers of the world");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Customers of the world" }).click();
    await page.locator("#view-other .turn .chart svg").first().waitFor();
    check((await page.locator("#view-other .turn .asked").textContent()).includes("by country"), "a conversation is read again");
    await accessible(page, "a conversation");
    await page.getByRole("button", { name: "Share by link" }).click();
    await page.getByRole("link", { name: "the link" }).click();
    await page.getByRole("button", { name: "Revoke the link" }).waitFor();
    await page.locator("#view-other .turn .chart svg").first().waitFor();
    check(page.url().includes("#shared/link_"), "a link shows it");
    await accessible(page, "a link");
    await shot(page, "23-shared");
    await page.getByRole("button", { name: "Revoke the link" }).click();
    await page.getByText("The link no longer works.").waitFor();
    await page.reload();
    await page.getByText("there is no link").waitFor();
    check(true);
    await page.locator("#to-history").click();
    await page.locator(".conversations li:not(.day)").first().waitFor();
    await page.locator(".conversations li:not(.day)").first().getByRole("button", { name: /^Delete/ }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".conversations li:not(.day)").length === 2);
    check(true);
    assert.deepEqual(wrong.filter((text) => !/\b40[034]\b/.test(text)), []);
    await context.close();
    open.server.removeAllListeners("exit");
    open.server.kill();
  }
  // A conversation: Enter sends, turns stay, a choice is clicked, and a reload shows all of it again.
  {
    const folder = mkdtempSync(join(tmpdir(), "prospector-"));
    for (const [name, more] of [["sales", 1], ["returns", 0]]) {
      const rows = Array.from({ length: 60 }, (_, at) => `2025-0${at % 6 + 1}-${String(at % 27 + 1).padStart(2, "0")},${["Kettle", "Teapot", "Cup"][at % 3]},${at % 7 + more}`);
      writeFileSync(join(folder, `${name}.csv`), `day,product,quantity\n${rows.join("\n")}\n`);
    }
    writeFileSync(join(folder, "catalog.yaml"), "queries: true\ndatabases:\n- path: sales.csv\n- path: returns.csv\n");
    const own = await serve({ PROSPECTOR_CATALOG: join(folder, "catalog.yaml") });
    const { context, page, wrong } = await fresh({ at: own.url, colorScheme: "light", acceptDownloads: true });
    const last = page.locator("#thread .turn:last-child");
    await page.goto(own.url);
    await page.locator("#tasks").waitFor();
    check(await page.locator("#connect").isVisible(), "without a model the page says how to connect one");
    check((await page.locator("#connect").textContent()).includes("ANTHROPIC_API_KEY"), "and names the variable");
    await accessible(page, "the banner");
    await page.locator("#question").fill("How many sales");
    await page.locator("#question").press("Shift+Enter");
    check(await page.locator("#question").inputValue() === "How many sales\n" && await page.locator("#thread .turn").count() === 0, "Shift+Enter starts a line");
    await asked(page, "How many sales are there?");
    check(await page.locator("#question").inputValue() === "", "the composer is empty again");
    check(await last.locator(".verdict.answered .mark").count() === 1, "it is answered");
    await last.locator(".headline strong").waitFor();
    check(await last.locator(".headline strong").textContent() === "60", "the number stands above the rows");
    await asked(page, "How many sales are there by product?");
    check(await page.locator("#thread .turn").count() === 2, "the turn before stays");
    check((await page.locator("#thread .turn").first().textContent()).includes("How many sales are there?"), "with its question");
    check(!(await last.locator(".result").textContent()).includes("Answered by the built-in planner"), "the state names the planner, not the text");
    const places = await page.evaluate(() => [document.querySelector("#thread").getBoundingClientRect().bottom, document.querySelector("#ask").getBoundingClientRect().bottom]);
    check(places[1] <= 900 && places[1] >= 700, `the composer is at the bottom: ${places}`);
    await accessible(page, "a thread");
    await fits(page, "a thread");
    await shot(page, "24-thread");
    // Several readings are choices.
    await asked(page, "quantity by product");
    check(await last.locator(".verdict.unanswered .mark").count() === 1, "a question with several readings is not answered");
    check(await last.locator(".verdict.good, .verdict.answered").count() === 0, "nor does it look so");
    const choice = last.locator(".clarify .offers button").first();
    const text = await choice.textContent();
    check(text.includes("quantity"), "the readings are buttons");
    await accessible(page, "choices");
    await shot(page, "26-choices", false);
    await choice.click();
    await done(page);
    check(await page.locator("#thread .turn").count() === 4, "a choice is a turn");
    check(await last.locator(".asked").textContent() === text && await last.locator(".verdict.answered").count() === 1, "which is answered");
    check(await last.locator(".shown tbody tr").count() === 3, "with its rows");
    // So is the closest query of a question that is declined; it is asked, whatever the task of the composer is.
    await asked(page, "quantity of sales or colour by product");
    check(!(await last.locator(".reason").textContent()).includes("closest"), "the closest query is not in the text");
    await page.locator("input[value=plan]").check({ force: true });
    await last.locator(".clarify .offers button").first().click();
    await done(page);
    check(await last.locator(".verdict.answered .mark").count() === 1, "the closest query is a button");
    check(!(await last.locator(".shown .evidence-title").textContent()).includes("colour"), "its rows are not titled with the declined question");
    await asked(page, "How many unicorns are there by colour?");
    check((await last.locator(".verdict.unanswered .mark").textContent()).includes("Not answered"), "what is declined says so");
    await last.getByText("Done: not answered.").waitFor();
    await last.locator(".instead button", { hasText: "Rephrase" }).click();
    check(await page.locator("#question").inputValue() === "How many unicorns are there by colour?", "it can be rephrased");
    await accessible(page, "a declined question");
    await page.locator("#question").fill("");
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll("#thread .turn .verdict").length === 7);
    check(true);
    // A plan is run, copied and saved in the same place.
    await page.locator("input[value=plan]").check({ force: true });
    await page.locator("#question").fill("How many sales are there by product?");
    await page.locator("#question").press("Enter");
    await done(page);
    await last.getByRole("button", { name: "Run plan" }).click();
    await last.locator(".executed .shown tbody tr").first().waitFor();
    check(await last.locator(".executed .shown tbody tr").count() === 3, "a plan shows the rows of its result");
    const plan = await kept(page, last.getByRole("button", { name: "Save" }));
    check(plan.name === "plan.json" && JSON.parse(plan.bytes).plan.steps.length > 0, "a plan is saved as JSON");
    await accessible(page, "a plan that was run");
    await fits(page, "a plan that was run");
    await shot(page, "27-plan-run");
    // The readings of a question that is not planned are buttons, which plan it.
    await page.locator("#question").fill("quantity by product");
    await page.locator("#question").press("Enter");
    await done(page);
    check((await last.locator(".verdict.unanswered").textContent()).includes("needs clarification"), "an ambiguous question is not called irrelevant");
    await accessible(page, "readings of a plan");
    await last.locator(".questions .offers button").first().click();
    await done(page);
    check(await last.locator(".verdict.good").count() === 1, "a reading is planned");
    await page.locator("#fresh").click();
    check(await page.locator("#thread .turn").count() === 0 && await page.locator("#connect").isVisible(), "a new conversation starts empty");
    await page.locator("#connect button", { hasText: "Dismiss" }).click();
    await page.reload();
    await page.locator("#tasks").waitFor();
    check(await page.locator("#connect").isHidden(), "a banner that was dismissed stays away");
    assert.deepEqual(wrong.filter((text) => !text.includes("net::ERR_ABORTED")), []);
    await context.close();
    own.server.removeAllListeners("exit");
    own.server.kill();
  }
  // The map: databases, their tables, and from one table to the next by keyboard.
  {
    const { context, page, wrong } = await fresh({ colorScheme: "light" });
    await page.goto(`${url}/#catalog`);
    await page.locator(".card").first().waitFor();
    check(await page.locator(".shelf").count() >= 4, "every kind has a shelf");
    await accessible(page, "the map");
    await fits(page, "the map");
    await shot(page, "17-map");
    await page.locator(".card.database a", { hasText: "music_store" }).click();
    await page.locator(".graph .node").first().waitFor();
    check(await page.locator(".graph .edge").count() > 20, "keys are drawn");
    await accessible(page, "a diagram");
    await fits(page, "a diagram");
    await shot(page, "19-diagram");
    await page.locator(".graph .node [data-table=invoices]").focus();
    await page.keyboard.press("Enter");
    await page.locator(".graph .node.here").waitFor();
    check(page.url().endsWith("#catalog/music_store/invoices"), "a table has an address");
    await shot(page, "20-walk");
    await page.locator(".graph .node [data-table=customers]").focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("other-title")?.textContent === "customers");
    await page.locator(".graph .node.here [role=button]").focus();
    await page.keyboard.press("Enter");
    await page.locator("#panel-body .columns li").first().waitFor();
    check(await page.locator("#panel-title").textContent() === "music_store.customers", "the table opens in full");
    await accessible(page, "a table beside the diagram");
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // Clarifications are a form, and names with markup are escaped.
  {
    const { context, page, wrong } = await fresh();
    const answered = (more) => ({ question: "What did we earn?", mode: "exploratory", model: "a model", status: "partial", caveats: ["needs clarification: which revenue?"], answer: `It is 9 [Q1]. ${evil}`, best_effort: false, classification: "data", questions: [hostile],
      chart: { of: "Q1" }, premises: [], clarifications: [], tracing: { ok: true, checked: 1, claims: [] }, follow_ups: [], metrics: { cost_dollars: 0.0123 }, ended: "completed", ...more });
    const bodies = [];
    await page.route("**/v1/ask", (route) => {
      bodies.push(JSON.parse(route.request().postData()));
      const more = bodies.length === 1 ? { clarifications: ["Which revenue do you mean: gross, net or invoiced?"] } : {};
      const events = [["started", { handle: `run_${String(bodies.length).repeat(32)}`, question: "What did we earn?" }], ["answered", answered(more)], ["done", { ended: "completed" }]];
      route.fulfill({ status: 200, contentType: "text/event-stream", body: events.map(([name, data], at) => `id: ${at + 1}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("") });
    });
    await page.goto(url);
    await page.locator("#tasks").waitFor();
    await asked(page, "What did we earn?");
    await page.locator("#thread .turn:last-child .result .chart svg").waitFor();
    check(await page.locator(".clarify .offers button").allTextContents().then((all) => all.join("|")) === "gross|net|invoiced", "the choices are buttons");
    await accessible(page, "clarifications");
    await shot(page, "21-clarify");
    check(await page.locator("#thread .turn:last-child .result img, #thread .turn:last-child .result script, #thread .turn:last-child .result [onerror]").count() === 0, "names are no markup");
    await page.locator("#thread .turn:last-child .result .cite").first().click();
    await page.locator("#thread .turn:last-child .result td.marked").first().waitFor();
    check(await page.locator("#thread .turn:last-child .result td.marked").allTextContents().then((all) => all.includes("9")), "the cell of the sentence is marked");
    const rows = await kept(page, page.locator("#thread .turn:last-child .result .table-of button", { hasText: "CSV" }));
    check(rows.bytes.toString().includes("'=cmd()"), "no cell is a formula");
    check((await page.locator(".money").textContent()).includes("$0.0123"), "cost is shown");
    await page.locator(".clarify .offers button", { hasText: "net" }).click();
    await page.waitForFunction(() => document.querySelector("#thread .turn:last-child .clarify") === null && document.getElementById("send").disabled === false);
    check(bodies[1].question.includes("Which revenue do you mean") && bodies[1].question.endsWith("net."), "the run goes on with the choice");
    check(bodies[1].session === bodies[0].session, "in the same conversation");
    const sums = await page.evaluate(async () => {
      const { rowsTable } = await import("/assets/table.js");
      return [...rowsTable(["sum"], [[0.1 + 0.2], [44473.00000000001], [97206.63000000002]], "sums").querySelectorAll("td")].map((cell) => cell.textContent);
    });
    assert.deepEqual(sums, ["0.30", "44,473.00", "97,206.63"], "errors of binary arithmetic are not shown");
    const heads = await page.evaluate(async () => {
      const { rowsTable } = await import("/assets/table.js");
      const units = [["Revenue", "EUR"], ["cost_usd", "USD"]];
      return [...rowsTable(["city", "revenue", "cost_usd"], [["a", 1, 2]], "units", true, units).querySelectorAll("th")].map((head) => head.textContent);
    });
    assert.deepEqual(heads, ["City", "Revenue (EUR)", "Cost usd"], "columns have their declared units");
    const strange = await page.evaluate(async () => {
      const { taken } = await import("/assets/chart.js");
      const made = taken('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><style>*{}</style><foreignObject><b/></foreignObject>'
        + '<a href="javascript:alert(1)"><rect/></a><image href="x"/><rect fill="url(#x)" onclick="alert(1)" width="3"/></svg>');
      return [made.outerHTML, taken("<html><b/></html>"), taken("no markup")];
    });
    assert.deepEqual(strange, ['<svg><rect width="3"></rect></svg>', null, null]);
    check(true);
    // The policy reports what it blocks, which is only that image.
    assert.deepEqual(wrong.filter((text) => !text.includes("violates the following Content Security Policy")), []);
    await context.close();
  }
  // Every colour has sufficient contrast (WCAG 2.2, 1.4.3 and 1.4.11).
  for (const colorScheme of ["light", "dark"]) {
    const { context, page } = await fresh({ colorScheme });
    await page.goto(url);
    const weak = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement("span"));
      const light = (name) => {
        probe.style.color = `var(${name})`;
        const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map((part) => Number(part) / 255)
          .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const contrast = (one, other) => {
        const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      };
      const texts = ["--ink", "--soft", "--accent", "--good", "--bad"];
      const pairs = texts.flatMap((text) => ["--paper", "--sheet", "--tint"].map((ground) => [text, ground, 4.5]));
      pairs.push(["--accent-ink", "--accent", 4.5]);
      for (const mark of ["--edge", "--table", "--operation", "--document", "--skill", "--fact"]) pairs.push([mark, "--sheet", 3]);
      return pairs.filter(([text, ground, least]) => contrast(text, ground) < least)
        .map(([text, ground]) => `${text} on ${ground}: ${contrast(text, ground).toFixed(2)}`);
    });
    assert.deepEqual(weak, [], colorScheme);
    check(true);
    await context.close();
  }
  // The accessibility tree: landmarks, names, one main heading, live regions.
  {
    const { context, page } = await fresh();
    await planned(page);
    for (const [role, number] of [["main", 1], ["banner", 1], ["status", 1]]) {
      check(await page.getByRole(role).count() >= number, `there is a ${role}`);
    }
    check(await page.getByRole("heading", { level: 1 }).count() === 1, "one main heading");
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, textarea")]
      .filter((node) => node.checkVisibility() && !(node.textContent.trim() || node.getAttribute("aria-label") || node.labels?.length)).length);
    check(nameless === 0, `${nameless} controls have no name`);
    await context.close();
  }
  // Markdown is rendered, and data never becomes markup.
  {
    const { context, page, wrong } = await fresh();
    await page.goto(url);
    const html = (text) => page.evaluate(async (text) => {
      const { markdown } = await import("/assets/markdown.js");
      const box = document.createElement("div");
      box.append(...markdown(text));
      return box.innerHTML;
    }, text);
    check(await html("# One\n\nTwo **three** `four`") === "<h3>One</h3><p>Two <strong>three</strong> <code>four</code></p>", "words");
    check(await html("1. a\n2. b\n   - c\n\nd") === '<ol start="1"><li>a</li><li>b<ul><li>c</li></ul></li></ol><p>d</p>', "lists");
    check(/<th scope="col">a<\/th>.*<td>1<\/td><td>2<\/td>/.test(await html("| a | b |\n|---|--:|\n| 1 | 2 |")), "tables");
    check(await html("> a\n> b") === "<blockquote><p>a<br>b</p></blockquote>", "quotes");
    check(/<pre[^>]*>&lt;b&gt; \*\*x\*\*<\/pre>/.test(await html("```html\n<b> **x**\n```")), "code as it stands");
    check(/^<p>see <a href="https:\/\/x.example\/" [^>]*noopener[^>]*>it<\/a> \[Q1\]<\/p>$/.test(await html("see [it](https://x.example/) [Q1]")), "links");
    for (const text of ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](https://x.example/)",
      '[x](https://x.example/"onclick=alert(1))', "**<b onclick=alert(1)>**", "| <i> |\n|---|\n| <img src=x> |", "[".repeat(50_000), "> ".repeat(20_000)]) {
      const made = await html(text);
      check(!/<(img|script|i|b)[ >]|javascript:[^<]*"|onclick="/.test(made), `${text.slice(0, 40)} became ${made.slice(0, 200)}`);
    }
    check(await page.evaluate(async () => {
      const { markdown } = await import("/assets/markdown.js");
      const began = performance.now();
      for (const part of ["*a", "[a", "`a", "|-", "- ", "**a*", "> - "]) markdown(part.repeat(50_000)), markdown(`${part}\n`.repeat(5_000));
      return performance.now() - began < 10_000;
    }), "no text takes long");
    assert.deepEqual(wrong, []);
    await context.close();
  }
  // Records are matched in a conversation, which a reload does not end.
  {
    const folder = mkdtempSync(join(tmpdir(), "prospector-"));
    const rows = Array.from({ length: 40 }, (_, at) => [1_000 + at, `Customer ${String.fromCharCode(65 + at % 26)}${at * 7 % 40}`, (at * 137 % 900 + 10.25).toFixed(2)]);
    writeFileSync(join(folder, "invoices.csv"), `invoice_id,customer,total\n${rows.map((row) => row.join(",")).join("\n")}\n`);
    writeFileSync(join(folder, "payments.csv"), `payment_id,payer,amount\n${rows.slice(4).map(([id, ...rest]) => [id + 5_000, ...rest].join(",")).join("\n")}\n`);
    writeFileSync(join(folder, "catalog.yaml"), "databases:\n- {name: ledger, path: invoices.csv}\n- {name: bank, path: payments.csv}\n");
    const matching = await serve({ PROSPECTOR_CATALOG: join(folder, "catalog.yaml") });
    const { context, page, wrong } = await fresh({ at: matching.url });
    await page.goto(matching.url);
    await page.locator("#tasks").waitFor();
    await page.locator("input[value=reconcile]").check({ force: true });
    check(await page.locator("#mode").isHidden(), "a workflow has no mode");
    const say = async (text, turns) => {
      await page.locator("#question").fill(text);
      await page.locator("#send").click();
      await page.waitForFunction((turns) => !document.getElementById("send").disabled && document.querySelectorAll(".talk .reply").length === turns, turns);
    };
    await say("Match ledger.invoices with bank.payments.", 1);
    check((await page.locator(".talk .reply").first().textContent()).includes("p1"), "pairs are shown");
    check(await page.locator("#send").textContent() === "Reply", "the user may reply");
    await shot(page, "12-reconcile");
    await page.reload();
    await page.locator(".talk .reply").first().waitFor();
    await page.waitForFunction(() => document.getElementById("send").textContent === "Reply");
    // Free text selects nothing; the buttons send the choices.
    await say("all of them, run it", 2);
    const choose = async (label, turns) => {
      await page.locator(".offers button", { hasText: label }).click();
      await page.waitForFunction((turns) => !document.getElementById("send").disabled && document.querySelectorAll(".talk .reply").length === turns, turns);
    };
    await choose("All pairs are right", 3);
    await choose("Run over all rows", 4);
    check(await page.locator(".verdict.good").count() === 1, "it is completed");
    await page.locator(".result details summary", { hasText: "matched" }).first().click();
    await page.locator(".result details[open] tbody tr").first().waitFor();
    check(await page.locator(".result details[open] tbody tr").count() >= 30, "the rows are there");
    await shot(page, "13-reconciled");
    await accessible(page, "a workflow");
    assert.deepEqual(wrong, []);
    await context.close();
    matching.server.removeAllListeners("exit");
    matching.server.kill();
  }
  // With a token: the page asks for it, and stores it only in this tab.
  {
    const guarded = await serve({ PROSPECTOR_TOKEN: TOKEN });
    const { context, page } = await fresh({ at: guarded.url });
    await page.goto(guarded.url);
    await page.locator("#door[open]").waitFor();
    await page.locator("#token").fill("wrong-sesame-0123456789");
    await page.keyboard.press("Enter");
    await page.getByText("The token is not valid.").waitFor();
    await shot(page, "9-token", false);
    await accessible(page, "the door");
    await page.locator("#token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.locator("#tasks").waitFor();
    check(await page.evaluate(() => localStorage.length) === 0, "nothing is kept for longer");
    await context.close();
    guarded.server.kill();
  }
  console.log(`${checks()} checks; the screenshots are in ${shots}`);
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill();
}
