// Three members of a shard, found by ioredis' sentinels: a takeover and a switchover throw nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Redis } from 'ioredis';
import { Limiter, Weir } from 'weir-client';

import { kShard, primaryOf, shardOf } from './support/shards.js';
import { kPatient, waitUntil } from './support/weirs.js';

function connect(members) {
  const client = new Redis({ sentinels: members.map(({ port }) => ({ host: '127.0.0.1', port })), name: kShard,
    maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  return client;
}

// Takes while who serves dies, and while there is a switchover.
async function followed(weir, members) {
  const limiter = new Limiter(weir, 'FIXED 100000/1h', { processes: 1 });
  await waitUntil(async () => (await limiter.take('warm')).source === 'weir', 'weir answers');
  let granted = 0;
  const takeUntil = (condition, what) => waitUntil(async () => {
    if (await condition()) return true;
    granted += (await limiter.take('k')).source === 'weir';
    return false;
  }, what, 10);
  const changes = [(primary) => primary.kill(), (primary) => primary.call('SENTINEL', 'FAILOVER', kShard)];
  for (const change of changes) {
    const before = await primaryOf(members);
    await change(before);
    await takeUntil(async () => ![null, before].includes(await primaryOf(members)), 'another serves');
    const { asked } = limiter.state();
    await takeUntil(() => limiter.state().asked > asked + 20, 'weir answers again');
  }
  Object.assign(weir, kPatient);
  await waitUntil(async () => (await limiter.take('warm')).source === 'weir', 'weir answers');
  const left = await limiter.peek('k', { cost: 0 });
  assert.equal(left.source, 'weir');
  assert.ok(left.remaining <= 100_000 - granted);
  assert.ok(limiter.state().absences > 0);
}

test('a takeover and a switchover', async (t) => {
  const members = await shardOf(t, 3);
  const client = connect(members);
  const weir = new Weir(client, { deadlineMs: 300 });
  try {
    await followed(weir, members);
  } finally { // before the members end
    weir.close();
    client.disconnect();
  }
});
