// How the page asks weir. Credentials are kept in memory alone: a page that is loaded again has
// forgotten them.

let token = null;

export const loggedIn = () => token !== null;
export function logOut() { token = null; }

function base64(text) {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}

const authorization = () => (token === null ? {} : {Authorization: `Bearer ${token}`});

// Throws what weir says against the user; nothing has changed then.
export async function logIn(user, password) {
  const before = token;
  token = base64(`${user}:${password}`);
  try {
    const [who] = await ask([["ACL", "WHOAMI"]]);
    return who.error ? user : who;
  } catch (error) {
    token = before;
    throw error;
  }
}

async function send(path, options) {
  const answer = await fetch(path, {...options, credentials: "omit", cache: "no-store", redirect: "error",
    signal: AbortSignal.timeout(10000)});
  const body = await answer.text();
  if (answer.ok) return body;
  let said = body.trim();
  try { said = JSON.parse(body).error; } catch { /* it was text */ }
  throw Object.assign(new Error(said), {status: answer.status});
}

// Answers the replies to the commands; one that is an error is {error: "..."}.
export async function ask(commands) {
  const body = await send("/v1/page", {method: "POST", body: JSON.stringify({commands}),
    headers: {"Content-Type": "application/json", ...authorization()}});
  return JSON.parse(body).replies;
}

async function probe(path) {
  const answer = await fetch(path, {cache: "no-store", signal: AbortSignal.timeout(10000)});
  return answer.ok ? "" : (await answer.text()).trim();
}

// Answers whether weir is a standby of its shard, and why it is not ready: for commands that write
// or, as a standby, to take over. `unready` is "" if it is.
export async function readiness() {
  const [unserving, unready] = await Promise.all([probe("/serves"), probe("/readyz")]);
  return {standby: unserving !== "", unready};
}

// What weir has kept, minute by minute, after that instant of Unix time.
export async function minutesAfter(seconds) {
  return JSON.parse(await send(`/history?after=${seconds}`, {headers: authorization()}));
}

const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

// Answers the metrics: name -> [{labels, value}].
export async function metrics() {
  const all = new Map();
  for (const line of (await send("/metrics", {headers: authorization()})).split("\n")) {
    const found = SAMPLE.exec(line);
    if (found === null) continue;
    const labels = {};
    for (const [, name, value] of (found[2] ?? "").matchAll(LABEL))
      labels[name] = value.replace(/\\(.)/g, "$1");
    if (!all.has(found[1])) all.set(found[1], []);
    all.get(found[1]).push({labels, value: Number(found[3])});
  }
  return all;
}
