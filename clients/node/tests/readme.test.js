// The blocks of the README, run as they stand; the port and the limits, so that a 429 comes soon, are others.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { shardOf } from './support/shards.js';
import { kSlackMs, Stopwatch } from './support/timing.js';
import { waitUntil, WeirServer } from './support/weirs.js';

const kRoot = fileURLToPath(new URL('..', import.meta.url));
const kBlocks = [...readFileSync(join(kRoot, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
const kFolder = mkdtempSync(join(kRoot, 'tests/.readme-'));
after(() => rmSync(kFolder, { recursive: true }));
const kRun = new Set();
const kInTimeMs = 150;
let files = 0;

// What the block with this word has made. Each time it is run anew.
async function block(port, word, names, { before = '', limits = 'FIXED 2/1h' } = {}) {
  const found = kBlocks.filter((code) => code.includes(word));
  assert.equal(found.length, 1, word);
  kRun.add(found[0]);
  const code = found[0].replaceAll('127.0.0.1:7000', `127.0.0.1:${port}`).replaceAll('port: 7000', `port: ${port}`)
    .replaceAll('100/1m\'', `${limits}'`);
  const file = join(kFolder, `block${++files}.mjs`);
  writeFileSync(file, `${before}${code}\nexport { ${names.join(', ')} };\n`);
  return import(pathToFileURL(file));
}

function get(port) {
  return new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
      response.resume();
      resolve(response);
    }).on('error', reject);
  });
}

async function statuses(port) {
  const found = [];
  for (let count = 0; count < 3; count += 1) found.push((await get(port)).statusCode);
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

// The port at which the lines of each serve a page.
const kSites = {
  async express(t, port, options) {
    const { app } = await block(port, 'const app = express()', ['app'], options);
    app.get('/', (_, response) => response.send('hello'));
    return listen(t, http.createServer(app));
  },

  async fastify(t, port, options) {
    const { app } = await block(port, 'fastify()', ['app'], options);
    t.after(() => app.close());
    app.get('/', async () => 'hello');
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server.address().port;
  },

  async hono(t, port, options) {
    const { app } = await block(port, 'new Hono()', ['app'], options);
    app.get('/', (context) => context.text('hello'));
    const { createAdaptorServer } = await import('@hono/node-server');
    return listen(t, createAdaptorServer({ fetch: app.fetch }));
  },
};

const kFaults = { hangs: (weir) => weir.signal('SIGSTOP'), 'is killed': (weir) => weir.kill() };

test('the web frameworks', async (t) => {
  const weir = await WeirServer.of(t);
  for (const [name, site] of Object.entries(kSites)) {
    await t.test(name, async (within) => limits(weir, await site(within, weir.port)));
  }

  await t.test('nest', async () => {
    const found = [];
    globalThis.nestApp = { useGlobalGuards: (guard) => found.push(guard), useGlobalFilters: (filter) => found.push(filter) };
    await block(weir.port, 'ProblemFilter', [], { before: 'const app = globalThis.nestApp;\n' });
    assert.deepEqual(found.map(({ constructor }) => constructor.name), ['WeirGuard', 'ProblemFilter']);
  });
});

for (const [fault, begin] of Object.entries(kFaults)) {
  test(`the web frameworks while weir ${fault}, with the deadline that they have`, async (t) => {
    for (const [name, site] of Object.entries(kSites)) {
      await t.test(name, async (within) => {
        const weir = await WeirServer.of(within);
        const port = await site(within, weir.port, { limits: 'FIXED 1000/1h' });
        await waitUntil(async () => Number(/r=(\d+)/.exec((await get(port)).headers.ratelimit)[1]) > 250,
          'weir answers, of which a quarter is the share');
        await begin(weir);
        const watch = new Stopwatch();
        for (let count = 0; count < 10; count += 1) {
          assert.equal((await watch.time(() => get(port))).statusCode, 200);
        }
        assert.ok(watch.longestMs < kInTimeMs + kSlackMs, `an answer took ${Math.round(watch.longestMs)} ms`);
      });
    }
  });
}

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
