// Two owners of a keyspace, by the cluster modes of both clients: calls pass through, and takes of keys of several slots.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { Limiter, takeAll, Weir } from 'weir-client';

import { freePort, kPatient, waitUntil, WeirServer } from './support/weirs.js';

const kKeys = Array.from({ length: 20 }, (_, number) => `k${number}`); // of both owners

async function ownersOf(t) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-cluster-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const topology = join(folder, 'topology');
  const slots = ['0-8191', '8192-16383'];
  const owners = [];
  for (const _ of slots) {
    owners.push(new WeirServer(await freePort(), ['--cluster-enabled', 'yes', '--cluster-topology', topology]));
  }
  writeFileSync(topology, `epoch 1\n${owners.map(({ port }, index) => `n${port} 127.0.0.1:${port} ${slots[index]}\n`).join('')}`);
  for (const owner of owners) {
    t.after(() => owner.end());
    await owner.start();
  }
  for (const owner of owners) {
    await waitUntil(async () => String(await owner.call('CLUSTER', 'INFO')).includes('cluster_state:ok'), 'the cluster serves');
  }
  return owners;
}

const kClients = {
  ioredis({ port }) {
    const client = new Cluster([{ host: '127.0.0.1', port }], { redisOptions: { maxRetriesPerRequest: 0 } });
    client.on('error', () => {});
    return [client, () => client.disconnect()];
  },
  async redis({ url }) {
    const client = createCluster({ rootNodes: [{ url }], defaults: { socket: { connectTimeout: 1000 } } });
    client.on('error', () => {});
    client.on('node-error', () => {});
    await client.connect();
    return [client, () => client.destroy()];
  },
};

// A Weir on a client that ends before its owners do.
async function connected(make, owner, options, work) {
  const [client, close] = await make(owner);
  const weir = new Weir(client, options);
  try {
    await work(weir);
  } finally {
    weir.close();
    await close();
  }
}

for (const [name, make] of Object.entries(kClients)) {
  test(`cluster with ${name}`, async (t) => {
    const owners = await ownersOf(t);
    await connected(make, owners[0], kPatient, async (weir) => {
      const [two, one] = [new Limiter(weir, 'FIXED 2/1h'), new Limiter(weir, 'FIXED 1/1h')];
      const left = async (key) => (await two.peek(key, { cost: 0 })).remaining;
      for (const key of kKeys) assert.equal((await two.take(key)).remaining, 1);
      const several = await takeAll([[two, 'k1'], [one, 'f1'], [one, 'f2']]);
      assert.equal(several.allowed, true);
      const denied = await takeAll([[two, 'k2'], [two, 'k3'], [one, 'f2']]);
      assert.deepEqual([denied.allowed, denied.index], [false, 2]);
      assert.deepEqual([await left('k1'), await left('k2'), await left('k3')], [0, 1, 1]);
      assert.ok((await takeAll([[two, '{k4}'], [one, '{k4}one']])).allowed); // one slot: one request
      assert.ok((await two.acquire('k5', { timeoutMs: 1000 })).allowed);
      assert.equal(two.state().away, false);
      const misses = await Promise.all(owners.map(async (owner) => String(await owner.call('INFO', 'errorstats'))));
      assert.doesNotMatch(misses.join(), /errorstat_MOVED/, 'each command went to the owner of its key');
    });
  });

  test(`an owner dies, with ${name}`, async (t) => {
    const owners = await ownersOf(t);
    await connected(make, owners[0], { deadlineMs: 500 }, async (weir) => {
      const limiter = new Limiter(weir, 'FIXED 100/1h', { processes: 2 });
      await waitUntil(async () => (await limiter.take('k0')).source === 'weir', 'weir answers');
      for (const key of kKeys) await limiter.take(key);
      await owners[1].kill();
      const sources = new Set();
      for (const key of kKeys) sources.add((await limiter.take(key)).source);
      assert.ok(sources.has('local'));
      await owners[0].kill();
      for (const key of kKeys.slice(0, 4)) {
        assert.equal((await new Limiter(weir, 'FIXED 100/1h').take(key)).source, 'local');
      }
    });
  });
}
