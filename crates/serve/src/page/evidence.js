// A query with its rows: its headline number, chart, table and SQL.

import { chartOf } from "./chart.js";
import { el, many, plain } from "./dom.js";
import { sqlOf } from "./sql.js";
import { keepButtons, rowsTable } from "./table.js";

/** Number of rows shown initially. */
const MAX_OPEN_ROWS = 12;

/** Renders a query: the main one in full, others collapsed. */
export function evidence(ran, mayRun, isFirst, asked, proposal = null) {
  const name = ran.id.toLowerCase().replaceAll(" ", "-");
  const what = ran.error ? "failed" : `${many(ran.rows.length, "row")}${ran.has_more ? ", and more" : ""}`;
  const about = [ran.title, ran.question].find((text) => text && plain(text) !== plain(asked)) ?? "";
  const title = el("span", {}, el("span", { class: "cited" }, ran.id), ` ${about ? about[0].toUpperCase() + about.slice(1) : ""} `, el("small", {}, what));
  const body = el("div", { class: "evidence-body" });
  const fill = () => {
    if (body.childElementCount) return;
    const sql = ran.sql ? el("details", { class: "sql-of" }, el("summary", {}, "SQL"), sqlOf(ran, mayRun)) : "";
    if (ran.error) return body.append(el("p", { class: "status bad" }, ran.error), sql);
    if (!ran.rows.length) return body.append(el("p", { class: "status" }, "No rows."), sql);
    const headline = el("p", { class: "headline", hidden: true });
    const drawing = chartOf(ran, { question: ran.question, title: ran.title, units: ran.units, sources: ran.databases, name, under: about || asked, proposal,
      onHeadline: (found) => fillHeadline(headline, found) });
    const table = [rowsTable(ran.columns, ran.rows, `Rows of ${ran.id}`, true), el("p", { class: "actions" }, keepButtons(name, ran.columns, ran.rows))];
    // A single value is the headline.
    const isSingle = ran.rows.length === 1 && ran.columns.length === 1;
    body.append(headline,
      el("div", { class: "beside" }, el("div", { class: "drawing" }, drawing),
        isSingle ? el("details", { class: "table-of" }, el("summary", {}, "Row"), table) : el("div", { class: "table-of" }, table)),
      sql);
  };
  if (isFirst) {
    fill();
    return el("div", { class: "evidence", "data-query": ran.id, tabindex: -1 }, el("p", { class: "evidence-title" }, title), body);
  }
  const node = el("details", { class: "evidence", "data-query": ran.id, open: !ran.error && ran.rows.length <= MAX_OPEN_ROWS },
    el("summary", {}, title), body);
  if (node.open) fill();
  node.addEventListener("toggle", () => node.open && fill());
  return node;
}

const ARROWS = { 1: "▲ ", "-1": "▼ " };

/** Renders the headline number of the rows, with its change. */
function fillHeadline(place, found) {
  place.hidden = !found;
  if (!found) return;
  place.replaceChildren(el("strong", {}, found.value), " ", el("span", { class: "of" }, found.label),
    found.detail ? el("span", { class: "detail" }, `${ARROWS[found.direction] ?? ""}${found.detail}`) : "");
}
