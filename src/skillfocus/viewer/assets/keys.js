// Keyboard shortcuts, wherever the focus is not in something that needs the keys itself.

/** @import { App } from "./app.js" */
import { byId, element } from "./dom.js";

const SOME_GHOSTS = 50;

/** By key: what it does, in words and as a function. @type {Object<string, [string, (app: App) => void]>} */
const KEYS = {
  " ": ["play or pause", (app) => app.toggle()],
  ArrowRight: ["one step forward", (app) => app.seek(({ t }) => Math.floor(t) + 1)],
  ArrowLeft: ["one step back", (app) => app.seek(({ t }) => Math.ceil(t) - 1)],
  Home: ["to the start", (app) => app.seek(() => 0)],
  End: ["to the end", (app) => app.seek(({ length }) => length)],
  j: ["the next skill", (app) => app.stepSkill(1)],
  k: ["the previous skill", (app) => app.stepSkill(-1)],
  r: ["other slips (the next seed)", (app) => app.nextSeed()],
  g: [`${SOME_GHOSTS} ghosts, or none`, (app) => app.change(() => (app.model.ghosts = app.model.ghosts ? 0 : SOME_GHOSTS), true)],
  a: ["the policy's arrows", (app) => app.change(() => (app.model.arrows = !app.model.arrows))],
  h: ["the next coloring", (app) => app.nextHeat()],
  m: ["the next mode", (app) => app.nextMode()],
  l: ["copy the link to this view", (app) => app.controls.copyLink()],
  "?": ["these keys", () => byId("keys").showModal()],
};
/** @type {Object<string, string>} */
const NAMES = { " ": "Space", ArrowRight: "→", ArrowLeft: "←" };

/** List the keys in their dialog, and listen to them. @param {App} app */
export function listenToKeys(app) {
  byId("key-list").append(
    ...Object.entries(KEYS).flatMap(([key, [what]]) => [
      element("dt", {}, element("kbd", {}, NAMES[key] ?? key)),
      element("dd", {}, what),
    ]),
    element("dt", {}, element("kbd", {}, "arrows")),
    element("dd", {}, "on a map: move the start"),
  );
  // After a click with the mouse, Space is to play and pause, not to press the button again.
  document.addEventListener("click", (event) => {
    if (event.detail && event.target instanceof Element) event.target.closest("button")?.blur();
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || byId("keys").open) return;
    const { tagName, type } = /** @type {HTMLInputElement} */ (event.target);
    if (tagName === "SELECT" || (tagName === "INPUT" && type !== "checkbox" && type !== "range")) return;
    if (event.key === " " && /BUTTON|SUMMARY|INPUT/.test(tagName)) return;
    const known = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (!known) return;
    event.preventDefault();
    known[1](app);
  });
}
