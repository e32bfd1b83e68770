// Rows as a table that can be sorted, saved as CSV, and in which cells can be marked.

import { parquetOf } from "./api.js";
import { count, el } from "./dom.js";
import { canKeep, keep } from "./files.js";

/** Number of rows shown at once. */
const PAGE = 200;

export const isNumber = (value) => typeof value === "number" || (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value));
const written = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
};

const MOST_DECIMALS = 6;

/** Digits of a sum that are not rounding errors of binary arithmetic. */
const DIGITS = 12;

/** Returns a formatter for a column: a fixed number of decimals, and grouped digits. */
function shownIn(values) {
  const numbers = values.filter((value) => typeof value === "number").map((value) => Number(value.toPrecision(DIGITS)));
  const decimals = Math.min(MOST_DECIMALS, Math.max(0, ...numbers.map((value) => (/\.(\d+)$/.exec(String(value))?.[1] ?? "").length)));
  if (!decimals) return written;
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return (value) => (typeof value === "number" ? format.format(value) : written(value));
}

/** Returns a readable column name. */
export const readable = (name) => (/^[a-z][a-z0-9_]*$/.test(name) ? (name[0].toUpperCase() + name.slice(1)).replaceAll("_", " ") : name);

/** Returns the declared unit of a column for its header, in parentheses; nothing if the name ends with it. */
export function unitOf(name, units = []) {
  const unit = units.find(([of]) => of.toLowerCase() === name.toLowerCase())?.[1];
  return unit && unit.toLowerCase() !== name.split(/[_ ]/).at(-1).toLowerCase() ? ` (${unit})` : "";
}

/** Renders a table of rows, each a list of values; answers have readable column names, with the declared units. */
export function rowsTable(columns, rows, label, isReadable = false, units = []) {
  const numeric = columns.map((_, at) => rows.length > 0 && rows.every((row) => row[at] === null || isNumber(row[at])));
  const show = columns.map((_, at) => shownIn(rows.map((row) => row[at])));
  const body = el("tbody");
  const more = el("button", { type: "button", class: "quiet", hidden: true }, "");
  let order = rows;
  let limit = PAGE;
  const fill = () => {
    body.replaceChildren(...order.slice(0, limit).map((row) => el("tr", {}, columns.map((_, at) =>
      el("td", { class: numeric[at] ? "number" : undefined }, show[at](row[at]))))));
    more.hidden = order.length <= limit;
    more.textContent = `Show more of ${count(order.length)} rows`;
  };
  more.addEventListener("click", () => { limit += PAGE * 5; fill(); });
  const heads = columns.map((name, at) => {
    const head = el("th", { scope: "col", class: numeric[at] ? "number" : undefined },
      el("button", { type: "button", class: "sort", onclick: () => sort(at), title: isReadable ? name : undefined },
        (isReadable ? readable(name) : name) + unitOf(name, units)));
    return head;
  });
  const compare = (at) => (one, other) => {
    const [a, b] = [one[at], other[at]];
    if (a === null || b === null) return (a === null) - (b === null);
    return numeric[at] ? Number(a) - Number(b) : written(a).localeCompare(written(b), "en", { numeric: true });
  };
  function sort(at) {
    const now = heads[at].getAttribute("aria-sort");
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    if (now === "descending") order = rows;
    else {
      const sign = now === "ascending" ? -1 : 1;
      order = [...rows].sort((one, other) => sign * compare(at)(one, other));
      heads[at].setAttribute("aria-sort", now === "ascending" ? "descending" : "ascending");
    }
    fill();
  }
  fill();
  return el("div", {},
    el("div", { class: "wide rows", tabindex: 0, role: "group", "aria-label": label },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), body)),
    more);
}

/** Returns rows as CSV (RFC 4180). Values that a spreadsheet would parse as a formula are prefixed with an apostrophe. */
export function csv(columns, rows) {
  const cell = (value) => {
    let text = written(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !isNumber(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => columns.map((_, at) => cell(row[at])).join(",")).join("\r\n") + "\r\n";
}

/** Renders buttons that save rows. */
export const keepButtons = (name, columns, rows) => (canKeep() ? [
  el("button", { type: "button", class: "quiet small", onclick: () => keep(`${name}.csv`, csv(columns, rows), "text/csv") }, "CSV"),
  parquetOf && el("button", { type: "button", class: "quiet small", onclick: async () => keep(`${name}.parquet`, await parquetOf(columns, rows), "application/vnd.apache.parquet") }, "Parquet"),
] : []);

/** Marks the cells that contain a number of a text; returns the first. */
export function mark(place, text) {
  const numbers = new Set((text.match(/-?\d[\d,]*(\.\d+)?/g) ?? []).map((number) => Number(number.replaceAll(",", ""))));
  const cells = [...place.querySelectorAll("td")];
  cells.forEach((cell) => cell.classList.remove("marked"));
  const found = cells.filter((cell) => cell.textContent !== "" && numbers.has(Number(cell.textContent.replaceAll(",", ""))));
  const named = cells.filter((cell) => cell.textContent.length > 2 && !isNumber(cell.textContent) && text.includes(cell.textContent));
  [...found, ...named].forEach((cell) => cell.classList.add("marked"));
  return found[0] ?? named[0];
}
