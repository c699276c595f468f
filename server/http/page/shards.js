// The shards of a cluster, as WEIR SHARDS tells of them: who has which slots, and who follows how far after whom.
import {$, h, table, update} from "./dom.js";
import {count, duration, percent, text} from "./format.js";

const AWAY_MS = 10000;  // so long unheard
const SILENT_MS = 2000;  // so long without a primary that says it serves
const RANGES_SHOWN_MAX = 4;

let told = null;  // null: the user may not ask, or has not
let refusal = "";

export function answered(reply) {
  told = reply === null || reply === undefined || reply.error ? null : reply;
  refusal = reply?.error ?? "Log in to see them.";
}

const badly = (words) => h("span", {class: "bad"}, words);
const isLate = (ms, most) => ms < 0 || ms > most;
const since = (ms) => (ms < 0 ? "never" : duration(ms / 1000));

function slots(shard) {
  const ranges = text(shard.slots).split(" ").filter((each) => each !== "none");
  if (ranges.length === 0) return "none";
  const more = ranges.length - RANGES_SHOWN_MAX;
  return ranges.slice(0, RANGES_SHOWN_MAX).join(" ") + (more > 0 ? ` and ${more} more ranges` : "");
}

function primary(shard) {
  const found = shard.members.find((each) => each.primary === 1);
  if (found === undefined) return badly("none");
  return isLate(shard.served_ms, SILENT_MS) ? badly(`${text(found.address)}, does not serve`) : text(found.address);
}

function standby(member) {
  const who = text(member.address);
  if (isLate(member.age_ms, AWAY_MS)) return h("div", {class: "bad"}, `${who} is away`);
  const does = text(member.state);
  if (does !== "following") return h("div", {class: "bad"}, `${who} is ${does}`);
  return h("div", {}, member.lag_turns > 0 ? `${who} lacks ${count(member.lag_turns)} turns` : `${who} follows`);
}

function standbys(shard) {
  const all = shard.members.filter((each) => each.primary !== 1);
  return all.length === 0 ? badly("none") : h("div", {}, all.map(standby));
}

function row(shard) {
  const heard = since(shard.heard_ms);
  return [`${text(shard.shard)}${shard.own === 1 ? " (this one)" : ""}`, slots(shard), primary(shard), standbys(shard),
    {number: count(shard.decisions_per_s)}, {number: percent(shard.busy_permille / 1000)}, {number: count(shard.keys)},
    {number: isLate(shard.heard_ms, AWAY_MS) ? badly(heard) : heard}];
}

// `seen`: how many shards this member knows of, NaN outside a cluster; `unowned`: slots that it shows for nobody.
export function draw(seen, unowned) {
  const hidden = !(seen > 1 || unowned > 0);
  $("shards-section").hidden = hidden;
  if (hidden) return;
  const rest = unowned > 0 ? h("p", {class: "bad"}, `${count(unowned)} slots are nobody's.`) : null;
  if (told === null) return void update("shards", h("p", {class: "soft"}, `${count(seen)} shards. ${refusal}`), rest);
  update("shards",
    table(["shard", "slots", "primary", "standbys", {number: "decisions a second"}, {number: "busy"}, {number: "keys"},
      {number: "heard of before"}], told.map(row), "None."), rest);
}
