// A catalog entry in full.

import { get, runQuery } from "./api.js";
import { address } from "./diagram.js";
import { coded, count, el, many, named, shown } from "./dom.js";
import { markdown } from "./markdown.js";
import { highlight } from "./sql.js";
import { rowsTable } from "./table.js";

const SAMPLE_ROWS = 10;
/** Number of columns whose values are counted at once. */
const MAX_CHECKED = 40;

/** Renders a document or a skill as text with its sections, and every other entry as fields. `ask` asks a question, `mayRun` says
  * whether queries may be run here. */
export function thingOf(kind, answer, id, { ask = null, mayRun = false } = {}) {
  if ((kind === "document" || kind === "skill") && typeof answer.content === "string") {
    const { content, name, metadata, ...others } = answer;
    // The name is the heading already, unless it differs.
    const rest = { ...(name === id ? {} : { name }), ...others, ...metadata };
    const text = el("div", { class: "text" }, markdown(content));
    // Long lines were wrapped in the source.
    text.querySelectorAll("br").forEach((end) => end.replaceWith(" "));
    const sections = [...text.querySelectorAll("h3")].map((head) => {
      head.tabIndex = -1;
      return el("li", {}, el("button", { type: "button", class: "plain", onclick: () => { head.focus(); head.scrollIntoView(); } }, head.textContent));
    });
    return el("div", {}, Object.keys(rest).length ? shown(rest) : null, sectionsOf(sections), text);
  }
  if (kind === "database") {
    return el("div", {}, el("p", {}, el("a", { href: address(id) }, "Show diagram")), shown(answer));
  }
  if (kind === "table" && Array.isArray(answer.columns)) return tableOf(answer, ask, mayRun);
  if (kind === "metric") return metricOf(answer, ask);
  if (kind === "query") return queryOf(answer, ask);
  if (kind === "fact" && ask) return el("div", {}, asking([`What does "${id}" mean here?`], ask), shown(answer));
  return shown(answer);
}

/** Number of sections shown initially. */
const MAX_OPEN_SECTIONS = 8;

/** Renders links to the sections of a text. */
const sectionsOf = (sections) => (sections.length < 2 ? null : el("details", { class: "sections", open: sections.length <= MAX_OPEN_SECTIONS },
  el("summary", {}, many(sections.length, "section")), el("ul", { "aria-label": "Sections" }, sections)));

/** Renders questions about an entry. */
const asking = (questions, ask) => (ask && questions.length ? el("div", { class: "asking" }, el("h3", {}, "Ask this"),
  el("ul", { class: "followups" }, questions.map((text) => el("li", {},
    el("button", { type: "button", class: "quiet small", onclick: () => ask(text) }, text))))) : null);

/** Renders the source tables of a computation, with links to the diagram. */
const tablesOf = (ids) => (ids?.length ? el("p", { class: "status" }, "From ", ids.flatMap((id, at) => {
  const [database, ...table] = id.split(".");
  return [at ? ", " : null, el("a", { href: address(database, table.join(".")) }, named(id))];
})) : null);

const words = (name) => name.replaceAll(/[_-]+/g, " ");

/** Renders a metric: its definition, its computation and its owner. */
function metricOf({ name, kind, description, formula, tables, declared, dimensions, unit, ...rest }, ask) {
  const timed = / by \w/.test(formula);
  const questions = [timed ? `What was the ${words(name)} by month?` : `What is the ${words(name)}?`,
    ...(dimensions ?? []).slice(0, 2).map((dimension) => `What is the ${words(name)} by ${words(dimension)}?`)];
  return el("div", {},
    description ? el("p", {}, description) : null,
    asking(questions, ask),
    el("h3", {}, "How it is computed"),
    el("pre", { tabindex: 0, class: "sql" }, highlight(formula)),
    tablesOf(tables),
    shown({ ...(unit ? { unit } : {}), ...(dimensions?.length ? { dimensions } : {}), ...rest }),
    el("p", { class: "status" }, `Type: ${kind}. Declared in ${declared.split("/").at(-1)}.`));
}

/** Renders a verified query: its question, who verified it, and its SQL. */
function queryOf({ name, question, description, verified, stale, sql, tables, parameters, database, ...rest }, ask) {
  const badge = stale ? `✗ Not run: ${stale}`
    : verified ? `✓ Verified by ${verified.by}${verified.on ? ` on ${verified.on}` : ""}` : "– Pending approval";
  // A question with values for its parameters.
  const value = (of) => of.default ?? of.example ?? of.allowed?.at(-1);
  const filled = (parameters ?? []).reduce((text, of) => (value(of) === undefined ? text : text.replaceAll(`{${of.name}}`, value(of))), question);
  return el("div", {},
    el("p", { class: "reason" }, question),
    el("p", { class: `verdict ${stale ? "bad" : verified ? "verified" : ""}` }, el("span", { class: "mark" }, badge)),
    description ? el("p", {}, description) : null,
    stale || /\{\w+\}/.test(filled) ? null : asking([filled], ask),
    el("pre", { tabindex: 0, class: "sql", "aria-label": "SQL" }, highlight(sql)),
    tablesOf(tables),
    parameters?.length ? el("div", {}, el("h3", {}, "Parameters"), shown(parameters)) : null,
    Object.keys(rest).length ? shown(rest) : null);
}

/** Returns the display name of a column type. */
function typeName(type) {
  const name = String(type).toLowerCase();
  if (/bool/.test(name)) return "boolean";
  if (/timestamp|datetime/.test(name)) return "date and time";
  if (/^date/.test(name)) return "date";
  if (/^(tiny|small|big|u)?int|integer|serial/.test(name)) return "integer";
  if (/float|double|real|decimal|numeric|number/.test(name)) return "number";
  if (/char|text|string|utf8|clob/.test(name)) return "text";
  return String(type);
}

/** Renders a table: its description, its rows, and each column with its details. */
function tableOf({ columns, description, row_count: rows, database, table, ...rest }, ask, mayRun) {
  const flags = (column) => [
    column.primary_key ? "primary key" : null,
    column.foreign_key ? `→ ${column.foreign_key}` : null,
    column.nullable === false ? "not null" : null,
    column.statistics?.cardinality !== undefined ? many(column.statistics.cardinality, "distinct value") : null,
    column.statistics?.min !== undefined ? `${column.statistics.min} to ${column.statistics.max}` : null,
  ].filter(Boolean).join(" · ");
  const values = (column) => {
    const samples = rest.sample_values?.[column.name];
    return samples?.length ? `For example ${samples.slice(0, 5).join(", ")}` : null;
  };
  const { sample_values: shownAlready, sql: dialect, ...others } = rest;
  const label = columns.find((column) => /^(country|city|region|state|channel|status|type|category|segment)$/.test(column.name));
  // The built-in planner knows these words.
  const asked = table.endsWith("s") ? `How many ${words(table)} are there` : `What is the number of ${words(table)}`;
  const questions = [`${asked}?`, label && `${asked} by ${words(label.name)}?`].filter(Boolean);
  return el("div", {},
    description ? el("p", {}, description) : null,
    el("p", { class: "status" }, [rows === undefined ? null : many(rows, "row"), many(columns.length, "column")].filter(Boolean).join(" · "), " · ",
      el("a", { href: address(database, table) }, "Show in diagram")),
    asking(questions, ask),
    mayRun ? samples(database, table) : null,
    el("h3", {}, "Columns"),
    mayRun ? [warningsOf(table), quality(database, table, columns)] : null,
    el("ul", { class: "columns", "aria-label": "Columns" }, columns.map((column) => el("li", {},
      el("span", { class: "name" }, column.name), " ", el("small", { class: "type", title: column.type }, typeName(column.type)), " ", el("small", {}, flags(column)),
      column.description ? el("p", {}, column.description) : null,
      values(column) ? el("small", {}, values(column)) : null))),
    Object.keys(others).length ? shown(others) : null);
}

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

/** Renders the first rows of a table. */
function samples(database, table) {
  const place = el("div", { class: "samples" }, el("p", { class: "status busy" }, "Reading rows…"));
  runQuery({ question: `Sample rows of ${table}`, sql: `SELECT * FROM ${quoted(database)}.${quoted(table)} LIMIT ${SAMPLE_ROWS}` })
    .then((result) => place.replaceChildren(result.error ? el("p", { class: "status bad" }, result.message ?? "The rows could not be read.")
      : result.rows.length ? rowsTable(result.columns, result.rows, `Sample rows of ${table}`) : el("p", { class: "status" }, "The table has no rows.")))
    .catch((error) => place.replaceChildren(el("p", { class: "status bad" }, error.message)));
  return el("div", {}, el("h3", {}, "Sample rows"), place);
}

/** Renders the warnings about the values of a table that were found when its source was opened. */
function warningsOf(table) {
  const place = el("ul", { class: "caveats", hidden: true });
  get("/v1/problems").then(({ items }) => {
    const mine = items.filter(({ severity, reason }) => severity === "warning" && reason.startsWith(`\`${table}.`));
    place.hidden = !mine.length;
    place.append(...mine.map(({ reason }) => el("li", {}, coded(reason))));
  }, () => { /* The problems of the catalog are a view of their own. */ });
  return place;
}

/** Renders column quality, counted on demand because it reads the whole table. */
function quality(database, table, columns) {
  const place = el("div", {});
  const checked = columns.filter((column) => !/list|struct|map|json|binary|blob|geo|array/i.test(column.type)).slice(0, MAX_CHECKED);
  const button = el("button", { type: "button", class: "quiet small", onclick: async () => {
    button.disabled = true;
    place.replaceChildren(el("p", { class: "status busy" }, "Counting values…"));
    const counts = checked.flatMap(({ name }, at) => [`COUNT(${quoted(name)}) AS filled_${at}`, `COUNT(DISTINCT ${quoted(name)}) AS different_${at}`]);
    try {
      const result = await runQuery({ question: `Column quality of ${table}`, sql: `SELECT COUNT(*) AS total, ${counts.join(", ")} FROM ${quoted(database)}.${quoted(table)}` });
      if (result.error) throw new Error([result.message, result.suggestion].filter(Boolean).join(" "));
      const [total, ...numbers] = result.rows[0].map(Number);
      const percent = (missing) => (total ? Math.round(missing / total * 1000) / 10 : 0);
      place.replaceChildren(rowsTable(["Column", "Missing", "%", "Distinct"],
        checked.map(({ name }, at) => [name, total - numbers[at * 2], percent(total - numbers[at * 2]), numbers[at * 2 + 1]]), `Column quality of ${table}`),
      el("p", { class: "status" }, `Counted over ${many(total, "row")}${checked.length < columns.length ? `; ${count(columns.length - checked.length)} columns are not counted` : ""}.`));
      button.remove();
    } catch (error) {
      place.replaceChildren(el("p", { class: "status bad" }, error.message));
      button.disabled = false;
    }
  } }, "Check column quality");
  return el("div", { class: "quality" }, button, place);
}
