// Three members of a shard, found by ioredis' sentinels: a takeover and a switchover throw nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { Redis } from 'ioredis';
import { Limiter, Weir } from 'weir-client';

import { freePort, kProgram, pause, waitUntil, WeirServer } from './support/weirs.js';

const kName = 'main';

function connect(members) {
  const client = new Redis({ sentinels: members.map(({ port }) => ({ host: '127.0.0.1', port })), name: kName,
    maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  return client;
}

async function ownerOf(members) {
  for (const member of members) {
    const role = member.lives && await member.call('ROLE').catch(() => null);
    if (role?.[0] === 'master') return member;
  }
  return null;
}

// Takes while the owner dies and while another hands over.
async function followed(weir, members) {
  const limiter = new Limiter(weir, 'FIXED 100000/1h', { processes: 1 });
  await waitUntil(async () => (await limiter.take('warm')).source === 'weir', 'weir answers');
  let granted = 0;
  const takeUntil = (condition, what) => waitUntil(async () => {
    if (await condition()) return true;
    granted += (await limiter.take('k')).source === 'weir';
    return false;
  }, what, 10);
  const changes = [(owner) => owner.kill(), (owner) => owner.call('SENTINEL', 'FAILOVER', kName)];
  for (const change of changes) {
    const before = await ownerOf(members);
    await change(before);
    await takeUntil(async () => ![null, before].includes(await ownerOf(members)), 'another serves');
    const { asked } = limiter.state();
    await takeUntil(() => limiter.state().asked > asked + 20, 'weir answers again');
  }
  await pause(10);
  const left = await limiter.peek('k', { cost: 0 });
  assert.equal(left.source, 'weir');
  assert.ok(left.remaining <= 100_000 - granted);
  assert.ok(limiter.state().absences > 0);
}

test('a takeover and a switchover', async (t) => {
  const members = [];
  for (let count = 0; count < 3; count += 1) members.push(new WeirServer(await freePort(), []));
  const log = `file:${members[0].folder}/shared-log`;
  execFileSync(kProgram, ['--new-shard', log, kName, '--dir', `${members[0].folder}/data`], { stdio: 'ignore' });
  for (const member of members) {
    member.options = ['--log', log, '--shard', kName];
    t.after(() => member.end());
  }
  await Promise.all(members.map((member) => member.start()));
  await waitUntil(() => ownerOf(members), 'one serves');

  const client = connect(members);
  const weir = new Weir(client, { deadlineMs: 300 });
  try {
    await followed(weir, members);
  } finally { // before the members end
    weir.close();
    client.disconnect();
  }
});
