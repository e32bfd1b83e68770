// SQL with syntax highlighting, which can be copied, and run again if the catalog allows queries of clients.

import { runQuery } from "./api.js";
import { el, many } from "./dom.js";
import { keepButtons, rowsTable } from "./table.js";
import { chartOf } from "./chart.js";

const WORDS = new Set(("select from where group by order having limit offset join left right inner outer full cross on and or not in is null "
  + "as with case when then else end distinct union all except intersect between like ilike exists asc desc over partition using cast "
  + "interval date filter rows preceding following current row first last nulls true false fetch next only values").split(" "));
const PART = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*')|("(?:[^"]|"")*"|`[^`]*`)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)/g;
const MOST = 20_000;

/** Highlights a query, line by line. */
export function highlight(sql) {
  if (sql.length > MOST) return [sql];
  const nodes = [];
  let at = 0;
  for (const found of sql.matchAll(PART)) {
    const [all, comment, text, , number, word] = found;
    nodes.push(sql.slice(at, found.index));
    at = found.index + all.length;
    const kind = comment ? "comment" : text ? "text" : number ? "number" : word && WORDS.has(word.toLowerCase()) ? "word" : null;
    nodes.push(kind ? el("span", { class: `sql-${kind}` }, all) : all);
  }
  nodes.push(sql.slice(at));
  return nodes.filter((node) => node !== "");
}

/** Breaks a long line before its clauses. */
const laid = (sql) => (sql.includes("\n") ? sql
  : sql.replace(/\s+(FROM|WHERE|GROUP BY|ORDER BY|HAVING|LIMIT|(?:LEFT |INNER |RIGHT |FULL )?JOIN|UNION|WITH)\b/gi, "\n$1"));

/** Renders a query that can be copied, and edited and run if allowed. */
export function sqlOf(ran, mayRun) {
  const sql = laid(ran.sql);
  const code = el("pre", { tabindex: 0, class: "sql", "aria-label": `SQL of ${ran.id}` }, highlight(sql));
  const said = el("p", { class: "status", role: "status" });
  const place = el("div", {});
  const copy = el("button", { type: "button", class: "quiet small", onclick: async () => {
    await navigator.clipboard.writeText(ran.sql).then(() => { said.textContent = "Copied."; }, () => { said.textContent = "The browser did not allow copying."; });
  } }, "Copy");
  const edit = mayRun && el("button", { type: "button", class: "quiet small", onclick: () => change() }, "Edit and run");
  function change() {
    const text = el("textarea", { class: "sql", rows: Math.min(16, sql.split("\n").length + 1), "aria-label": `SQL of ${ran.id}, changed`, spellcheck: "false" });
    text.value = sql;
    const run = el("button", { type: "button", class: "small", onclick: () => again(text.value, run) }, "Run");
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) again(text.value, run);
    });
    code.replaceWith(text);
    edit.replaceWith(run);
    text.focus();
  }
  async function again(text, button) {
    button.disabled = true;
    said.className = "status busy";
    said.textContent = "Running…";
    try {
      const result = await runQuery({ question: ran.question ?? "", sql: text, ...(ran.database ? { database: ran.database } : {}) });
      if (result.error) throw new Error([result.message, result.suggestion].filter(Boolean).join(" "));
      said.className = "status";
      said.textContent = `${many(result.rows.length, "row")}${result.has_more ? ", and more" : ""}`;
      place.replaceChildren(chartOf(result, { question: ran.question, sql: text, sources: result.databases }),
        rowsTable(result.columns, result.rows, "Rows of the changed query"), el("p", { class: "actions" }, keepButtons("query", result.columns, result.rows)));
    } catch (error) {
      said.className = "status bad";
      said.textContent = error.message;
      place.replaceChildren();
    }
    button.disabled = false;
  }
  return el("div", { class: "query-sql" }, code, el("p", { class: "actions" }, copy, edit, said), place);
}
