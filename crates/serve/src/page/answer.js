// An answer: its words, the queries and rows that it rests on, and what may be asked next.

import { count, el, many, shown } from "./dom.js";
import { markdown } from "./markdown.js";
import { cost, facts } from "./plan.js";

const MOST_ROWS = 200;

/** Everything of an answer. */
export function answer(found, open, again) {
  return [
    verdict(found),
    el("div", { class: "reason text" }, markdown(found.answer)),
    part("What it rests on", found.questions.length ? el("div", {}, found.questions.map(query)) : null),
    part("Facts it rests on", facts(found.premises ?? [], open)),
    part("To be clarified", list(found.clarifications)),
    part("Not traced to data", list((found.tracing?.claims ?? []).filter((claim) => claim.problems?.length)
      .map((claim) => `${claim.text} (${claim.problems.join("; ")})`))),
    part("Go on with", found.follow_ups.length
      ? el("ul", { class: "followups" }, found.follow_ups.map((text) =>
          el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => again(text) }, text))))
      : null),
    cost(found.metrics),
  ].filter(Boolean);
}

function verdict(found) {
  const ok = found.tracing?.ok !== false && found.ended === "completed" && !found.best_effort;
  const mark = ok ? "✓ Traced" : found.best_effort ? "✗ Not finished" : "✗ Not all of it is traced";
  return el("p", { class: `verdict ${ok ? "good" : "bad"}` },
    el("span", { class: "mark" }, mark),
    el("span", {}, [many(found.questions.length, "query", "queries"), found.mode, found.model].join(" · ")));
}

const part = (title, body) => (body ? el("section", {}, el("h3", {}, title), body) : null);
const list = (texts) => (texts?.length ? el("ul", { class: "questions" }, texts.map((text) => el("li", {}, text))) : null);

/** A query with its rows. */
function query(ran) {
  return el("details", { open: !ran.error && ran.rows.length <= 12 },
    el("summary", {}, `${ran.id}: ${ran.question || ran.sql}`, ran.error ? " (failed)" : ` (${many(ran.rows.length, "row")}${ran.has_more ? ", and more" : ""})`),
    el("pre", { tabindex: 0 }, ran.sql),
    ran.error ? el("p", { class: "status bad" }, ran.error) : rows(ran));
}

function rows(ran) {
  if (!ran.rows.length) return el("p", { class: "status" }, "No rows.");
  const left = ran.rows.length - MOST_ROWS;
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Rows of ${ran.id}` },
    el("table", {},
      el("thead", {}, el("tr", {}, ran.columns.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ran.rows.slice(0, MOST_ROWS).map((row) => el("tr", {}, row.map((value) => el("td", {}, shown(value))))))),
    left > 0 ? el("p", { class: "status" }, `and ${count(left)} more`) : null);
}
