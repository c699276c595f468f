// rate-limit-redis, the store of express-rate-limit, in an Express application.
'use strict';

const { once } = require('node:events');
const express = require('express');
const { rateLimit } = require('express-rate-limit');
const { RedisStore } = require('rate-limit-redis');
const { orders, pause, range, equal, between, needDurable } = require('./report');
const { connect, until, ask, stored, keys, restart, scriptsKept, runChecks } = require('./library');
const { visitor, crowd, seen } = require('./web');

const kWindowMs = 20000;

async function main() {
  const client = await connect();
  const sendCommand = orders.via === 'ioredis' ? (...args) => client.call(...args)
    : (...args) => client.sendCommand(args);
  const stores = {};
  const app = express();
  const errors = [];

  // The middleware at /name; with passOnStoreError off, a failing store is a 500.
  function limited(name, options) {
    stores[name] = new RedisStore({ sendCommand, prefix: `${name}:` });
    app.get(`/${name}`, rateLimit({ store: stores[name], windowMs: kWindowMs, legacyHeaders: true,
      standardHeaders: 'draft-8', passOnStoreError: false, keyGenerator: (req) => req.get('x-user'),
      ...options }), (req, res) => res.status(req.get('x-user') === 'fails' ? 404 : 200).end('in'));
  }

  limited('five', { limit: 5 });
  limited('short', { limit: 2, windowMs: 1000 });
  limited('crowd', { limit: 100 });
  limited('failures', { limit: 3, skipSuccessfulRequests: true });
  app.use((error, req, res, next) => { errors.push(error); res.status(500).end(); });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const get = visitor(`http://127.0.0.1:${server.address().port}`);
  const legacy = ['x-ratelimit-limit', 'x-ratelimit-remaining'];

  async function headers() {
    for (const left of [4, 3, 2, 1, 0]) {
      equal(seen(await get('user', '/five'), ...legacy, 'retry-after'), [200, 5, left, undefined]);
    }
    const refused = await get('user', '/five');
    equal(seen(refused, ...legacy), [429, 5, 0]);
    between(17, Number(refused.headers['retry-after']), 20, 'retry-after');
    equal(refused.headers['ratelimit-policy'].includes('q=5; w=20'), true, 'ratelimit-policy');
    equal(/r=0; t=(17|18|19|20)/.test(refused.headers.ratelimit), true, refused.headers.ratelimit);
    between(17, Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000, 21, 'reset');
  }

  async function storedAs() {
    equal(await keys('five:*'), ['five:user']);
    equal(await ask('GET', 'five:user'), '6');
    await stored('five:user', 'string', kWindowMs - 3000, kWindowMs);
  }

  async function storeApi() {
    const { totalHits, resetTime } = await stores.five.get('user');
    equal(totalHits, 6);
    between(15000, resetTime - Date.now(), 20000, 'reset in ms');
    await stores.five.decrement('user');
    equal((await stores.five.get('user')).totalHits, 5);
    await stores.five.resetKey('user');
    equal(await ask('EXISTS', 'five:user'), 0);
    equal(seen(await get('user', '/five'), ...legacy), [200, 5, 4]);
  }

  async function window() {
    const statuses = [];
    for (const _ of range(3)) statuses.push((await get('w', '/short')).status);
    equal(statuses, [200, 200, 429]);
    await pause(1050);
    equal(await ask('EXISTS', 'short:w'), 0);
    equal(seen(await get('w', '/short'), ...legacy), [200, 2, 1]);
  }

  // Only failures count: what succeeded is taken back when the response has been sent.
  async function skipSuccessful() {
    for (const _ of range(6)) equal((await get('good', '/failures')).status, 200);
    await until(async () => (await ask('GET', 'failures:good')) === '0');
    const statuses = [];
    for (const _ of range(4)) statuses.push((await get('fails', '/failures')).status);
    equal(statuses, [404, 404, 404, 429]);
    equal(await ask('GET', 'failures:fails'), '4');
  }

  async function concurrent() {
    equal(await crowd(get, 320, 'x', '/crowd'), { 200: 100, 429: 220 });
    equal(await ask('GET', 'crowd:x'), '320');
  }

  const shas = () => Promise.all([stores.five.incrementScriptSha, stores.five.getScriptSha]);

  async function restarted() {
    equal(seen(await get('kept', '/five'), ...legacy), [200, 5, 4]);
    equal(seen(await get('kept', '/five'), ...legacy), [200, 5, 3]);
    await restart(client, await shas());
    equal(seen(await get('after', '/five'), ...legacy), [200, 5, 4]);
  }

  async function limiterKept() {
    needDurable();
    const response = await get('kept', '/five');
    equal(seen(response, ...legacy), [200, 5, 2]);
    await stored('five:kept', 'string', 15000, kWindowMs - 1000);  // the time away counts
  }

  const noErrors = () => equal(errors.map(String), [], 'errors of the store');

  await runChecks({ headers, stored: storedAs, storeApi, window, skipSuccessful, concurrent,
    restart: restarted, limiterKept, scriptsKept, noErrors });
}

main();
