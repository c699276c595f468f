// One key: its limits in words, its buckets now, and what was seen of them since it was opened.
import {$, h, show} from "./dom.js";
import {ask} from "./api.js";
import {bucket, remaining, stroke, widthOf} from "./charts.js";
import {count, duration, text, typed} from "./format.js";
import {explain, predict} from "./limits.js";

const EVERY_MS = 500;
const SAMPLES_MAX = 2400;  // twenty minutes

let opened = null;  // {key, database, limits: Map(parameters -> {first, samples}), timer}

export function open(key, database) {
  close();
  $("key").value = text(key);
  $("key-close").hidden = false;
  opened = {key, database, limits: new Map()};
  show("key-view", h("p", {class: "soft"}, "looking"));
  sample(opened);
}

export function close() {
  if (opened !== null) clearTimeout(opened.timer);
  opened = null;
  $("key-close").hidden = true;
  show("key-view");
}

async function sample(of) {
  try {
    const [selected, info] = await ask([["SELECT", of.database], ["RL.INFO", of.key]]);
    if (opened !== of) return;
    if (selected.error || info?.error) show("key-view", h("p", {class: "bad"}, selected.error ?? info.error));
    else if (info === null) gone(of);
    else draw(of, info);
  } catch (error) {
    if (opened !== of) return;
    show("key-view", h("p", {class: "bad"}, error.message));
  }
  of.timer = setTimeout(() => sample(of), document.hidden ? 10 * EVERY_MS : EVERY_MS);
}

function gone(of) {
  of.limits.clear();
  show("key-view", h("p", {}, "There is no such key: nobody has taken from it, or all its limits are full again."));
}

function note(of, limit, at) {
  const point = {at, value: limit.remaining};
  if (!of.limits.has(limit.parameters)) of.limits.set(limit.parameters, {first: limit, samples: []});
  const seen = of.limits.get(limit.parameters);
  const before = seen.samples.at(-1);
  // Permits come and go at once, not evenly between two samples.
  if (before !== undefined && before.value !== point.value) seen.samples.push({at, value: before.value});
  if (seen.samples.length > 1 && before.value === point.value && seen.samples.at(-2).value === point.value)
    seen.samples.pop();
  seen.samples.push(point);
  if (seen.samples.length > SAMPLES_MAX) seen.samples.splice(0, seen.samples.length - SAMPLES_MAX);
  return seen;
}

function draw(of, info) {
  const at = Date.now();
  const parts = info.limits.map((limit) => drawn(limit, note(of, limit, at), at));
  const notes = [];
  if (info.banned_ms > 0) notes.push(h("p", {class: "bad"}, `Banned for another ${duration(info.banned_ms / 1000)}: every request is denied.`));
  for (const [name, what] of [["waiting", "waiting for it"], ["bookings", "bookings not due yet"], ["holds", "holds not ended yet"]])
    if (info[name] > 0) notes.push(h("p", {class: "soft"}, `${count(info[name])} ${what}.`));
  show("key-view", notes, parts);
}

function drawn(limit, seen, at) {
  const begin = seen.samples[0].at;
  const ahead = Math.min(Math.max(limit.reset_after_ms, 20000), 120000);
  const end = Math.max(begin + 60000, at + ahead);
  const curves = [predict(seen.first, begin, end), predict(limit, at, end)];
  const width = Math.max(260, widthOf($("key-view")) - 110);
  const share = limit.limit > 0 ? limit.remaining / limit.limit : 0;
  const left = `${count(limit.remaining)} of ${count(limit.limit)}`;
  return h("div", {class: "limit"},
    h("div", {}, bucket(share, `${left} left`), h("p", {}, `${left} left`)),
    h("div", {},
      h("p", {}, h("code", {}, limit.parameters)),
      h("p", {class: "soft"}, explain(limit.parameters, limit.limit)),
      h("p", {}, limit.reset_after_ms > 0 ? `Full again in ${duration(limit.reset_after_ms / 1000)} if nobody takes.` : "It is full."),
      h("figure", {}, remaining(width, seen.samples, curves, limit.limit, end, `what is left of ${limit.parameters}`)),
      h("div", {class: "legend"}, h("span", {}, stroke("curve sampled seen"), "seen"),
        h("span", {}, stroke("predicted"), "predicted, from the opening and from now"))));
}

export function begin(database) {
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if ($("key").value !== "") open(typed($("key").value), database());
  });
  $("key-close").addEventListener("click", close);
}
