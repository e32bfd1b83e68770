// Creates elements from data. Everything is set as text or as a known property, never as markup.

/** Creates an element with properties and children; children that are not nodes become text. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Creates an SVG element in the same way. */
export function draw(tag, properties = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Allows a name to wrap after dots and underscores. */
export const named = (id) => el("span", {}, id.split(/(?<=[._/])/).flatMap((part, at) => (at ? [el("wbr"), part] : [part])));

/** A name as a button that opens its entry. */
export function chip(kind, id, open, label = id) {
  // A column is shown with its table.
  const target = kind === "column" ? ["table", id.slice(0, id.lastIndexOf("."))] : [kind, id];
  return el("button", { type: "button", class: `thing ${kind}`, "aria-label": `${kind} ${id}`, onclick: () => open(...target) }, named(label));
}

export const find = (id) => document.getElementById(id);

/** Renders text in backticks as code. */
export const coded = (text) => text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? el("code", {}, part) : part));

/** Returns the text with a capital first letter. */
export const capital = (text) => text.replace(/^./u, (first) => first.toUpperCase());

/** Returns the words of a text, for comparison with another. */
export const plain = (text) => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim().toLowerCase();

/** Formats a number. */
export const count = (number) => new Intl.NumberFormat("en").format(number);

/** Formats a number with its noun. */
export const many = (number, one, more = one + "s") => `${count(number)} ${number === 1 ? one : more}`;

const DEEPEST = 6;
const MOST_ROWS = 500;

/** Renders any JSON value: objects as fields, lists of objects as tables, long texts verbatim. */
export function shown(value, depth = 0) {
  if (value === null || value === undefined) return el("span", {}, "–");
  if (typeof value !== "object") {
    const text = String(value);
    return text.includes("\n") ? el("pre", {}, text) : el("span", {}, text);
  }
  if (depth >= DEEPEST) return el("code", {}, JSON.stringify(value));
  if (Array.isArray(value)) return list(value, depth);
  const fields = Object.entries(value);
  if (fields.length === 0) return el("span", {}, "–");
  return el("dl", { class: "fields" }, fields.map(([name, inner]) =>
    el("div", {},
      el("dt", {}, name.replaceAll("_", " ")),
      el("dd", { class: typeof inner === "object" && inner !== null ? "nested" : undefined }, shown(inner, depth + 1)))));
}

function list(items, depth) {
  if (items.length === 0) return el("span", {}, "–");
  const rows = items.slice(0, MOST_ROWS);
  const isTable = rows.every((row) => row && typeof row === "object" && !Array.isArray(row));
  if (!isTable) {
    if (rows.every((row) => typeof row !== "object")) return el("span", {}, rows.join(", "));
    return el("ul", {}, rows.map((row) => el("li", {}, shown(row, depth + 1))));
  }
  return table([...new Set(rows.flatMap((row) => Object.keys(row)))], rows, depth);
}

/** Renders rows with the same columns. */
export function table(columns, rows, depth = 0) {
  return el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": `Table: ${columns.join(", ").replaceAll("_", " ")}` },
    el("table", {},
      el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col" }, name.replaceAll("_", " "))))),
      el("tbody", {}, rows.slice(0, MOST_ROWS).map((row) =>
        el("tr", {}, columns.map((name) => el("td", {}, name in row ? shown(row[name], depth + 1) : "")))))));
}
