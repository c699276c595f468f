// @fastify/rate-limit with its Redis store, in a Fastify application.
'use strict';

const fastify = require('fastify');
const rateLimit = require('@fastify/rate-limit');
const { pause, range, equal, between, needDurable } = require('./report');
const { connect, ask, stored, keys, restart, scriptsKept, runChecks } = require('./library');
const { visitor, crowd, seen } = require('./web');

const kWindowMs = 20000;
const kFigures = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

async function main() {
  const redis = await connect();
  const app = fastify();
  // With skipOnError off, a failing store is a 500 and never a request let through.
  await app.register(rateLimit, { redis, max: 5, timeWindow: kWindowMs, nameSpace: 'app-',
    skipOnError: false, keyGenerator: (request) => request.headers['x-user'] });
  const route = (path, options) => app.get(path, { config: { rateLimit: options } }, () => 'in');
  app.get('/', () => 'in');
  route('/short', { max: 2, timeWindow: 1000 });
  route('/crowd', { max: 100 });
  route('/ban', { max: 1, ban: 1 });
  route('/longer', { max: 1, timeWindow: 3000, continueExceeding: true });
  route('/backoff', { max: 1, timeWindow: 1000, exponentialBackoff: true });
  const look = app.createRateLimit();
  app.get('/look', { config: { rateLimit: false } }, async (request) => look(request,
    { increment: false }));
  const get = visitor(await app.listen({ host: '127.0.0.1', port: 0 }));
  const scripts = () => ['rateLimit', 'rateLimitRead'].map((name) => redis.scriptsSet[name].sha);

  function admitted(response, wanted) {
    const [status, max, left, reset] = seen(response, ...kFigures);
    equal([status, max, left], [200, 5, wanted]);
    between(17, reset, 20, 'reset');
  }

  async function headers() {
    for (const left of [4, 3, 2, 1, 0]) {
      admitted(await get('user'), left);
    }
    const refused = await get('user');
    const [status, max, left, reset, after] = seen(refused, ...kFigures, 'retry-after');
    equal([status, max, left, after], [429, 5, 0, reset]);
    between(17, reset, 20, 'reset');
    equal(JSON.parse(refused.body).message, `Rate limit exceeded, retry in ${reset} seconds`);
  }

  async function storedAs() {
    equal(await keys('app-*'), ['app-user']);
    equal(await ask('GET', 'app-user'), '6');
    await stored('app-user', 'string', kWindowMs - 2500, kWindowMs);
  }

  async function readOnly() {
    const figures = JSON.parse((await get('user', '/look')).body);
    equal([figures.max, figures.remaining, figures.isExceeded], [5, 0, true]);
    between(16000, figures.ttl, kWindowMs, 'ttl');
    equal(await ask('GET', 'app-user'), '6');
    const unknown = JSON.parse((await get('nobody', '/look')).body);
    equal([unknown.remaining, unknown.ttl, unknown.isExceeded], [5, 0, false]);
    equal(await ask('EXISTS', 'app-nobody'), 0);
  }

  async function window() {
    const statuses = [];
    for (const _ of range(3)) statuses.push((await get('w', '/short')).status);
    equal(statuses, [200, 200, 429]);
    equal(await ask('GET', 'app-GET/short-w'), '3');
    await pause(1050);
    equal(seen(await get('w', '/short'), ...kFigures), [200, 2, 1, 1]);
  }

  async function ban() {
    const statuses = [];
    for (const _ of range(4)) statuses.push((await get('x', '/ban')).status);
    equal(statuses, [200, 429, 403, 403]);
  }

  // Each refusal begins the window anew, or doubles it.
  async function continueExceeding() {
    await get('x', '/longer');
    await pause(1000);
    equal(seen(await get('x', '/longer'), ...kFigures), [429, 1, 0, 3]);
    await stored('app-GET/longer-x', 'string', 2100, 3000);
  }

  async function exponentialBackoff() {
    const resets = [];
    for (const _ of range(6)) resets.push(seen(await get('x', '/backoff'), kFigures[2])[1]);
    equal(resets, [1, 1, 2, 4, 8, 16]);
    await stored('app-GET/backoff-x', 'string', 14000, 16000);
    await ask('SET', 'app-GET/backoff-far', 100);
    equal((await get('far', '/backoff')).status, 429);
    await stored('app-GET/backoff-far', 'string', 2 ** 53 - 10000, 2 ** 53);  // its own limit
  }

  async function concurrent() {
    equal(await crowd(get, 320, 'x', '/crowd'), { 200: 100, 429: 220 });
    equal(await ask('GET', 'app-GET/crowd-x'), '320');
  }

  async function restarted() {
    admitted(await get('kept'), 4);
    admitted(await get('kept'), 3);
    await restart(redis, scripts());
    admitted(await get('after'), 4);
  }

  async function limiterKept() {
    needDurable();
    const [status, max, left, reset] = seen(await get('kept'), ...kFigures);
    equal([status, max, left], [200, 5, 2]);
    between(15, reset, 19, 'reset');  // the time away counts
  }


  await runChecks({ headers, stored: storedAs, readOnly, window, ban, continueExceeding,
    exponentialBackoff, concurrent, restart: restarted, limiterKept, scriptsKept });
}

main();
