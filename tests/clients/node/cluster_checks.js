// The checks of every Node client of clusters. A client is handed over as an object that does each
// thing in the client's own way:
//
//   version                 connect() -> a client of the cluster     close(c)
//   call(c, key, ...args)   any command that has this key            nodes(c) -> how many it knows
//   pipeline(c, list) -> replies; each command is [name, key, ...]   scriptFor(c, text) -> (key, arg)
//   multi(c, list) -> replies, of one slot
'use strict';

const fs = require('node:fs');
const { orders, Skip, say, pause, range, check, equal, between, needWeir, needDurable, done,
  restartServer, moveSlot } = require('./report');

const kOwners = Number(process.env.CLIENTS_OWNERS);
const kResumeMsMax = 10000;
const keys = fs.readFileSync(process.env.CLIENTS_KEYS, 'ascii').trim().split('\n');
const chunks = (list, size) => range(Math.ceil(list.length / size))
  .map((at) => list.slice(at * size, (at + 1) * size));

function makeChecks(client, library) {
  const call = (...args) => library.call(client, ...args);
  const written = {};

  async function owners() {
    equal(library.nodes(client), kOwners);
    for (const slot of [0, 5460, 5461, 10922, 10923, 16383]) {
      equal(await call(keys[slot], 'CLUSTER', 'KEYSLOT', keys[slot]), slot);
    }
  }

  async function moved() {
    if (kOwners === 1) throw new Skip('a single owner has nobody to give a slot to');
    equal(await call(keys[7], 'GET', keys[7]), null);
    await moveSlot(7);
    equal(await call(keys[7], 'SET', keys[7], 'moved'), 'OK');
    const another = await library.connect();
    equal(await library.call(another, keys[7], 'GET', keys[7]), 'moved');
    await library.close(another);
  }

  async function everySlot() {
    for (const some of chunks(keys, 2048)) {
      const replies = await Promise.all(some.map((key) => call(key, 'SET', key, key)));
      equal([...new Set(replies)], ['OK']);
    }
    for (const some of chunks(keys, 2048)) {
      equal(await Promise.all(some.map((key) => call(key, 'GET', key))), some);
    }
  }

  // What one pipeline may hold differs: all clients take one to a slot.
  async function pipeline() {
    for (const tag of ['{a}', '{b}', '{tag}']) {
      const commands = range(250).flatMap((i) => [['SET', `${tag}${i}`, String(i)], ['GET', `${tag}${i}`]]);
      equal(await library.pipeline(client, commands), range(250).flatMap((i) => ['OK', String(i)]));
    }
  }

  async function evalsha() {
    const add = library.scriptFor(client, "return redis.call('incrby', KEYS[1], ARGV[1])");
    equal(await Promise.all(range(50).map((i) => add(`script:${i}`, String(i)))), range(50));
  }

  async function multi() {
    for (const tag of range(20)) {
      equal(await library.multi(client, [['INCR', `{multi${tag}}a`], ['INCR', `{multi${tag}}b`]]), [1, 1]);
    }
  }

  async function crossSlot() {
    let error = null;
    await call('a', 'SINTER', 'a', 'b').catch((found) => { error = found; });
    if (!/slot/i.test(String(error))) throw new Error(`keys of several slots: ${error}`);
  }

  async function limiter() {
    needWeir();
    const users = range(8).flatMap(() => range(40).map((i) => `user:${i}`));
    const replies = await Promise.all(users.map((key) =>
      call(key, 'CL.THROTTLE', key, '4', '1', '3600')));
    equal(replies.filter((reply) => Number(reply[0]) === 0).length, 200, 'admitted');
  }

  // Two write to the owner that is killed, two to the last one.
  async function restart() {
    await call(keys[5], 'SET', keys[5], 'kept');
    const state = { away: false, up: 0 };
    async function write(key) {
      const mine = await library.connect();
      const count = { acknowledged: 0, meanwhile: 0 };
      for (let resumed = 0; resumed < 10;) {
        try {
          await library.call(mine, key, 'INCR', key);
        } catch (error) {
          if (state.up && Date.now() > state.up + kResumeMsMax) throw error;
          await pause(10);
          continue;
        }
        count.acknowledged += 1;
        resumed += state.up ? 1 : 0;
        count.meanwhile += state.away && !state.up ? 1 : 0;
      }
      await library.close(mine);
      written[key] = (written[key] ?? 0) + count.acknowledged;
      if (kOwners > 1 && key.includes(keys[16383])) between(1, count.meanwhile, 1e9, 'writes meanwhile');
    }
    const traffic = [keys[0], keys[16383]].map((key) => `{${key}}traffic`);
    const writers = [...traffic, ...traffic].map(write);
    writers.forEach((writer) => writer.catch(() => {}));
    await pause(300);
    state.away = true;
    await restartServer();
    state.up = Date.now();
    await Promise.all(writers);
  }

  async function dataKept() {
    needDurable();
    equal(await call(keys[5], 'GET', keys[5]), 'kept');
    for (const [key, count] of Object.entries(written)) {
      between(count, Number(await call(key, 'GET', key)), count + 2, `writes of ${key}`);
    }
  }

  return { owners, moved, everySlot, pipeline, evalsha, multi, crossSlot, limiter, restart, dataKept };
}

async function runAll(library) {
  say(`version ${library.version}`);
  const client = await library.connect();
  for (const [name, body] of Object.entries(makeChecks(client, library))) {
    await check(name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase()), body);
  }
  done();
}

module.exports = { runAll };
