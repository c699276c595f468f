// async-ratelimiter: a log of calls in a sorted set, in one script.
'use strict';

const RateLimiter = require('async-ratelimiter');
const { pause, range, sorted, equal, between, needDurable } = require('./report');
const { kCallers, connect, together, ask, stored, restart, scriptsKept,
  runChecks } = require('./library');

async function main() {
  const client = await connect();
  const limiter = new RateLimiter({ db: client, max: 5, duration: 20000 });

  // remaining counts this call too: 1 is the last one admitted, 0 a refusal.
  const left = async (id) => (await limiter.get({ id })).remaining;

  async function figures() {
    const begin = Date.now();
    for (const remaining of [5, 4, 3, 2, 1, 0, 0]) {
      const got = await limiter.get({ id: 'user' });
      equal([got.remaining, got.total], [remaining, 5]);
      between(Math.floor(begin / 1000) + 19, got.reset, Math.ceil(begin / 1000) + 23, 'reset');
    }
    const { remaining } = await limiter.get({ id: 'user', peek: true });
    equal([remaining, (await limiter.get({ id: 'new', peek: true })).remaining], [0, 5]);
    equal(await ask('EXISTS', 'limit:new'), 0);
  }

  // Milliseconds with a fraction are members and scores: no digit of them may be lost.
  async function storedAs() {
    const members = await ask('ZRANGE', 'limit:user', 0, -1, 'WITHSCORES');
    equal(members.length, 10);
    for (const index of range(5)) equal(Number(members[2 * index]), Number(members[2 * index + 1]));
    const hasFraction = members.filter((member) => member.includes('.'));
    between(2, hasFraction.length, 10, 'members and scores with a fraction');
    await stored('limit:user', 'zset', 17000, 20000);
  }

  async function window() {
    const options = { id: 'short', max: 2, duration: 1000 };
    const short = async () => (await limiter.get(options)).remaining;
    equal([await short(), await short(), await short()], [2, 1, 0]);
    await pause(500);
    equal(await short(), 0);
    await pause(700);
    equal(await short(), 2);
    await pause(1050);
    equal(await ask('EXISTS', 'limit:short'), 0);
  }

  async function concurrent() {
    const counts = await together((db) => {
      const own = new RateLimiter({ db, id: 'crowd', max: 100, duration: 100000 });
      return Promise.all(range(20).map(async () => (await own.get()).remaining));
    });
    equal(counts.length, kCallers * 20);
    equal(sorted(counts.filter((remaining) => remaining > 0)), range(100).map((i) => i + 1));
    equal(await ask('ZCARD', 'limit:crowd'), 100);
  }

  async function restarted() {
    equal([await left('kept'), await left('kept')], [5, 4]);
    await restart(client, [client.scriptsSet.ratelimiter.sha]);
    equal(await left('after'), 5);
  }

  async function limiterKept() {
    needDurable();
    equal([await left('kept'), await left('kept'), await left('user')], [3, 2, 0]);
    await stored('limit:user', 'zset', 10000, 18900);  // the time away counts
  }

  await runChecks({ figures, stored: storedAs, window, concurrent, restart: restarted,
    limiterKept, scriptsKept });
}

main();
