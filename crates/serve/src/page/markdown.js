// Renders the Markdown that models write: headings, lists, tables, code, quotes, emphasis and links. Everything else stays text: no HTML,
// no images, and only web links.

import { el } from "./dom.js";

const MOST_TEXT = 200_000;
/** Longer lines are shown verbatim, without parsing. */
const MOST_LINE = 4_000;
const DEEPEST = 4;

/** Renders a text as blocks. */
export function markdown(text) {
  return blocks(String(text ?? "").slice(0, MOST_TEXT).replaceAll("\r\n", "\n").split("\n"), 0);
}

const BULLET = /^( *)([-*+]|\d{1,9}[.)]) +/;
const HEADING = /^(#{1,6}) +/;
const RULE = /^ *(?:-{3,}|\*{3,}|_{3,}) *$/;
const QUOTE = /^ *> ?/;
const FENCE = /^ *(`{3,}|~{3,})/;

function blocks(lines, depth) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line)?.[1];
    if (!line.trim()) at += 1;
    else if (fence) {
      const end = lines.findIndex((other, place) => place > at && other.trim().startsWith(fence));
      const last = end < 0 ? lines.length : end;
      nodes.push(el("pre", { tabindex: 0 }, lines.slice(at + 1, last).join("\n")));
      at = last + 1;
    } else if (RULE.test(line)) {
      nodes.push(el("hr"));
      at += 1;
    } else if (HEADING.test(line)) {
      // The page has its own headings above.
      nodes.push(el("h3", {}, inline(line.replace(HEADING, "").replace(/ +#* *$/, ""))));
      at += 1;
    } else if (isTable(lines, at)) {
      const end = after(lines, at + 2, (other) => other.includes("|"));
      nodes.push(table(lines.slice(at, end)));
      at = end;
    } else if (depth < DEEPEST && QUOTE.test(line)) {
      const end = after(lines, at, (other) => QUOTE.test(other));
      nodes.push(el("blockquote", {}, blocks(lines.slice(at, end).map((other) => other.replace(QUOTE, "")), depth + 1)));
      at = end;
    } else if (depth < DEEPEST && BULLET.test(line)) {
      const [node, end] = list(lines, at, depth);
      nodes.push(node);
      at = end;
    } else {
      const end = Math.max(at + 1, after(lines, at, (other, place) => other.trim() && (place === at || !begins(lines, place))));
      nodes.push(el("p", {}, lines.slice(at, end).flatMap((other, place) => [place ? el("br") : null, ...inline(other)])));
      at = end;
    }
  }
  return nodes;
}

/** Returns the index after the following lines of a kind. */
function after(lines, from, isOne) {
  let at = from;
  while (at < lines.length && isOne(lines[at], at)) at += 1;
  return at;
}

/** Whether a line starts another block. */
const begins = (lines, at) =>
  [FENCE, RULE, HEADING, QUOTE, BULLET].some((kind) => kind.test(lines[at])) || isTable(lines, at);

/** Renders the items of a list, with the content indented below each. */
function list(lines, from, depth) {
  const [, indent, mark] = BULLET.exec(lines[from]);
  const items = [];
  let at = from;
  for (;;) {
    const found = at < lines.length ? BULLET.exec(lines[at]) : null;
    if (!found || found[1].length !== indent.length) break;
    const width = found[0].length;
    const end = after(lines, at + 1, (other, place) =>
      /^ */.exec(other)[0].length > indent.length || (!other.trim() && lines[place + 1]?.startsWith(" ".repeat(indent.length + 1))));
    const own = lines.slice(at, end).map((other, place) => other.slice(place ? Math.min(width, /^ */.exec(other)[0].length) : width));
    const inner = blocks(own, depth + 1);
    // An item of one paragraph is rendered without a paragraph element.
    items.push(el("li", {}, inner.length && inner[0].tagName === "P" ? [...inner[0].childNodes, ...inner.slice(1)] : inner));
    at = end;
  }
  return [el(/\d/.test(mark) ? "ol" : "ul", /\d/.test(mark) ? { start: parseInt(mark, 10) } : {}, items), at];
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

function isTable(lines, at) {
  const below = lines[at + 1];
  if (!below || !lines[at].includes("|") || !below.includes("-")) return false;
  const marks = cells(below);
  return marks.length === cells(lines[at]).length && marks.every((mark) => /^:?-+:?$/.test(mark));
}

function table([head, , ...rows]) {
  const names = cells(head);
  return el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": `Table: ${names.join(", ")}` },
    el("table", {},
      el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, inline(name))))),
      el("tbody", {}, rows.map((row) => el("tr", {}, cells(row).slice(0, names.length).map((cell) => el("td", {}, inline(cell))))))));
}

const SPAN = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|\[([^[\]]+)\]\((https?:\/\/[^\s()<>"]+)\)/g;

/** Renders inline markup. */
function inline(text) {
  if (text.length > MOST_LINE) return [text];
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(SPAN)) {
    const [all, code, strong, soft, label, address] = found;
    nodes.push(text.slice(at, found.index));
    if (code) nodes.push(el("code", {}, code));
    else if (strong) nodes.push(el("strong", {}, strong));
    else if (soft) nodes.push(el("em", {}, soft));
    else nodes.push(el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, label));
    at = found.index + all.length;
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}
