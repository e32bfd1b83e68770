// The catalog: search, browsing by kind, an overview, database diagrams, and problems.

import { get } from "./api.js";
import { capital, coded, count, el, find, many, named } from "./dom.js";
import { address, diagram } from "./diagram.js";
import { PLURALS, SINGULARS } from "./panel.js";

/** Order of the kinds, and the number of entries of each in the overview. */
const OVERVIEW = { database: 24, metric: 6, query: 6, api: 12, document: 12, skill: 6, fact: 12 };
const PAGE = 60;

/** Shows the catalog, or one of its databases or tables. */
export async function catalog(box, [database, table], open) {
  if (database) {
    await diagram(box, database, table, { open, go: (to) => { location.hash = to; }, home: el("a", { href: "#catalog" }, "Catalog") });
    find("other-title").focus();
    return;
  }
  const { things } = await get("/v1/about");
  const kinds = Object.entries(things).filter(([, number]) => number > 0);
  const filter = el("input", { id: "filter", type: "search", placeholder: "Search names and descriptions", "aria-label": "Search the catalog", autocomplete: "off" });
  const said = el("p", { class: "status", role: "status" });
  const body = el("div", { class: "catalog-body" });
  let chosen = "";
  let turn = 0;
  let waiting;
  const buttons = [["", null], ...kinds].map(([kind, number]) => el("button", { type: "button", class: "quiet small", "aria-pressed": String(!kind), "data-kind": kind,
    onclick: () => choose(kind) }, kind ? capital(PLURALS[kind]) : "All", number === null ? null : el("small", {}, ` ${count(number)}`)));
  function choose(kind) {
    chosen = kind;
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.kind === kind)));
    fill();
  }
  async function fill(offset = 0) {
    const mine = ++turn;
    clearTimeout(waiting);
    try {
      if (!chosen && !filter.value.trim()) {
        const shelves = await overview(things, open, choose);
        if (mine !== turn) return;
        said.textContent = kinds.length ? "" : "The catalog is empty.";
        body.replaceChildren(...shelves);
        return;
      }
      const part = await get(`/v1/catalog?${new URLSearchParams({ kind: chosen, text: filter.value, offset, limit: PAGE })}`);
      if (mine !== turn) return;
      const items = part.items.map((entry) => el("li", {},
        el("button", { type: "button", onclick: () => open(entry.kind, entry.id) }, el("span", { class: `thing ${entry.kind}` }, named(entry.id)), " ",
          el("small", { class: "kind" }, SINGULARS[entry.kind] ?? entry.kind),
          entry.description ? el("p", {}, entry.description) : null)));
      if (offset === 0) body.replaceChildren(el("ul", { class: "entries", "aria-label": "Catalog entries" }));
      else body.querySelector(".more")?.remove();
      body.querySelector(".entries").append(...items);
      if (offset > 0) items[0]?.querySelector("button").focus();
      if (part.next) body.append(el("button", { type: "button", class: "quiet more", onclick: () => fill(part.next) }, `${count(part.total - part.next)} more`));
      said.textContent = part.total ? many(part.total, "entry", "entries") : "No matches.";
    } catch (error) {
      if (mine === turn) said.textContent = error.message;
    }
  }
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => fill(), 150);
  });
  box.replaceChildren(
    el("h2", { id: "other-title", tabindex: -1 }, "Catalog"),
    el("div", { class: "finder" }, filter),
    el("div", { class: "kinds", role: "group", "aria-label": "Kinds" }, buttons),
    said, body);
  await fill();
  filter.focus();
}

/** Renders each kind with its first entries. */
async function overview(things, open, choose) {
  const kinds = Object.keys(OVERVIEW).filter((kind) => things[kind] > 0);
  const lists = await Promise.all(kinds.map((kind) => get(`/v1/catalog?kind=${kind}&limit=${OVERVIEW[kind]}`)));
  return kinds.map((kind, at) => el("section", { class: "shelf" },
    el("h3", {}, capital(PLURALS[kind])),
    kind === "fact"
      ? el("ul", { class: "things" }, lists[at].items.map((entry) => el("li", {},
        el("button", { type: "button", class: "thing fact", "aria-label": `definition ${entry.id}`, onclick: () => open(kind, entry.id) }, named(entry.id)))))
      : el("ul", { class: "cards" }, lists[at].items.map((entry) => el("li", { class: `card ${kind}` },
        kind === "database"
          ? el("a", { href: address(entry.id) }, entry.id)
          : el("button", { type: "button", class: "plain", onclick: () => open(kind, entry.id) }, entry.id),
        entry.description ? el("p", {}, entry.description) : null))),
    lists[at].total > lists[at].items.length
      ? el("button", { type: "button", class: "quiet small", onclick: () => choose(kind) }, `All ${count(lists[at].total)} ${PLURALS[kind]}`) : null));
}

/** Shows the problems of the catalog. */
export async function problems(box) {
  const found = await get("/v1/problems");
  box.replaceChildren(
    el("h2", { id: "other-title", tabindex: -1 }, "Catalog problems"),
    el("p", { class: "status" }, found.total ? `${many(found.total, "problem")}; the rest of the catalog is in use.` : "No problems."),
    el("ul", { class: "problem-list" }, found.items.map((problem) => el("li", { class: problem.severity },
      el("p", {}, el("strong", {}, problem.severity === "error" ? "Skipped" : "Warning"), ": ", coded(problem.reason)),
      problem.advice ? el("p", {}, "Fix: ", coded(problem.advice)) : null,
      el("code", {}, problem.place)))),
    found.total > found.items.length ? el("p", { class: "status" }, "Run ", el("code", {}, "planner refresh"), " to list them.") : "");
  find("other-title").focus();
}
