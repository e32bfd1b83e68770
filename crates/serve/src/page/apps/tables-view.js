// The view of the tables of a database: all of them with their keys, or one among its neighbours, to walk through.

import { begin, tables } from "./view.js";

begin("Tables", async (found, box) => {
  if (!found.database || !Array.isArray(found.tables)) return false;
  await tables(box, found.database, found.table);
  return true;
});
