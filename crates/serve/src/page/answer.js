// An answer: its state, its headline number and chart, its text, its queries with their rows, and follow-up questions.

import { choicesOf, clarify, withoutChoices } from "./clarify.js";
import { el, plain } from "./dom.js";
import { evidence } from "./evidence.js";
import { markdown } from "./markdown.js";
import { cost, facts } from "./plan.js";
import { verdict } from "./status.js";
import { mark, unitOf } from "./table.js";

/** Renders an answer. `again` asks another question; `mayRun` says whether queries may be run here. */
export function answer(found, open, again, mayRun = false) {
  const main = mainQuery(found);
  const others = found.questions.filter((ran) => ran !== main);
  const words = wordsOf(found, main);
  return [
    verdict(found, open),
    main ? part("", evidence(main, mayRun, true, found.question, main.id === found.chart?.of ? proposed(found.chart) : null), "shown") : null,
    words,
    found.clarifications?.length || choicesOf(found).length ? clarify(found, again) : null,
    part(main ? "More queries" : "Sources", others.length ? el("div", {}, others.map((ran) => evidence(ran, mayRun, false))) : null),
    part("Definitions used", facts(found.premises ?? [], open)),
    part("You could ask", found.follow_ups.length
      ? el("ul", { class: "followups" }, found.follow_ups.map((text) =>
          el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => again(text) }, text))))
      : null),
    cost(found.metrics, found.model),
  ].filter(Boolean);
}

/** Returns the query that is shown in full: the charted one, else the last cited one with rows. */
function mainQuery(found) {
  if (found.status === "unanswered") return undefined;
  const cited = new Set((found.tracing?.claims ?? []).flatMap((claim) => claim.references));
  return found.questions.find((ran) => ran.id === found.chart?.of)
    ?? found.questions.findLast((ran) => !ran.error && ran.rows.length > 0 && cited.has(ran.id));
}

/** The remark of the built-in planner, which the state of the answer names. */
const BUILT_IN = /^\(Answered by the built-in planner[^\n]*\)$/m;

/** Returns whether the state of an answer or its rows show a paragraph of its text: a caveat, a limit of rows, who verified it. */
function isShownElsewhere(text, found, main) {
  const missing = /^Not included \[Q\d+\]: (.+?)\.?$/s.exec(text)?.[1];
  if (missing) return (found.caveats ?? []).some((caveat) => plain(caveat).includes(plain(missing)));
  if (/^\(the first [\d,]+ rows\)$/.test(text)) return Boolean(main?.has_more);
  const query = /^The query (\S+) was checked by /.exec(text)?.[1];
  return Boolean(query) && found.questions.some((ran) => ran.verified?.query === query);
}

/** Returns the text of an answer without what is shown elsewhere: the question, the rows, the choices. */
function wordsOf(found, main) {
  const offered = choicesOf(found);
  const said = found.model === "offline" ? found.answer.replace(BUILT_IN, "") : found.answer;
  const words = el("div", { class: "reason text" }, markdown(offered.length ? withoutChoices(said) : said));
  const first = words.querySelector("p");
  if (first && plain(first.textContent.replace(/\[Q\d+\]/g, "")) === plain(found.question)) first.remove();
  if (offered.length) {
    words.querySelectorAll("ol").forEach((list) => {
      if ([...list.children].every((item) => offered.includes(item.textContent))) list.remove();
    });
    words.querySelectorAll("p").forEach((said) => /^clarification:/i.test(said.textContent) && said.remove());
  }
  // The only item of a list stays, with the line that leads to it.
  words.querySelectorAll("p, li:not(:only-child)").forEach((said) => isShownElsewhere(said.textContent, found, main) && said.remove());
  // A remark in parentheses is not part of the answer.
  words.querySelectorAll("p").forEach((said) => said.classList.toggle("remark", /^\(.*\)$/s.test(said.textContent)));
  cite(words, found.questions);
  tables(words, main);
  return words;
}

/** Returns the chart that the model proposed, if any; otherwise the chart rules choose. */
const proposed = (chart) => (chart?.columns?.length ? { kind: chart.kind, columns: chart.columns } : null);

const part = (title, body, kind) =>
  (body ? el("section", { class: kind }, title ? el("h3", {}, title) : null, body) : null);

/** Formats tables in a text: aligns numbers, and removes a table whose rows are shown in full above. */
function tables(words, main) {
  for (const node of words.querySelectorAll("table")) {
    const heads = [...node.querySelectorAll("thead th")];
    const rows = [...node.querySelectorAll("tbody tr")].map((row) => [...row.children]);
    const isShown = main && rows.length === main.rows.length && heads.length === main.columns.length
      && heads.every((head, at) => head.textContent === main.columns[at] + unitOf(main.columns[at], main.units));
    if (isShown) {
      const box = node.closest(".wide");
      if (box.previousElementSibling?.tagName === "P") caption(box.previousElementSibling, words, main);
      box.remove();
      continue;
    }
    heads.forEach((head, at) => {
      const cells = rows.map((row) => row[at]).filter(Boolean);
      const isNumeric = cells.length > 0 && cells.every((cell) => /^-?[\d,]*\.?\d*\s?%?$/.test(cell.textContent));
      if (isNumeric) [head, ...cells].forEach((cell) => cell.classList.add("number"));
    });
  }
}

/** Ends a sentence that led to a table; one that only repeats the title above the rows is removed, if the text cites them elsewhere. */
function caption(lead, words, main) {
  const said = plain([...lead.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join(" ")).replace(/^the /, "");
  if (said === plain(main.title ?? "").replace(/^the /, "") && words.querySelectorAll(".cite").length > lead.querySelectorAll(".cite").length) return lead.remove();
  if (lead.lastChild.nodeType === 3) lead.lastChild.data = lead.lastChild.data.replace(/:\s*$/, ".");
}

/** Turns `[Q1]` in a text into a link to its rows that also marks the cells named by the sentence. */
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
  const button = el("button", { type: "button", class: "cite", "aria-label": `${id}: source rows`, onclick: () => {
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
