// The server API: requests with the token of this tab, and event streams that resume after a lost connection.

import { find } from "./dom.js";

const TOKEN = "prospector-token";
const RETRIES = 6;

/** A refusal by the server, with its message. */
export class Refused extends Error {
  constructor(status, body) {
    const advice = body.suggestion ? ` (${body.suggestion})` : "";
    super((body.message || `the server responded with status ${status}`) + advice);
    this.status = status;
    this.code = body.error;
  }
}

function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

/** Asks for the token, and waits for it. */
let asking = null;
function door(reason) {
  asking ??= new Promise((resolve) => {
    const dialog = find("door");
    find("door-reason").textContent = reason;
    find("token").value = "";
    dialog.showModal();
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    find("door-form").addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(TOKEN, find("token").value.trim());
      dialog.close();
      asking = null;
      resolve();
    }, { once: true });
  });
  return asking;
}

async function request(path, options = {}, more = {}) {
  for (;;) {
    const had = sessionStorage.getItem(TOKEN);
    const response = await fetch(path, { ...options, headers: headers(more), cache: "no-store" });
    if (response.status === 401) {
      await door(had ? "The token is not valid." : "It is stored in this tab only.");
      continue;
    }
    if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
    return response;
  }
}

export const get = async (path) => (await request(path)).json();
export const post = async (path) => (await request(path, { method: "POST" })).json();
/** Sends JSON, and returns the parsed response. */
export async function send(path, body, method = "POST") {
  const response = await request(path, { method, body: JSON.stringify(body) }, { "content-type": "application/json" });
  return response.status === 204 ? null : response.json();
}

/** The chart of rows, if they suit one. */
export const drawChart = (rows) => send("/v1/chart", rows);
/** The tables of a database, with the keys between them. */
export const diagramOf = (database) => get(`/v1/diagram/${encodeURIComponent(database)}`);
/** Rows as a Parquet file. */
export const parquetOf = async (columns, rows) => (await request("/v1/parquet", { method: "POST", body: JSON.stringify({ columns, rows }) }, { "content-type": "application/json" })).blob();
/** Proposes the query of an answer to the catalog maintainer. */
export const propose = (run) => post(`/v1/runs/${encodeURIComponent(run)}/proposal`);
/** Executes the plan of a run. */
export const executePlan = (run) => post(`/v1/runs/${encodeURIComponent(run)}/execution`);
/** Reports that an answer is wrong, or withdraws the report. */
export const object = (run, why) => send(`/v1/runs/${encodeURIComponent(run)}/objection`, { why });
export const withdraw = (name) => remove(`/v1/objections/${encodeURIComponent(name)}`);
/** The answer to a query. */
export async function runQuery(query) {
  const { answer } = await send("/v1/tools/execute_sql", { queries: [query] });
  return Array.isArray(answer) ? answer[0] : answer;
}
export const remove = (path) => request(path, { method: "DELETE" });
export const cancel = (handle) => request(`/v1/runs/${encodeURIComponent(handle)}`, { method: "DELETE" });
export const thing = (kind, id) => get(`/v1/catalog/${encodeURIComponent(kind)}/${id.split("/").map(encodeURIComponent).join("/")}`);

/** Starts a run at a path, and passes on each of its events. */
export function begin(path, asked, onEvent, signal) {
  const body = { method: "POST", body: JSON.stringify(asked), signal };
  return follow(() => request(path, body, {
    "content-type": "application/json", accept: "text/event-stream",
  }), null, onEvent, signal);
}

/** Follows a run from its first event, or from the last one received. */
export function resume(handle, onEvent, signal) {
  return follow(() => events(handle, 0, signal), handle, onEvent, signal);
}

function events(handle, after, signal) {
  return request(`/v1/runs/${encodeURIComponent(handle)}/events`, { signal }, {
    accept: "text/event-stream", ...(after ? { "last-event-id": String(after) } : {}),
  });
}

async function follow(open, handle, onEvent, signal) {
  let last = 0;
  let tries = 0;
  for (;;) {
    try {
      const response = await open();
      for await (const event of parse(response.body)) {
        tries = 0;
        if (event.id) last = Number(event.id);
        const data = JSON.parse(event.data);
        if (event.name === "started") handle = data.handle;
        onEvent(event.name, data);
        if (event.name === "done") return;
      }
      throw new Error("the connection was lost");
    } catch (error) {
      if (signal.aborted || error instanceof Refused || !handle || ++tries > RETRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** tries));
      open = () => events(handle, last, signal);
    }
  }
}

/** Parses an event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* parse(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { name: "message", data: [], id: "" };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (event.data.length) yield { ...event, data: event.data.join("\n") };
          event = { name: "message", data: [], id: event.id };
          continue;
        }
        const at = line.indexOf(":");
        if (at === 0) continue;
        const field = at < 0 ? line : line.slice(0, at);
        const text = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
        if (field === "event") event.name = text;
        else if (field === "data") event.data.push(text);
        else if (field === "id") event.id = text;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
