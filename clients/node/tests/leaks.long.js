// What is left of calls while weir comes and goes: no lease, no connection, no timer, no memory.
//
//     node tests/leaks.long.js --seconds 3600
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Denied, Limiter, Lots, Weir } from 'weir-client';

import { pause, waitUntil, WeirServer } from './support/weirs.js';

const kAt = process.argv.indexOf('--seconds');
const kMs = Number(kAt > 0 ? process.argv[kAt + 1] : process.env.WEIR_LEAKS_SECONDS ?? 120) * 1000;
const kWarmMs = 20_000;
const kThereMs = 8000;
const kAwayMs = 2000;
const kCallers = 8;
const kKeys = 500;
const kSlots = 6;
const kLeaseMs = 6000;
const kPool = `CONCURRENCY ${kSlots} LEASE ${kLeaseMs}ms`;
// What there is from the first, and what more than at a first look a second one may find, after a time many times as long.
const kMost = { leases: 0, keys: kKeys };
const kMore = { leases: 0, connections: 2, files: 4, resources: 4, keys: 0, heapKb: 3000 };

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
const upTo = (most) => Math.floor(Math.random() * most);

function limitersOf(weir) {
  const limiter = (limits) => new Limiter(weir, limits, { processes: 1, keysMax: kKeys });
  return { takes: limiter('FIXED 100/10s'), tokens: limiter('GCRA 1000/1s'), pool: limiter(kPool), turns: limiter('GCRA 50/1s'),
    lotted: limiter('FIXED 100000/1s') };
}

/** Calls, one of which is made at random, in full. */
const kCalls = [
  ({ takes }, key) => takes.take(key),
  async (_, key, lots) => lots.take(key),
  ({ tokens }, key) => tokens.hold(key, 10, (hold) => { hold.used = 3; }),
  ({ pool }) => pool.lease('pool', () => pause(upTo(2000))),
  ({ pool }) => pool.lease('pool', { timeoutMs: 500 }, () => pause(50)),
  ({ turns }) => turns.acquire('turns', { timeoutMs: 300 }),
  ({ turns }) => turns.acquire('turns', { timeoutMs: 300, signal: AbortSignal.timeout(1 + upTo(50)) }), // it may be given up
  async ({ turns }) => { await turns.cancel('turns', await turns.reserve('turns')); },
];

/** Calls until the end, while the server is killed and started. Answers how many there were. */
async function work(server, limiters, lots, ms) {
  const end = performance.now() + ms;
  let calls = 0;
  const caller = async () => {
    for (; performance.now() < end; calls += 1) {
      await kCalls[upTo(kCalls.length)](limiters, `k${upTo(4 * kKeys)}`, lots).catch((error) => {
        if (!(error instanceof Denied) && !/Abort|Timeout/.test(error.name)) throw error;
      });
      await pause(10);
    }
  };
  const calling = Promise.all(Array.from({ length: kCallers }, caller));
  while (performance.now() < end) {
    await pause(kThereMs);
    await server.kill();
    await pause(kAwayMs);
    await server.start();
  }
  await calling;
  return calls;
}

/** When everybody rests, leases that nobody renews have ended, and weir is back for each limiter. */
async function figures(server, limiters) {
  for (const limiter of Object.values(limiters)) {
    await waitUntil(async () => (await limiter.take('rest')).source === 'weir', 'weir is back');
  }
  await pause(kLeaseMs + 1000);
  const before = await server.calls('rl.renew');
  await pause(kLeaseMs);
  const [, , left] = await server.call('RL.PEEK', 'pool', ...kPool.split(' '), 'COST', '0');
  const connections = String(await server.call('CLIENT', 'LIST')).match(/^id=/gm).length;
  const renewals = await server.calls('rl.renew') - before;
  gc();
  return { leases: kSlots - left + renewals, connections, files: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().length,
    keys: Math.max(...Object.values(limiters).map((limiter) => limiter.state().keys)),
    heapKb: Math.round(process.memoryUsage().heapUsed / 1024) };
}

for (const library of ['ioredis', 'redis']) {
  test(`nothing is left of calls by ${library}`, { timeout: kMs + 200_000 }, async (t) => {
    const server = await WeirServer.of(t);
    const weir = new Weir(server.url, { library });
    t.after(() => weir.close());
    const limiters = limitersOf(weir);
    const lots = new Lots(limiters.lotted, { blockMs: 50 });
    await work(server, limiters, lots, kWarmMs);
    const first = await figures(server, limiters);
    const calls = await work(server, limiters, lots, kMs);
    const last = await figures(server, limiters);
    const words = `${calls} calls in ${kMs / 1000} s ${JSON.stringify(first)} became ${JSON.stringify(last)}`;
    console.error(`${library} ${words}`);
    assert.deepEqual(Object.keys(kMore).filter((name) => last[name] > (kMost[name] ?? first[name]) + kMore[name]), [], words);
    await lots.close();
  });
}
