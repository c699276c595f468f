// A weir-server that dies, hangs, is late, or whose replies are lost: nothing is charged twice, nobody waits long.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { Limiter, Weir } from 'weir-client';

import { Answering, Proxy } from './support/proxy.js';
import { kLibraries, kPatient, pause, waitUntil, WeirServer } from './support/weirs.js';

const kDeadlineMs = 100;
const kSlackMs = 300; // a busy machine runs this process late
const kLimit = 'FIXED 1000/1h';
const kErrors = JSON.parse(readFileSync(new URL('errors.json',
  new URL(process.env.WEIR_CONFORMANCE ?? new URL('../../conformance/', import.meta.url), import.meta.url))));

// Takes, and knows the longest.
class Calls {
  longestMs = 0;

  constructor(weir, limits, options) {
    this.limiter = new Limiter(weir, limits, { processes: 2, ...options });
  }

  async take(key = 'k') {
    const begin = performance.now();
    const verdict = await this.limiter.take(key);
    this.longestMs = Math.max(this.longestMs, performance.now() - begin);
    return verdict;
  }

  async source(key) {
    return (await this.take(key)).source;
  }

  async sources(count, key) {
    const found = [];
    while (found.length < count) found.push(await this.source(key));
    return [...new Set(found)];
  }

  inTime() {
    assert.ok(this.longestMs < kDeadlineMs + kSlackMs, `a call took ${Math.round(this.longestMs)} ms`);
  }

  /** Until weir has answered a probe. */
  async back() {
    await waitUntil(async () => {
      if (!this.limiter.state().away) return true;
      await this.take('other');
      return false;
    }, 'weir is back', 50);
  }
}

for (const library of kLibraries) {
  describe(`outages with ${library}`, () => {
    async function callsOf(t, server, { limits = kLimit, deadlineMs = kDeadlineMs, url = server.url, ...options } = {}) {
      const weir = new Weir(url, { deadlineMs, library });
      t.after(() => weir.close());
      const calls = new Calls(weir, limits, options);
      await waitUntil(async () => await calls.source() === 'weir', 'weir answers');
      calls.longestMs = 0;
      return calls;
    }

    const remaining = async (server) => (await server.call('RL.PEEK', 'k', ...kLimit.split(' '), 'COST', 0))[2];

    test('killed and started again', async (t) => {
      const server = await WeirServer.of(t);
      const calls = await callsOf(t, server);
      const changes = [];
      calls.limiter.on('away', (change) => changes.push(['away', change.cause]));
      calls.limiter.on('back', (change) => changes.push(['back', change.cause]));
      const before = await remaining(server);
      await server.kill();
      assert.deepEqual(await calls.sources(5), ['local']);
      assert.deepEqual([calls.limiter.state().cause, calls.limiter.state().decidedHere], ['gone', 5]);
      await server.start();
      await calls.back();
      assert.equal(await remaining(server), before);
      assert.equal(await calls.source(), 'weir');
      assert.equal(await remaining(server), before - 5 - 1, 'what was granted meanwhile is charged once');
      await calls.take();
      assert.equal(await remaining(server), before - 5 - 2);
      assert.deepEqual(changes, [['away', 'gone'], ['back', 'gone']]);
      calls.inTime();
    });

    test('stopped and continued', async (t) => {
      const server = await WeirServer.of(t);
      const calls = await callsOf(t, server);
      server.signal('SIGSTOP');
      assert.deepEqual(await calls.sources(20), ['local']);
      const { away, cause } = calls.limiter.state();
      server.signal('SIGCONT');
      assert.deepEqual([away, cause], [true, 'late']);
      calls.inTime();
      await calls.back();
      assert.equal(await calls.source(), 'weir');
    });

    for (const [fault, ms] of [['delayMs', 2000], ['trickleMs', 20]]) {
      test(`${fault}: the replies, then the handshake`, async (t) => {
        const server = await WeirServer.of(t);
        const proxy = await new Proxy(server.port).listen(t);
        const calls = await callsOf(t, server, { url: proxy.url });
        proxy[fault] = ms;
        assert.deepEqual(await calls.sources(5), ['local']);
        calls.inTime();
        proxy.cut();
        await waitUntil(async () => await calls.source() && calls.limiter.state().probes > 1, 'it probes', 50);
        assert.equal(calls.limiter.state().away, true);
        calls.inTime();
      });
    }

    test('a connection of which nothing is heard any more is made anew', async (t) => {
      const server = await WeirServer.of(t);
      const proxy = await new Proxy(server.port).listen(t);
      const calls = await callsOf(t, server, { url: proxy.url });
      proxy.isDeaf = true;
      assert.deepEqual(await calls.sources(5), ['local']);
      proxy.isDeaf = false; // for new ones
      await calls.back();
      assert.equal(await calls.source(), 'weir');
      calls.inTime();
    });

    test('lost replies and cut connections are charged once', async (t) => {
      const server = await WeirServer.of(t);
      const proxy = await new Proxy(server.port).listen(t);
      const calls = await callsOf(t, server, { url: proxy.url, deadlineMs: 30_000 });
      const before = await remaining(server);
      for (let count = 0; count < 10; count += 1) {
        proxy.lose = 1;
        assert.equal(await calls.source(), 'weir');
      }
      assert.equal(await remaining(server), before - 10);
      for (let count = 0; count < 10; count += 1) {
        proxy.cut();
        assert.equal(await calls.source(), 'weir');
      }
      assert.equal(await remaining(server), before - 20);
    });

    test('a process that was busy itself reads what has come first', async (t) => {
      const server = await WeirServer.of(t);
      const calls = await callsOf(t, server);
      for (let count = 0; count < 3; count += 1) {
        const taken = calls.source();
        await new Promise(setImmediate); // it is sent
        const end = performance.now() + 4 * kDeadlineMs;
        while (performance.now() < end);
        assert.equal(await taken, 'weir');
      }
    });

    test('modes', async (t) => {
      const server = await WeirServer.of(t);
      const calls = {};
      for (const away of ['local', 'strict', 'open', 'closed']) calls[away] = await callsOf(t, server, { away });
      await server.kill();
      const verdicts = {};
      for (const away of Object.keys(calls)) verdicts[away] = await calls[away].take();
      assert.deepEqual(Object.values(verdicts).map(({ allowed, source }) => [allowed, source]),
        [[true, 'local'], [false, 'local'], [true, 'open'], [false, 'closed']]);
      assert.equal(verdicts.closed.headers()['Retry-After'], '1');
      assert.equal(verdicts.local.headers()['RateLimit-Policy'], '"fixed0";q=1000;w=3600');
    });

    test('other calls while away', async (t) => {
      const server = await WeirServer.of(t);
      const calls = await callsOf(t, server, { limits: '10/1s' });
      const { limiter } = calls;
      const leases = new Limiter(limiter.weir, 'CONCURRENCY 4 LEASE 10s', { processes: 2 });
      await waitUntil(async () => (await leases.take('pool')).source === 'weir', 'weir answers');
      await server.kill();
      assert.equal(await calls.source(), 'local');
      await limiter.hold('k', 1, () => {});
      assert.ok((await limiter.acquire('k', { timeoutMs: 5000 })).allowed);
      assert.ok((await limiter.reserve('k', { cost: 2 })).granted);
      assert.equal((await limiter.peek('k', { cost: 5 })).allowed, false);
      await leases.lease('pool', async () => assert.equal((await leases.take('pool')).allowed, false));
      assert.ok((await leases.peek('pool')).allowed);
    });

    test('a lease outlives a restart', async (t) => {
      const server = await WeirServer.of(t);
      const calls = await callsOf(t, server, { limits: 'CONCURRENCY 2 LEASE 6s' });
      await calls.limiter.lease('pool', async (lease) => {
        await server.kill();
        await pause(2500); // a renewal fails
        assert.equal(lease.lost.aborted, false);
        await server.start();
        await calls.back();
        await pause(4000); // beyond the first end
        assert.equal(lease.lost.aborted, false);
        assert.equal((await server.call('RL.PEEK', 'pool', 'CONCURRENCY', '2', 'LEASE', '6s'))[2], 0);
      });
    });

    test('what each error means', async (t) => {
      for (const { error, means } of kErrors) {
        const server = await new Answering({ 'RL.TAKE': `-${error}\r\n` }).listen(t);
        const weir = new Weir(server.url, { ...kPatient, library });
        const limiter = new Limiter(weir, '5/1s');
        if (means === 'program') {
          await assert.rejects(limiter.take('k'), { message: error });
          assert.equal(limiter.state().away, false, error);
        } else {
          assert.equal((await limiter.take('k')).source, 'local', error);
          assert.equal(limiter.state().cause, means, error);
        }
        weir.close();
        server.end();
      }
    });

    test('a refusal of writes is probed by a write', async (t) => {
      const server = await new Answering({ 'RL.TAKE': '-MISCONF the disk is full\r\n', 'RL.PEEK': '*1\r\n:1\r\n' }).listen(t);
      const weir = new Weir(server.url, { ...kPatient, library });
      const limiter = new Limiter(weir, '5/1s', { processes: 1 });
      await waitUntil(async () => await limiter.take('k') && limiter.state().probes > 1, 'it probes', 50);
      assert.equal(limiter.state().absences, 1);
      weir.close();
    });

    test('nobody is there at the start', async (t) => {
      const server = await WeirServer.of(t);
      await server.kill();
      const weir = new Weir(server.url, { library });
      t.after(() => weir.close());
      const calls = new Calls(weir, '10/1s');
      assert.deepEqual(await calls.sources(3), ['local']);
      calls.inTime();
      await server.start();
      await calls.back();
      assert.equal(await calls.source(), 'weir');
    });
  });
}
