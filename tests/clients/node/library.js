// What the programs of limiter libraries share: connections, callers, a look at what a library
// stored, and the kill in the middle. A program hands its checks to runChecks, in order.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { createHash } = require('node:crypto');
const { orders, say, pause, range, check, equal, between, needWeir, needDurable, restartServer,
  done } = require('./report');

const kCallers = 16;
const kReconnectMsMax = 10000;
const kScriptsLost = 'Redis forgets scripts when it is restarted';

// Not every package lets its package.json be required.
const packageVersion = (name) => JSON.parse(
  fs.readFileSync(path.join(process.env.NODE_PATH, name, 'package.json'), 'utf8')).version;

// An ioredis client, ready. While the server is away its commands wait.
async function ioredis(options = {}) {
  const Redis = require('ioredis');
  const client = new Redis({ host: orders.host, port: orders.port, protocol: orders.protocol,
    retryStrategy: () => 50, maxRetriesPerRequest: null, lazyConnect: true, ...options });
  client.on('error', () => {});
  await client.connect();
  return client;
}

// A node-redis client, ready.
async function nodeRedis(options = {}) {
  const client = require(orders.via).createClient({ RESP: orders.protocol, ...options,
    socket: { host: orders.host, port: orders.port, reconnectStrategy: () => 50 } });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const connect = () => (orders.via === 'ioredis' ? ioredis() : nodeRedis());

// The results of body(client, caller) from callers with a connection each, in one list.
async function together(body, count = kCallers) {
  const clients = await Promise.all(range(count).map(() => connect()));
  const results = await Promise.all(clients.map(body));
  clients.forEach((client) => client.quit().catch(() => {}));
  return results.flat();
}

async function until(holds, ms = kReconnectMsMax) {
  for (const end = Date.now() + ms; ; await pause(20)) {
    const isOver = Date.now() > end;
    try {
      if (await holds()) return;
      if (isOver) throw new Error(`it did not come to that within ${ms} ms`);
    } catch (error) {
      if (isOver) throw error;
    }
  }
}

let bare = null;

// Any command on a connection that no library has touched.
async function ask(...command) {
  bare ??= await ioredis({ protocol: 2 });
  return bare.call(...command.map(String));
}

// The key is of this type, and expires in so many ms; never when both are -1.
async function stored(key, type, low, high = low) {
  equal(await ask('TYPE', key), type, `TYPE ${key}`);
  between(low, await ask('PTTL', key), high, `PTTL ${key}`);
}

const keys = async (pattern) => (await ask('KEYS', pattern)).sort();
const sha = (script) => createHash('sha1').update(script).digest('hex');

let known = [];  // of the library's scripts, when the server was back

// Kills the server and waits until the library's client, if one can be asked, is answered again.
// Which of its scripts the server knows is asked before the kill and before the library could send
// one once more.
async function restart(client, shas = []) {
  const exist = async () => (shas.length ? ask('SCRIPT', 'EXISTS', ...shas) : []);
  equal(await exist(), shas.map(() => 1), 'SCRIPT EXISTS before the kill');
  await restartServer();
  known = await exist();
  if (client) await until(async () => (await client.ping()) === 'PONG');
}

// EVALSHA goes on as if nothing had been.
async function scriptsKept() {
  needWeir(kScriptsLost);
  needDurable();
  between(1, Math.min(...known), 1, `the least of ${known}`);
}

const dashed = (name) => name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());

async function runChecks(checks) {
  say(`version ${packageVersion(orders.package)}`);
  for (const [name, body] of Object.entries(checks)) await check(dashed(name), body);
  done();
}

module.exports = { kCallers, kScriptsLost, connect, together, until, ask, stored,
  keys, sha, restart, scriptsKept, runChecks };
