// The view of the tables of a database: all with their keys, or one with its neighbours, which can be navigated.

import { begin, tables } from "./view.js";

begin("Tables", async (found, box) => {
  if (!found.database || !Array.isArray(found.tables)) return false;
  await tables(box, found.database, found.table);
  return true;
});
