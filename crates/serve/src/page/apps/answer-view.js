// The view of an answer: its chart, its text and its rows; for queries without text, each with its chart and rows.

import { answer } from "../answer.js";
import { evidence } from "../evidence.js";
import { again, begin, open } from "./view.js";

begin("Answer", (found, box, given) => {
  if (typeof found.answer === "string" && Array.isArray(found.questions)) {
    box.replaceChildren(...answer(found, open, again));
    return true;
  }
  const ran = (found.items ?? [found]).filter((one) => Array.isArray(one.rows) || one.message)
    .map((one, at) => ({ id: `Q${at + 1}`, question: "", sql: given.queries?.[at]?.sql ?? "", rows: [], databases: [], ...one, error: one.message }));
  box.replaceChildren(...ran.map((one) => {
    const node = evidence(one, false, true, "");
    node.classList.add("shown");
    return node;
  }));
  return ran.length > 0;
});
