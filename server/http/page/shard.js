// The members of a shard, as WEIR STATUS tells of them: who serves, who follows, and how far after it.
import {$, h, table, update} from "./dom.js";
import {count, duration, text} from "./format.js";

let told = null;  // null: the user may not ask, or has not
let refusal = "";

export function answered(reply) {
  told = reply === null || reply === undefined || reply.error ? null : reply;
  refusal = reply?.error ?? "Log in to see them.";
}

// Where the primary is; null: nobody knows, or the user may not ask.
export const primary = () => text(told?.primary ?? "") || null;

const badly = (words) => h("span", {class: "bad"}, words);

function row(member) {
  const serves = text(member.node) === text(told.primary_node);
  const does = text(member.state);
  const says = member.present !== 1 ? badly("away") : serves ? "serves"
    : does === "following" ? "follows" : badly(does);
  const who = `${text(member.address)}${text(member.node) === text(told.node) ? " (this one)" : ""}`;
  return [who, says, {number: count(member.turn)}, {number: serves ? "-" : count(member.lag_turns)},
    {number: duration(member.age_ms / 1000)}];
}

// `serves`: whether this member does, NaN where there is no shard; `seen`: the members it knows of.
export function draw(serves, seen) {
  $("shard-section").hidden = !Number.isFinite(serves);
  if (!Number.isFinite(serves)) return;
  if (told === null) return void update("shard", h("p", {class: "soft"}, `${count(seen)} members. ${refusal}`));
  const alone = !told.members.some((each) => each.present === 1 && text(each.node) !== text(told.primary_node));
  update("shard",
    table(["member", "does", {number: "turn"}, {number: "turns it lacks"}, {number: "heard of before"}], told.members.map(row), "Nobody."),
    text(told.primary_node) === "" ? h("p", {class: "bad"}, "There is no primary: nobody serves.") : null,
    alone ? h("p", {class: "bad"}, "No standby is heard of: nobody would take over.") : null);
}
