// The steps of a plan as a graph: what each takes from the steps before it.

import { draw, el } from "./dom.js";

const [WIDTH, HEIGHT, ACROSS, DOWN] = [224, 58, 46, 18];
const MOST_STEPS = 40;

/** The graph of a plan of several steps; `go` leads to one of them. */
export function graph(steps, go) {
  if (steps.length < 2 || steps.length > MOST_STEPS) return null;
  const maker = new Map(steps.flatMap((step) => (step.outputs ?? []).map((name) => [name, step.number])));
  const before = new Map(steps.map((step) => [step.number,
    [...new Set((step.inputs ?? []).map((name) => maker.get(name)).filter((number) => number !== undefined && number < step.number))]]));
  const level = new Map();
  for (const step of steps) level.set(step.number, Math.max(-1, ...before.get(step.number).map((one) => level.get(one) ?? 0)) + 1);
  const rows = new Map();
  const place = new Map(steps.map((step) => {
    const column = level.get(step.number);
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return [step.number, { x: 2 + column * (WIDTH + ACROSS), y: 2 + row * (HEIGHT + DOWN) }];
  }));
  const wide = (Math.max(...level.values()) + 1) * (WIDTH + ACROSS) - ACROSS + 4;
  const high = Math.max(...rows.values()) * (HEIGHT + DOWN) - DOWN + 4;
  const edges = steps.flatMap((step) => before.get(step.number).map((from) => {
    const [a, b] = [place.get(from), place.get(step.number)];
    const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
    return draw("path", { class: "edge", d: `M${x1} ${y1}C${x1 + ACROSS / 2} ${y1} ${x2 - ACROSS / 2} ${y2} ${x2} ${y2}` });
  }));
  const nodes = steps.map((step) => {
    const { x, y } = place.get(step.number);
    const names = [...(step.tables ?? []), ...(step.operations ?? []), ...(step.documents ?? []), ...(step.skills ?? [])];
    const key = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(step.number); } };
    return draw("g", { class: "node", onclick: () => go(step.number) },
      draw("title", {}, step.goal),
      draw("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 9 }),
      draw("g", { role: "button", tabindex: 0, onkeydown: key },
        draw("text", { x: x + 12, y: y + 23, class: "number" }, String(step.number)),
        draw("text", { x: x + 30, y: y + 23 }, cut(step.goal, 23))),
      draw("text", { x: x + 30, y: y + 43, class: "soft" }, cut(names.join(", "), 25)));
  });
  return el("div", { class: "wide graph", tabindex: 0, role: "region", "aria-label": "The steps and what they take from each other" },
    draw("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "group" }, edges, nodes));
}

/** A text of at most so many letters. */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
