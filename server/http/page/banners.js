// What an operator has to know before all else: a banner for each fault, with what can be done.
import {$, h, update} from "./dom.js";

const shown = new Map();  // kind -> {element, title, words, actions}

function made() {
  const title = h("b"), words = h("span"), actions = h("div", {class: "actions"});
  return {element: h("div", {}, h("p", {}, title, " ", words), actions), title, words, actions};
}

const write = (element, said) => { if (element.textContent !== said) element.textContent = said; };

// all: [{kind, mood ("bad", "warn" or "note"), title, words, actions (buttons)}], the gravest first.
// A button that is the same stays the same element: a press is not lost to the next two seconds.
export function draw(all) {
  for (const [kind, {element}] of shown) {
    if (all.some((each) => each.kind === kind)) continue;
    element.remove();
    shown.delete(kind);
  }
  all.forEach((each, i) => {
    if (!shown.has(each.kind)) shown.set(each.kind, made());
    const banner = shown.get(each.kind);
    banner.element.className = `banner ${each.mood}`;
    write(banner.title, each.title);
    write(banner.words, each.words);
    update(banner.actions, ...each.actions ?? []);
    if ($("banner").children[i] !== banner.element) $("banner").insertBefore(banner.element, $("banner").children[i] ?? null);
  });
  $("banner").hidden = all.length === 0;
  // Screen readers are told of what begins and ends, not of each new figure.
  write($("alert"), all.map((each) => each.title).join(" "));
}
