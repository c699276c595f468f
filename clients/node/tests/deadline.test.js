// No call exceeds its deadline, whatever it is that takes long: a name, a handshake, or a client that was given.
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { EventEmitter } from 'node:events';
import { describe, mock, test } from 'node:test';

import { Limiter, Lots, takeAll, Weir } from 'weir-client';

import { kSlackMs, Stopwatch } from './support/timing.js';
import { kLibraries, kPatient, waitUntil, WeirServer } from './support/weirs.js';

const kDeadlineMs = 100;
const kLongMs = 1000; // two of these are more than one and the slack
const kLimit = 'FIXED 100/1h';
const kAnswer = { allowed: 1, retry_ms: 0, policy: null, granted: 1, headers: {},
  limits: [{ name: 'fixed0', algorithm: 'FIXED', capacity: 100, remaining: 99, reset_ms: 3_600_000, window_ms: 3_600_000 }] };

/** A client of node-redis that does as it is told. */
class Client extends EventEmitter {
  isOpen = true;
  isReady = true;
  sendCommand = () => Promise.resolve(kAnswer);

  hangs() {
    this.sendCommand = () => new Promise(() => {});
  }

  isGone() {
    this.sendCommand = () => Promise.reject(new Error('the connection is closed'));
  }
}

async function inTime(work, deadlineMs) {
  const watch = new Stopwatch();
  const found = await watch.time(work);
  assert.ok(watch.longestMs < deadlineMs + kSlackMs, `it took ${Math.round(watch.longestMs)} ms`);
  return found;
}

/** The sources of some takes, each in time. */
async function sources(weir, count = 5) {
  const limiter = new Limiter(weir, kLimit, { away: 'open' });
  const found = new Set();
  for (let number = 0; number < count; number += 1) {
    found.add((await inTime(() => limiter.take('k'), weir.deadlineMs)).source);
  }
  return [...found];
}

for (const library of kLibraries) {
  describe(library, () => {
    test('a name that is looked up for ever', async (t) => {
      const asked = [];
      t.after(() => mock.restoreAll());
      mock.method(dns, 'lookup', (host) => { asked.push(host); });
      for (let count = 0; count < 2; count += 1) {
        const weir = new Weir(`redis://${library}.invalid:7000`, { deadlineMs: kDeadlineMs, library });
        assert.deepEqual(await sources(weir), ['open']);
        weir.close();
      }
      assert.equal(asked.length, 1, 'one look-up at a time, however many wait for it');
    });

    test('a name that nobody knows, and one that is known', async (t) => {
      const server = await WeirServer.of(t);
      const known = new Weir(`redis://localhost:${server.port}`, { ...kPatient, library });
      assert.equal((await new Limiter(known, kLimit).take('k')).source, 'weir');
      known.close();
      t.after(() => mock.restoreAll());
      mock.method(dns, 'lookup', (host, ...more) => more.at(-1)(new Error(`getaddrinfo ENOTFOUND ${host}`)));
      const limiter = new Limiter(new Weir('redis://none.invalid:7000', { ...kPatient, library }), kLimit, { away: 'open' });
      assert.deepEqual([(await limiter.take('k')).source, limiter.state().cause], ['open', 'gone']);
    });

    test('a handshake that is not answered', async (t) => {
      const server = await WeirServer.of(t);
      server.signal('SIGSTOP');
      const weir = new Weir(server.url, { deadlineMs: kDeadlineMs, library });
      assert.deepEqual(await sources(weir), ['open']);
      weir.close();
    });
  });
}

describe('a client that hangs', () => {
  function hanging(deadlineMs) {
    const client = new Client();
    client.hangs();
    client.duplicate = () => client;
    client.destroy = () => {};
    return new Weir(client, { deadlineMs });
  }

  test('takes', async () => {
    assert.deepEqual(await sources(hanging(kDeadlineMs)), ['open']);
  });

  test('other calls', async () => {
    const calls = {
      peek: (limiter) => limiter.peek('k'),
      acquire: (limiter) => limiter.acquire('k', { timeoutMs: 0 }),
      reserve: (limiter) => limiter.reserve('k'),
      takeAll: (limiter) => takeAll([[limiter, 'a'], [limiter, 'b']]),
    };
    for (const call of Object.values(calls)) {
      const limiter = new Limiter(hanging(kLongMs), kLimit, { away: 'closed' });
      await inTime(() => call(limiter), kLongMs);
    }
  });

  test('who waits for a lot', async () => {
    const client = new Client();
    const weir = new Weir(client, kPatient);
    const lots = new Lots(new Limiter(weir, kLimit));
    assert.equal(await lots.take('k'), true);
    client.hangs();
    Object.assign(weir, { deadlineMs: kLongMs });
    await inTime(() => Promise.all(Array.from({ length: 20 }, () => lots.take('k'))), kLongMs);
    await lots.close();
  });
});

describe('a call and what is handed back before it have one deadline', () => {
  const keys = ['a', 'b', 'c'];

  /** Of a weir that hangs after it came back. */
  async function returned() {
    const client = new Client();
    const weir = new Weir(client, kPatient);
    const limiter = new Limiter(weir, kLimit, { processes: 1 });
    for (const key of keys) await limiter.take(key);
    client.isGone();
    for (const key of keys) assert.equal((await limiter.take(key)).source, 'local');
    client.sendCommand = () => Promise.resolve(kAnswer);
    await waitUntil(async () => {
      if (!limiter.state().away) return true;
      await limiter.peek('other');
      return false;
    }, 'it is back');
    client.hangs();
    Object.assign(weir, { deadlineMs: kLongMs });
    return { limiter, client };
  }

  test('reserve and takeAll', async () => {
    const { limiter } = await returned();
    await inTime(() => limiter.reserve('a'), kLongMs);
    const { limiter: other } = await returned();
    await inTime(() => takeAll(keys.map((key) => [other, key])), kLongMs);
  });

  test('acquire', async () => {
    const { limiter, client } = await returned();
    client.duplicate = () => client;
    client.destroy = () => {};
    await inTime(() => limiter.acquire('a', { timeoutMs: 10 }), kLongMs + 10);
  });
});

/** A client of ioredis that was cut and connects again after a while. */
class Reconnecting extends EventEmitter {
  status = 'reconnecting';
  connects = 0;

  async connect() {
    this.connects += 1;
  }

  async call() {
    return kAnswer;
  }
}

test('a client that is to connect again is left to do so', async () => {
  const client = new Reconnecting();
  const weir = new Weir(client, { deadlineMs: kDeadlineMs });
  assert.deepEqual(await sources(weir, 2), ['open']);
  assert.equal(client.connects, 0, 'else its own timer connects it even after its owner has ended it');
  Object.assign(weir, kPatient);
  const taken = new Limiter(weir, kLimit).take('k');
  client.status = 'ready';
  client.emit('ready');
  assert.equal((await taken).source, 'weir');
});

test('time-outs of a given client are late answers', async () => {
  for (const message of ['Command timed out', 'Connection timeout', 'connect ETIMEDOUT', 'Socket timeout']) {
    const client = new Client();
    client.sendCommand = () => Promise.reject(new Error(message));
    const limiter = new Limiter(new Weir(client, kPatient), kLimit);
    await limiter.take('k');
    assert.equal(limiter.state().away, false, message);
    await limiter.take('k');
    assert.deepEqual([limiter.state().away, limiter.state().cause], [true, 'late'], message);
  }
});
