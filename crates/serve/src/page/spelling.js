// What a step of a plan says, in the short texts that plans may be written in: `sum(db.t.c) as name`, `db.t.c >= 5`.

const SIGNS = { eq: "=", neq: "<>", gt: ">", gte: ">=", lt: "<", lte: "<=", in: "in", like: "like", not_like: "not like" };

const named = (text, name) => (name ? `${text} as ${name}` : text);

/** What is computed. */
export function measure({ aggregation, column, expression, name }) {
  if (expression) return named(expression, name);
  return named(aggregation === "count_distinct" ? `count(distinct ${column})` : `${aggregation}(${column ?? "*"})`, name);
}

/** What is grouped by. */
export const group = ({ column, part, name }) => named(part ? `${part}(${column})` : column, name);

/** What rows are ordered by. */
export const order = ({ by, descending }) => (descending ? `${by} desc` : by);

/** A condition, or several that are joined. */
export function condition(one) {
  const joined = one.or ?? one.and;
  if (joined) {
    return joined.map((each) => (each.or || each.and ? `(${condition(each)})` : condition(each))).join(one.or ? " or " : " and ");
  }
  const { column, op, value = null } = one;
  if (value === null && (op === "eq" || op === "neq")) return `${column} is ${op === "eq" ? "" : "not "}null`;
  if (op === "between" && Array.isArray(value)) return `${column} between ${value.map(spell).join(" and ")}`;
  if (op === "in" && typeof value === "string") return `${column} in ${value}`;
  if (op === "neq" && Array.isArray(value)) {
    return `${column} not in ${value.length === 1 && typeof value[0] === "string" ? value[0] : spell(value)}`;
  }
  return `${column} ${SIGNS[op] ?? op} ${spell(value)}`;
}

/** A value, a list of them, or the column that stands in the place of one. */
function spell(value) {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return `(${value.map(spell).join(", ")})`;
  return value?.column ?? String(value);
}
