// MCP Apps in a host of the official SDK: the answer, the plan and the tables as a client displays them in its window, in a
// frame of another origin with the policy that the specification asks for.
//
//     npm install playwright-core axe-core esbuild @modelcontextprotocol/client @modelcontextprotocol/ext-apps
//     node tests/outside/apps.mjs target/debug/planner SCREENSHOTS

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessible, check, checks, evil, hostile, launch, planner, require, root, shots } from "./browser.mjs";

const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
const { buildSync } = require("esbuild");

const EXTENSION = "io.modelcontextprotocol/ui";
const MEDIA = "text/html;profile=mcp-app";
const [HOST, SANDBOX] = ["https://host.example", "https://sandbox.example"];

/** The page of the host: the bridge of the SDK around a frame. What the person does in it is kept. */
const HOST_SCRIPT = `
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
window.kept = { messages: [], links: [], files: [], modes: [], heights: [] };
window.present = async ({ html, csp, permissions, input, result, context }) => {
  const frame = document.querySelector("iframe");
  const capabilities = { openLinks: {}, downloadFile: {}, serverTools: {}, message: { text: {} } };
  const bridge = new AppBridge(null, { name: "test host", version: "1" }, capabilities, { hostContext: context });
  bridge.oncalltool = (params) => window.callTool(params);
  bridge.onmessage = async (params) => { window.kept.messages.push(params); return {}; };
  bridge.onopenlink = async (params) => { window.kept.links.push(params.url); return {}; };
  bridge.ondownloadfile = async (params) => { window.kept.files.push(...params.contents); return {}; };
  bridge.onrequestdisplaymode = async ({ mode }) => { window.kept.modes.push(mode); return { mode }; };
  bridge.onsizechange = ({ height }) => { window.kept.heights.push(height); frame.style.height = height + "px"; };
  const ready = new Promise((resolve) => { bridge.onsandboxready = resolve; });
  const begun = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = "${SANDBOX}/";
  await ready;
  await bridge.sendSandboxResourceReady({ html, csp, permissions });
  await begun;
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
  window.bridge = bridge;
};`;
const HOST_PAGE = `<!doctype html><title>Host</title><style>body { margin: 0 } iframe { width: 100%; height: 300px; border: 0; display: block }</style>
<iframe sandbox="allow-scripts allow-same-origin allow-forms"></iframe><script src="/host.js"></script>`;
/** The frame between the host and the view: it hands over messages, and its policy holds for the view. */
const SANDBOX_PAGE = `<!doctype html><style>body { margin: 0 } iframe { width: 100%; height: 100vh; border: 0; display: block }</style><body><script>
const inner = document.body.appendChild(document.createElement("iframe"));
inner.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
addEventListener("message", ({ source, data }) => {
  if (source === inner.contentWindow) return parent.postMessage(data, "${HOST}");
  if (data.method !== "ui/notifications/sandbox-resource-ready") return inner.contentWindow.postMessage(data, "*");
  inner.contentDocument.open();
  inner.contentDocument.write(data.params.html);
  inner.contentDocument.close();
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "${HOST}");
</script>`;
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'none'; "
  + "img-src 'self' data:; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; base-uri 'self'";

const bundle = buildSync({
  stdin: { contents: HOST_SCRIPT, resolveDir: process.cwd() }, bundle: true, write: false, format: "iife", platform: "browser", logLevel: "error",
}).outputFiles[0].text;

/** A client of the program that says it shows pages. */
async function connect() {
  const folder = mkdtempSync(join(tmpdir(), "prospector-"));
  const catalog = readFileSync(join(root, "catalog/catalog.yaml"), "utf8")
    .replaceAll(/path: (databases|files|apis|documents|queries|\.\.\/skills)/g, (_, part) => `path: ${join(root, "catalog")}/${part}`)
    .replaceAll(/descriptions: databases/g, `descriptions: ${join(root, "catalog")}/databases`);
  writeFileSync(join(folder, "catalog.yaml"), `queries: true\n${catalog}`);
  const client = new Client({ name: "test host", version: "1" }, { capabilities: { extensions: { [EXTENSION]: { mimeTypes: [MEDIA] } } } });
  await client.connect(new StdioClientTransport({
    command: planner, args: ["mcp"], stderr: "ignore",
    env: { PATH: process.env.PATH, HOME: folder, PROSPECTOR_STATE: join(folder, "state"), PROSPECTOR_CATALOG: join(folder, "catalog.yaml") },
  }));
  return client;
}

const [browser, client] = [await launch(), await connect()];
const { tools } = await client.listTools();
const call = (name, given) => client.callTool({ name, arguments: given }, { timeout: 120_000 });

/** The answer of a tool in its page: the page of the host, and the frame that the view is in. */
async function shown(name, given, { theme = "light", width = 760, variables = {}, result } = {}) {
  const { resourceUri } = tools.find((tool) => tool.name === name)._meta.ui;
  const [content] = (await client.readResource({ uri: resourceUri })).contents;
  check(content.mimeType === MEDIA, `${resourceUri} is a page`);
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  await page.route("**", (route) => {
    const url = new URL(route.request().url());
    if (url.href === `${HOST}/`) return route.fulfill({ contentType: "text/html", body: HOST_PAGE });
    if (url.href === `${HOST}/host.js`) return route.fulfill({ contentType: "text/javascript", body: bundle });
    if (url.href === `${SANDBOX}/`) return route.fulfill({ contentType: "text/html", headers: { "content-security-policy": POLICY.replace("frame-src 'none'", "frame-src 'self'") }, body: SANDBOX_PAGE });
    if (!url.pathname.endsWith("/favicon.ico")) wrong.push(`a request of ${url.href}`);
    return route.fulfill({ status: 404 });
  });
  const called = [];
  await page.exposeFunction("callTool", (params) => {
    called.push(params.name);
    return call(params.name, params.arguments);
  });
  await page.goto(`${HOST}/`);
  const { csp, permissions } = content._meta.ui;
  await page.evaluate((content) => window.present(content), {
    html: content.text, csp, permissions, input: given, result: result ?? await call(name, given),
    context: { theme, styles: { variables }, displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"], containerDimensions: { maxHeight: 5000 } },
  });
  const frame = page.frames().at(-1);
  const fits = async () => {
    const [high, room] = [await page.evaluate(() => window.kept.heights.at(-1)), await frame.evaluate(() => document.body.scrollHeight)];
    check(high >= room && high > 100, `${name}: the host gets a height of ${high} pixels, the content has ${room}`);
    check(await frame.evaluate(() => document.documentElement.scrollWidth) <= width, `${name} is as wide as its frame`);
  };
  const kept = () => page.evaluate(() => window.kept);
  const close = async () => {
    assert.deepEqual(wrong, [], name);
    await context.close();
  };
  const shot = async (file) => {
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height: Math.max(height, 200) });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(shots, `${file}.png`) });
  };
  return { page, frame, called, fits, kept, close, shot };
}

try {
  // An answer, light theme: chart, table, text; actions of the user go through the host.
  {
    const view = await shown("ask", { question: "How many customers are there by country?" });
    const { frame } = view;
    await frame.locator(".shown .chart svg").waitFor();
    check(await frame.locator(".shown tbody tr").count() === 12, "the table stands beside the chart");
    check(await frame.locator(".verdict.answered").count() === 1, "it is answered");
    check(view.called.includes("draw_chart"), "the chart is drawn by the server, through the host");
    await frame.waitForTimeout(300);
    await view.fits();
    await accessible(frame, "an answer in a host");
    await view.shot("30-app-answer-light");
    await frame.locator(".table-of button", { hasText: "CSV" }).click();
    await frame.locator(".chart button", { hasText: "PNG" }).click();
    await view.page.waitForFunction(() => window.kept.files.length === 2);
    const files = (await view.kept()).files.map((file) => file.resource);
    check(files[0].text.split("\r\n").length === 14 && files[0].mimeType === "text/csv", "rows are kept by the host");
    check(Buffer.from(files[1].blob, "base64").subarray(1, 4).toString() === "PNG", "so is the chart");
    await frame.locator("#larger").click();
    await view.page.waitForFunction(() => window.kept.modes[0] === "fullscreen");
    check(await frame.locator("#larger").textContent() === "Smaller", "and back again");
    await view.page.evaluate(() => window.bridge.sendHostContextChange({ theme: "dark" }));
    await frame.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    check(await frame.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(20, 24, 26)", "it follows the host into the dark");
    await accessible(frame, "an answer in a dark host");
    check(JSON.stringify(await view.page.evaluate(() => window.bridge.teardownResource({}))) === "{}", "it lets itself be taken away");
    await view.close();
  }
  // Clarifications and follow-up questions are sent to the conversation; hostile names are escaped, links open in the host.
  {
    const result = { content: [{ type: "text", text: "It is 9." }], structuredContent: {
      question: "What did we earn?", mode: "exploratory", model: "m", status: "partial", answer: `It is 9 [Q1]. ${evil} [more](https://x.example/a)`, best_effort: false,
      questions: [hostile],
      chart: { of: "Q1" }, premises: [], clarifications: ["Which revenue do you mean: gross or net?"], tracing: { ok: true, claims: [] },
      follow_ups: ["And by month?"], metrics: {}, ended: "completed" } };
    const view = await shown("ask", { question: "What did we earn?" }, { theme: "dark", result });
    const { frame } = view;
    await frame.locator(".shown .chart svg").waitFor();
    check(await frame.locator("#view img, #view script, #view [onerror]").count() === 0, "names are no markup");
    await frame.locator(".reason a").click();
    await frame.locator(".followups button").click();
    await frame.locator(".clarify .offers button", { hasText: "net" }).click();
    await view.page.waitForFunction(() => window.kept.messages.length === 2 && window.kept.links.length === 1);
    const { messages, links } = await view.kept();
    check(messages[0].content[0].text === "And by month?" && messages[1].content[0].text.endsWith("net."), "what is chosen is said");
    check(links[0] === "https://x.example/a", "links are opened by the host");
    await view.shot("31-app-clarify-dark");
    await view.close();
  }
  // Queries of the host's own model.
  {
    const queries = [
      { question: "Customers by segment", sql: "SELECT cust_seg, COUNT(*) AS customers FROM music_store.customers GROUP BY cust_seg" },
      { question: "Nothing", sql: "SELECT * FROM music_store.nothing" },
    ];
    const view = await shown("execute_sql", { queries }, { theme: "dark", width: 480 });
    await view.frame.locator(".chart svg").waitFor();
    check(await view.frame.locator(".evidence").count() === 2, "each query has its place");
    check(await view.frame.locator(".status.bad", { hasText: "nothing" }).count() === 1, "what failed says why");
    await accessible(view.frame, "queries in a host");
    await view.shot("32-app-queries-dark");
    await view.close();
  }
  // A plan, and the entries of its steps.
  {
    const view = await shown("plan", { question: "Show me VIP customer spending trends by quarter" }, { variables: { "--color-background-primary": "#fff8f0", "--font-sans": "Georgia, serif" } });
    const { frame } = view;
    await frame.locator(".step").first().waitFor();
    check(await frame.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(255, 248, 240)", "it wears the colours of the host");
    await accessible(frame, "a plan in a host");
    await frame.locator(".step .thing.table").first().click();
    await frame.locator("#below .columns li").first().waitFor();
    check(view.called.includes("get_thing"), "a thing is asked for through the host");
    await view.shot("33-app-plan");
    await frame.locator("#below a", { hasText: "Show in diagram" }).click();
    await frame.locator("#below .graph .node.here").waitFor();
    await frame.locator("#below button", { hasText: "Close" }).click();
    check(await frame.locator("#below").isHidden(), "and closed again");
    await view.close();
  }
  // Tables: keyboard navigation, also on a narrow screen.
  for (const [width, theme] of [[900, "light"], [360, "dark"]]) {
    const view = await shown("show_tables", { database: "music_store", table: "invoices" }, { width, theme });
    const { frame } = view;
    await frame.locator(".graph .node.here").waitFor();
    check(await frame.evaluate(() => document.activeElement === document.body), "it takes no focus by itself");
    await frame.waitForTimeout(300);
    await view.fits();
    await accessible(frame, "tables in a host");
    await view.shot(`34-app-tables-${theme}`);
    await frame.locator(".graph .node [data-table=customers]").focus();
    await view.page.keyboard.press("Enter");
    await frame.waitForFunction(() => document.getElementById("other-title")?.textContent === "customers" && document.activeElement.id === "other-title");
    await frame.locator("a", { hasText: "All tables" }).click();
    await frame.waitForFunction(() => document.getElementById("other-title")?.textContent === "music_store");
    check(await frame.locator(".graph .edge").count() > 10, "all tables with their keys");
    await view.close();
  }
  // Failures and cancellations are reported.
  {
    const view = await shown("show_tables", { database: "music_shop" });
    await view.frame.locator("#status.bad").waitFor();
    check((await view.frame.locator("#status").textContent()).includes("music_shop"), "it says what is wrong");
    await view.page.evaluate(() => window.bridge.sendToolCancelled({ reason: "the user went away" }));
    await view.frame.getByText("Cancelled: the user went away").waitFor();
    check(true);
    await view.close();
  }
  console.log(`${checks()} checks of views in a host; the screenshots are in ${shots}`);
} finally {
  await browser.close();
  await client.close();
}
