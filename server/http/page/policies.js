// The policies: a table, and a dialog with one's limits, its history and, for who has logged in, a
// change of it, which is shown before it is made.
import {$, h, name as broken, show, table, update} from "./dom.js";
import {ask, loggedIn} from "./api.js";
import {count, instant, text} from "./format.js";
import {latest, rate} from "./history.js";
import * as rights from "./rights.js";

const SHOWN_MAX = 40;
const REFRESH_MS = 30000;

let names = null;         // null: the user may not see them
let known = new Map();    // name -> {limits, onchange, version}
let refreshedAt = 0;

export function refreshSoon() { refreshedAt = 0; }

const named = (name) => text(name).toLowerCase().includes($("policy-filter").value.toLowerCase());
const shown = () => (names ?? []).filter(named).slice(0, SHOWN_MAX);

async function load() {
  refreshedAt = Date.now();
  const [list] = await ask([["RL.POLICY", "LIST"]]);
  names = list.error ? null : list;
  const wanted = shown();
  if (wanted.length === 0) return;
  const replies = await ask(wanted.map((name) => ["RL.POLICY", "GET", name]));
  known = new Map(wanted.map((name, i) => [text(name), replies[i]]));
}

// Those that metrics name, where the user may not list them.
function counted() {
  const all = new Set((latest()?.get("weir_policy_verdicts_total") ?? []).map((each) => each.labels.policy));
  return [...all].filter(named).slice(0, SHOWN_MAX);
}

const rateOf = (name, outcome) => {
  const value = rate("weir_policy_verdicts_total", {policy: text(name), outcome});
  return {number: h("span", {class: outcome === "denied" && value > 0 ? "bad" : ""}, count(value || 0))};
};

// Why the table is empty. `follows`: this is a standby.
const nothing = (follows) => {
  if (follows) return "A standby decides nothing and shows no policies: its shard's are on the page of the primary.";
  if (names === null) return loggedIn() ? "No policy has been asked yet, and this user may not list them." : "No policy has been asked yet; log in to see all.";
  return names.length === 0 ? "There is no policy yet. RL.POLICY SET makes one, as does the button above for who has logged in."
    : "There is no such policy.";
};

export async function draw(mayAsk, follows) {
  if (mayAsk && Date.now() - refreshedAt > REFRESH_MS) await load().catch(() => { names = null; });
  if (!mayAsk) names = null;
  $("policy-new").hidden = !loggedIn() || follows;
  const listed = names === null ? counted() : shown();
  const rows = listed.map((name) => [
    names === null ? broken(text(name)) : h("button", {class: "link", type: "button", click: () => open(name)}, broken(text(name))),
    h("code", {}, known.get(text(name))?.limits ?? ""),
    rateOf(name, "allowed"), rateOf(name, "denied"), rateOf(name, "shadow_denied")]);
  const all = names === null ? rows.length : names.filter(named).length;
  update("policies", table(["name", "limits", {number: "allowed/s"}, {number: "denied/s"}, {number: "in shadow/s"}],
    rows, nothing(follows)),
  all > rows.length ? h("p", {class: "soft"}, `${all - rows.length} more; the filter narrows them.`) : null);
}

const words = (line) => [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) =>
  quoted === undefined ? plain : quoted.replace(/\\(.)/g, "$1"));

// The words that both have in the same order stay; others were taken away or added (longest common
// subsequence).
export function difference(before, after) {
  const length = Array.from({length: before.length + 1}, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; --i)
    for (let j = after.length - 1; j >= 0; --j)
      length[i][j] = before[i] === after[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const parts = [];
  let i = 0, j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) { parts.push(["same", before[i]]); ++i; ++j; }
    else if (i < before.length && (j === after.length || length[i + 1][j] >= length[i][j + 1])) parts.push(["del", before[i++]]);
    else parts.push(["ins", after[j++]]);
  }
  return parts;
}

const written = (policy) => (policy === null ? "" : `${policy.limits} ONCHANGE ${policy.onchange}`);

// The words of a former version, which leave out the mode that is the rule.
const whole = (words) => (/ ONCHANGE \w+$/i.test(words) ? words : `${words} ONCHANGE USED`);

// A policy's words, as they are in shadow.
export const inShadow = (policy) =>
  written({...policy, limits: `${policy.limits.replace(/ (SHADOW|PERCENT \d+)$/, "")} SHADOW`});

// Shows a policy and, where `proposed` has the words of another version, what that would change.
export async function open(name, proposed = null) {
  show("policy-title", text(name));
  show("policy-body", h("p", {class: "soft"}, "loading"));
  $("policy").showModal();
  try {
    const wanted = [rights.setPolicy(name), rights.deletePolicy(name)];
    const [policy, history, stats, ...has] = await ask([["RL.POLICY", "GET", name], ["RL.POLICY", "HISTORY", name],
      ["RL.POLICY", "STATS", name], ...rights.questions(wanted)]);
    rights.answered(wanted, has);
    if (policy?.error) throw new Error(policy.error);
    show("policy-body",
      h("p", {}, h("code", {}, policy === null ? "deleted" : written(policy))),
      stats.error ? null : h("p", {class: "soft"}, `Since the start: ${count(stats.granted)} allowed, ${count(stats.denied)} denied, ${count(stats.shadow_denied)} denied in shadow.`),
      h("h3", {}, "History"),
      history.error ? h("p", {class: "bad"}, history.error)
        : h("div", {class: "rows"}, table(["when", "who", "what it was before", "go back"], history.map((each) => [instant(each.time_ms), text(each.user),
          h("code", {}, each.before === null ? "nothing" : text(each.before)),
          loggedIn() && each.before !== null && whole(text(each.before)) !== written(policy)
            ? rights.button(wanted[0], "Go back to it", () => propose(text(each.before))) : ""]),
        "It has never been changed.")),
      ...editor(name, policy));
    if (proposed !== null && $("policy-words") !== null) propose(proposed);
  } catch (error) {
    show("policy-body", h("p", {class: "bad"}, error.message));
  }
}

// Puts the words into the editor and shows what they would change.
function propose(words) {
  $("policy-words").value = whole(words);
  $("policy-review").click();
  $("policy-outcome").scrollIntoView({block: "end"});
  $("policy-apply")?.focus();
}

function create() {
  show("policy-title", "New policy");
  const name = h("input", {id: "policy-name", autocomplete: "off", spellcheck: "false"});
  show("policy-body", h("label", {}, "name", name), ...editor(() => name.value, null));
  $("policy").showModal();
}

// `name` is a name or says it; `before` is null where there is no policy yet.
function editor(name, before) {
  if (!loggedIn()) return [h("p", {class: "soft"}, "Log in as a user who may run RL.POLICY SET to change it.")];
  const field = h("textarea", {id: "policy-words", spellcheck: "false", "aria-label": "limits"});
  field.value = written(before);
  const outcome = h("div", {id: "policy-outcome", role: "status"});
  const named = () => (typeof name === "function" ? name() : name);
  const review = async () => {
    const wanted = rights.setPolicy(named());
    // A new name is known now, and who may set some names may not set all.
    if (before === null) rights.answered([wanted], await ask(rights.questions([wanted])).catch(() => [1]));
    const change = difference(words(written(before)), words(field.value));
    const apply = [rights.button(wanted, "Apply", () => perform(named(), before, ["SET", named(), ...words(field.value)], outcome),
      {id: "policy-apply", class: "primary"}), " ", rights.lacking(wanted)].filter((each) => each !== null);
    outcome.replaceChildren(
      h("div", {class: "diff", id: "policy-diff"}, change.map(([kind, word]) =>
        h(kind === "same" ? "span" : kind, {}, `${{same: " ", ins: "+", del: "-"}[kind]} ${word}\n`))),
      ...change.every(([kind]) => kind === "same") ? ["Nothing would change."] : apply);
  };
  const remove = () => outcome.replaceChildren(
    h("div", {class: "diff", id: "policy-diff"}, h("del", {}, `- ${text(named())} ${written(before)}`)),
    h("p", {}, "Requests that name it will be errors, and its overrides are deleted."),
    h("button", {id: "policy-apply", class: "danger", type: "button",
      click: () => perform(named(), before, ["DEL", named()], outcome)}, "Delete it"));
  const is = before === null ? [] : [rights.setPolicy(named()), rights.deletePolicy(named())];
  field.readOnly = is.length > 0 && !rights.may(is[0]);
  return [h("h3", {}, before === null ? "Limits" : "Change"), field,
    h("menu", {}, rights.lacking(...is), before === null ? null : rights.button(is[1], "Delete", remove, {class: "danger"}),
      before === null ? h("button", {id: "policy-review", type: "button", click: review}, "Review")
        : rights.button(is[0], "Review", review, {id: "policy-review"})), outcome];
}

// Somebody else may have changed it since it was shown; then nothing is done.
async function perform(name, before, change, outcome) {
  const fail = (why) => outcome.replaceChildren(h("p", {class: "bad"}, why));
  try {
    const [now] = await ask([["RL.POLICY", "GET", name]]);
    if (now?.error) return fail(now.error);
    if ((now?.version ?? null) !== (before?.version ?? null))
      return fail("It was changed by somebody else meanwhile; nothing was done. Close it and look again.");
    const [reply] = await ask([["RL.POLICY", ...change]]);
    if (reply.error) return fail(reply.error);
    refreshSoon();
    if (change[0] === "DEL") return $("policy").close();
    $("policy").close();
    return open(name);
  } catch (error) {
    return fail(error.message);
  }
}

export function begin() {
  $("policy-new").addEventListener("click", create);
  $("policy-close").addEventListener("click", () => $("policy").close());
  $("policy-filter").addEventListener("input", refreshSoon);
}
