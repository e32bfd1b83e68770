// A thing of the catalog in full.

import { address } from "./diagram.js";
import { el, many, named, shown } from "./dom.js";
import { markdown } from "./markdown.js";
import { highlight } from "./sql.js";

/** A document or a skill is its text, with its sections before it; everything else is its fields. */
export function thingOf(kind, answer, id) {
  if ((kind === "document" || kind === "skill") && typeof answer.content === "string") {
    const { content, name, ...others } = answer;
    // Its name is the heading already, unless it has another one.
    const rest = name === id ? others : { name, ...others };
    const text = el("div", { class: "text" }, markdown(content));
    // Whoever wrote it broke long lines where they did not fit.
    text.querySelectorAll("br").forEach((end) => end.replaceWith(" "));
    const sections = [...text.querySelectorAll("h3")].map((head) => {
      head.tabIndex = -1;
      return el("li", {}, el("button", { type: "button", class: "plain", onclick: () => { head.focus(); head.scrollIntoView(); } }, head.textContent));
    });
    return el("div", {}, Object.keys(rest).length ? shown(rest) : null, sections.length > 1 ? el("ul", { class: "sections", "aria-label": "Sections" }, sections) : null, text);
  }
  if (kind === "database") {
    return el("div", {}, el("p", {}, el("a", { href: address(id) }, "Its tables and their keys")), shown(answer));
  }
  if (kind === "table" && Array.isArray(answer.columns)) return tableOf(answer);
  if (kind === "metric") return metricOf(answer);
  if (kind === "query") return queryOf(answer);
  return shown(answer);
}

/** The tables that something is computed of, each with its place on the map. */
const tablesOf = (ids) => (ids?.length ? el("p", { class: "status" }, "Of ", ids.flatMap((id, at) => {
  const [database, ...table] = id.split(".");
  return [at ? ", " : null, el("a", { href: address(database, table.join(".")) }, named(id))];
})) : null);

/** A metric: what it means, how it is computed, and who answers for it. */
function metricOf({ name, kind, description, formula, tables, declared, ...rest }) {
  return el("div", {},
    description ? el("p", {}, description) : null,
    el("h3", {}, "How it is computed"),
    el("pre", { tabindex: 0, class: "sql" }, highlight(formula)),
    tablesOf(tables),
    Object.keys(rest).length ? shown(rest) : null,
    el("p", { class: "status" }, `${kind} metric, declared in ${declared.split("/").at(-1)}`));
}

/** A verified query: its question, who has checked it, and its SQL. */
function queryOf({ name, question, description, verified, stale, sql, tables, parameters, database, ...rest }) {
  const badge = stale ? `✗ Not run: ${stale}`
    : verified ? `✓ Checked by ${verified.by}${verified.on ? ` on ${verified.on}` : ""}` : "– Not checked yet";
  return el("div", {},
    el("p", { class: "reason" }, question),
    el("p", { class: `verdict ${stale ? "bad" : verified ? "good" : ""}` }, el("span", { class: "mark" }, badge)),
    description ? el("p", {}, description) : null,
    el("pre", { tabindex: 0, class: "sql", "aria-label": "SQL" }, highlight(sql)),
    tablesOf(tables),
    parameters?.length ? el("div", {}, el("h3", {}, "What it is run with"), shown(parameters)) : null,
    Object.keys(rest).length ? shown(rest) : null);
}

/** A table: what it is, then a line for each column with what is known of it. */
function tableOf({ columns, description, row_count: rows, database, table, ...rest }) {
  const flags = (column) => [
    column.type,
    column.primary_key ? "primary key" : null,
    column.foreign_key ? `→ ${column.foreign_key}` : null,
    column.nullable === false ? "not null" : null,
    column.statistics?.cardinality !== undefined ? many(column.statistics.cardinality, "value") : null,
  ].filter(Boolean).join(" · ");
  const values = (column) => {
    const samples = rest.sample_values?.[column.name];
    return samples?.length ? `for example ${samples.slice(0, 5).join(", ")}` : null;
  };
  const { sample_values: shownAlready, ...others } = rest;
  return el("div", {},
    description ? el("p", {}, description) : null,
    el("p", { class: "status" }, [`${table} of ${database}`, rows === undefined ? null : many(rows, "row")].filter(Boolean).join(" · ")),
    el("p", {}, el("a", { href: address(database, table) }, "Its keys and neighbours")),
    el("ul", { class: "columns", "aria-label": "Columns" }, columns.map((column) => el("li", {},
      el("span", { class: "name" }, column.name), " ", el("small", {}, flags(column)),
      column.description ? el("p", {}, column.description) : null,
      values(column) ? el("small", {}, values(column)) : null))),
    Object.keys(others).length ? shown(others) : null);
}
