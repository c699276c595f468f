// Permits taken ahead: never more than the limit, and given back when idle.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Limiter, Lots, Weir } from 'weir-client';

import { kPatient, waitUntil, WeirServer } from './support/weirs.js';

async function lotsOf(t, server, limits, options) {
  const weir = new Weir(server.url, kPatient);
  const limiter = new Limiter(weir, limits, { processes: 1 });
  const lots = new Lots(limiter, options);
  t.after(async () => {
    await lots.close();
    weir.close();
  });
  return { lots, limiter };
}

test('16 callers of four processes get exactly the limit', async (t) => {
  const server = await WeirServer.of(t);
  const each = await Promise.all([1, 2, 3, 4].map(() => lotsOf(t, server, 'FIXED 2000/1h', { blockMs: 20 })));
  let granted = 0;
  await Promise.all(Array.from({ length: 16 }, async (_, number) => {
    for (let count = 0; count < 200; count += 1) if (await each[number % 4].lots.take('k')) granted += 1;
  }));
  assert.ok(granted <= 2000);
  await Promise.all(each.map(({ lots }) => lots.close()));
  const { remaining } = await each[0].limiter.peek('k', { cost: 0 });
  assert.equal(granted + remaining, 2000, 'what was not used is given back');
});

test('what is idle is given back', async (t) => {
  const server = await WeirServer.of(t);
  const { lots, limiter } = await lotsOf(t, server, 'FIXED 1000/1h', { blockMs: 50 });
  let granted = 0;
  for (let count = 0; count < 100; count += 1) if (await lots.take('k')) granted += 1;
  await waitUntil(async () => (await limiter.peek('k', { cost: 0 })).remaining === 1000 - granted, 'it is given back');
  assert.equal(await lots.take('k', 1001), false);
  assert.throws(() => new Lots(new Limiter(limiter.weir, 'CONCURRENCY 2 LEASE 1s')), TypeError);
});

test('weir is killed: the block goes on, then the share decides', async (t) => {
  const server = await WeirServer.of(t);
  const { lots, limiter } = await lotsOf(t, server, 'FIXED 100/1h', { blockMs: 50 });
  assert.equal(await lots.take('k'), true);
  await server.kill();
  let granted = 1;
  for (let count = 0; count < 300; count += 1) if (await lots.take('k')) granted += 1;
  assert.ok(granted > 50 && granted <= 100, `${granted} of 100`);
  assert.equal(limiter.state().away, true);
});

test('decisions a second', async (t) => {
  const server = await WeirServer.of(t);
  const { lots } = await lotsOf(t, server, '100000000/1s');
  const begin = process.cpuUsage();
  let granted = 0;
  for (let count = 0; count < 500_000; count += 1) {
    const taken = lots.take('k');
    if (taken === true || await taken) granted += 1;
  }
  const { user, system } = process.cpuUsage(begin); // microseconds
  t.diagnostic(`lots: ${(granted / (user + system)).toFixed(1)} million in a second of processor time`);
  assert.ok(granted > 0);
});
