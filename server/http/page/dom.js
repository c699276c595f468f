// Elements without markup: what comes from weir is only ever text, so no key and no name can become
// a part of the page.

export const $ = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

// h("td", {class: "number"}, "7"): an attribute that is a function listens to the event.
export const h = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const show = (id, ...children) => $(id).replaceChildren(...children.flat(Infinity));

// Replaces an element's children, unless they would be the same: what a person has marked or is
// about to press stays where it is.
export function update(place, ...children) {
  const element = typeof place === "string" ? $(place) : place;
  const now = element.childNodes;
  const fresh = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  if (now.length === fresh.length && fresh.every((child, i) => now[i].isEqualNode(child))) return;
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  element.replaceChildren(...fresh);
  // Who goes through a table by keyboard stays at the same name, wherever that has gone.
  if (focused !== null) [...element.querySelectorAll(focused.tagName)]
    .find((each) => each.textContent === focused.textContent)?.focus({preventScroll: true});
}

// A name that may be broken after what separates its words, and elsewhere only where it must.
export const name = (words) => h("span", {class: "name"},
  words.split(/(?<=[:/._-])/).map((part, i) => (i === 0 ? part : [h("wbr"), part])));

// Rows of cells; a cell is text, an element, or {number: text}.
export function table(heads, rows, empty) {
  if (rows.length === 0) return h("p", {class: "soft"}, empty);
  const isNumber = (content) => content !== null && typeof content === "object" && "number" in content;
  const cell = (tag, content, head) => isNumber(content)
    ? h(tag, {class: "number", "data-head": head}, content.number) : h(tag, {"data-head": head}, content);
  const said = (head) => (isNumber(head) ? head.number : head);
  return h("div", {class: "scroll"}, h("table", {},
    h("thead", {}, h("tr", {}, heads.map((head) => cell("th", head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((each, i) => cell("td", each, said(heads[i]))))))));
}

export const facts = (pairs) => pairs.flatMap(([name, value, mood]) =>
  [h("dt", {}, name), h("dd", {class: mood ?? ""}, value)]);
