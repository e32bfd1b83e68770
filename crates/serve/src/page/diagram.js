// The tables of a database with their keys: all at once, or one with its neighbours, which can be navigated.

import { diagramOf } from "./api.js";
import { count, draw, el, many } from "./dom.js";
import { cut } from "./graph.js";

const [WIDTH, LINE, HEAD, ACROSS, DOWN] = [212, 20, 32, 76, 26];
const MOST_AT_ONCE = 40;
const MOST_COLUMNS = 14;
/** Drawings up to this width are fitted to the screen. */
const MOST_FITTED = 1500;

/** Returns the address of a database or one of its tables in the diagram. */
export const address = (name, table) => `#catalog/${encodeURIComponent(name)}${table ? `/${encodeURIComponent(table)}` : ""}`;

/** Shows a database, or a table with its neighbours. `open` opens a table in full, `go` navigates to an address, `home` is a link to
  * all databases. */
export async function diagram(box, name, table, { open, go, home = null }) {
  const found = await diagramOf(name);
  const tables = new Map(found.tables.map((one) => [one.name, one]));
  const keys = found.keys.filter((key) => tables.has(key.from) && tables.has(key.to));
  const here = tables.get(table);
  const link = (to, text) => el("a", { href: address(name, to) }, text);
  const search = el("input", { type: "search", "aria-label": `Find a table of ${name}`, placeholder: "Find a table", list: "diagram-tables", autocomplete: "off" });
  search.addEventListener("change", () => { if (tables.has(search.value)) go(address(name, search.value)); });
  const alone = found.tables.filter((one) => !keys.some((key) => key.from === one.name || key.to === one.name));
  const walk = (to) => go(address(name, to));
  const body = here ? around(here, tables, keys, walk, open.bind(null, "table"), name)
    : tables.size <= MOST_AT_ONCE && keys.length ? whole(found.tables.filter((one) => !alone.includes(one)), keys, walk)
      : el("ul", { class: "plain" }, found.tables.map((one) => el("li", {}, link(one.name, one.name), " ", el("small", {}, size(one)))));
  box.replaceChildren(
    el("p", { class: "crumbs" }, home ? [home, " / "] : null, here ? [link("", name), ` / ${here.name}`] : name),
    el("h2", { id: "other-title", tabindex: -1 }, here ? here.name : name),
    el("p", { class: "status" }, here
      ? [size(here), `references ${many(keys.filter((key) => key.from === here.name).length, "table")}`, `referenced by ${count(keys.filter((key) => key.to === here.name).length)}`].filter(Boolean).join(" · ")
      : [many(found.total, "table"), many(keys.length, "key"), "select a table to see its neighbours"].join(" · ")),
    el("p", { class: "actions" }, search, el("datalist", { id: "diagram-tables" }, [...tables.keys()].map((one) => el("option", { value: one }))),
      here ? el("button", { type: "button", class: "quiet", onclick: () => open("table", `${name}.${here.name}`) }, "Columns and values") : null,
      here ? el("a", { class: "button quiet", href: address(name) }, "All tables") : null),
    body,
    !here && alone.length && tables.size <= MOST_AT_ONCE && keys.length
      ? el("section", {}, el("h3", {}, "Without keys"), el("ul", { class: "plain" }, alone.map((one) => el("li", {}, link(one.name, one.name), " ", el("small", {}, size(one))))))
      : "");
  // On a narrow screen, the table in the middle comes first.
  const wide = box.querySelector(".graph");
  const middle = wide?.querySelector(".here rect");
  if (middle) wide.scrollLeft = Number(middle.getAttribute("x")) + WIDTH / 2 - wide.clientWidth / 2;
}

const size = (table) => (table.row_count === undefined ? "" : many(table.row_count, "row"));

/** Returns the columns to draw: keys first. */
const lines = (table, all) => {
  const keys = table.columns.filter((column) => column.primary_key || column.foreign_key);
  const rest = table.columns.filter((column) => !keys.includes(column));
  return all ? [...keys, ...rest].slice(0, MOST_COLUMNS) : keys.slice(0, 6);
};
const high = (table, all) => HEAD + Math.max(1, lines(table, all).length) * LINE + 8;

function node(table, { x, y }, all, act) {
  const key = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(table.name); } };
  const left = table.columns.length - lines(table, all).length;
  return draw("g", { class: `node table${all ? " here" : ""}`, onclick: () => act(table.name) },
  draw("rect", { x, y, width: WIDTH, height: high(table, all), rx: 9 }),
  draw("path", { class: "rule", d: `M${x} ${y + HEAD}h${WIDTH}` }),
  draw("g", { role: "button", tabindex: 0, onkeydown: key, "data-table": table.name },
    draw("text", { x: x + 12, y: y + 21, class: "name" }, cut(table.name, 24))),
  lines(table, all).map((column, at) => [
    draw("text", { x: x + 12, y: y + HEAD + 17 + at * LINE, class: column.primary_key ? "key" : undefined },
      `${column.primary_key ? "◆ " : column.foreign_key ? "→ " : ""}${cut(column.name, 20)}`),
  ]).flat(),
  left > 0 ? draw("text", { x: x + WIDTH - 10, y: y + 21, class: "soft more" }, `+${left}`) : null);
}

/** Returns where a key's line starts or ends: at the row of its column, else at the table name. */
function beginning(table, { y }, columns, all) {
  const at = lines(table, all).findIndex((column) => columns.includes(column.name));
  return at < 0 ? y + HEAD / 2 : y + HEAD + 12 + at * LINE;
}

/** Draws a line through points from left to right, with curves between different heights. */
const through = ([[x, y], ...rest]) => {
  let [path, last] = [`M${x} ${y}`, [x, y]];
  for (const [x2, y2] of rest) {
    const bend = (x2 - last[0]) / 2;
    path += y2 === last[1] ? `L${x2} ${y2}` : `C${last[0] + bend} ${last[1]} ${x2 - bend} ${y2} ${x2} ${y2}`;
    last = [x2, y2];
  }
  return path;
};

/** Draws the line of a key between two tables, through points between other tables. */
function edge([a, y1], [b, y2], way = []) {
  const [x1, x2] = a.x < b.x ? [a.x + WIDTH, b.x] : a.x > b.x ? [a.x, b.x + WIDTH] : [a.x + WIDTH, b.x + WIDTH];
  const line = a.x === b.x ? `M${x1} ${y1}C${x1 + 34} ${y1} ${x2 + 34} ${y2} ${x2} ${y2}` : through([[x1, y1], ...way, [x2, y2]]);
  return draw("path", { class: "edge", d: line });
}

const canvas = (label, width, height, ...inside) =>
  el("div", { class: `wide graph${width <= MOST_FITTED ? " fit" : ""}`, tabindex: 0, role: "region", "aria-label": label },
    draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group" }, inside.flat()));

/** Lays out one table with the tables that refer to it on the left and those it refers to on the right. */
function around(here, tables, keys, walk, open, database) {
  const to = [...new Set(keys.filter((key) => key.from === here.name && key.to !== here.name).map((key) => key.to))].map((name) => tables.get(name));
  const from = [...new Set(keys.filter((key) => key.to === here.name && key.from !== here.name).map((key) => key.from))].map((name) => tables.get(name));
  const column = (list) => list.reduce((sum, table) => sum + high(table, false) + DOWN, 0) - (list.length ? DOWN : 0);
  const height = Math.max(column(to), column(from), high(here, true)) + 8;
  const first = from.length ? WIDTH + ACROSS : 0;
  const middle = { x: 4 + first, y: 4 + (height - 8 - high(here, true)) / 2 };
  const put = (list, x) => {
    let y = 4 + (height - 8 - column(list)) / 2;
    return list.map((table) => {
      const place = { x, y };
      y += high(table, false) + DOWN;
      return [table, place];
    });
  };
  const [left, right] = [put(from, 4), put(to, middle.x + WIDTH + ACROSS)];
  const width = middle.x + WIDTH + (to.length ? ACROSS + WIDTH : 0) + 8;
  const lineOf = (key, a, b) => edge([a, beginning(tables.get(key.from), a, key.columns, key.from === here.name)],
    [b, beginning(tables.get(key.to), b, key.references, key.to === here.name)]);
  const among = (from, to) => keys.filter((key) => key.from === from && key.to === to);
  return canvas(`${here.name} and its neighbours`, width, height,
    left.flatMap(([table, place]) => among(table.name, here.name).map((key) => lineOf(key, place, middle))),
    right.flatMap(([table, place]) => among(here.name, table.name).map((key) => lineOf(key, middle, place))),
    left.map(([table, place]) => node(table, place, false, walk)),
    node(here, middle, true, (name) => open(`${database}.${name}`)),
    right.map(([table, place]) => node(table, place, false, walk)));
}

/** Lays out all tables, with referenced tables on the right. */
function whole(list, keys, walk) {
  const byName = new Map(list.map((table) => [table.name, table]));
  const level = new Map(list.map((table) => [table.name, 0]));
  for (let round = 0; round < list.length; round += 1) {
    let moved = false;
    for (const { from, to } of keys) {
      if (from === to || level.get(to) > level.get(from) || level.get(from) + 1 > 4) continue;
      level.set(to, level.get(from) + 1);
      moved = true;
    }
    if (!moved) break;
  }
  const columns = [];
  for (const table of list) (columns[level.get(table.name)] ??= []).push(table);
  const place = new Map();
  let x = 4;
  let tallest = 0;
  for (const column of columns.filter(Boolean)) {
    let y = 4;
    // Close to the tables that refer to it.
    const middle = (table) => {
      const near = keys.filter((key) => key.to === table.name && place.has(key.from)).map((key) => place.get(key.from).y);
      return near.length ? near.reduce((sum, one) => sum + one, 0) / near.length : 0;
    };
    column.sort((one, other) => middle(one) - middle(other) || high(other, false) - high(one, false));
    for (const table of column) {
      place.set(table.name, { x, y });
      y += high(table, false) + DOWN;
    }
    tallest = Math.max(tallest, y);
    x += WIDTH + ACROSS;
  }
  const shown = columns.filter(Boolean);
  const used = new Map();
  // A line to a more distant table runs between the tables on its way, not behind them.
  const way = (a, y1, b, y2) => shown.filter(([first]) => {
    const { x: between } = place.get(first.name);
    return between > a.x && between < b.x;
  }).flatMap((column) => {
    const { x: left } = place.get(column[0].name);
    const wanted = y1 + (y2 - y1) * ((left - a.x) / (b.x - a.x));
    const gaps = column.map((table) => place.get(table.name).y + high(table, false) + DOWN / 2);
    const gap = gaps.toSorted((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted))[0];
    const count = used.get(`${left} ${gap}`) ?? 0;
    used.set(`${left} ${gap}`, count + 1);
    const beside = gap + [0, 5, -5, 9, -9][count % 5];
    return [[left - 12, beside], [left + WIDTH + 12, beside]];
  });
  const lineOf = (key) => {
    const [a, b] = [place.get(key.from), place.get(key.to)];
    const [y1, y2] = [beginning(byName.get(key.from), a, key.columns, false), beginning(byName.get(key.to), b, key.references, false)];
    return edge([a, y1], [b, y2], a.x < b.x ? way(a, y1, b, y2) : []);
  };
  return canvas("Tables and their keys", x - ACROSS + 4, tallest,
    keys.filter((key) => key.from !== key.to).map(lineOf),
    list.map((table) => node(table, place.get(table.name), false, walk)));
}
