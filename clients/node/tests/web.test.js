// The middleware of each framework: right fields and a right 429, and answers in time while weir is killed and hangs.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Weir } from 'weir-client';
import { byHeader, byUser } from 'weir-client/web';

import { kSites } from './support/sites.js';
import { kSlackMs, Stopwatch } from './support/timing.js';
import { kPatient, waitUntil, WeirServer } from './support/weirs.js';

const kInTimeMs = 150;

for (const [name, make] of Object.entries(kSites)) {
  describe(name, () => {
    async function siteOf(t, weir, options) {
      const site = await make({ weir, ...options });
      t.after(() => site.close());
      return site.get;
    }

    async function patient(t, options) {
      const server = await WeirServer.of(t);
      const weir = new Weir(server.url, kPatient);
      t.after(() => weir.close());
      return siteOf(t, weir, options);
    }

    test('fields and 429', async (t) => {
      const get = await patient(t, { limits: 'FIXED 2/1h AS hourly', legacy: true });
      const { status, fields } = await get('/');
      assert.deepEqual([status, fields.ratelimit, fields['ratelimit-policy'], fields['x-ratelimit-remaining']],
        [200, '"hourly";r=1;t=3600', '"hourly";q=2;w=3600', '1']);
      await get('/');
      const denied = await get('/');
      assert.equal(denied.status, 429);
      assert.match(denied.fields['content-type'], /^application\/problem\+json/);
      assert.ok(Math.abs(Number(denied.fields['retry-after']) - 3600) < 60);
      assert.match(denied.fields.ratelimit, /^"hourly";r=0/);
      const problem = JSON.parse(denied.body);
      assert.deepEqual([problem.status, problem['violated-policies']], [429, ['hourly']]);
      assert.match(problem.type, /#quota-exceeded$/);
    });

    test('skip, cost, key', async (t) => {
      const get = await patient(t, { limits: 'FIXED 10/1h', skip: ({ path }) => path === '/health',
        cost: ({ header }) => Number(header('X-Cost') ?? 1), key: byUser(byHeader('X-Api-Key')) });
      const left = async (path, headers) => (await get(path, headers)).fields.ratelimit?.split(';')[1];
      assert.equal(await left('/health?x'), undefined);
      assert.equal(await left('/', { 'X-Api-Key': 'a', 'X-Cost': 7 }), 'r=3');
      assert.equal(await left('/', { 'X-Api-Key': 'b' }), 'r=9');
      assert.equal(await left('/', { 'X-User': 'yes', 'X-Cost': 2 }), 'r=8');
      assert.equal(await left('/'), 'r=9'); // by address
      const { status, body } = await get('/', { 'X-Api-Key': 'a', 'X-Cost': 7 });
      assert.deepEqual([status, JSON.parse(body)['violated-policies']], [429, ['default']]);
    });

    test('a fault of the program is a 500', async (t) => {
      const get = await patient(t, { limits: 'POLICY unknown' });
      assert.equal((await get('/')).status, 500);
    });

    test('killed and hanging', async (t) => {
      const server = await WeirServer.of(t);
      const get = await siteOf(t, server.url, { limits: 'FIXED 1000/1h', processes: 2 });
      const closed = await siteOf(t, server.url, { limits: 'FIXED 1000/1h', away: 'closed' });
      for (const each of [get, closed]) await waitUntil(async () => (await each('/')).status === 200, 'it answers');
      for (const fault of [() => server.signal('SIGSTOP'), () => server.kill()]) {
        await fault();
        for (let count = 0; count < 10; count += 1) {
          const watch = new Stopwatch();
          const { status, fields } = await watch.time(() => get('/'));
          assert.ok(watch.longestMs < kInTimeMs + kSlackMs, `an answer took ${Math.round(watch.longestMs)} ms`);
          assert.deepEqual([status, fields['ratelimit-policy']], [200, '"default";q=1000;w=3600']);
        }
        server.signal('SIGCONT');
      }
      await waitUntil(async () => (await closed('/')).status === 429, 'it is closed');
      assert.equal((await closed('/')).fields['retry-after'], '1');
    });
  });
}

test('the path of a router within counts whole', async (t) => {
  const server = await WeirServer.of(t);
  const seen = [];
  const site = await kSites.express({ weir: server.url, limits: '100/1m',
    skip: ({ path }) => { seen.push(path); return false; } });
  t.after(() => site.close());
  await site.get('/within/page?query');
  assert.deepEqual(seen, ['/within/page']);
});
