// What the page asks of the server, asked through the host: the tools that views may call stand for the routes.

import { call } from "./host.js";

/** The chart of rows, where one shows them. */
export const drawChart = (rows) => call("draw_chart", rows);
/** The tables of a database, with the keys between them. */
export const diagramOf = (database) => call("show_tables", { database });
/** A host takes files as texts and bytes; those that the server makes it is not asked for. */
export const parquetOf = null;
/** The answer to a query. */
export const runQuery = async (query) => (await call("execute_sql", { queries: [query] })).items[0];
/** A thing of the catalog in full. */
export const thing = (kind, id) => call("get_thing", { kind, id });
