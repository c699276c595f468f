// The blocks of the README, run as they stand; the port alone is another.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { WeirServer } from './support/weirs.js';

const kRoot = fileURLToPath(new URL('..', import.meta.url));
const kBlocks = [...readFileSync(join(kRoot, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

// What the block with this word has made; limits are small, so that a 429 comes soon.
async function block(t, server, word, names, before = '') {
  const found = kBlocks.filter((code) => code.includes(word));
  assert.equal(found.length, 1, word);
  const code = found[0].replaceAll('127.0.0.1:7000', `127.0.0.1:${server.port}`).replaceAll('100/1m\'', 'FIXED 2/1h\'')
    .replaceAll('port: 7000', `port: ${server.port}`);
  const folder = mkdtempSync(join(kRoot, 'tests/.readme-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'block.mjs');
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

// Connections that the blocks make stay open: the process is ended, as those of applications are.
test('the blocks', async (t) => {
  const server = await WeirServer.of(t);
  const fresh = () => server.call('FLUSHALL');

  await t.test('express', async () => {
    const { app } = await block(t, server, 'const app = express()', ['app']);
    app.get('/', (_, response) => response.send('hello'));
    assert.deepEqual(await statuses(await listen(t, http.createServer(app))), [200, 200, 429]);
  });

  await t.test('fastify', async () => {
    await fresh();
    const { app } = await block(t, server, 'fastify()', ['app']);
    t.after(() => app.close());
    app.get('/', async () => 'hello');
    await app.listen({ port: 0, host: '127.0.0.1' });
    assert.deepEqual(await statuses(app.server.address().port), [200, 200, 429]);
  });

  await t.test('hono', async () => {
    await fresh();
    const { app } = await block(t, server, 'new Hono()', ['app']);
    app.get('/', (context) => context.text('hello'));
    const { createAdaptorServer } = await import('@hono/node-server');
    assert.deepEqual(await statuses(await listen(t, createAdaptorServer({ fetch: app.fetch }))), [200, 200, 429]);
  });

  await t.test('nest', async () => {
    const found = [];
    globalThis.nestApp = { useGlobalGuards: (guard) => found.push(guard), useGlobalFilters: (filter) => found.push(filter) };
    await block(t, server, 'ProblemFilter', [], 'const app = globalThis.nestApp;\n');
    assert.deepEqual(found.map(({ constructor }) => constructor.name), ['WeirGuard', 'ProblemFilter']);
  });

  await t.test('a limiter, a Weir, lots and a store', async () => {
    const { verdict } = await block(t, server, 'BURST 20', ['verdict']);
    assert.equal(verdict.allowed, true);
    const { weir, users, jobs } = await block(t, server, 'fallback', ['weir', 'users', 'jobs']);
    await weir.policies.set('users', '5/1s');
    assert.ok((await users.take('user:42')).allowed && (await jobs.take('mail')).allowed);
    const { lots, allowed } = await block(t, server, 'new Lots', ['lots', 'allowed']);
    assert.equal(allowed, true);
    await lots.close();
    assert.equal(typeof (await block(t, server, 'express-rate-limit', ['limit'])).limit, 'function');
  });
});

test('CommonJS has the same names', async () => {
  const { createRequire } = await import('node:module');
  const require = createRequire(import.meta.url);
  for (const path of ['', '/web', '/express', '/fastify', '/hono', '/nest', '/express-rate-limit', '/fastify-rate-limit',
    '/nest-throttler']) {
    const name = `weir-client${path}`;
    assert.deepEqual(Object.keys(require(name)).sort(), Object.keys(await import(name)).filter((each) => !/^(default|module.exports)$/.test(each)).sort(), name);
  }
  const { Weir, Limiter } = require('weir-client');
  const weir = new Weir('redis://127.0.0.1:1');
  assert.equal((await new Limiter(weir, '5/1s').take('k')).source, 'local');
  weir.close();
});
