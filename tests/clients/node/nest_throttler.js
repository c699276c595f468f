// @nest-lab/throttler-storage-redis, the storage of @nestjs/throttler, in a Nest application: of
// Nest 11, as the storage asks for no newer one.
'use strict';

require('reflect-metadata');
const { Controller, Get, Module } = require('@nestjs/common');
const { APP_GUARD, NestFactory } = require('@nestjs/core');
const { ThrottlerModule, ThrottlerGuard, Throttle } = require('@nestjs/throttler');
const { ThrottlerStorageRedisService } = require('@nest-lab/throttler-storage-redis');
const { pause, range, equal, between, needDurable } = require('./report');
const { connect, ask, stored, keys, sha, restart, scriptsKept, runChecks } = require('./library');
const { visitor, crowd, seen } = require('./web');

const kFigures = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

// What a TypeScript class with decorators would become.
function applicationModule(storage) {
  class Pages {
    five() { return 'in'; }
    short() { return 'in'; }
    crowd() { return 'in'; }
  }
  const limits = { five: { limit: 5, ttl: 20000, blockDuration: 60000 },
    short: { limit: 2, ttl: 1000, blockDuration: 1000 }, crowd: { limit: 100, ttl: 20000 } };
  for (const [name, limit] of Object.entries(limits)) {
    const method = Object.getOwnPropertyDescriptor(Pages.prototype, name);
    Get(name)(Pages.prototype, name, method);
    Throttle({ default: limit })(Pages.prototype, name, method);
  }
  Controller()(Pages);
  class App {}
  Module({
    imports: [ThrottlerModule.forRoot({ throttlers: [{ name: 'default', limit: 1, ttl: 1000 }],
      storage, getTracker: (request) => request.headers['x-user'],
      generateKey: (context, tracker) => `${context.getHandler().name}-${tracker}` })],
    controllers: [Pages],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  })(App);
  return App;
}

async function main() {
  const redis = await connect();
  const storage = new ThrottlerStorageRedisService(redis);
  const app = await NestFactory.create(applicationModule(storage), { logger: false });
  await app.listen(0, '127.0.0.1');
  const get = visitor((await app.getUrl()));
  const key = (name, what) => `{${name}:default}:${what}`;
  const scripts = [sha(storage.scriptSrc)];

  function admitted(response, wanted) {
    const [status, limit, left, reset] = seen(response, ...kFigures);
    equal([status, limit, left], [200, 5, wanted]);
    between(17, reset, 20, 'reset');
  }

  async function headers() {
    for (const left of [4, 3, 2, 1, 0]) {
      admitted(await get('user', '/five'), left);
    }
    const refused = await get('user', '/five');
    equal(seen(refused, 'retry-after'), [429, 60]);
    equal(JSON.parse(refused.body).message, 'ThrottlerException: Too Many Requests');
  }

  async function storedAs() {
    equal(await keys('*user*'), [key('five-user', 'blocked'), key('five-user', 'hits')]);
    equal(await ask('GET', key('five-user', 'hits')), '6');
    await stored(key('five-user', 'hits'), 'string', 16000, 20000);
    await stored(key('five-user', 'blocked'), 'string', 56000, 60000);
  }

  async function storageApi() {
    const one = () => storage.increment('direct', 20000, 2, 5000, 'default');
    equal([await one(), await one(), await one()], [
      { totalHits: 1, timeToExpire: 20, isBlocked: false, timeToBlockExpire: 0 },
      { totalHits: 2, timeToExpire: 20, isBlocked: false, timeToBlockExpire: 0 },
      { totalHits: 3, timeToExpire: 20, isBlocked: true, timeToBlockExpire: 5 }]);
  }

  async function window() {
    const statuses = [];
    for (const _ of range(3)) statuses.push((await get('w', '/short')).status);
    equal(statuses, [200, 200, 429]);
    await pause(1050);
    equal(seen(await get('w', '/short'), ...kFigures), [200, 2, 1, 1]);
    equal(await keys('*short-w*'), [key('short-w', 'hits')]);
  }

  async function concurrent() {
    equal(await crowd(get, 320, 'x', '/crowd'), { 200: 100, 429: 220 });
    equal(await ask('GET', key('crowd-x', 'hits')), '320');
  }

  async function restarted() {
    admitted(await get('kept', '/five'), 4);
    await restart(redis, scripts);
    admitted(await get('after', '/five'), 4);
  }

  async function limiterKept() {
    needDurable();
    const [status, limit, left, reset] = seen(await get('kept', '/five'), ...kFigures);
    equal([status, limit, left], [200, 5, 3]);
    between(15, reset, 19, 'reset');  // the time away counts
    equal((await get('user', '/five')).status, 429);
    await stored(key('five-user', 'blocked'), 'string', 45000, 58900);
  }


  await runChecks({ headers, stored: storedAs, storageApi, window, concurrent, restart: restarted,
    limiterKept, scriptsKept });
}

main();
