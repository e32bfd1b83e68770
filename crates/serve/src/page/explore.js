// The catalog as a map: its databases with their tables, and everything else there is; and what is wrong with it.

import { get } from "./api.js";
import { PLURALS } from "./catalog.js";
import { count, el, find, many } from "./dom.js";
import { address, diagram } from "./diagram.js";
import { chip } from "./plan.js";

const OF_A_KIND = 24;
/** Of what is many and small, fewer. */
const OF_SMALL = { metric: 8, query: 8, fact: 24 };

/** Shows a part of the map: all of it, a database, a table. */
export async function explore(box, [database, table], open, browse) {
  if (database) {
    await diagram(box, database, table, { open, go: (to) => { location.hash = to; }, home: el("a", { href: "#explore" }, "Explore") });
    find("other-title").focus();
    return;
  }
  const kinds = ["database", "metric", "query", "api", "document", "skill", "fact"];
  const [about, ...lists] = await Promise.all([get("/v1/about"), ...kinds.map((kind) => get(`/v1/catalog?kind=${kind}&limit=${OF_SMALL[kind] ?? OF_A_KIND}`))]);
  const parts = kinds.map((kind, at) => [kind, lists[at]]).filter(([, list]) => list.total > 0);
  box.replaceChildren(
    el("h2", { id: "other-title", tabindex: -1 }, "What the catalog holds"),
    el("p", { class: "status" }, Object.entries(about.things).filter(([, number]) => number > 0)
      .map(([kind, number]) => `${count(number)} ${number === 1 ? kind : PLURALS[kind]}`).join(" · ")),
    ...parts.map(([kind, list]) => el("section", { class: "shelf" },
      el("h3", {}, PLURALS[kind][0].toUpperCase() + PLURALS[kind].slice(1)),
      kind === "fact"
        ? el("ul", { class: "things" }, list.items.map((entry) => el("li", {}, chip(kind, entry.id, open))))
        : el("ul", { class: "cards" }, list.items.map((entry) => el("li", { class: `card ${kind}` },
          kind === "database"
            ? el("a", { href: address(entry.id) }, entry.id)
            : el("button", { type: "button", class: "plain", onclick: () => open(kind, entry.id) }, entry.id),
          entry.description ? el("p", {}, entry.description) : null))),
      list.total > list.items.length
        ? el("button", { type: "button", class: "quiet", onclick: () => browse(kind) }, `All ${count(list.total)} ${PLURALS[kind]}`) : null)),
    parts.length ? "" : el("p", { class: "nothing" }, "Nothing yet."));
  find("other-title").focus();
}

/** What of the catalog could not be used. */
export async function problems(box) {
  const found = await get("/v1/problems");
  box.replaceChildren(
    el("h2", { id: "other-title", tabindex: -1 }, "Problems of the catalog"),
    el("p", { class: "status" }, found.total ? `${many(found.total, "problem")}; everything else is there.` : "Nothing is wrong with it."),
    el("ul", { class: "troubles" }, found.items.map((problem) => el("li", { class: problem.severity },
      el("p", {}, el("strong", {}, problem.severity === "error" ? "Left out" : "Odd"), " ", problem.reason),
      problem.advice ? el("p", {}, `To mend it: ${problem.advice}`) : null,
      el("code", {}, problem.place)))),
    found.total > found.items.length ? el("p", { class: "status" }, el("code", {}, "planner refresh"), " says which, to whoever keeps the catalog.") : "");
  find("other-title").focus();
}
