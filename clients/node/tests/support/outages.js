// A weir-server that dies, hangs, is late, or whose replies are lost: nothing is charged twice, nobody waits long.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Limiter, Weir } from 'weir-client';

import { Answering, Proxy } from './proxy.js';
import { hurried, kSlackMs, Stopwatch } from './timing.js';
import { kPatient, waitUntil, WeirServer } from './weirs.js';

const kDeadlineMs = 100;
const kLimit = 'FIXED 1000/1h';
const kRenewalMs = 1_200_000; // of a lease of an hour: a third of it
const kErrors = JSON.parse(readFileSync(new URL('errors.json',
  new URL(process.env.WEIR_CONFORMANCE ?? new URL('../../../conformance/', import.meta.url), import.meta.url))));

// Takes, and times them.
class Calls {
  watch = new Stopwatch();

  constructor(weir, limits, options) {
    this.limiter = new Limiter(weir, limits, { processes: 2, ...options });
  }

  take(key = 'k') {
    return this.watch.time(() => this.limiter.take(key));
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
    const { longestMs } = this.watch;
    assert.ok(longestMs < kDeadlineMs + kSlackMs, `a call took ${Math.round(longestMs)} ms`);
  }

  /** From now on it is not asked whether calls are in time. */
  patient() {
    Object.assign(this.limiter.weir, kPatient);
  }

  /** Until weir has answered a probe. */
  async back() {
    this.patient();
    await waitUntil(async () => {
      if (!this.limiter.state().away) return true;
      await this.take('other');
      return false;
    }, 'weir is back', 50);
  }
}

/** With one client: a file of tests for each, so that they go on at the same time. */
export function outages(library) {
  async function callsOf(t, server, { limits = kLimit, deadlineMs = kDeadlineMs, url = server.url, ...options } = {}) {
    const weir = new Weir(url, { deadlineMs, library });
    t.after(() => weir.close());
    const calls = new Calls(weir, limits, options);
    await waitUntil(async () => await calls.source() === 'weir', 'weir answers');
    calls.watch = new Stopwatch();
    return calls;
  }

  const remaining = async (server) => (await server.call('RL.PEEK', 'k', ...kLimit.split(' '), 'COST', 0))[2];

  test('killed and started again', async (t) => {
    const server = await WeirServer.of(t);
    const calls = await callsOf(t, server, kPatient);
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
  });

  const kBans = 'FIXED 4/1h BAN 1h AFTER 1 WITHIN 1h';
  for (const [name, limits, taken, left] of [
    ['nothing is there', kBans, 4, [0]],
    ['of several limits one has less', `${kBans} FIXED 100/1d`, 3, [0, 96]],
  ]) {
    test(`what is handed back bans nobody: ${name}`, async (t) => {
      const server = await WeirServer.of(t);
      const calls = await callsOf(t, server, { limits, ...kPatient });
      const { limiter } = calls;
      await limiter.take('h', { cost: 0 });
      await server.kill();
      assert.equal((await limiter.take('h', { cost: 2 })).source, 'local');
      await server.start();
      await calls.back();
      await server.call('RL.TAKE', 'h', ...limits.split(' '), 'COST', taken);
      await limiter.take('h', { cost: 0 });
      const verdict = await limiter.peek('h');
      assert.deepEqual([verdict.limits.map(({ remaining: rest }) => rest), verdict.banned], [left, false]);
    });
  }

  test('nobody waits for who is killed', async (t) => {
    const server = await WeirServer.of(t);
    const calls = await callsOf(t, server);
    await server.kill();
    assert.deepEqual(await calls.sources(20), ['local']);
    assert.equal(calls.limiter.state().away, true);
    calls.inTime();
  });

  test('stopped and continued', async (t) => {
    const server = await WeirServer.of(t);
    const calls = await callsOf(t, server);
    let left = await remaining(server);
    server.signal('SIGSTOP');
    assert.deepEqual(await calls.sources(20), ['local']);
    const { away, cause } = calls.limiter.state();
    server.signal('SIGCONT');
    assert.deepEqual([away, cause], [true, 'late']);
    calls.inTime();
    await calls.back();
    assert.equal(await calls.source(), 'weir');
    // What was granted meanwhile is charged once, and so may be what was late: two takes, and a hand back with the second.
    left -= await remaining(server) + 20 + 1;
    assert.ok(left >= 0 && left <= 3, `${left} more are charged`);
  });

  test('a key whose first call is late is known when weir answers', async (t) => {
    const server = await WeirServer.of(t);
    const calls = await callsOf(t, server);
    server.signal('SIGSTOP');
    await waitUntil(async () => await calls.source('new') === 'local', 'a call is late');
    server.signal('SIGCONT');
    await calls.back();
    await waitUntil(async () => await calls.source('new') === 'weir', 'weir answers');
    await server.kill();
    assert.equal((await calls.take('new')).allowed, true);
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
    calls.inTime();
    proxy.isDeaf = false; // for new ones
    await calls.back();
    assert.equal(await calls.source(), 'weir');
  });

  test('lost replies and cut connections are charged once', async (t) => {
    const server = await WeirServer.of(t);
    const proxy = await new Proxy(server.port).listen(t);
    const calls = await callsOf(t, server, { url: proxy.url, ...kPatient });
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
    await waitUntil(async () => { // on a busy machine weir itself may be late
      const taken = calls.source();
      await new Promise(setImmediate); // it is sent
      const end = performance.now() + 4 * kDeadlineMs;
      while (performance.now() < end);
      return await taken === 'weir';
    }, 'it has read the answer');
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
    assert.equal(verdicts.local.headers()['RateLimit-Policy'], '"default";q=1000;w=3600');
  });

  test('other calls while away', async (t) => {
    const server = await WeirServer.of(t);
    const calls = await callsOf(t, server, { limits: 'FIXED 20/1h', ...kPatient });
    const { limiter } = calls;
    const leases = new Limiter(limiter.weir, 'CONCURRENCY 4 LEASE 1h', { processes: 2 });
    const rate = new Limiter(limiter.weir, '2/1s', { processes: 2 });
    assert.ok((await leases.take('pool')).allowed);
    await server.kill();
    assert.equal(await calls.source(), 'local');
    await limiter.hold('k', 1, () => {});
    assert.ok((await limiter.acquire('k', { timeoutMs: 5000 })).allowed);
    assert.deepEqual(await limiter.reserve('k', { cost: 2 }), { granted: false, waitMs: null, id: null, source: 'local' },
      'weir books no windows either');
    assert.ok((await limiter.peek('k', { cost: 6 })).allowed);
    assert.equal((await limiter.peek('k', { cost: 7 })).allowed, false);
    assert.ok((await rate.acquire('unknown', { timeoutMs: kPatient.deadlineMs })).allowed, 'it waits here');
    assert.ok((await rate.reserve('unknown')).granted);
    await leases.lease('pool', async () => assert.equal((await leases.take('pool')).allowed, false));
    assert.ok((await leases.peek('pool')).allowed);
  });

  test('the share that weir tells', async (t) => {
    const server = await WeirServer.of(t);
    await server.call('RL.POLICY', 'SET', 'free', 'FIXED', '9/1h');
    for (const connectionName of ['one', 'another']) {
      await server.callAs(connectionName, 'RL.TAKE', 'k', 'POLICY', 'free', 'COST', 0, 'FULL');
    }
    const weir = new Weir(server.url, { ...kPatient, library });
    t.after(() => weir.close());
    const limiter = new Limiter(weir, 'POLICY free');
    assert.ok((await limiter.take('k')).allowed);
    assert.ok(Math.abs(limiter.state().share - 1 / 3) < 1e-9, `${limiter.state().share}`);
    await server.kill();
    const found = [];
    while (found.length < 3) found.push((await limiter.take('k')).allowed);
    assert.deepEqual(found, [true, true, false]);
  });

  test('a ban lasts as long as weir said', async (t) => {
    const server = await WeirServer.of(t);
    const weir = new Weir(server.url, { ...kPatient, library });
    t.after(() => weir.close());
    const limiter = new Limiter(weir, 'GCRA 1/1s BURST 0 BAN 1h AFTER 1 WITHIN 1h');
    assert.ok((await limiter.take('other')).allowed);
    await waitUntil(async () => (await limiter.take('k')).banned, 'it is banned');
    await server.kill();
    const { allowed, source, retryAfterMs } = await limiter.take('k');
    assert.deepEqual([allowed, source], [false, 'local']);
    assert.ok(retryAfterMs > 1_800_000, `${retryAfterMs}`);
    await waitUntil(async () => (await limiter.take('other')).allowed, 'others are not');
  });

  test('a policy that lets nobody through', async (t) => {
    const server = await WeirServer.of(t);
    await server.call('RL.POLICY', 'SET', 'emergency', 'BLOCKED');
    const weir = new Weir(server.url, { ...kPatient, library });
    t.after(() => weir.close());
    const limiter = new Limiter(weir, 'POLICY emergency');
    assert.equal((await limiter.take('k')).allowed, false);
    await server.kill();
    for (const key of ['k', 'unknown']) {
      const { allowed, source } = await limiter.take(key);
      assert.deepEqual([allowed, source], [false, 'local'], key);
    }
  });

  test('a lease outlives a restart', async (t) => {
    const server = await WeirServer.of(t);
    const calls = await callsOf(t, server, { limits: 'CONCURRENCY 2 LEASE 1h', ...kPatient });
    await hurried(kRenewalMs, 20, () => calls.limiter.lease('pool', async (lease) => {
      await server.kill();
      await waitUntil(() => calls.limiter.state().away, 'a renewal fails');
      assert.equal(lease.lost.aborted, false);
      await server.start();
      await waitUntil(async () => await server.calls('rl.renew') > 2, 'it is renewed');
      assert.equal(lease.lost.aborted, false);
      assert.equal((await server.call('RL.PEEK', 'pool', 'CONCURRENCY', '2', 'LEASE', '1h'))[2], 0);
    }));
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
}
