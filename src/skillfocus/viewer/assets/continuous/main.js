// The entry of a page of continuous skills.

import { announce, byId } from "../dom.js";
import { ContinuousApp } from "./app.js";
import { Rollouts } from "./rollouts.js";

async function open() {
  const data = JSON.parse(byId("data").textContent);
  const sets = await Promise.all(data.sets.map((/** @type {any} */ set) => Rollouts.read(set, data.world)));
  const app = new ContinuousApp(data, sets);
  // For the browser's console, and for tests.
  Object.assign(window, { skillfocus: { app } });
  app.open();
  document.body.dataset.ready = "yes";
}

open().catch((error) => {
  announce(`This page cannot be opened: ${error.message}.`);
  throw error;
});
