// Making elements. Text only ever enters as text, so that names may hold anything.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat());
  return made;
}

// A word to the visitor, seen and heard.
function tell(words) {
  byId("told").textContent = words;
}

const byId = (id) => document.getElementById(id);

// A number as people read it: <0.01, 0.12, 1.00, 23.5
function number(value, digits = 2) {
  if (value == null || Number.isNaN(value)) return "–";
  if (value > 0 && value < 0.5 * 10 ** -digits) return `<${(10 ** -digits).toFixed(digits)}`;
  return value.toFixed(digits);
}

// "a", "a and b", "a, b and c"
function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
