// ratelimiter (of tj): a log of calls in a sorted set, in one MULTI.
'use strict';

const Limiter = require('ratelimiter');
const { pause, range, sorted, equal, between, needDurable } = require('./report');
const { kCallers, connect, together, ask, stored, restart, runChecks } = require('./library');

async function main() {
  const client = await connect();

  // remaining counts this call too: 1 is the last one admitted, 0 a refusal.
  const get = (options, db = client) => new Promise((resolve, reject) => new Limiter({ db,
    ...options }).get((error, figures) => (error ? reject(error) : resolve(figures))));
  const five = (id, db) => get({ id, max: 5, duration: 20000 }, db);
  const left = async (id) => (await five(id)).remaining;

  async function figures() {
    const begin = Date.now();
    for (const remaining of [5, 4, 3, 2, 1, 0, 0]) {
      const got = await five('user');
      equal([got.remaining, got.total], [remaining, 5]);
      equal(got.reset, Math.floor(got.resetMs / 1000));
      between(begin + 20000 - 20, got.resetMs, begin + 23000, 'resetMs');
    }
  }

  // Microseconds since 1970 are members and scores, to the last digit; the newest five stay.
  async function storedAs() {
    const members = await ask('ZRANGE', 'limit:user', 0, -1, 'WITHSCORES');
    equal(members.length, 10);
    for (const index of range(5)) equal(members[2 * index], members[2 * index + 1]);
    for (const member of members) {
      equal(/^\d{16}$/.test(member), true, member);
      between(Date.now() - 5000, Number(member) / 1000, Date.now() + 1000, 'member');
    }
    await stored('limit:user', 'zset', 17000, 20000);
  }

  // Refusals are logged as well, so the oldest of the newest five says when to come again.
  async function window() {
    const short = () => get({ id: 'short', max: 2, duration: 1000 });
    equal([(await short()).remaining, (await short()).remaining, (await short()).remaining],
      [2, 1, 0]);
    await pause(500);
    equal((await short()).remaining, 0);
    await pause(700);
    equal((await short()).remaining, 1, 'one of the last second');
    await pause(1050);
    equal(await ask('EXISTS', 'limit:short'), 0);
    equal((await short()).remaining, 2);
  }

  async function concurrent() {
    const counts = await together((mine) => Promise.all(range(10).map(async () =>
      (await get({ id: 'crowd', max: 100, duration: 100000 }, mine)).remaining)));
    equal(sorted(counts.filter((remaining) => remaining > 0)), range(100).map((i) => i + 1));
    equal(counts.length, kCallers * 10);
    equal(await ask('ZCARD', 'limit:crowd'), 100);
  }

  async function restarted() {
    equal([await left('kept'), await left('kept')], [5, 4]);
    await restart(client);
    equal(await left('after'), 5);
  }

  async function limiterKept() {
    needDurable();
    equal([await left('kept'), await left('kept'), await left('user')], [3, 2, 0]);
    await stored('limit:kept', 'zset', 17000, 20000);
  }

  await runChecks({ figures, stored: storedAs, window, concurrent, restart: restarted,
    limiterKept });
}

main();
