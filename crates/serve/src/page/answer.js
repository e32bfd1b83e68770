// An answer: its chart and words, the queries and rows that it rests on, and what may be asked next.

import { chartOf } from "./chart.js";
import { clarify } from "./clarify.js";
import { el, many } from "./dom.js";
import { markdown } from "./markdown.js";
import { chip, cost, facts } from "./plan.js";
import { sqlOf } from "./sql.js";
import { keepButtons, mark, rowsTable } from "./table.js";

/** Everything of an answer. `again` asks something else; `mayRun` tells whether queries may be run here. */
export function answer(found, open, again, mayRun = false) {
  const words = el("div", { class: "reason text" }, markdown(found.answer));
  const drawn = found.questions.find((ran) => ran.id === found.chart?.of);
  const others = found.questions.filter((ran) => ran !== drawn);
  cite(words, found.questions);
  tables(words, drawn);
  return [
    verdict(found, open),
    drawn ? part("", evidence(drawn, mayRun, true, found.question, proposed(found.chart)), "shown") : null,
    words,
    found.clarifications?.length ? clarify(found, again) : null,
    part(drawn ? "It rests on too" : "What it rests on",
      others.length ? el("div", {}, others.map((ran) => evidence(ran, mayRun, false))) : null),
    part("Facts it rests on", facts(found.premises ?? [], open)),
    part("Not traced to data", list((found.tracing?.claims ?? []).filter((claim) => claim.problems?.length)
      .map((claim) => `${claim.text} (${claim.problems.join("; ")})`))),
    part("Go on with", found.follow_ups.length
      ? el("ul", { class: "followups" }, found.follow_ups.map((text) =>
          el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => again(text) }, text))))
      : null),
    cost(found.metrics),
  ].filter(Boolean);
}

function verdict(found, open) {
  const ok = found.tracing?.ok !== false && found.ended === "completed" && !found.best_effort;
  const mark = ok ? "✓ Traced" : found.best_effort ? "✗ Not finished" : "✗ Not all of it is traced";
  const checked = found.questions.filter((ran) => ran.verified);
  return el("p", { class: `verdict ${ok ? "good" : "bad"}` },
    el("span", { class: "mark" }, mark),
    el("span", {}, [many(found.questions.length, "query", "queries"), found.mode, found.model].join(" · ")),
    checked.map(({ verified }) => el("span", { class: "checked" }, `✓ Checked by ${verified.by} `, chip("query", verified.query, open))));
}

/** What the model proposed to draw; the rules of charts choose where it proposed nothing. */
const proposed = (chart) => (chart?.columns?.length ? { kind: chart.kind, columns: chart.columns } : null);

const part = (title, body, kind) =>
  (body ? el("section", { class: kind }, title ? el("h3", {}, title) : null, body) : null);
const list = (texts) => (texts?.length ? el("ul", { class: "questions" }, texts.map((text) => el("li", {}, text))) : null);

/** A query with its rows: the one that the chart shows in full, others when they are opened. */
export function evidence(ran, mayRun, isFirst, asked, proposal = null) {
  const name = ran.id.toLowerCase();
  const what = ran.error ? "failed" : `${many(ran.rows.length, "row")}${ran.has_more ? ", and more" : ""}`;
  const title = el("span", {}, el("span", { class: "cited" }, ran.id), ran.question === asked ? " " : ` ${ran.question || "A query"} `, el("small", {}, what));
  const body = el("div", { class: "evidence-body" });
  const fill = () => {
    if (body.childElementCount) return;
    const sql = ran.sql ? el("details", { class: "sql-of" }, el("summary", {}, "SQL"), sqlOf(ran, mayRun)) : "";
    if (ran.error) body.append(el("p", { class: "status bad" }, ran.error), sql);
    else if (!ran.rows.length) body.append(el("p", { class: "status" }, "No rows."), sql);
    else {
      const drawing = chartOf(ran, { question: ran.question, sources: ran.databases, name, under: asked, proposal });
      body.append(
        el("div", { class: "beside" }, el("div", { class: "drawing" }, drawing),
          el("div", { class: "table-of" }, rowsTable(ran.columns, ran.rows, `Rows of ${ran.id}`),
            el("p", { class: "actions" }, keepButtons(name, ran.columns, ran.rows)))),
        sql);
    }
  };
  if (isFirst) {
    fill();
    return el("div", { class: "evidence", "data-query": ran.id, tabindex: -1 }, el("p", { class: "evidence-title" }, title), body);
  }
  const node = el("details", { class: "evidence", "data-query": ran.id, open: !ran.error && ran.rows.length <= 12 },
    el("summary", {}, title), body);
  if (node.open) fill();
  node.addEventListener("toggle", () => node.open && fill());
  return node;
}

/** Tables in a text: figures stand below each other, and one whose rows stand in full above is not repeated. */
function tables(words, drawn) {
  for (const node of words.querySelectorAll("table")) {
    const heads = [...node.querySelectorAll("thead th")];
    const rows = [...node.querySelectorAll("tbody tr")].map((row) => [...row.children]);
    const isShown = drawn && rows.length === drawn.rows.length && heads.length === drawn.columns.length
      && heads.every((head, at) => head.textContent === drawn.columns[at]);
    if (isShown) {
      node.closest(".wide").replaceWith(el("p", { class: "above" }, `The ${many(rows.length, "row")} stand above.`));
      continue;
    }
    heads.forEach((head, at) => {
      const cells = rows.map((row) => row[at]).filter(Boolean);
      const isNumeric = cells.length > 0 && cells.every((cell) => /^-?[\d,]*\.?\d*\s?%?$/.test(cell.textContent));
      if (isNumeric) [head, ...cells].forEach((cell) => cell.classList.add("number"));
    });
  }
}

/** `[Q1]` in a text leads to its rows, and marks the cells that the sentence tells. */
function cite(words, questions) {
  const known = new Set(questions.map((ran) => ran.id));
  const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (/\[Q\d/.test(walker.currentNode.data)) texts.push(walker.currentNode);
  for (const text of texts) {
    const parts = text.data.split(/\[(Q\d{1,4}(?:\s*,\s*Q\d{1,4})*)\]/);
    text.replaceWith(...parts.flatMap((piece, at) => {
      if (at % 2 === 0) return piece ? [piece] : [];
      return piece.split(/\s*,\s*/).map((id) => (known.has(id) ? reference(id) : `[${id}]`));
    }));
  }
}

function reference(id) {
  const button = el("button", { type: "button", class: "cite", "aria-label": `${id}: the rows that this rests on`, onclick: () => {
    const place = button.closest(".result")?.querySelector(`[data-query="${id}"]`);
    if (!place) return;
    if (place.tagName === "DETAILS") place.open = true;
    const said = button.closest("p, li, td, blockquote, h3") ?? button.parentElement;
    requestAnimationFrame(() => {
      const first = mark(place, said.textContent.replace(/\bQ\d+\b/g, ""));
      const target = place.tagName === "DETAILS" ? place.querySelector("summary") : place;
      target.focus({ preventScroll: true });
      (first ?? place).scrollIntoView({ block: "center" });
    });
  } }, id);
  return button;
}
