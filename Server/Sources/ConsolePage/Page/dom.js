// A very small renderer. A view is a plain description of what should be there; `render` changes the page until it is.
// Elements that stay keep their focus, their scroll position and their running animations. Text only ever becomes a
// text node, so nothing that came through a push can turn into markup.

const SVG = "http://www.w3.org/2000/svg";
const HANDLERS = Symbol("handlers");
const CHILDREN = Symbol("children");

/** Describes an element. Children may be nested arrays, strings, numbers; `null`, `false` and `undefined` are left out. */
export function h(tag, properties, ...children) {
  return { tag, properties: properties || {}, children: flatten(children) };
}

/** Makes the children of `parent` equal to `views`. */
export function render(parent, ...views) {
  reconcile(parent, flatten(views), parent.namespaceURI === SVG);
}

function flatten(list, into = []) {
  for (const item of list) {
    if (Array.isArray(item)) flatten(item, into);
    else if (item !== null && item !== undefined && item !== false && item !== true && item !== "") {
      into.push(typeof item === "object" ? item : String(item));
    }
  }
  return into;
}

function reconcile(parent, views, inSVG) {
  const previous = parent[CHILDREN] || [];
  const unused = new Map();
  previous.forEach((entry, index) => {
    const name = nameOf(entry.view, index);
    if (!unused.has(name)) unused.set(name, []);
    unused.get(name).push(entry);
  });
  const next = views.map((view, index) => {
    const candidates = unused.get(nameOf(view, index));
    const entry = candidates && candidates.length ? candidates.shift() : null;
    return entry ? update(entry, view, inSVG) : create(view, inSVG);
  });
  for (const rest of unused.values()) for (const entry of rest) entry.node.remove();
  let cursor = parent.firstChild;
  for (const { node } of next) {
    if (node === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(node, cursor);
  }
  parent[CHILDREN] = next;
}

// Elements with a key are found again by it; the others by their kind and place.
function nameOf(view, index) {
  if (typeof view === "string") return `#text ${index}`;
  const { key } = view.properties;
  return key === undefined ? `${view.tag} ${index}` : `${view.tag} key ${key}`;
}

function create(view, inSVG) {
  if (typeof view === "string") return { view, node: document.createTextNode(view) };
  const svg = inSVG || view.tag === "svg";
  const node = svg ? document.createElementNS(SVG, view.tag) : document.createElement(view.tag);
  node[HANDLERS] = {};
  applyProperties(node, {}, view.properties);
  reconcile(node, view.children, svg);
  // A select knows its value only when its options are there.
  if (view.tag === "select" && view.properties.value !== undefined) node.value = view.properties.value;
  if (view.properties.created) view.properties.created(node);
  return { view, node };
}

function update(entry, view, inSVG) {
  const { node } = entry;
  if (typeof view === "string") {
    if (entry.view !== view) node.data = view;
    return { view, node };
  }
  applyProperties(node, entry.view.properties, view.properties);
  reconcile(node, view.children, inSVG || view.tag === "svg");
  if (view.properties.updated) view.properties.updated(node);
  return { view, node };
}

function applyProperties(node, before, after) {
  for (const name of Object.keys(before)) if (!(name in after)) setProperty(node, name, undefined);
  for (const [name, value] of Object.entries(after)) setProperty(node, name, value, before[name]);
}

function setProperty(node, name, value, previous) {
  if (name === "key" || name === "created" || name === "updated") return;
  if (name.startsWith("on")) return setHandler(node, name.slice(2), value);
  if (name === "variables") {
    for (const [variable, setting] of Object.entries(value || {})) node.style.setProperty(variable, setting);
    return;
  }
  // An option without a value would have its text as the value.
  if ((name === "value" && node.localName !== "option") || name === "checked") {
    const wanted = value === undefined ? (name === "checked" ? false : "") : value;
    if (node[name] !== wanted) node[name] = wanted;
    return;
  }
  if (value === previous && previous !== undefined) return;
  if (value === undefined || value === null || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

function setHandler(node, type, handler) {
  if (!(type in node[HANDLERS])) node.addEventListener(type, (event) => node[HANDLERS][type]?.(event));
  node[HANDLERS][type] = handler;
}
