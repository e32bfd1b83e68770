// The side panel: what there is, and each thing of it in full.

import { get, thing } from "./api.js";
import { count, el, find, many, named } from "./dom.js";
import { thingOf } from "./thing.js";

export const PLURALS = {
  database: "databases", table: "tables", api: "APIs", operation: "operations", document: "documents", skill: "skills",
  metric: "metrics", query: "verified queries", fact: "facts",
};

const PAGE = 60;
let opener = null;
let turn = 0;

/** Gets the panel ready. */
export function ready() {
  for (const [kind, plural] of Object.entries(PLURALS)) find("kind").append(el("option", { value: kind }, plural));
  let waiting;
  find("filter").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => list(), 150);
  });
  find("kind").addEventListener("change", () => list());
  narrow.addEventListener("change", cover);
  find("browse").addEventListener("click", () => (find("panel").hidden ? browse() : close()));
  find("close").addEventListener("click", close);
  find("back").addEventListener("click", () => {
    list();
    find("filter").focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !find("panel").hidden && !find("door").open) close();
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      browse();
    }
  });
}

/** On a narrow screen the panel lies over everything else, which then cannot be reached. */
const narrow = matchMedia("(max-width: 60rem)");

function cover() {
  const covers = narrow.matches && !find("panel").hidden;
  for (const node of [find("main"), document.querySelector(".top"), document.querySelector(".skip")]) node.inert = covers;
}

function show() {
  if (find("panel").hidden) opener = document.activeElement;
  find("panel").hidden = false;
  cover();
  find("layout").classList.add("open");
  find("browse").setAttribute("aria-expanded", "true");
}

function close() {
  find("panel").hidden = true;
  cover();
  find("layout").classList.remove("open");
  find("browse").setAttribute("aria-expanded", "false");
  (opener?.isConnected ? opener : find("browse")).focus();
}

/** Opens the list, of one kind or of everything. */
export function browse(kind = find("kind").value) {
  show();
  find("kind").value = kind;
  list();
  find("filter").focus();
}

async function list(offset = 0) {
  const mine = ++turn;
  find("finder").hidden = false;
  find("back").hidden = true;
  find("panel-title").textContent = "Catalog";
  const query = new URLSearchParams({ kind: find("kind").value, text: find("filter").value, offset, limit: PAGE });
  try {
    const part = await get(`/v1/catalog?${query}`);
    if (mine !== turn) return;
    const items = part.items.map((entry) => el("li", {},
      el("button", { type: "button", onclick: () => open(entry.kind, entry.id), "aria-label": `${entry.kind} ${entry.id}` },
        el("span", { class: `thing ${entry.kind}` }, named(entry.id)),
        entry.description ? el("p", {}, entry.description) : null)));
    const body = find("panel-body");
    if (offset === 0) body.replaceChildren(el("ul", { class: "entries", "aria-label": "Things of the catalog" }));
    else body.querySelector(".more")?.remove();
    body.querySelector(".entries").append(...items);
    if (offset > 0) items[0]?.querySelector("button").focus();
    if (part.next) {
      const left = count(part.total - part.next);
      body.append(el("button", { type: "button", class: "quiet more", onclick: () => list(part.next) }, `${left} more`));
    }
    say(part.total ? many(part.total, "thing") : "Nothing is named so.");
  } catch (error) {
    if (mine === turn) say(error.message, true);
  }
}

/** Opens one thing. */
export async function open(kind, id) {
  const mine = ++turn;
  show();
  find("finder").hidden = true;
  find("back").hidden = false;
  find("panel-title").replaceChildren(named(id));
  find("panel-title").focus();
  find("panel-body").replaceChildren();
  say("Reading…");
  try {
    const { answer } = await thing(kind, id);
    if (mine !== turn) return;
    const cut = answer.truncated ? ", cut" : "";
    find("panel-body").replaceChildren(thingOf(kind, answer, id));
    say(`${kind === "query" ? "verified query" : kind}${cut}`);
  } catch (error) {
    if (mine === turn) say(error.message, true);
  }
}

function say(text, isBad = false) {
  find("panel-status").textContent = text;
  find("panel-status").classList.toggle("bad", isBad);
}
