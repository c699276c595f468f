// The page: every two seconds it reads the metrics, asks for what names keys, and draws.
import {$, facts, h, name as broken, show, table, update} from "./dom.js";
import * as actions from "./actions.js";
import {ask, loggedIn, logIn, logOut, metrics, minutesAfter, readiness} from "./api.js";
import * as banners from "./banners.js";
import * as causes from "./causes.js";
import {lines, widthOf} from "./charts.js";
import {bytes, count, duration, instant, percent, text} from "./format.js";
import * as history from "./history.js";
import * as key from "./key.js";
import * as policies from "./policies.js";
import * as rights from "./rights.js";
import * as shard from "./shard.js";
import * as shards from "./shards.js";

const EVERY_MS = 2000;
const MINUTES_EVERY_MS = 20000;
const CLIENTS_SHOWN_MAX = 200;

const now = (name, labels) => history.value(history.latest(), name, labels);
const database = () => String(Math.max(0, Number($("database").value) || 0));
const pill = (id, said, mood) => { $(id).textContent = said; $(id).className = `pill ${mood}`; $(id).hidden = said === ""; };

const openKey = (name) => { key.open(name, database()); $("key-view").scrollIntoView({block: "center"}); };

function drawHead({standby, unready}) {
  const version = history.latest().get("weir_build_info")?.[0]?.labels.version ?? "";
  $("instance").textContent = `${version} at ${location.host}`;
  if (unready !== "") pill("state", standby ? "standby, stopped" : "no writes", "bad");
  else pill("state", standby ? "standby" : "serves writes", standby ? "" : "good");
  const limiting = causes.limiting();
  pill("limiting", limiting === "on" ? "" : `limiting: ${limiting}`, "warn");
}

function drawBanners(state) {
  const all = causes.banners(state, shard.primary(), login, openKey);
  document.title = `${all.some((each) => each.mood !== "note") ? "(!) " : ""}weir ${location.host}`;
  banners.draw(all);
}

function drawTiles() {
  const points = history.history();
  const point = points.at(-1) ?? {};
  const total = point.allowed + point.denied;
  const tile = (name, value, mood) => h("div", {class: "tile"}, h("b", {class: mood ?? ""}, value), h("span", {}, name));
  const held = history.rate("weir_loop_held_seconds_total");
  const used = now("weir_working_set_bytes"), most = now("weir_maxmemory_bytes");
  const failing = !causes.storeIsUp();
  show("tiles",
    tile("verdicts a second", count(total), failing ? "bad" : ""),
    tile("denied", total > 0 ? percent(point.denied / total) : "-", causes.storms() ? "bad" : ""),
    tile("errors a second", count(point.errors), point.errors > 0 ? (failing ? "bad" : "warn") : ""),
    tile("decision, p99", duration(point.p99)),
    tile("waiting", count(now("weir_command_waiting") || 0)),
    tile("clients", count(clients())),
    tile("keys", count(now("weir_database_keys"))),
    tile(most > 0 ? `working set of ${bytes(most)}` : "working set", bytes(used)),
    tile("unsynced", duration(now("weir_unsynced_age_seconds")), failing ? "bad" : ""),
    tile("loop held up", percent(held), held > 0.01 ? "warn" : ""));
}

function drawCharts() {
  const spanMs = Number($("span").value) * 60000;
  const points = history.pointsOf(spanMs);
  show("chart-verdicts", lines(widthOf($("chart-verdicts")), points, [
    {name: "allowed", kind: "allowed", of: (point) => point.allowed},
    {name: "denied", kind: "denied", of: (point) => point.denied},
    {name: "denied in shadow", kind: "shadowed", of: (point) => point.shadow},
    {name: "errors", kind: "sampled", of: (point) => point.errors}], count, "verdicts a second", {spanMs}));
  show("chart-latency", lines(widthOf($("chart-latency")), points, [
    {name: "decision p50", kind: "allowed", of: (point) => point.p50},
    {name: "decision p99", kind: "denied", of: (point) => point.p99},
    {name: "turn p99", kind: "shadowed", of: (point) => point.turn},
    {name: "commit p99", kind: "sampled", of: (point) => point.commit}], duration, "latency", {spanMs, log: true}));
}

function drawStorage() {
  const up = now("weir_storage_up") === 1;
  const late = now("weir_behind") === 1;
  const disk = !up && causes.diskIsFull() ? "bad" : causes.diskIsNearlyFull() ? (causes.diskIsFull() ? "bad" : "warn") : "";
  update("storage", ...facts([
    ["store", up ? "takes writes" : "has failed", up ? "good" : "bad"],
    ["write-back", !up ? "stands still" : late ? "is late" : "keeps up", late || !up ? "bad" : "good"],
    ["not written back yet", `${count(now("weir_unwritten_entries"))} entries`],
    ["could be lost in a crash", duration(now("weir_unsynced_age_seconds")), up ? "" : "bad"],
    ["log", bytes(now("weir_log_bytes"))],
    ["state", bytes(now("weir_state_bytes"))],
    ["disk, free", causes.diskIsKnown() ? `${bytes(now("weir_disk_free_bytes"))} of ${bytes(now("weir_disk_bytes"))}` : "-", disk],
    ["compactions running", count(now("weir_compactions_running"))],
    ["times that RocksDB held writing up", count(now("weir_write_stalls_total"))],
    ["read from disk a second", count(history.rate("weir_cold_reads_total"))],
    ["evicted a second", count(history.rate("weir_evicted_entries_total"))],
    ["clock ahead by", follows() ? "the primary's" : duration(now("weir_clock_lead_seconds"))]]));
}

function drawClients() {
  update("clients", ...facts([
    ["connected, beside this page and scrapers", `${count(clients())} of ${count(now("weir_maxclients"))}`],
    ["waiting for a verdict or a list", count(now("weir_command_waiting") || 0)],
    ["longest queue", count(now("weir_wait_queue_longest") || 0)],
    ["waits that end a second", count(history.rate("weir_command_waits_total") || 0)],
    ["such a wait, p99", duration(history.history().at(-1)?.wait)],
    ["refused connections a second", count(history.rate("weir_rejected_connections_total"))],
    ["commands a second", count(history.rate("weir_commands_processed_total"))],
    ["errors a second", count(history.rate("weir_error_count_total") || 0)],
    ["received a second", bytes(history.rate("weir_net_input_bytes_total"))],
    ["sent a second", bytes(history.rate("weir_net_output_bytes_total"))]]));
}

// Those who ask for verdicts or data; who watches over metrics-port is not counted.
const clients = () => now("weir_connected_clients") - (now("weir_metrics_clients") || 0);

const fields = (line) => Object.fromEntries(line.split(" ").map((each) => {
  const at = each.indexOf("=");
  return [each.slice(0, at), each.slice(at + 1)];
}));

function drawClientList(reply) {
  if (reply === undefined || reply.error) return update("client-list", h("p", {class: "soft"}, reply?.error ?? "Too many clients to list."));
  const rows = text(reply).trim().split("\n").map(fields).filter((each) => each["lib-name"] !== "metrics").map((each) =>
    [each.addr, each.user, each["lib-name"] || each.name || "", {number: duration(Number(each.idle))}, each.cmd]);
  return update("client-list", table(["address", "user", "library", {number: "silent for"}, "command"], rows, "Nobody beside this page and scrapers."));
}

// How many shards of its cluster this member knows of; NaN where it is of none.
const shardsSeen = () => history.latest().get("weir_shard_heard_seconds")?.length ?? NaN;

// Whether this is a standby of a shard.
const follows = () => now("weir_shard_serves") === 0;

function drawTop(reply) {
  if (reply.error) return update("top", h("p", {class: "soft"}, follows() ? "The primary of the shard counts; this is a standby." : reply.error));
  const fresh = !(now("weir_verdicts_total") > 0);
  const none = fresh ? "Nothing was counted yet. redis-cli RL.TAKE user:42 100/1m takes a first permit." : "Nothing was counted in that time.";
  const rows = reply.map(([name, times]) => [
    h("button", {class: "link", type: "button", click: () => key.open(name, database())}, broken(text(name))),
    {number: count(times)}]);
  return update("top", table(["key", {number: "count"}], rows, none));
}

function drawSlowLog(reply) {
  if (reply.error) return update("slowlog", h("p", {class: "soft"}, reply.error));
  const rows = reply.map(([, at, us, args, client]) => [instant(at * 1000), {number: duration(us / 1e6)},
    h("code", {}, args.map(text).join(" ").slice(0, 300)), text(client)]);
  return update("slowlog", table(["when", {number: "took"}, "command", "client"], rows, "No command was slow."));
}

// What names keys and clients is for users who may see them.
async function drawQuestions() {
  const few = now("weir_connected_clients") <= CLIENTS_SHOWN_MAX;
  const storm = causes.storms() ? causes.questions() : {policy: null, asked: []};
  const commands = [["SELECT", database()], ["RL.TOP", $("top-by").value, $("top-window").value, "COUNT", "10"],
    ["SLOWLOG", "GET", "10"], ...storm.asked];
  const wanted = causes.wanted();
  commands.push(...rights.questions(wanted));
  const member = Number.isFinite(now("weir_shard_serves"));
  if (member) commands.push(["WEIR", "STATUS"]);
  const several = shardsSeen() > 1;
  if (several) commands.push(["WEIR", "SHARDS"]);
  if (few) commands.push(["CLIENT", "LIST"]);
  try {
    const [selected, top, slow, ...rest] = await ask(commands);
    const told = rest.splice(0, storm.asked.length);
    causes.answered(storm.policy, selected.error ? [] : told);
    rights.answered(wanted, rest.splice(0, wanted.length));
    shard.answered(member ? rest.shift() : null);
    shards.answered(several ? rest.shift() : null);
    drawTop(selected.error ? selected : top);
    drawSlowLog(slow);
    drawClientList(rest[0]);
    await policies.draw(true, follows());
  } catch (error) {
    const said = error.status === 401 ? "Log in to see keys and clients." : error.message;
    causes.answered(null, []);
    shard.answered(null);
    shards.answered(null);
    for (const id of ["top", "slowlog", "client-list"]) update(id, h("p", {class: "soft"}, said));
    await policies.draw(false, follows());
  }
}

let askedAt = 0;
async function drawMinutes() {
  if (Date.now() - askedAt < MINUTES_EVERY_MS) return;
  askedAt = Date.now();
  history.addMinutes(await minutesAfter(history.lastMinute()));
}

let heardAt = null;  // when weir last answered

async function step() {
  try {
    const [sample, state] = await Promise.all([metrics(), readiness()]);
    history.add(sample);
    heardAt = Date.now();
    document.body.classList.remove("away");
    drawHead(state);
    drawBanners(state);
    drawTiles();
    await drawMinutes().catch(() => {});  // the day is asked for again; the rest is here
    drawCharts();
    drawStorage();
    drawClients();
  } catch (error) {
    history.interrupt();
    pill("state", error.status === 401 ? "log in" : "no answer", "bad");
    document.body.classList.add("away");
    const since = heardAt === null ? "" : ` Its last answer was at ${new Date(heardAt).toLocaleTimeString()}; the figures below are of then.`;
    banners.draw(error.status === 401 ? [] : [{kind: "away", mood: "bad", title: "weir does not answer:", words: `${error.message}.${since}`}]);
    return;
  }
  await drawQuestions();
  shard.draw(now("weir_shard_serves"), now("weir_members_seen"));
  shards.draw(shardsSeen(), now("weir_slots_unowned"));
}

async function run() {
  if (!document.hidden) await step();
  setTimeout(run, EVERY_MS);
}

function login() {
  $("login-error").textContent = "";
  $("login").showModal();
}

function beginLogin() {
  const warns = location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.host);
  $("login-warning").hidden = !warns;
  $("login-open").addEventListener("click", login);
  $("login-cancel").addEventListener("click", () => { $("login-password").value = ""; $("login").close(); });
  $("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const user = await logIn($("login-user").value, $("login-password").value);
      changed(`logged in as ${text(user)}`);
      $("login").close();
    } catch (error) {
      $("login-error").textContent = error.message;
    }
    $("login-password").value = "";
  });
  $("logout").addEventListener("click", () => { logOut(); changed(""); });
}

function changed(who) {
  $("who").textContent = who;
  $("login-open").hidden = loggedIn();
  $("logout").hidden = !loggedIn();
  rights.forget();
  policies.refreshSoon();
  drawQuestions();
}

for (const id of ["top-by", "top-window", "database"]) $(id).addEventListener("change", drawQuestions);
$("span").addEventListener("change", drawCharts);
key.begin(database);
policies.begin();
actions.begin(step);
beginLogin();
run();
