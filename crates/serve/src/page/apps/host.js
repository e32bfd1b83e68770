// The host application of a view: JSON-RPC over postMessage, as MCP Apps specifies (SEP-1865, 2026-01-26).

const PROTOCOL = "2026-01-26";
const METHOD_NOT_FOUND = -32601;

/** Capabilities of the host. */
export const can = {};
/** How the host shows the view: theme and display modes. */
export const context = {};

const waiting = new Map();
const heard = new Map();
let last = 0;

const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const tell = (method, params = {}) => post({ method, params });

/** Sends a request to the host, and waits for its response. */
export function request(method, params = {}) {
  last += 1;
  const id = last;
  post({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

/** Calls a tool of the server; returns its fields, or throws its error. */
export async function call(name, given) {
  const result = await request("tools/call", { name, arguments: given });
  const fields = result.structuredContent ?? {};
  if (result.isError) throw new Error([fields.message, fields.suggestion].filter(Boolean).join(" ") || "it failed");
  return fields;
}

/** Sends a message to the conversation on behalf of the user. */
export const say = (text) => request("ui/message", { role: "user", content: [{ type: "text", text }] });

function receive({ source, data }) {
  if (source !== window.parent || data?.jsonrpc !== "2.0") return;
  const { id, method, params, result, error } = data;
  if (method === undefined) {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error) asked?.reject(new Error(error.message ?? "the host refused the request"));
    else asked?.resolve(result);
  } else if (id === undefined) heard.get(method)?.(params ?? {});
  else if (method === "ping" || method === "ui/resource-teardown") post({ id, result: {} });
  else post({ id, error: { code: METHOD_NOT_FOUND, message: `unknown method ${method}` } });
}

/** Applies the host's appearance. */
function dress(more) {
  Object.assign(context, more);
  const root = document.documentElement;
  if (more.theme) root.dataset.theme = more.theme;
  if (more.displayMode) root.dataset.mode = more.displayMode;
  for (const [name, value] of Object.entries(more.styles?.variables ?? {})) {
    if (/^--[\w-]+$/.test(name) && typeof value === "string") root.style.setProperty(name, value);
  }
}

/** Initializes the connection to the host. `onResult` receives the result and the arguments of the tool that the view belongs to,
  * `onCancelled` the reason why there is no result. */
export async function connect(title, { onResult, onCancelled, onDressed }) {
  window.addEventListener("message", receive);
  let given = {};
  heard.set("ui/notifications/tool-input", (input) => { given = input.arguments ?? {}; });
  heard.set("ui/notifications/tool-result", (result) => onResult(result, given));
  heard.set("ui/notifications/tool-cancelled", onCancelled);
  heard.set("ui/notifications/host-context-changed", (more) => {
    dress(more);
    onDressed();
  });
  const said = await request("ui/initialize", {
    protocolVersion: PROTOCOL,
    appInfo: { name: "prospector", title, version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  });
  Object.assign(can, said.hostCapabilities);
  dress(said.hostContext ?? {});
  onDressed();
  tell("ui/notifications/initialized");
  let high = 0;
  new ResizeObserver(() => {
    const now = Math.ceil(document.body.getBoundingClientRect().height);
    if (now === high) return;
    high = now;
    tell("ui/notifications/size-changed", { height: high });
  }).observe(document.body);
}
