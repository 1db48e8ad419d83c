// Making elements, and text as people read it. Text only ever enters as text, so names may hold
// anything.

/**
 * Make an element. Attributes that begin with "on" are event listeners.
 * @param {string} tag
 * @param {Object<string, any>} [attributes] true sets an empty attribute; false and null set none.
 * @param {...any} children Nodes, texts and lists of them; false and null are left out.
 * @returns {any}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

/**
 * Make an SVG element.
 * @param {string} tag
 * @param {Object<string, any>} [attributes]
 * @param {...any} children
 */
export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat());
  return made;
}

/**
 * A name that may be broken after its underscores, and nowhere else.
 * @param {string} name
 */
export function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, i) => (i ? [element("wbr"), part] : [part]));
}

/**
 * @param {string} id
 * @returns {any} The element with this id.
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Show a message, also to screen readers; empty to hide it.
 * @param {string} text
 */
export function announce(text) {
  byId("message").textContent = text;
}

/**
 * A number as people read it: <0.01, 0.12, 1.00, 23.5; a dash for none.
 * @param {number | null | undefined} value
 */
export function formatNumber(value, digits = 2) {
  if (value == null || Number.isNaN(value)) return "–";
  if (value > 0 && value < 0.5 * 10 ** -digits) return `<${(10 ** -digits).toFixed(digits)}`;
  return value.toFixed(digits);
}

/**
 * "a", "a and b", "a, b and c"
 * @param {string[]} names
 */
export function joinNames(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
