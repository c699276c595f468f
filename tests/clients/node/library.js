// What the programs of limiter libraries share: connections, callers, a look at what a library
// stored, and the kill in the middle. A program hands its checks to runChecks, in order.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { createHash } = require('node:crypto');
const { orders, Skip, say, pause, range, check, equal, between, needWeir, needDurable, restartServer,
  done } = require('./report');

const kCallers = 16;
const kReconnectMsMax = 10000;
const kScriptsLost = 'Redis forgets scripts when it is restarted';

// Not every package lets its package.json be required.
const packageVersion = (name) => JSON.parse(
  fs.readFileSync(path.join(process.env.NODE_PATH, name, 'package.json'), 'utf8')).version;

const isCluster = Boolean(process.env.CLIENTS_OWNERS);

async function ioredisCluster({ protocol = orders.protocol } = {}) {
  const Redis = require('ioredis');
  const client = new Redis.Cluster([{ host: orders.host, port: orders.port }],
    { clusterRetryStrategy: () => 50, redisOptions: { protocol, maxRetriesPerRequest: null } });
  client.on('error', () => {});
  await new Promise((resolve) => client.once('ready', resolve));
  return client;
}

async function nodeRedisCluster() {
  const client = require(orders.via).createCluster({ RESP: orders.protocol,
    rootNodes: [{ url: `redis://${orders.host}:${orders.port}` }],
    defaults: { socket: { reconnectStrategy: () => 50 } } });
  client.on('error', () => {});
  await client.connect();
  return client;
}

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

function connect() {
  if (isCluster) return orders.via === 'ioredis' ? ioredisCluster() : nodeRedisCluster();
  return orders.via === 'ioredis' ? ioredis() : nodeRedis();
}

// The results of body(client, caller) from callers with a connection each, in one list.
async function together(body, count = kCallers) {
  const clients = await Promise.all(range(count).map(() => connect()));
  const results = await Promise.all(clients.map(body));
  clients.forEach((client) => (client.quit?.() ?? client.close()).catch(() => {}));
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
  bare ??= await (isCluster ? ioredisCluster : ioredis)({ protocol: 2 });
  return bare.call(...command.map(String));
}

// The key is of this type, and expires in so many ms; never when both are -1.
async function stored(key, type, low, high = low) {
  equal(await ask('TYPE', key), type, `TYPE ${key}`);
  between(low, await ask('PTTL', key), high, `PTTL ${key}`);
}

async function keys(pattern) {
  const first = await ask('KEYS', pattern);
  if (!isCluster) return first.sort();
  const all = await Promise.all(bare.nodes('master').map((owner) => owner.keys(pattern)));
  return all.flat().sort();
}
const sha = (script) => createHash('sha1').update(script).digest('hex');

let known = [];  // of the library's scripts, when the server was back

// Kills the server and waits until the library's client, if one can be asked, is answered again.
// Which of its scripts the server knows is asked before the kill and before the library could send
// one once more.
async function restart(client, shas = []) {
  if (isCluster) shas = [];  // an owner is sent a script when it is first asked
  const exist = async () => (shas.length ? ask('SCRIPT', 'EXISTS', ...shas) : []);
  equal(await exist(), shas.map(() => 1), 'SCRIPT EXISTS before the kill');
  await restartServer();
  known = await exist();
  if (client && !isCluster) await until(async () => (await client.ping()) === 'PONG');
}

// EVALSHA goes on as if nothing had been.
async function scriptsKept() {
  if (isCluster) throw new Skip('an owner is sent a script when it is first asked');
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
