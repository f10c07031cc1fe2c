// Elements are made here alone. Whatever comes from a plan is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// make returns an element with attributes and children, which may be texts.
function make(space, tag, attributes, children) {
  const e = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
    else if (value !== undefined && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...(children || []));
  return e;
}

const svg = (tag, attributes, ...children) => make(SVG, tag, attributes, children);
const html = (tag, attributes, ...children) => make(null, tag, attributes, children);
const byId = (id) => document.getElementById(id);

// canvas returns an svg element of a size, with a name for readers who do not see it.
function canvas(width, height, name, natural) {
  const size = natural ? { width, height } : {};
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, ...size });
}

const text = (x, y, words, style) => svg("text", { x, y, class: style }, String(words));

// isNarrow reports whether the page is as narrow as on a phone.
const isNarrow = () => matchMedia("(max-width: 40rem)").matches;
const plural = (n, noun) => (n === 1 ? `1 ${noun}` : `${n} ${noun}s`);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
