// The view of a plan: its steps as a graph, and each in full.

import { plan } from "../plan.js";
import { again, begin, open } from "./view.js";

begin("Plan", (found, box) => {
  if (!Array.isArray(found.plan?.steps)) return false;
  box.replaceChildren(...plan(found, open, again));
  return true;
});
