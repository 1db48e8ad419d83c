// The entry: read the data and open the page.

import { App } from "./app.js";
import { announce, byId } from "./dom.js";
import { Model } from "./model.js";
import { Random } from "./random.js";
import { lastStates, Run, runAgent, runChain, Tree } from "./simulate.js";
import { World } from "./world.js";

async function open() {
  const data = JSON.parse(byId("data").textContent);
  const worlds = await Promise.all(data.worlds.map(World.read));
  const app = new App(new Model(data, worlds));
  // For the browser's console, and for tests.
  Object.assign(window, {
    skillfocus: { app, model: app.model, Random, Run, Tree, runChain, runAgent, lastStates },
  });
  await app.open();
  document.body.dataset.ready = "yes";
  performance.mark("ready");
}

open().catch((error) => {
  announce(`This page cannot be opened: ${error.message}.`);
  throw error;
});
