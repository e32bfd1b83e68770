// The page's server API through the MCP host: tools replace the routes.

import { call } from "./host.js";

/** The chart of rows, if they suit one. */
export const drawChart = (rows) => call("draw_chart", rows);
/** The tables of a database, with the keys between them. */
export const diagramOf = (database) => call("show_tables", { database });
/** A host accepts files as text and bytes; files made by the server are not requested. */
export const parquetOf = null;
/** The answer to a query. */
export const runQuery = async (query) => (await call("execute_sql", { queries: [query] })).items[0];
/** A catalog entry in full. */
export const thing = (kind, id) => call("get_thing", { kind, id });
