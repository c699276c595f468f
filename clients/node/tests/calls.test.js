// Each call against a weir-server, with each client.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { Denied, Limiter, takeAll, Weir } from 'weir-client';

import { hurried } from './support/timing.js';
import { kLibraries, kPatient, waitUntil, WeirServer } from './support/weirs.js';

const kSlackMs = 60_000;
const kLong = { timeoutMs: 120_000 };
const kRenewalMs = 1_200_000; // of a lease of an hour: a third of it

for (const library of kLibraries) {
  describe(library, () => {
    let server;
    let weir;
    before(async (t) => {
      server = await WeirServer.of({ after: (end) => t.after?.(end) ?? kEnds.push(end) });
      weir = new Weir(server.url, { ...kPatient, library });
      kEnds.push(() => weir.close());
    });
    const key = (() => { let number = 0; return () => `k${++number}`; })();
    const limiter = (limits, options) => new Limiter(weir, limits, options);

    test('take', async () => {
      const k = key();
      const hourly = limiter('FIXED 3/1h AS hourly');
      const first = await hourly.take(k, { cost: 2 });
      assert.deepEqual([first.allowed, first.limit, first.remaining, first.retryAfterMs, first.granted, first.source],
        [true, 3, 1, 0, 2, 'weir']);
      const denied = await hourly.take(k, { cost: 2 });
      assert.equal(denied.allowed, false);
      assert.ok(Math.abs(denied.retryAfterMs - 3_600_000) < kSlackMs);
      assert.equal(denied.limits[0].name, 'hourly');
      assert.equal(denied.headers()['RateLimit-Policy'], '"hourly";q=3;w=3600');
      assert.ok('Retry-After' in denied.headers());
      assert.equal((await hourly.take(k, { cost: 4 })).retryAfterMs, null);
    });

    test('up to, and a cost for each limit', async () => {
      const both = limiter('FIXED 5/1h FIXED 100/1d');
      assert.equal((await both.take(key(), { cost: 8, upto: true })).granted, 5);
      const k = key();
      assert.ok((await both.take(k, { cost: [1, 50] })).allowed);
      assert.equal((await both.peek(k, { cost: [0, 0] })).limits[1].remaining, 50);
    });

    test('an ID is charged once', async () => {
      const k = key();
      const left = [];
      for (let count = 0; count < 3; count += 1) left.push((await limiter('FIXED 5/1h').take(k, { id: 'same' })).remaining);
      assert.deepEqual(left, [4, 4, 4]);
    });

    test('both protocols', async () => {
      for (const protocol of [2, 3]) {
        const clientOptions = library === 'redis' ? { RESP: protocol } : { protocol };
        const other = new Weir(server.url, { ...kPatient, library, clientOptions });
        const verdict = await new Limiter(other, 'FIXED 5/1h AS x').take(key());
        other.close();
        assert.deepEqual([verdict.remaining, verdict.limits[0].name], [4, 'x']);
        assert.match(verdict.headers().RateLimit, /^"x";r=4;t=3600$/);
      }
    });

    test('peek changes nothing', async () => {
      const k = key();
      assert.equal((await limiter('FIXED 5/1h').peek(k)).remaining, 4);
      assert.equal((await limiter('FIXED 5/1h').peek(k)).remaining, 4);
    });

    test('16 callers get exactly the limit', async () => {
      const k = key();
      const weirs = Array.from({ length: 4 }, () => new Weir(server.url, { ...kPatient, library }));
      let granted = 0;
      await Promise.all(Array.from({ length: 16 }, async (_, number) => {
        const mine = new Limiter(weirs[number % 4], 'FIXED 100/1h');
        for (let count = 0; count < 10; count += 1) if ((await mine.take(k)).allowed) granted += 1;
      }));
      for (const each of weirs) each.close();
      assert.equal(granted, 100);
    });

    test('many calls in one turn, batched and not', async () => {
      for (const batch of [false, true]) {
        const k = key();
        const other = new Weir(server.url, { ...kPatient, library, batch });
        const mine = new Limiter(other, 'FIXED 1000/1h');
        const verdicts = await Promise.all(Array.from({ length: 300 }, () => mine.take(k)));
        assert.deepEqual(verdicts.map(({ remaining }) => remaining), Array.from({ length: 300 }, (_, index) => 999 - index));
        await assert.rejects(Promise.all([mine.take(k), new Limiter(other, 'POLICY unknown').take(k)]), /no policy/);
        other.close();
      }
    });

    test('acquire waits, and holds up nobody', async () => {
      const k = key();
      const slow = limiter('GCRA 2/1s BURST 0');
      const begin = performance.now();
      await slow.take(k);
      const waiting = Promise.all([slow.acquire(k, kLong), slow.acquire(k, kLong)]);
      assert.ok((await limiter('100/1s').take(key())).allowed);
      assert.ok((await waiting).every(({ allowed }) => allowed));
      assert.ok(performance.now() - begin > 990);
      const hourly = limiter('FIXED 1/1h');
      await hourly.take(k + k);
      const denied = await hourly.acquire(k + k, { timeoutMs: 1 });
      assert.equal(denied.allowed, false);
      assert.ok(denied.retryAfterMs > 0);
    });

    test('a signal ends a call that waits, and nothing is taken then', async () => {
      const k = key();
      const pool = limiter('CONCURRENCY 1 LEASE 100s');
      const { id } = await pool.take(k);
      const nobodyWaits = async () => String(await server.call('INFO', 'clients')).includes('blocked_clients:0');
      const waiting = new AbortController();
      const acquired = assert.rejects(pool.acquire(k, { ...kLong, signal: waiting.signal }), { name: 'AbortError' });
      await waitUntil(async () => !await nobodyWaits(), 'it waits');
      waiting.abort();
      await acquired;
      await waitUntil(nobodyWaits, 'nobody waits any more');
      await server.call('RL.RELEASE', k, id);
      assert.ok((await pool.take(k)).allowed);
      await assert.rejects(pool.take(k, { signal: AbortSignal.abort() }), { name: 'AbortError' });
      assert.equal(pool.state().away, false);
    });

    test('reserve and cancel', async () => {
      const k = key();
      const mail = limiter('GCRA 1/1h');
      assert.equal((await mail.reserve(k)).waitMs, 0);
      const booked = await mail.reserve(k);
      assert.ok(Math.abs(booked.waitMs - 3_600_000) < kSlackMs);
      assert.equal((await mail.reserve(k, { maxWaitMs: 1000 })).granted, false);
      assert.equal(await mail.cancel(k, booked), 1);
      assert.equal((await mail.reserve(k, { cost: 3 })).waitMs, null);
    });

    test('hold', async () => {
      const k = key();
      const tokens = limiter('FIXED 10/1h');
      const left = async () => (await tokens.peek(k, { cost: 0 })).remaining;
      assert.equal(await tokens.hold(k, 5, (hold) => { hold.used = 2; return 'done'; }), 'done');
      assert.equal(await left(), 8);
      await assert.rejects(tokens.hold(k, 5, () => { throw new RangeError('work'); }), RangeError);
      assert.equal(await left(), 8);
      const hold = await tokens.hold(k, 5, { lastsMs: 5000 });
      assert.equal(await left(), 3);
      assert.equal(await hold.settle(1), true);
      assert.equal(await left(), 7);
      await assert.rejects(tokens.hold(k, 9), (error) => error instanceof Denied && error.verdict.remaining === 7);
    });

    test('a lease renews itself', async () => {
      const k = key();
      const pool = limiter('CONCURRENCY 1 LEASE 1h');
      await hurried(kRenewalMs, 20, async () => {
        const renewals = await server.calls('rl.renew');
        await pool.lease(k, async (lease) => {
          await waitUntil(async () => await server.calls('rl.renew') > renewals + 2, 'it is renewed');
          assert.equal((await pool.take(k)).allowed, false);
          assert.equal(lease.lost.aborted, false);
        });
        assert.ok((await pool.peek(k)).allowed);
        const lease = await pool.lease(k, kLong);
        await server.call('RL.RESET', k);
        await waitUntil(() => lease.lost.aborted, 'the lease is lost');
        await lease.release();
      });
    });

    test('take of several keys', async () => {
      const [u, t] = [key(), key()];
      const [user, tenant] = [limiter('FIXED 10/1h'), limiter('FIXED 2/1h 100/1s')];
      assert.ok((await takeAll([[user, u], [tenant, t, 2]])).allowed);
      const denied = await takeAll([[user, u], [tenant, t]]);
      assert.deepEqual([denied.allowed, denied.index, denied.each[0].remaining], [false, 1, 9]);
      assert.ok('Retry-After' in denied.headers());
      assert.ok(denied.retryAfterMs > 0);
    });

    test('policies', async () => {
      const k = key();
      await weir.policies.set('free', 'FIXED 3/1h AS hourly');
      assert.deepEqual(await weir.policies.list(), ['free']);
      assert.match(String((await weir.policies.get('free')).limits), /FIXED 3\/1h/);
      assert.equal(await weir.policies.get('none'), null);
      const free = limiter('POLICY free');
      assert.equal((await free.take(k)).policy, 'free');
      assert.equal((await free.peek(k)).remaining, 1);
      await weir.policies.set('free', 'BLOCKED');
      assert.equal((await free.take(k)).allowed, false);
      await weir.policies.set('free', 'UNLIMITED');
      assert.ok((await free.take(k)).allowed);
      assert.equal(await weir.policies.delete('free'), true);
    });

    test('faults of the program are thrown', async () => {
      assert.throws(() => limiter('100'), TypeError);
      assert.throws(() => limiter('5/1s', { away: 'never' }), TypeError);
      assert.throws(() => new Weir('http://127.0.0.1'), TypeError);
      await assert.rejects(limiter('POLICY unknown').take(key()), /no policy/);
      await server.call('SET', 'text', 'x');
      await assert.rejects(limiter('5/1s').take('text'), /WRONGTYPE/);
      const stranger = new Weir(server.url.replace('//', '//who:wrong@'), { ...kPatient, library });
      await assert.rejects(new Limiter(stranger, '5/1s').take(key()), /WRONGPASS/);
      stranger.close();
    });

    test('the name of the process, and a user who may only ask', async () => {
      await limiter('5/1s').take(key());
      assert.match(String(await server.call('CLIENT', 'LIST')), /name=weir-/);
      await server.call('ACL', 'SETUSER', 'shop', 'on', '>phrase', '+@ratelimit', '~shop:*');
      const clientOptions = library === 'ioredis' ? { enableReadyCheck: false } : {};
      const shop = new Weir(server.url.replace('//', '//shop:phrase@'), { ...kPatient, library, clientOptions });
      assert.ok((await new Limiter(shop, '5/1s').take('shop:1')).allowed);
      await assert.rejects(new Limiter(shop, '5/1s').take('other'), /NOPERM/);
      shop.close();
    });
  });
}

const kEnds = [];
test('the end', async () => { for (const end of kEnds.reverse()) await end(); });
