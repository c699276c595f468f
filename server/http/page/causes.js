// What is wrong, why, and what can be done about it: from the metrics, the probes and the replies.
import {h} from "./dom.js";
import {loggedIn} from "./api.js";
import {setLimiting, titleOf} from "./actions.js";
import {bytes, count, duration, instant, percent, text} from "./format.js";
import * as history from "./history.js";
import * as policies from "./policies.js";
import * as rights from "./rights.js";

// What is called a storm: so many denials a second, and such a share of all verdicts.
const STORM_RATE = 10, STORM_SHARE = 0.5;
const LED_BY_SHARE = 0.5;    // of the denials: a policy that has so many is named as the cause
const DISK_FULL_SHARE = 0.001;
const CERTIFICATE_DAYS = 14;  // as the log has it
const DAY_S = 86400;

const now = (name, labels) => history.value(history.latest(), name, labels);
const button = (words, click) => h("button", {type: "button", click}, words);

const freeShare = () => now("weir_disk_free_bytes") / now("weir_disk_bytes");
export const diskIsKnown = () => now("weir_disk_bytes") > 0;  // else the directory is not there
export const diskIsFull = () => diskIsKnown() && freeShare() < DISK_FULL_SHARE;
export const diskIsNearlyFull = () => diskIsKnown() && freeShare() < 0.1;
export const storeIsUp = () => now("weir_storage_up") === 1;
export const limiting = () => history.latest().get("weir_limiting_info")?.[0]?.labels.limiting ?? "on";

export function storms() {
  const denied = history.rate("weir_verdicts_total", {outcome: "denied"});
  const allowed = history.rate("weir_verdicts_total", {outcome: "allowed"});
  return denied >= STORM_RATE && denied >= STORM_SHARE * (denied + allowed);
}

// The policy that denies the most, if that is the most of what is denied: {name, share}; else null.
export function leadingPolicy() {
  const denied = history.rate("weir_verdicts_total", {outcome: "denied"});
  let most = null;
  for (const {labels} of history.latest().get("weir_policy_verdicts_total") ?? []) {
    if (labels.outcome !== "denied" || labels.policy === "other") continue;
    const share = history.rate("weir_policy_verdicts_total", labels) / denied;
    if (share >= LED_BY_SHARE && share > (most?.share ?? 0)) most = {name: labels.policy, share: Math.min(1, share)};
  }
  return most;
}

// What was asked of weir during a storm, as far as the user may see it.
let seen = {policy: null, key: null, before: null, now: null};

// The commands that tell what a storm comes from.
export const questions = () => {
  const policy = leadingPolicy()?.name ?? null;
  const asked = [["RL.TOP", "DENIED", "MINUTE", "COUNT", "1"]];
  if (policy !== null) asked.push(["RL.POLICY", "HISTORY", policy], ["RL.POLICY", "GET", policy]);
  return {policy, asked};
};

// What the buttons of banners would run.
export const wanted = () => {
  if (!loggedIn()) return [];
  const leader = storms() ? leadingPolicy() : null;
  return [rights.SET_LIMITING, ...leader === null ? [] : [rights.setPolicy(leader.name)]];
};

export function answered(policy, [top, changes, is]) {
  const row = Array.isArray(top) ? top[0] : undefined;
  seen = {policy, key: row === undefined ? null : {name: row[0], times: row[1]},
    before: Array.isArray(changes) ? changes[0]?.before ?? null : null,
    now: is === undefined || is === null || is.error ? null : is};
}

function storm(login, open) {
  const denied = history.rate("weir_verdicts_total", {outcome: "denied"});
  const allowed = history.rate("weir_verdicts_total", {outcome: "allowed"});
  const leader = leadingPolicy();
  const said = [`${count(denied)} of ${count(denied + allowed)} requests a second are denied.`];
  if (leader !== null) said.push(`The policy ${leader.name} denies ${percent(leader.share)} of them.`);
  else said.push("No policy denies most of them.");
  if (seen.key !== null) said.push(`The key ${text(seen.key.name)} leads, with ${count(seen.key.times)} in the last minute.`);
  const actions = [];
  if (seen.key !== null) actions.push(button(`Look at ${text(seen.key.name).slice(0, 40)}`, () => open(seen.key.name)));
  if (!loggedIn()) {
    actions.push(button("Log in to act", login));
  } else {
    const is = seen.policy === leader?.name ? seen.now : null;
    const change = rights.setPolicy(leader?.name ?? "");
    if (is !== null && seen.before !== null)
      actions.push(rights.button(change, `Former version of ${leader.name}`, () => policies.open(leader.name, text(seen.before))));
    if (is !== null)
      actions.push(rights.button(change, `${leader.name} in shadow`, () => policies.open(leader.name, policies.inShadow(seen.now))));
    actions.push(rights.button(rights.SET_LIMITING, titleOf("shadow"), () => setLimiting("shadow")),
      rights.lacking(...is === null ? [] : [change], rights.SET_LIMITING));
  }
  return {kind: "storm", mood: "bad", title: "Denial storm:", words: said.join(" "), actions};
}

function store(unready) {
  const free = `${bytes(now("weir_disk_free_bytes"))} of ${bytes(now("weir_disk_bytes"))} are free`;
  const cure = diskIsFull()
    ? `The disk is full: ${free}. Make room there.`
    : `${diskIsKnown() ? `On its disk ${free}. ` : ""}Look whether the directory (CONFIG GET dir) is there, mounted and writable.`;
  if (unready === "")
    return {kind: "store", mood: "bad", title: "The store has failed:", words: `limits go on in memory (storage-failure-policy memory), and what they decide now is lost if weir ends. ${cure} weir writes all that it owes by itself then.`};
  return {kind: "store", mood: "bad", title: "Commands that write are not served:", words: `${cure} weir goes on by itself within seconds. What it says: ${unready}.`};
}

function limitingBanner(login) {
  const what = limiting() === "off" ? "every request is allowed, no limit is looked at and nothing is charged" : "limits decide and count, and deny nobody";
  return {kind: "limiting", mood: "warn", title: `Nothing is limited (limiting ${limiting()}):`, words: `${what}.`,
    actions: loggedIn() ? [rights.button(rights.SET_LIMITING, titleOf("on"), () => setLimiting("on")), rights.lacking(rights.SET_LIMITING)]
      : [button("Log in to act", login)]};
}

function certificate(end) {
  const left = end - Date.now() / 1000;
  const over = left <= 0;
  return {kind: "certificate", mood: over ? "bad" : "warn",
    title: over ? "The certificate has ended:" : "The certificate ends soon:",
    words: `${instant(end * 1000)}${over ? "" : `, in ${duration(left)}`}. Put another one and its key in the place of tls-cert-file and tls-key-file, and send SIGHUP.`};
}

function standby(unready, primary) {
  const where = primary === null ? "" : ` The primary is ${primary}.`;
  if (unready === "")
    return {kind: "standby", mood: "note", title: "This is a standby:", words: `it follows its shard and serves no requests.${where}`};
  return {kind: "standby", mood: "bad", title: "This standby could not take over:", words: `${unready}.${where}`};
}

// The banners, the gravest first. `login` begins a login, `open` shows a key.
export function banners({standby: stands, unready}, primary, login, open) {
  const all = [];
  if (stands) all.push(standby(unready, primary));
  else if (!storeIsUp()) all.push(store(unready));
  else if (unready !== "") all.push({kind: "store", mood: "bad", title: "Commands that write are not served:", words: `${unready}.`});
  if (storms()) all.push(storm(login, open));
  if (limiting() !== "on") all.push(limitingBanner(login));
  const end = now("weir_tls_certificate_not_after_seconds");
  if (end > 0 && end - Date.now() / 1000 < CERTIFICATE_DAYS * DAY_S) all.push(certificate(end));
  const order = ["bad", "warn", "note"];
  return all.sort((one, other) => order.indexOf(one.mood) - order.indexOf(other.mood));
}
