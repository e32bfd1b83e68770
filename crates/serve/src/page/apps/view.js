// Common parts of the views: showing the result of a tool, opening an entry below it, and following links through the host.

import { thing } from "./api.js";
import { diagram } from "../diagram.js";
import { el, find, named } from "../dom.js";
import { thingOf } from "../thing.js";
import { can, connect, context, request, say } from "./host.js";

const MODES = { inline: ["fullscreen", "Full screen"], fullscreen: ["inline", "Smaller"] };

/** Shows a status below the view, or clears it. */
export const status = (text, isBad = false) => {
  find("status").textContent = text;
  find("status").className = isBad ? "status bad" : "status";
};

/** Asks the user's choice in the conversation. */
export async function again(question) {
  status("Asked in the conversation.");
  await say(question).catch((error) => status(error.message, true));
}

/** Opens a catalog entry below the view. */
export async function open(kind, id) {
  await below(el("span", {}, el("span", { class: `thing ${kind}` }, named(id)), ` ${kind}`), async (body) => {
    const { answer } = await thing(kind, id);
    body.replaceChildren(thingOf(kind, answer, id, { ask: again }));
  });
}

/** Shows tables and their keys in a place, and moves the focus along while navigating. */
export function tables(box, database, table) {
  const go = async (to) => {
    const [, name, next] = to.split("/").map(decodeURIComponent);
    await tables(box, name, next).catch((error) => status(error.message, true));
    find("other-title")?.focus();
  };
  box.walk = go;
  return diagram(box, database, table, { open, go });
}

/** Renders a place below the view, with a title and a close button. */
async function below(title, fill) {
  const opener = document.activeElement;
  const box = find("below");
  const body = el("div", { class: "panel-body" }, el("p", { class: "status" }, "Reading…"));
  const head = el("h2", { tabindex: -1 }, title);
  box.replaceChildren(el("div", { class: "panel-head" }, head, el("button", { type: "button", class: "quiet small", onclick: () => {
    box.hidden = true;
    opener?.focus();
  } }, "Close")), body);
  box.hidden = false;
  head.focus();
  try {
    await fill(body);
  } catch (error) {
    body.replaceChildren(el("p", { class: "status bad", role: "alert" }, error.message));
  }
}

function follow(event) {
  const link = event.target.closest?.("a[href]");
  if (!link) return;
  event.preventDefault();
  const to = link.getAttribute("href");
  if (to.startsWith("#catalog/")) {
    const walking = link.closest("#view")?.walk;
    if (walking) walking(to);
    else below(named(to.split("/").slice(1).map(decodeURIComponent).join(".")), (body) => {
      const [, database, table] = to.split("/").map(decodeURIComponent);
      return tables(body, database, table);
    });
  } else if (/^https?:/.test(to) && can.openLinks) {
    request("ui/open-link", { url: to }).catch((error) => status(error.message, true));
  }
}

/** Starts a view; `show` renders the fields of a result in a place, given the tool's arguments, and returns nothing if it cannot. */
export async function begin(title, show) {
  const larger = find("larger");
  document.addEventListener("click", follow);
  larger.addEventListener("click", async () => {
    const { mode } = await request("ui/request-display-mode", { mode: MODES[context.displayMode ?? "inline"][0] });
    context.displayMode = mode;
    document.documentElement.dataset.mode = mode;
    offer();
  });
  const offer = () => {
    const [other, label] = MODES[context.displayMode ?? "inline"] ?? MODES.fullscreen;
    larger.hidden = !context.availableDisplayModes?.includes(other);
    larger.textContent = label;
  };
  const onResult = async ({ structuredContent, content, isError }, given) => {
    const text = content?.find((block) => block.type === "text")?.text ?? "";
    status("");
    try {
      if (isError) throw new Error(structuredContent?.message ?? text);
      const shown = structuredContent && await show(structuredContent, find("view"), given);
      if (!shown) find("view").replaceChildren(el("pre", { tabindex: 0 }, text.replace(/^<data>|<\/data>$/g, "")));
    } catch (error) {
      status(error.message, true);
    }
  };
  const onCancelled = ({ reason }) => status(reason ? `Cancelled: ${reason}` : "Cancelled.", true);
  await connect(title, { onResult, onCancelled, onDressed: offer });
}
