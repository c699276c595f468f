// rate-limiter-flexible: RateLimiterRedis, and what of the package is built on it.
'use strict';

const { orders, pause, range, sorted, equal, between, needDurable } = require('./report');
const { kCallers, connect, together, ask, stored, sha, restart, scriptsKept,
  runChecks } = require('./library');
const { RateLimiterRedis, RateLimiterMemory, RateLimiterQueue, BurstyRateLimiter,
  RateLimiterUnion } = require('rate-limiter-flexible');

const isIoredis = orders.via === 'ioredis';

// The library's fallback: what it is asked is counted, and must stay nothing.
class Insurance extends RateLimiterMemory {
  static asked = 0;

  consume(...args) { Insurance.asked += 1; return super.consume(...args); }
  block(...args) { Insurance.asked += 1; return super.block(...args); }
  get(...args) { Insurance.asked += 1; return super.get(...args); }
}

async function main() {
  const client = await connect();
  const limiter = (options, storeClient = client) => new RateLimiterRedis({ storeClient,
    useRedisPackage: !isIoredis, insuranceLimiter: new Insurance(options), ...options });
  const five = limiter({ points: 5, duration: 10 });
  const scripts = [sha(five._incrTtlLuaScript)];

  // What a refused consume() rejects with: figures; an Error would be a failure.
  const denied = (result) => result.then(
    () => { throw new Error('admitted'); },
    (figures) => { if (figures instanceof Error) throw figures; return figures; });
  const figures = (result) => [result.consumedPoints, result.remainingPoints];
  const once = async (one, key) => one.consume(key).then(() => 1, (error) => {
    if (error instanceof Error) throw error;
    return 0;
  });

  async function consume() {
    for (const count of [1, 2, 3, 4, 5]) {
      const result = await five.consume('user');
      equal([...figures(result), result.isFirstInDuration], [count, 5 - count, count === 1]);
      between(8000, result.msBeforeNext, 10000, 'msBeforeNext');
    }
    const refusal = await denied(five.consume('user'));
    equal(figures(refusal), [6, 0]);
    between(8000, refusal.msBeforeNext, 10000, 'msBeforeNext');
    equal(figures(await denied(five.consume('eager', 6))), [6, 0]);
    equal(await ask('GET', 'rlflx:user'), '6');
    await stored('rlflx:user', 'string', 8000, 10000);
  }

  async function penaltyReward() {
    equal(figures(await five.penalty('p', 3)), [3, 2]);
    equal(figures(await five.reward('p', 2)), [1, 4]);
    equal(figures(await five.reward('p', 4)), [-3, 8]);
    equal(figures(await five.get('p')), [-3, 8]);
    equal(await five.get('absent'), null);
  }

  async function blockSetDelete() {
    await five.block('b', 100);
    equal(await ask('GET', 'rlflx:b'), '6');
    await stored('rlflx:b', 'string', 98000, 100000);
    between(98000, (await denied(five.consume('b'))).msBeforeNext, 100000, 'msBeforeNext');
    await five.block('b', 0);
    await stored('rlflx:b', 'string', -1);
    await five.set('b', 2, 50);
    equal(figures(await five.consume('b')), [3, 2]);
    await stored('rlflx:b', 'string', 48000, 50000);
    equal([await five.delete('b'), await five.delete('b')], [true, false]);
  }

  async function blockDuration() {
    const strict = limiter({ points: 1, duration: 1, blockDuration: 30, keyPrefix: 'strict' });
    await strict.consume('x');
    equal((await denied(strict.consume('x'))).msBeforeNext, 30000);
    await stored('strict:x', 'string', 28000, 30000);
  }

  async function neverExpires() {
    const forever = limiter({ points: 2, duration: 0, keyPrefix: 'forever' });
    equal((await forever.consume('x')).msBeforeNext, -1);
    equal(figures(await forever.consume('x')), [2, 0]);
    equal(figures(await denied(forever.consume('x'))), [3, 0]);
    await stored('forever:x', 'string', -1);
  }

  async function window() {
    const short = limiter({ points: 2, duration: 1, keyPrefix: 'short' });
    equal([await once(short, 'x'), await once(short, 'x'), await once(short, 'x')], [1, 1, 0]);
    await pause((await short.get('x')).msBeforeNext + 30);
    equal(await short.get('x'), null);
    const result = await short.consume('x');
    equal([...figures(result), result.isFirstInDuration], [1, 1, true]);
  }

  async function burstyUnionQueue() {
    const slow = limiter({ points: 2, duration: 10, keyPrefix: 'slow' });
    const bursty = new BurstyRateLimiter(slow,
      limiter({ points: 3, duration: 10, keyPrefix: 'burst' }));
    const admitted = await Promise.all(range(9).map(() => once(bursty, 'x')));
    equal(admitted.reduce((sum, one) => sum + one), 5, 'admitted by the burst');
    equal([await ask('GET', 'slow:x'), await ask('GET', 'burst:x')], ['9', '7']);
    const union = await new RateLimiterUnion(five,
      limiter({ points: 9, duration: 10, keyPrefix: 'nine' })).consume('u');
    equal([figures(union.rlflx), figures(union.nine)], [[1, 4], [1, 8]]);
    const queue = new RateLimiterQueue(limiter({ points: 2, duration: 1, keyPrefix: 'queue' }));
    const begin = Date.now();
    equal(await Promise.all(range(3).map(() => queue.removeTokens(1))), [1, 0, 1]);
    between(900, Date.now() - begin, 2500, 'ms for the third of two a second');
  }

  async function concurrent() {
    const counts = await together(async (mine) => {
      const own = limiter({ points: 100, duration: 60, keyPrefix: 'crowd' }, mine);
      return Promise.all(range(20).map(async () => {
        try {
          return (await own.consume('x')).consumedPoints;
        } catch (refusal) {
          if (refusal instanceof Error) throw refusal;
          return -refusal.consumedPoints;
        }
      }));
    });
    equal(sorted(counts.filter((count) => count > 0)), range(100).map((i) => i + 1), 'admitted');
    equal(sorted(counts.map(Math.abs)), range(kCallers * 20).map((i) => i + 1), 'counted');
  }

  async function restarted() {
    await five.consume('kept', 3);
    await restart(client, scripts);
    equal(figures(await five.consume('after')), [1, 4]);
  }

  async function limiterKept() {
    needDurable();
    const result = await five.consume('kept');
    equal(figures(result), [4, 1]);
    between(1000, result.msBeforeNext, 9000, 'msBeforeNext');  // the time away counts
  }

  const insuranceUnused = () => equal(Insurance.asked, 0, 'calls of the fallback');

  await runChecks({ consume, penaltyReward, blockSetDelete, blockDuration, neverExpires, window,
    burstyUnionQueue, concurrent, restart: restarted, limiterKept, scriptsKept, insuranceUnused });
}

main();
