// The blocks of the README, run as they stand; the port and the limits, so that a 429 comes soon, are others.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { shardOf } from './support/shards.js';
import { waitUntil, WeirServer } from './support/weirs.js';

const kRoot = fileURLToPath(new URL('..', import.meta.url));
const kBlocks = [...readFileSync(join(kRoot, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
const kFolder = mkdtempSync(join(kRoot, 'tests/.readme-'));
after(() => rmSync(kFolder, { recursive: true }));
const kRun = new Set();
let files = 0;

// What the block with this word has made. Each time it is run anew.
async function block(port, word, names, before = '') {
  const found = kBlocks.filter((code) => code.includes(word));
  assert.equal(found.length, 1, word);
  kRun.add(found[0]);
  const code = found[0].replaceAll('127.0.0.1:7000', `127.0.0.1:${port}`).replaceAll('port: 7000', `port: ${port}`)
    .replaceAll('100/1m\'', 'FIXED 2/1h\'');
  const file = join(kFolder, `block${++files}.mjs`);
  writeFileSync(file, `${before}${code}\nexport { ${names.join(', ')} };\n`);
  return import(pathToFileURL(file));
}

async function statuses(port) {
  const found = [];
  for (let count = 0; count < 3; count += 1) {
    found.push(await new Promise((resolve, reject) => {
      http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    }));
  }
  return found;
}

async function listen(t, server) {
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => server.close());
  return server.address().port;
}

// On a busy machine weir is away for a while by the deadline of the blocks.
function limits(weir, port) {
  return waitUntil(async () => {
    await weir.call('FLUSHALL');
    return isDeepStrictEqual(await statuses(port), [200, 200, 429]);
  }, 'two pass, the third does not');
}

test('the web frameworks', async (t) => {
  const weir = await WeirServer.of(t);

  await t.test('express', async (within) => {
    const { app } = await block(weir.port, 'const app = express()', ['app']);
    app.get('/', (_, response) => response.send('hello'));
    await limits(weir, await listen(within, http.createServer(app)));
  });

  await t.test('fastify', async (within) => {
    const { app } = await block(weir.port, 'fastify()', ['app']);
    within.after(() => app.close());
    app.get('/', async () => 'hello');
    await app.listen({ port: 0, host: '127.0.0.1' });
    await limits(weir, app.server.address().port);
  });

  await t.test('hono', async (within) => {
    const { app } = await block(weir.port, 'new Hono()', ['app']);
    app.get('/', (context) => context.text('hello'));
    const { createAdaptorServer } = await import('@hono/node-server');
    await limits(weir, await listen(within, createAdaptorServer({ fetch: app.fetch })));
  });

  await t.test('nest', async () => {
    const found = [];
    globalThis.nestApp = { useGlobalGuards: (guard) => found.push(guard), useGlobalFilters: (filter) => found.push(filter) };
    await block(weir.port, 'ProblemFilter', [], 'const app = globalThis.nestApp;\n');
    assert.deepEqual(found.map(({ constructor }) => constructor.name), ['WeirGuard', 'ProblemFilter']);
  });
});

test('a limiter, a Weir, lots and a store', async (t) => {
  const server = await WeirServer.of(t);
  const { port } = server;
  await waitUntil(async () => (await block(port, 'BURST 20', ['verdict'])).verdict.source === 'weir', 'weir answers');
  const { weir, users, jobs } = await block(port, 'fallback', ['weir', 'users', 'jobs']);
  await weir.policies.set('users', '5/1s');
  for (const [limiter, key] of [[users, 'user:42'], [jobs, 'mail']]) {
    await waitUntil(async () => (await limiter.take(key)).source === 'weir', 'weir answers');
  }
  weir.close();
  const { lots, allowed } = await block(port, 'new Lots', ['lots', 'allowed']);
  assert.equal(typeof allowed, 'boolean');
  await lots.close();
  const { observed } = await block(port, 'new Telemetry', ['observed']);
  await waitUntil(async () => (await observed.take('observed')).source === 'weir', 'weir answers');
  observed.close();
  const { limit } = await block(port, 'express-rate-limit', ['limit']);
  assert.equal(typeof limit, 'function');
});

test('a shard', async (t) => {
  const [member] = await shardOf(t, 1);
  const { client, weir } = await block(member.port, 'sentinels', ['client', 'weir']);
  const { Limiter } = await import('weir-client');
  try {
    await waitUntil(async () => (await new Limiter(weir, '5/1s').take('k')).source === 'weir', 'weir answers');
  } finally { // before the member ends
    client.disconnect();
  }
});

test('each block was run', () => {
  assert.deepEqual(kBlocks.filter((code) => !kRun.has(code)), []);
});

test('CommonJS has the same names', async () => {
  const { createRequire } = await import('node:module');
  const require = createRequire(import.meta.url);
  for (const path of ['', '/web', '/express', '/fastify', '/hono', '/nest', '/express-rate-limit', '/fastify-rate-limit',
    '/nest-throttler', '/telemetry']) {
    const name = `weir-client${path}`;
    const names = Object.keys(await import(name)).filter((each) => !/^(default|module.exports)$/.test(each));
    assert.deepEqual(Object.keys(require(name)).sort(), names.sort(), name);
  }
  const { Weir, Limiter } = require('weir-client');
  const weir = new Weir('redis://127.0.0.1:1');
  assert.equal((await new Limiter(weir, '5/1s').take('k')).source, 'local');
  weir.close();
});
