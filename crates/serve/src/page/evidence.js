// A query with its rows: its headline number, chart, table and SQL.

import { chartOf } from "./chart.js";
import { capital, el, many, plain } from "./dom.js";
import { sqlOf } from "./sql.js";
import { isNumber, keepButtons, readable, rowsTable } from "./table.js";

/** Number of rows shown initially. */
const MAX_OPEN_ROWS = 12;

/** Renders a query: the main one in full, others collapsed. */
export function evidence(ran, mayRun, isFirst, asked, proposal = null) {
  const name = ran.id.toLowerCase().replaceAll(" ", "-");
  const what = ran.error ? "failed" : `${many(ran.rows.length, "row")}${ran.has_more ? ", and more" : ""}`;
  const named = ran.title || ran.question || "";
  const about = plain(named) === plain(asked) ? "" : named;
  const title = el("span", {}, el("span", { class: "cited" }, ran.id), ` ${capital(about)} `, el("small", {}, what));
  const body = el("div", { class: "evidence-body" });
  const fill = () => {
    if (body.childElementCount) return;
    const sql = ran.sql ? el("details", { class: "sql-of" }, el("summary", {}, "SQL"), sqlOf(ran, mayRun)) : "";
    if (ran.error) return body.append(el("p", { class: "status bad" }, ran.error), sql);
    if (!ran.rows.length) return body.append(el("p", { class: "status" }, "No rows."), sql);
    const headline = el("p", { class: "headline", hidden: true });
    const drawing = chartOf(ran, { question: ran.question, title: ran.title, sql: ran.sql, units: ran.units, sources: ran.databases, name, under: about || asked, proposal,
      onHeadline: (found) => fillHeadline(headline, found, measureOf(ran)) });
    const table = [rowsTable(ran.columns, ran.rows, `Rows of ${ran.id}`, true, ran.units), el("p", { class: "actions" }, keepButtons(name, ran.columns, ran.rows))];
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

/** Returns the name of the only numeric column, if there is one. */
function measureOf({ columns, rows }) {
  const numeric = columns.filter((_, at) => rows.some((row) => row[at] !== null) && rows.every((row) => row[at] === null || isNumber(row[at])));
  return numeric.length === 1 ? readable(numeric[0]) : "";
}

/** Renders the headline number of the rows with what it measures, and its change. */
function fillHeadline(place, found, measure) {
  place.hidden = !found;
  if (!found) return;
  const [label, name] = [plain(found.label), plain(measure)];
  const text = label.includes(name) ? found.label : name.includes(label) ? measure
    : `${measure}, ${found.label.replace(/^(Total|Highest)\b/, (word) => word.toLowerCase())}`;
  place.replaceChildren(el("strong", {}, found.value), " ", el("span", { class: "of" }, text),
    found.detail ? el("span", { class: "detail" }, `${ARROWS[found.direction] ?? ""}${capital(found.detail)}`) : "");
}
