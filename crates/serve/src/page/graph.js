// The steps of a plan as a graph of their data flow.

import { draw, el } from "./dom.js";

const [WIDTH, HEIGHT, ACROSS, DOWN, SIDE] = [262, 98, 46, 18, 30];
const MOST_STEPS = 40;
const [MOST_LETTERS, MOST_LINES] = [29, 3];

/** Renders the graph of a plan with several steps; `go` leads to a step. */
export function graph(steps, go) {
  if (steps.length < 2 || steps.length > MOST_STEPS) return null;
  const maker = new Map(steps.flatMap((step) => (step.outputs ?? []).map((name) => [name, step.number])));
  const before = new Map(steps.map((step) => [step.number,
    [...new Set((step.inputs ?? []).map((name) => maker.get(name)).filter((number) => number !== undefined && number < step.number))]]));
  // On a narrow screen, steps are stacked, with their inputs along the left side.
  const isNarrow = matchMedia("(max-width: 40rem)").matches;
  const place = isNarrow ? new Map(steps.map((step, at) => [step.number, { x: SIDE + 2, y: 2 + at * (HEIGHT + DOWN) }])) : beside(steps, before);
  const places = [...place.values()];
  const wide = Math.max(...places.map(({ x }) => x)) + WIDTH + 2;
  const high = Math.max(...places.map(({ y }) => y)) + HEIGHT + 2;
  const edges = steps.flatMap((step) => before.get(step.number).map((from) => (isNarrow ? around : across)(place.get(from), place.get(step.number))));
  return el("div", { class: "wide graph", tabindex: 0, role: "group", "aria-label": "The steps and the data flow between them" },
    draw("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "group" }, edges, steps.map((step) => node(step, place.get(step.number), go))));
}

/** Assigns columns from left to right: each step right of its inputs, and as close as possible to the steps that use it. */
function beside(steps, before) {
  const level = new Map();
  for (const { number } of steps) level.set(number, Math.max(-1, ...before.get(number).map((one) => level.get(one) ?? 0)) + 1);
  for (const { number } of steps.toReversed()) {
    const after = steps.filter((step) => before.get(step.number).includes(number)).map((step) => level.get(step.number));
    if (after.length) level.set(number, Math.max(level.get(number), Math.min(...after) - 1));
  }
  const rows = new Map();
  return new Map(steps.map(({ number }) => {
    const column = level.get(number);
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return [number, { x: 2 + column * (WIDTH + ACROSS), y: 2 + row * (HEIGHT + DOWN) }];
  }));
}

/** Draws an arrow. */
const arrow = (line, x, y) => draw("path", { class: "edge", d: `${line}M${x - 7} ${y - 4}L${x - 1} ${y}L${x - 7} ${y + 4}` });

function across(a, b) {
  const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
  return arrow(`M${x1} ${y1}C${x1 + ACROSS / 2} ${y1} ${x2 - ACROSS / 2} ${y2} ${x2 - 1} ${y2}`, x2, y2);
}

function around(a, b) {
  const [y1, y2] = [a.y + HEIGHT / 2 + 8, b.y + HEIGHT / 2 - 8];
  return arrow(`M${a.x} ${y1}C${a.x - SIDE} ${y1} ${b.x - SIDE} ${y2} ${b.x - 1} ${y2}`, b.x, y2);
}

function node(step, { x, y }, go) {
  const names = [...(step.tables ?? []), ...(step.operations ?? []), ...(step.documents ?? []), ...(step.skills ?? [])];
  const key = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(step.number); } };
  const lines = broken(step.goal);
  return draw("g", { class: "node", onclick: () => go(step.number) },
    draw("title", {}, step.goal),
    draw("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 9 }),
    draw("g", { role: "button", tabindex: 0, onkeydown: key },
      draw("text", { x: x + 12, y: y + 25, class: "number" }, String(step.number)),
      lines.map((line, at) => draw("text", { x: x + 32, y: y + 24 + at * 18 }, line))),
    draw("text", { x: x + 32, y: y + 84, class: "soft" }, cut(names.join(", "), MOST_LETTERS)));
}

/** Wraps a text into a few lines, between words. */
function broken(text) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= MOST_LETTERS || !lines.at(-1) || lines.length === MOST_LINES) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => cut(line, MOST_LETTERS));
}

/** Truncates a text to `most` characters. */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
