// rolling-rate-limiter: a log of calls, the refused ones too, in a sorted set, in one MULTI.
'use strict';

const { RedisRateLimiter } = require('rolling-rate-limiter');
const { orders, pause, range, equal, between, needDurable } = require('./report');
const { kCallers, connect, together, ask, stored, restart, runChecks } = require('./library');

async function main() {
  const client = await connect();
  const limiter = (options, own = client) => new RedisRateLimiter({ client: own, namespace: 'roll:',
    ...options });
  const five = limiter({ interval: 20000, maxInInterval: 5 });

  async function figures() {
    equal(five.detectedClientType, orders.via === 'ioredis' ? 'ioredis' : 'node-redis');
    for (const left of [4, 3, 2, 1]) {
      const got = await five.limitWithInfo('user');
      equal(got, { blocked: false, blockedDueToCount: false, blockedDueToMinDifference: false,
        millisecondsUntilAllowed: 0, actionsRemaining: left });
    }
    for (const blocked of [false, true, true]) {
      const got = await five.limitWithInfo('user');
      equal([got.blocked, got.blockedDueToCount, got.actionsRemaining], [blocked, blocked, 0]);
      between(17000, got.millisecondsUntilAllowed, 20000, 'millisecondsUntilAllowed');
    }
    equal([await five.wouldLimit('user'), await five.wouldLimit('new')], [true, false]);
  }

  async function storedAs() {
    equal(await ask('ZCARD', 'roll:user'), 7);
    const scores = (await ask('ZRANGE', 'roll:user', 0, -1, 'WITHSCORES')).filter((_, i) => i % 2);
    for (const score of scores) equal(/^\d{16}$/.test(score), true, score);
    await stored('roll:user', 'zset', 17000, 20000);
    await five.clear('user');
    equal([await ask('EXISTS', 'roll:user'), await five.limit('user')], [0, false]);
  }

  async function minDifference() {
    const spaced = limiter({ interval: 20000, maxInInterval: 5, minDifference: 500 });
    equal(await spaced.limit('spaced'), false);
    const got = await spaced.limitWithInfo('spaced');
    equal([got.blocked, got.blockedDueToCount, got.blockedDueToMinDifference], [true, false, true]);
    between(500, got.millisecondsUntilAllowed, 500, 'millisecondsUntilAllowed');
    await pause(530);
    equal(await spaced.limit('spaced'), false);
  }

  async function window() {
    const short = limiter({ interval: 1000, maxInInterval: 2 });
    equal([await short.limit('s'), await short.limit('s'), await short.limit('s')],
      [false, false, true]);
    await pause(1050);
    equal(await short.limit('s'), false);
    await pause(1050);
    equal(await ask('EXISTS', 'roll:s'), 0);
  }

  async function concurrent() {
    const blocked = await together((mine) => {
      const own = limiter({ interval: 60000, maxInInterval: 100 }, mine);
      return Promise.all(range(20).map(() => own.limit('crowd')));
    });
    equal(blocked.filter((one) => !one).length, 100, 'admitted');
    equal(await ask('ZCARD', 'roll:crowd'), kCallers * 20);
  }

  async function restarted() {
    for (const _ of range(3)) await five.limit('kept');
    await restart(client);
    equal(await five.limit('after'), false);
  }

  async function limiterKept() {
    needDurable();
    equal([await five.limit('kept'), await five.limit('kept'), await five.limit('kept')],
      [false, false, true]);
    equal(await ask('ZCARD', 'roll:kept'), 6);
  }

  await runChecks({ figures, stored: storedAs, minDifference, window, concurrent,
    restart: restarted, limiterKept });
}

main();
