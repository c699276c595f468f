// The checks of every Node client that asks sentinels who serves, while that changes. A client is
// handed over as an object that does each thing in the client's own way:
//
//   version    connect(sentinels, name) -> a client; sentinels are [{ host, port }, ...]
//   incr(c, key)    script(c, key, argument)    pair(c, key): INCR twice in one pipeline    get(c, key)
//
// Callers add to counters. What they were told must be there in the end, and the time in which one of
// them got nothing but errors is measured.
'use strict';

const { orders, say, pause, range, check, equal, between, needDurable, done, restartServer,
  moveSlot } = require('./report');

const kCallers = 4;
const kResumedMin = 20;
const kPatienceMs = 20000;
const kSettleMs = 2000; // who serves no more may take a while to say so

const sentinels = process.env.CLIENTS_SENTINELS.split(',')
  .map((port) => ({ host: orders.host, port: Number(port) }));

async function call(client, library, caller) {
  caller.number += 1;
  const ways = [
    async () => { await library.incr(client, caller.key); return 1; },
    async () => { await library.script(client, caller.key, '2'); return 2; },
    async () => { await library.pair(client, caller.key); return 2; },
  ];
  caller.acknowledged += await ways[caller.number % 3]();
}

async function run(client, library, caller) {
  let last = performance.now();
  while (!caller.ended) {
    try {
      await call(client, library, caller);
      caller.successes += 1;
      caller.longest = Math.max(caller.longest, performance.now() - last);
      last = performance.now();
      await pause(5);
    } catch (error) {
      caller.told = String(error);
      await pause(20);
    }
  }
}

// While somebody else becomes the primary, every caller goes on, and by itself.
async function throughAChange(callers, name, order) {
  for (const caller of callers) caller.longest = 0;
  await order();
  await pause(kSettleMs);
  const begin = performance.now();
  for (const caller of callers) {
    const before = caller.successes;
    while (caller.successes < before + kResumedMin) {
      if (performance.now() - begin > kPatienceMs) throw new Error(`a caller did not go on: ${caller.told}`);
      await pause(20);
    }
  }
  const longest = Math.max(...callers.map((caller) => caller.longest));
  say(`figure ${name} ${(longest / 1000).toFixed(2)} s`);
}

async function kept(client, library, callers) {
  for (const caller of callers) caller.ended = true;
  await Promise.all(callers.map((caller) => caller.running));
  const acknowledged = callers.reduce((sum, caller) => sum + caller.acknowledged, 0);
  between(400, acknowledged, 1e9, 'acknowledged');
  needDurable();
  for (const caller of callers) {
    between(caller.acknowledged, Number(await library.get(client, caller.key)), 1e9, caller.key);
  }
}

async function runAll(library) {
  say(`version ${library.version}`);
  const client = await library.connect(sentinels, process.env.CLIENTS_MASTER);
  await check('found', async () => equal(await library.get(client, 'k') ?? null, null));
  const callers = range(kCallers).map((i) => ({ key: `counter:${i}`, number: i, acknowledged: 0,
    successes: 0, longest: 0, ended: false, told: '' }));
  for (const caller of callers) caller.running = run(client, library, caller);
  await pause(1000);
  await check('kill', () => throughAChange(callers, 'kill', restartServer));
  await check('switchover', () => throughAChange(callers, 'switchover', () => moveSlot(0)));
  await check('data-kept', () => kept(client, library, callers));
  done();
}

module.exports = { runAll };
