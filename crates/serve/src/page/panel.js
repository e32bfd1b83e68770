// The side panel: a catalog entry in full.

import { thing } from "./api.js";
import { el, find, named } from "./dom.js";
import { thingOf } from "./thing.js";

export const PLURALS = {
  database: "databases", table: "tables", api: "APIs", operation: "operations", document: "documents", skill: "skills",
  metric: "metrics", query: "verified queries", fact: "definitions",
};
export const SINGULARS = { api: "API", query: "verified query", fact: "definition" };

let opener = null;
let turn = 0;
/** Actions of an entry besides its text: `ask` asks a question, `mayRun` says whether queries may be run. */
let offers = () => ({});

/** Initializes the panel. */
export function ready(offered) {
  offers = offered;
  narrow.addEventListener("change", cover);
  find("close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !find("panel").hidden && !find("door").open) close();
  });
}

/** On a narrow screen the panel covers everything else, which is made inert. */
const narrow = matchMedia("(max-width: 60rem)");

function cover() {
  const covers = narrow.matches && !find("panel").hidden;
  for (const node of [find("main"), document.querySelector(".top"), document.querySelector(".skip")]) node.inert = covers;
}

/** Closes the panel; the focus returns to the element that opened it. */
export function close() {
  if (find("panel").hidden) return;
  find("panel").hidden = true;
  cover();
  find("layout").classList.remove("open");
  (opener?.isConnected ? opener : find("main")).focus();
}

/** Opens an entry. */
export async function open(kind, id) {
  const mine = ++turn;
  if (find("panel").hidden) opener = document.activeElement;
  find("panel").hidden = false;
  cover();
  find("layout").classList.add("open");
  find("panel-title").replaceChildren(named(id));
  find("panel-title").focus();
  find("panel-body").replaceChildren();
  say("Reading…");
  try {
    const { answer } = await thing(kind, id);
    if (mine !== turn) return;
    const { ask, mayRun } = offers();
    const asking = ask && ((question) => {
      close();
      ask(question);
    });
    find("panel-body").replaceChildren(thingOf(kind, answer, id, { ask: asking, mayRun }));
    find("panel").scrollTop = 0;
    say(`${SINGULARS[kind] ?? kind}${answer.truncated ? ", truncated" : ""}`);
  } catch (error) {
    if (mine === turn) say(error.message, true);
  }
}

function say(text, isBad = false) {
  find("panel-status").textContent = text;
  find("panel-status").classList.toggle("bad", isBad);
}
