// Stores of libraries that people have already, there and away.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';

import { Weir } from 'weir-client';
import { WeirStore } from 'weir-client/express-rate-limit';
import { storeOf } from 'weir-client/fastify-rate-limit';
import { WeirThrottlerStorage } from 'weir-client/nest-throttler';

import { kPatient, pause, waitUntil, WeirServer } from './support/weirs.js';

async function patient(t) {
  const server = await WeirServer.of(t);
  const weir = new Weir(server.url, kPatient);
  t.after(() => weir.close());
  return { server, weir };
}

async function statuses(port, count) {
  const found = [];
  for (let number = 0; number < count; number += 1) {
    found.push(await new Promise((resolve, reject) => {
      http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
        response.resume();
        response.on('end', () => resolve([response.statusCode, response.headers]));
      }).on('error', reject);
    }));
  }
  return found;
}

test('express-rate-limit', async (t) => {
  const { weir } = await patient(t);
  const [{ default: express }, { rateLimit }] = await Promise.all([import('express'), import('express-rate-limit')]);
  const store = new WeirStore({ weir });
  const app = express();
  app.use(rateLimit({ windowMs: 3_600_000, limit: 2, store, legacyHeaders: true, validate: false, keyGenerator: () => 'k' }));
  app.get('/', (_, response) => response.send('hello'));
  const server = http.createServer(app);
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => server.close());
  const found = await statuses(server.address().port, 3);
  assert.deepEqual(found.map(([status, headers]) => [status, headers['x-ratelimit-remaining']]),
    [[200, '1'], [200, '0'], [429, '0']]);
  assert.equal((await store.get('k')).totalHits, 2);
  await store.decrement('k');
  assert.equal((await store.increment('k')).totalHits, 2);
  assert.equal((await store.increment('k')).totalHits, 3);
  await store.resetKey('k');
  assert.equal((await store.get('k')).totalHits, 0);
});

test('express-rate-limit whose limit is a function of the request', async (t) => {
  const { weir } = await patient(t);
  const store = new WeirStore({ weir });
  store.init({ windowMs: 3_600_000, limit: () => 2 });
  const hits = [];
  for (let count = 0; count < 4; count += 1) hits.push((await store.increment('k')).totalHits);
  assert.deepEqual(hits, [1, 2, 3, 4]);
});

test('@fastify/rate-limit', async (t) => {
  const { weir } = await patient(t);
  const [{ default: fastify }, { default: rateLimit }] = await Promise.all([import('fastify'), import('@fastify/rate-limit')]);
  const app = fastify();
  t.after(() => app.close());
  await app.register(rateLimit, { max: 2, timeWindow: '1 hour', store: storeOf({ weir }) });
  app.get('/', async () => 'hello');
  app.get('/other', { config: { rateLimit: { max: 5 } } }, async () => 'hello');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const found = await statuses(app.server.address().port, 3);
  assert.deepEqual(found.map(([status, headers]) => [status, headers['x-ratelimit-remaining']]),
    [[200, '1'], [200, '0'], [429, '0']]);
  assert.equal((await app.inject('/other')).headers['x-ratelimit-remaining'], '4');
});

test('@nestjs/throttler', async (t) => {
  const { weir } = await patient(t);
  const storage = new WeirThrottlerStorage({ weir });
  const increment = () => storage.increment('k', 3_600_000, 2, 7_200_000, 'default');
  const first = await increment();
  assert.deepEqual([first.totalHits, first.isBlocked, first.timeToExpire], [1, false, 3600]);
  assert.equal((await increment()).totalHits, 2);
  const blocked = await increment();
  assert.deepEqual([blocked.totalHits, blocked.isBlocked, blocked.timeToBlockExpire], [3, true, 7200]);
  const short = () => storage.increment('short', 300, 1, 3_600_000, 'default');
  await waitUntil(async () => (await short()).isBlocked, 'two in a window');
  await pause(400);
  assert.equal((await short()).isBlocked, true, 'the window is over, the ban is not');
});

test('away', async (t) => {
  const { server, weir } = await patient(t);
  const options = { weir, processes: 2 };
  const store = new WeirStore(options);
  store.init({ windowMs: 3_600_000, limit: 10 });
  const fastify = new (storeOf(options))().child({ routeInfo: {} });
  const storage = new WeirThrottlerStorage(options);
  const each = {
    express: async () => (await store.increment('k')).totalHits,
    fastify: () => new Promise((resolve, reject) => {
      fastify.incr('k', (error, result) => error ? reject(error) : resolve(result.current), 3_600_000, 10);
    }),
    nest: async () => (await storage.increment('k', 3_600_000, 10, 0, 'default')).totalHits,
  };
  for (const hit of Object.values(each)) await hit();
  await server.kill();
  for (const [name, hit] of Object.entries(each)) {
    let allowed = 0;
    for (let count = 0; count < 10; count += 1) if (await hit() <= 10) allowed += 1;
    assert.ok(allowed >= 4 && allowed <= 5, `${name}: ${allowed} of a share of 5`);
  }
});
