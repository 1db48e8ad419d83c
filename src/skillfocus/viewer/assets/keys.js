// Keys, wherever the focus is not in something that needs them itself.

const KEYS = {
  " ": ["play or pause", (app) => app.toggle()],
  ArrowRight: ["a step on", (app) => app.seek(({ t }) => Math.floor(t) + 1)],
  ArrowLeft: ["a step back", (app) => app.seek(({ t }) => Math.ceil(t) - 1)],
  Home: ["to the start", (app) => app.seek(() => 0)],
  End: ["to the end", (app) => app.seek(({ length }) => length)],
  j: ["the next skill", (app) => app.turnSkill(1)],
  k: ["the skill before", (app) => app.turnSkill(-1)],
  r: ["other slips", (app) => app.another()],
  g: ["50 ghosts, or none", (app) => app.change(() => (app.model.ghosts = app.model.ghosts ? 0 : 50), true)],
  a: ["the policy's arrows", (app) => app.change(() => (app.model.arrows = !app.model.arrows))],
  h: ["the next colouring", (app) => app.turnHeat()],
  m: ["the next mode", (app) => app.turnMode()],
  l: ["copy the link to this view", (app) => app.controls.copy()],
  "?": ["these keys", () => byId("keys").showModal()],
};
const NAMES = { " ": "Space", ArrowRight: "→", ArrowLeft: "←" };

function listenToKeys(app) {
  byId("key-list").append(
    ...Object.entries(KEYS).flatMap(([key, [what]]) => [element("dt", {}, element("kbd", {}, NAMES[key] ?? key)), element("dd", {}, what)]),
    element("dt", {}, element("kbd", {}, "arrows")),
    element("dd", {}, "on a map: move the start"),
  );
  // After a click with the mouse, Space is to play and pause, not to press the button again.
  document.addEventListener("click", (event) => event.detail && event.target.closest?.("button")?.blur());
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || byId("keys").open) return;
    const { tagName, type } = event.target;
    if (tagName === "SELECT" || (tagName === "INPUT" && type !== "checkbox" && type !== "range")) return;
    if (event.key === " " && /BUTTON|SUMMARY|INPUT/.test(tagName)) return;
    const known = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (!known) return;
    event.preventDefault();
    known[1](app);
  });
}
